//! The response in: its head, its body as it comes, and its end.

use std::task::{Context, Poll, ready};

use super::http1::{DISCARD_FROM, Exchange};
use crate::error::Error;
use crate::h1::{self, Head, Parsed};
use crate::link::Link;
use crate::message::{Response, Times};
use crate::progress::Phase;

impl Exchange<'_> {
    /// Reads a response from bytes that have just arrived. `Some`: it is complete.
    pub(super) fn take<R>(
        &mut self,
        bytes: &[u8],
        done: &mut Option<impl FnOnce(&Response<'_>, Times) -> R>,
    ) -> Result<Option<(R, bool)>, Error> {
        if self.parser.head().is_some() {
            let used = self.take_body(bytes)?;
            if self.parser.is_done() {
                return self.finish(None, bytes.len() - used, done);
            }
            return Ok(None);
        }
        if self.head.is_empty() {
            let result = self.take_head(bytes, done)?;
            if self.parser.head().is_none() {
                self.head = bytes.to_vec();
            }
            return Ok(result);
        }
        // The rare case: the head came in more than one piece.
        let mut held = std::mem::take(&mut self.head);
        held.extend_from_slice(bytes);
        let result = self.take_head(&held, done)?;
        if self.parser.head().is_none() {
            self.head = held;
        }
        Ok(result)
    }

    /// Reads the head from `bytes`, all that has arrived so far, and what follows it.
    fn take_head<R>(
        &mut self,
        bytes: &[u8],
        done: &mut Option<impl FnOnce(&Response<'_>, Times) -> R>,
    ) -> Result<Option<(R, bool)>, Error> {
        if is_tls_record(bytes) {
            return Err(Error::speaks_tls());
        }
        // No response of HTTP begins with it: the byte behind it decides.
        if matches!(bytes, [0x15 | 0x16]) {
            return Ok(None);
        }
        // The same request, prepared once, is at the same address each time.
        let request = self.request.slices[0].as_ptr().addr();
        let step = self.client.heads.borrow_mut().feed(&mut self.parser, request, bytes);
        let Parsed::Head { start, end } = step? else {
            return Ok(None);
        };
        let Some(facts) = self.parser.head().copied() else { return Ok(None) };
        if facts.folded {
            // Its header lines are put together: consumers need not know about folding.
            let unfolded = [&h1::unfold(&bytes[start..end]), &bytes[end..]].concat();
            return self.take_behind_head(facts, &unfolded, end - start, done);
        }
        self.take_behind_head(facts, &bytes[start..], end - start, done)
    }

    /// Takes what has come behind the head, which takes up the first `length` of `bytes`.
    fn take_behind_head<R>(
        &mut self,
        facts: Head,
        bytes: &[u8],
        length: usize,
        done: &mut Option<impl FnOnce(&Response<'_>, Times) -> R>,
    ) -> Result<Option<(R, bool)>, Error> {
        let (head, rest) = bytes.split_at(length);
        let plain = self.parser.plain_rest();
        if plain != u64::MAX {
            self.intake.announce(plain)?;
        }
        let undoes = !self.parser.is_done() && self.intake.undoes(&facts.codings);
        // The usual case: the whole body follows the head in the same read, and is used in place.
        if !undoes && plain <= rest.len() as u64 && self.parser.skip_whole() {
            let (body, behind) = rest.split_at(plain as usize);
            let kept = self.intake.take_whole(body)?;
            return self.finish(Some((head, kept)), behind.len(), done);
        }
        if undoes {
            let named = |name: &[u8]| name.eq_ignore_ascii_case(b"content-encoding");
            let lines = h1::lines(head).filter(|(name, _)| named(name)).map(|(_, line)| line);
            let lines = lines.collect::<Vec<_>>().join(&b", "[..]);
            self.intake.undo(&facts.codings, &String::from_utf8_lossy(&lines))?;
        }
        let used = self.take_body(rest)?;
        if self.parser.is_done() && !self.intake.is_compressed() {
            let body = self.intake.take_kept();
            return self.finish(Some((head, &body)), rest.len() - used, done);
        }
        self.head = head.to_vec();
        match self.parser.is_done() {
            true => self.finish(None, rest.len() - used, done),
            false => Ok(None),
        }
    }

    /// Reads from the body; returns how many bytes were used.
    fn take_body(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        let Exchange { parser, intake, .. } = self;
        let mut taken = Ok(());
        let step = parser.feed(bytes, &mut |piece| {
            if taken.is_ok() {
                taken = intake.take(piece);
            }
        });
        let step = step?;
        taken?;
        match step {
            Parsed::Body(used) | Parsed::Done(used) => Ok(used),
            _ => Ok(0),
        }
    }

    /// The response is complete: shows it to `done`, unless its body has yet to be decompressed. `parts`: head and body, where they
    /// lie in the read buffer; `unread`: unsolicited bytes after the response.
    pub(super) fn finish<R>(
        &mut self,
        parts: Option<(&[u8], &[u8])>,
        unread: usize,
        done: &mut Option<impl FnOnce(&Response<'_>, Times) -> R>,
    ) -> Result<Option<(R, bool)>, Error> {
        self.times.end_ns = match self.reads {
            1 => self.times.first_byte_ns,
            _ => self.arrived(),
        };
        if self.intake.is_compressed() {
            self.complete = Some(unread);
            return Ok(None);
        }
        self.show(parts, unread, done).map(Some)
    }

    /// Decompresses the body of a response that is complete, and shows it to `done`.
    pub(super) async fn decompress<R>(
        &mut self,
        done: &mut Option<impl FnOnce(&Response<'_>, Times) -> R>,
    ) -> Result<(R, bool), Error> {
        let begin = self.client.clock().now();
        self.progress.set(Phase::Decompress);
        self.client.decompress(&mut self.intake).await?;
        self.times.decompress_ns = self.client.clock().now() - begin;
        self.show(None, self.complete.unwrap_or(0), done)
    }

    /// Shows the response to `done`.
    fn show<R>(
        &mut self,
        parts: Option<(&[u8], &[u8])>,
        unread: usize,
        done: &mut Option<impl FnOnce(&Response<'_>, Times) -> R>,
    ) -> Result<(R, bool), Error> {
        let (head, body) = parts.unwrap_or((&self.head, self.intake.kept()));
        let Some(facts) = self.parser.head() else {
            return Err(Error::closed(self.bytes_in, false));
        };
        let response = Response {
            status: facts.status,
            head,
            body,
            body_bytes: self.intake.bytes(),
            body_length: self.intake.length(),
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            trailers: self.parser.trailers(),
            sets_cookies: facts.sets_cookies,
            unsolicited_bytes: unread as u64,
        };
        let reusable = facts.keep_alive && unread == 0 && self.is_sent;
        self.progress.set(Phase::Idle);
        // `done` is taken once: an exchange is over when it has been called.
        let Some(done) = done.take() else { return Err(Error::closed(0, false)) };
        Ok((done(&response, self.times), reusable))
    }

    /// The status of the response, if its head has come; otherwise 0.
    pub(super) fn status(&self) -> u16 {
        self.parser.head().map_or(0, |facts| facts.status)
    }

    /// Throws away, in the kernel, up to `most` bytes of a large body that no consumer needs, all but its
    /// last byte: only what is read has a stamp. `None`: there is nothing to be thrown away in this way.
    pub(super) fn poll_discard(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut Link,
        most: usize,
    ) -> Poll<Option<Result<(), Error>>> {
        let rest = self.parser.plain_rest();
        // Once begun it goes on to the last byte, of the body or of a chunk.
        let least = if self.discards { 2 } else { DISCARD_FROM };
        if self.intake.looks() || rest < least || rest == u64::MAX {
            return Poll::Ready(None);
        }
        let discarded = stream.poll_discard(cx, (rest - 1).min(most as u64));
        let discarded = match ready!(discarded) {
            None => return Poll::Ready(None),
            Some(Err(error)) => return Poll::Ready(Some(Err(Error::io(&error)))),
            Some(Ok(0)) => return Poll::Ready(Some(Err(Error::closed(self.bytes_in, true)))),
            Some(Ok(discarded)) => discarded as u64,
        };
        self.reads += 1;
        self.discards = true;
        self.on_received(discarded as usize);
        self.times.delay_ns = None;
        self.bytes_in += discarded;
        self.intake.skip(discarded);
        self.parser.skip(discarded);
        Poll::Ready(Some(Ok(())))
    }
}

/// Whether a response begins as an alert or a handshake of TLS does (RFC 8446, section 5.1): the answer of a
/// server that speaks TLS to a client that does not.
fn is_tls_record(bytes: &[u8]) -> bool {
    matches!(bytes, [0x15 | 0x16, 0x03, ..])
}
