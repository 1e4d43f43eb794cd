//! A non-blocking socket, made of a blocking one and two threads: one thread waits in reads, the other
//! in writes.

use crate::inbound::Inbound;
use crate::outbound::{Outbound, PATIENCE, Stage};
use ide_mcp_driver::Shutdown;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::task::Waker;
use std::thread;

/// The stack size of a thread that only moves bytes.
const STACK: usize = 128 * 1024;

/// The application's side of the socket. Dropping it ends the threads: at once if nothing is left to
/// write, otherwise when the remaining bytes have been written, but after 4 s at most.
#[derive(Debug)]
pub(crate) struct Pipe(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    stream: TcpStream,
    inbound: Inbound,
    outbound: Outbound,
}

impl Pipe {
    /// Starts the threads, which wake `waker` when a read or write that would have blocked is worth
    /// another try.
    pub(crate) fn new(stream: TcpStream, waker: &Waker) -> io::Result<Self> {
        // A turn writes all of its output at once, so Nagle's algorithm would only add delay. A
        // socket that refuses the option still works.
        let _ = stream.set_nodelay(true);
        stream.set_write_timeout(Some(PATIENCE))?;
        let shared = Shared { stream, inbound: Inbound::default(), outbound: Outbound::default() };
        // The pipe exists before its threads: if one of them cannot be started, dropping the pipe
        // ends the other.
        let pipe = Self(Arc::new(shared));
        pipe.spawn("ide-mcp write", waker, |Shared { stream, outbound, .. }, waker| {
            outbound.drain(stream, |how| drop(stream.shutdown(how)), waker);
        })?;
        pipe.spawn("ide-mcp read", waker, |shared, waker| shared.inbound.fill(&shared.stream, waker))?;
        Ok(pipe)
    }

    /// Returns our address and that of the peer.
    pub(crate) fn ends(&self) -> io::Result<(SocketAddr, SocketAddr)> {
        Ok((self.0.stream.local_addr()?, self.0.stream.peer_addr()?))
    }

    fn spawn(&self, name: &str, waker: &Waker, run: fn(&Shared, &Waker)) -> io::Result<()> {
        let (shared, waker) = (self.0.clone(), waker.clone());
        let thread = thread::Builder::new().name(name.into()).stack_size(STACK);
        thread.spawn(move || run(&shared, &waker)).map(drop)
    }
}

impl Read for Pipe {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.0.inbound.take(space)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.outbound.put(bytes, |bytes| send(&self.0.stream, bytes), || self.0.inbound.is_stuck())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shutdown for Pipe {
    fn shutdown_write(&mut self) -> io::Result<()> {
        self.0.outbound.go_on_to(Stage::Finishing);
        Ok(())
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.0.inbound.close();
        self.0.outbound.go_on_to(Stage::Abandoned);
    }
}

/// Writes as many bytes as the socket has room for, without waiting. Most often those are all bytes,
/// and no thread has to be woken.
#[cfg(unix)]
fn send(stream: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    use rustix::net::SendFlags;
    // On Apple systems the standard library has set the option on the socket.
    #[cfg(target_vendor = "apple")]
    let no_signal = SendFlags::empty();
    #[cfg(not(target_vendor = "apple"))]
    let no_signal = SendFlags::NOSIGNAL;
    Ok(rustix::net::send(stream, bytes, SendFlags::DONTWAIT | no_signal)?)
}

/// Returns `WouldBlock`: other systems have no non-blocking write on a blocking socket, so the thread
/// writes all bytes.
#[cfg(not(unix))]
fn send(_: &TcpStream, _: &[u8]) -> io::Result<usize> {
    Err(io::ErrorKind::WouldBlock.into())
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;
    use ide_mcp::Clock;
    use std::net::TcpListener;
    use std::time::Duration;

    /// More than any wait of a machine that is merely busy.
    const LONG: Duration = Duration::from_secs(20);

    /// The end of our output leaves the other direction open: a peer that answers after it is still heard.
    #[test]
    fn end_of_output_arrives_and_leaves_input_open() {
        for (name, size) in [("nothing", 0), ("little", 100), ("more than all buffers", 8 << 20)] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            peer.set_read_timeout(Some(LONG)).unwrap();
            let mut pipe = Pipe::new(listener.accept().unwrap().0, Waker::noop()).unwrap();
            let clock = Clock::new();
            let patiently = |result: io::Result<usize>| match result {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    assert!(clock.now().since_start() < LONG, "{name}: it takes too long");
                    thread::yield_now();
                    None
                }
                result => Some(result.unwrap()),
            };
            let reads = thread::spawn(move || {
                let mut received = Vec::new();
                peer.read_to_end(&mut received).map(|_| (peer, received))
            });
            let (bytes, mut sent) = (vec![7; size], 0);
            while sent < size {
                sent += patiently(pipe.write(&bytes[sent..])).unwrap_or(0);
            }
            pipe.shutdown_write().unwrap();
            let (mut peer, received) = reads.join().unwrap().unwrap();
            assert!(received == bytes, "{name}: {} bytes arrived", received.len());
            peer.write_all(b"late").unwrap();
            drop(peer);
            let (mut heard, mut space) = (Vec::new(), [0; 16]);
            loop {
                match patiently(pipe.read(&mut space)) {
                    Some(0) => break,
                    Some(n) => heard.extend_from_slice(&space[..n]),
                    None => {}
                }
            }
            assert_eq!(heard, b"late", "{name}");
        }
    }
}
