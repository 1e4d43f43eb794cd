//! A thread that accepts connections.

use ide_mcp_driver::RETRY;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::task::Waker;
use std::thread::{self, Thread};
use std::time::Duration;

/// The greatest number of accepted connections in the queue for the application; the thread can hold one
/// more. Further connections wait in the queue of the system.
const MAX_WAITING: usize = 4;

/// The longest time for which [`Acceptor::close`] waits until the thread has dropped the listener. The
/// thread usually does so within a moment. If the connection of [`KNOCK_TIMEOUT`] cannot be made, the
/// thread ends with the next connection of a client.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// The timeout of the connection that [`Acceptor::close`] makes to its own listener, to end the wait of
/// the thread.
const KNOCK_TIMEOUT: Duration = Duration::from_millis(500);

/// The handle by which the application takes connections from the thread, and ends the thread.
#[derive(Debug)]
pub(crate) struct Acceptor {
    waiting: Option<Receiver<TcpStream>>,
    thread: Thread,
    is_closing: Arc<AtomicBool>,
    /// A channel that disconnects when the thread has dropped the listener.
    listening: Receiver<()>,
    addr: SocketAddr,
}

impl Acceptor {
    /// Starts the thread, which wakes `waker` after each accepted connection.
    pub(crate) fn new(listener: TcpListener, waker: Waker) -> io::Result<Self> {
        let addr = reachable(listener.local_addr()?);
        let (sender, waiting) = sync_channel(MAX_WAITING);
        let (listens, listening) = channel::<()>();
        let is_closing = Arc::new(AtomicBool::new(false));
        let closing = is_closing.clone();
        let thread = thread::Builder::new().name("ide-mcp accept".into()).spawn(move || {
            accept(&listener, &sender, &waker, &closing);
            drop(listener);
            drop(listens);
        })?;
        Ok(Self { waiting: Some(waiting), thread: thread.thread().clone(), is_closing, listening, addr })
    }

    /// Returns the next connection that waits.
    pub(crate) fn next(&self) -> io::Result<TcpStream> {
        let waiting = self.waiting.as_ref().ok_or(ErrorKind::WouldBlock)?;
        waiting.try_recv().map_err(|_| ErrorKind::WouldBlock.into())
    }

    /// Closes the listener, and drops the connections that wait.
    pub(crate) fn close(&mut self) {
        // Without the receiver, the thread no longer waits for room in the queue.
        if self.waiting.take().is_none() {
            return;
        }
        self.is_closing.store(true, Ordering::SeqCst);
        self.thread.unpark();
        // Only a connection ends the wait of the thread in `accept`.
        let knock = TcpStream::connect_timeout(&self.addr, KNOCK_TIMEOUT);
        let _ = self.listening.recv_timeout(CLOSE_TIMEOUT);
        drop(knock);
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.close();
    }
}

fn accept(listener: &TcpListener, sender: &SyncSender<TcpStream>, waker: &Waker, is_closing: &AtomicBool) {
    loop {
        let accepted = listener.accept();
        if is_closing.load(Ordering::SeqCst) {
            return;
        }
        match accepted {
            Ok((stream, _)) => {
                if sender.send(stream).is_err() {
                    return;
                }
                waker.wake_by_ref();
            }
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
            // The system lacks file descriptors or memory.
            Err(_) => thread::park_timeout(RETRY),
        }
    }
}

/// Returns the address at which to connect to a listener that is bound to `addr`.
const fn reachable(addr: SocketAddr) -> SocketAddr {
    let ip = match addr.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
    };
    SocketAddr::new(ip, addr.port())
}
