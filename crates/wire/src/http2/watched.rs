//! The link below an HTTP/2 connection, as the `h2` crate wants it, with a look at the frames that
//! pass: when each stream's were sent, and when they had arrived in the kernel.

use std::cell::Cell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use h2::Reason;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::frames::{Frame, PREFACE, Passed, Scanner, kind};
use super::state::ConnectionState;
use crate::arrivals::Looks;
use crate::client::Client;
use crate::link::Link;
use crate::progress::Clock;
use crate::socket_facts::MAY_BE_RETRANSMITTED_NS;

/// A link whose frames are looked at.
pub(super) struct Watched {
    link: Link,
    clock: Clock,
    looks: Rc<Looks>,
    state: Rc<ConnectionState>,
    came: Scanner,
    went: Scanner,
    /// Whether nothing has come yet.
    first: bool,
    /// Most segments that had been lost and sent again when that was asked.
    retransmitted: u32,
    /// Streams whose HEADERS were in the last write, while the ring has not yet said when that went.
    going: Vec<u32>,
}

impl Watched {
    pub(super) fn new(link: Link, client: &Client, state: Rc<ConnectionState>) -> Self {
        let (clock, looks) = (*client.clock(), client.looks.clone());
        let (came, went) = (Scanner::default(), Scanner::after(PREFACE));
        Watched {
            link,
            clock,
            looks,
            state,
            came,
            went,
            first: true,
            retransmitted: 0,
            going: Vec::new(),
        }
    }

    /// Notes when the last write really went, once the ring knows.
    fn note_gone(&mut self) {
        if self.going.is_empty() {
            return;
        }
        if let Some(sent) = self.link.sent() {
            let mut streams = self.state.streams.borrow_mut();
            for stream in self.going.drain(..) {
                if let Some(marks) = streams.get_mut(&stream) {
                    marks.sent_ns = sent.sent_ns;
                }
            }
        }
    }

    /// So many bytes of some pieces were written, from `now` on.
    fn wrote(&mut self, pieces: &[IoSlice<'_>], mut bytes: usize, now: u64, before: Option<u64>) {
        let Watched { went, going, state, link, .. } = self;
        let mut streams = state.streams.borrow_mut();
        for piece in pieces {
            let length = piece.len().min(bytes);
            bytes -= length;
            went.feed(&piece[..length], |passed| {
                let Passed::Head(frame) = passed else { return };
                let Some(marks) = streams.get_mut(&frame.stream) else { return };
                marks.bytes_out += frame.bytes();
                if frame.kind == kind::DATA && now > marks.sent_ns {
                    marks.written_ns = Some(now);
                }
                if frame.kind == kind::HEADERS && marks.sent_ns == 0 {
                    (marks.sent_ns, marks.before) = (now, before);
                    if link.is_in_ring() {
                        going.push(frame.stream);
                    }
                }
            });
        }
    }

    /// Bytes were read whose last one had been in the kernel for so long.
    fn read(&mut self, bytes: &[u8], delay: Option<u64>) {
        if std::mem::take(&mut self.first) {
            self.state.is_text.set(bytes.starts_with(b"HTTP/"));
        }
        self.note_gone();
        let now = self.clock.now();
        let Watched { came, state, .. } = self;
        let mut streams = state.streams.borrow_mut();
        let (mut is_goaway, is_slow) = (false, Cell::new(false));
        let mut of = |frame: &Frame, note: &dyn Fn(&mut super::state::Marks)| {
            if let Some(marks) = streams.get_mut(&frame.stream) {
                note(marks);
            }
        };
        came.feed(bytes, |passed| match passed {
            Passed::Head(frame) => of(&frame, &|marks| {
                marks.bytes_in += frame.bytes();
                if frame.kind == kind::HEADERS && marks.first_byte_ns == 0 {
                    marks.first_byte_ns = marks.arrived(now, delay);
                    marks.sent_ns = marks.sent_ns.min(marks.first_byte_ns);
                }
                if let kind::HEADERS | kind::CONTINUATION = frame.kind {
                    let wrong = marks.head_came(frame.bytes(), frame.kind == kind::HEADERS);
                    state.too_much.set(state.too_much.get().or(wrong));
                }
            }),
            Passed::End(frame) if frame.ends_stream() => {
                of(&frame, &|marks| {
                    marks.end_ns = marks.arrived(now, delay);
                    state.answered_ns.set(marks.end_ns);
                    let took = marks.end_ns.saturating_sub(marks.sent_ns);
                    is_slow.set(is_slow.get() || took >= MAY_BE_RETRANSMITTED_NS);
                });
            }
            Passed::End(frame) if frame.kind == kind::SETTINGS && !frame.is_ack() => {
                state.news.set(true);
            }
            Passed::End(frame) => is_goaway |= frame.kind == kind::GOAWAY,
            Passed::GoAway(last) => {
                state.last_stream.set(Some(last));
                state.news.set(true);
            }
        });
        if let Some((code, words)) = came.farewell().filter(|_| is_goaway) {
            state.farewell.replace(Some(farewell(code, words)));
        }
        drop(streams);
        if is_slow.get() {
            self.note_retransmitted();
        }
    }

    /// Asks the kernel for segments that were lost and sent again.
    fn note_retransmitted(&mut self) {
        let new = self.link.newly_retransmitted(&mut self.retransmitted);
        let known = &self.state.retransmitted;
        known.set(known.get() + new);
    }

    /// The connection broke: what had been acknowledged of each request is known now, and not later.
    fn broke(&mut self) {
        self.note_retransmitted();
        for marks in self.state.streams.borrow_mut().values_mut() {
            let sent = marks.before.filter(|_| marks.sent_ns > 0);
            marks.acknowledged = sent.and_then(|before| self.link.acknowledged_beyond(before));
        }
    }

    fn poll_write_pieces(
        &mut self,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.note_gone();
        self.link.begin();
        let (now, before) = (self.clock.now(), self.link.written());
        match ready!(self.link.poll_write(cx, pieces)) {
            Ok(bytes) => {
                self.wrote(pieces, bytes, now, before);
                Poll::Ready(Ok(bytes))
            }
            Err(error) => {
                self.broke();
                Poll::Ready(Err(error))
            }
        }
    }
}

/// What a GOAWAY says, for people.
fn farewell(code: u32, words: &[u8]) -> Box<str> {
    let code = format!("{:?}", Reason::from(code));
    match String::from_utf8_lossy(words).escape_debug() {
        words if words.clone().next().is_some() => format!("{code} (\"{words}\")"),
        _ => code,
    }
    .into()
}

impl AsyncRead for Watched {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let room = buffer.initialize_unfilled();
        match ready!(this.link.poll_read(cx, room, false)) {
            Ok(read) if read.bytes > 0 => {
                let Watched { link, looks, clock, .. } = this;
                let ago = link.ago_ns(read, clock, looks);
                this.read(&room[..read.bytes], ago);
                if let Some(why) = this.state.too_much.get() {
                    return Poll::Ready(Err(io::Error::other(why)));
                }
                buffer.advance(read.bytes);
                Poll::Ready(Ok(()))
            }
            ended => {
                this.state.closed.set(ended.is_ok());
                this.broke();
                Poll::Ready(ended.map(drop))
            }
        }
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().poll_write_pieces(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().poll_write_pieces(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.link.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().link.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().link.poll_shutdown(cx)
    }
}
