//! The in-memory transport of the peers, for the traits of the standard library, tokio and futures.

use crate::workload::{Drain, Source};
use std::io::{Read, Result, Write};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::ReadBuf;

/// A transport that reads from a [`Source`] and writes into a [`Drain`].
pub struct Pipe {
    source: Source,
    drain: Drain,
}

impl Pipe {
    pub fn new(wire: &'static [u8], limit: usize) -> Self {
        Self { source: Source::new(wire, limit), drain: Drain::default() }
    }
}

impl Read for Pipe {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize> {
        Ok(self.source.read(buf))
    }
}

impl Write for Pipe {
    fn write(&mut self, buf: &[u8]) -> Result<usize> {
        self.drain.write(buf);
        Ok(buf.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl tokio::io::AsyncRead for Pipe {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let bytes = self.source.next(buf.remaining());
        buf.put_slice(bytes);
        Poll::Ready(Ok(()))
    }
}

impl tokio::io::AsyncWrite for Pipe {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<Result<usize>> {
        Poll::Ready(self.write(buf))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl futures_util::io::AsyncRead for Pipe {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<usize>> {
        Poll::Ready(self.read(buf))
    }
}

impl futures_util::io::AsyncWrite for Pipe {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<Result<usize>> {
        Poll::Ready(self.write(buf))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }
}
