use std::{
    fmt, io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep_until},
};

use super::Place;

/// A connection with a place among the [`Connections`](super::Connections) of a server.
///
/// Once its client has let it wait too long, or its place is needed, it reads as ended, and what its
/// client does not take fails to be written: any HTTP server closes it then.
pub struct Attended<S> {
    stream: S,
    place: Place,
    timer: Pin<Box<Sleep>>,
}

impl<S> Attended<S> {
    pub(super) fn new(stream: S, place: Place, until: Instant) -> Self {
        Self { stream, place, timer: Box::pin(sleep_until(until)) }
    }

    /// Returns its place, for whoever serves the requests that come.
    #[must_use]
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// Is done once the wait is over, or the place lost.
    fn poll_over(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match self.place.waits(context.waker()) {
            Err(_) => return Poll::Ready(()),
            Ok(None) => return Poll::Pending,
            Ok(Some(until)) if until != self.timer.deadline() => self.timer.as_mut().reset(until),
            Ok(Some(_)) => {}
        }
        self.timer.as_mut().poll(context)
    }

    fn written(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(Ok(_)) => self.place.taken(),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                ready!(self.poll_over(context));
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Attended<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.poll_over(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.place.heard();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Attended<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, buffer);
        self.written(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        self.written(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S> Drop for Attended<S> {
    fn drop(&mut self) {
        self.place.leave();
    }
}

impl<S> fmt::Debug for Attended<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attended").field("place", &self.place).finish_non_exhaustive()
    }
}
