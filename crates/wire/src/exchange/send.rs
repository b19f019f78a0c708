//! The request out: its slices in one write, a streamed body a piece at a time or by the kernel.

use std::io::{self, IoSlice};
use std::task::{Context, Poll, ready};

use super::http1::Exchange;
use crate::body::{SourceFailed, read_piece};
use crate::link::Link;
use crate::throttle::send_budget;

impl Exchange<'_> {
    /// Sends what is left to send.
    pub(super) fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut Link,
    ) -> Poll<io::Result<()>> {
        let total: usize = self.request.slices.iter().map(|slice| slice.len()).sum();
        while self.written < total {
            let most = ready!(send_budget(self.intake.expect.throttle, cx));
            let sent = ready!(self.poll_slices(cx, stream, most))?;
            self.written += sent;
            self.on_sent(sent);
        }
        self.poll_stream(cx, stream)
    }

    /// One write of up to `most` bytes of the slices, from where the last one ended.
    fn poll_slices(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut Link,
        mut most: usize,
    ) -> Poll<io::Result<usize>> {
        let [first, second, third] = self.request.slices;
        if second.is_empty() && third.is_empty() {
            let rest = &first[self.written..];
            return stream.poll_write(cx, &[IoSlice::new(&rest[..rest.len().min(most)])]);
        }
        let mut skip = self.written;
        let mut left = [IoSlice::new(&[]), IoSlice::new(&[]), IoSlice::new(&[])];
        for (slot, slice) in left.iter_mut().zip(self.request.slices) {
            let from = skip.min(slice.len());
            skip -= from;
            let length = (slice.len() - from).min(most);
            most -= length;
            *slot = IoSlice::new(&slice[from..from + length]);
        }
        stream.poll_write(cx, &left)
    }

    /// Sends a streamed body, a piece at a time.
    fn poll_stream(&mut self, cx: &mut Context<'_>, stream: &mut Link) -> Poll<io::Result<()>> {
        loop {
            let Some(source) = &mut self.request.stream else { return stream.poll_flush(cx) };
            let most = ready!(send_budget(self.intake.expect.throttle, cx));
            if self.piece_at == self.piece.len() {
                if let Some((file, left)) = source.file()
                    && let Some(sent) =
                        ready!(stream.poll_send_file(cx, file, left.min(most as u64)))
                {
                    let sent = sent?;
                    // Nothing: the file has become shorter, which the source says best when it is read.
                    if sent > 0 {
                        source.sent(sent as u64);
                        self.on_sent(sent);
                        continue;
                    }
                }
                read_piece(*source, &mut self.piece).map_err(SourceFailed::wrap)?;
                self.piece_at = 0;
                if self.piece.is_empty() {
                    return stream.poll_flush(cx);
                }
            }
            let rest = &self.piece[self.piece_at..];
            let rest = IoSlice::new(&rest[..rest.len().min(most)]);
            let sent = ready!(stream.poll_write(cx, &[rest]))?;
            self.piece_at += sent;
            self.on_sent(sent);
        }
    }
}
