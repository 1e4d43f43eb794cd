//! A thread that waits for connections.

use ide_mcp_driver::RETRY;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::task::Waker;
use std::thread::{self, Thread};
use std::time::Duration;

/// The number of accepted connections that wait here for the application. Further connections wait in
/// the queue of the system.
const WAITING: usize = 4;

/// The longest time for which closing waits until the thread has dropped the listener. The thread
/// usually does so within a moment. If the connection of [`KNOCKING`] cannot be made, the thread ends
/// with the next connection of a client.
const CLOSING: Duration = Duration::from_secs(1);

/// The timeout of the connection that closing makes to its own listener, to end the wait of the
/// thread.
const KNOCKING: Duration = Duration::from_millis(500);

/// The handle by which the application takes connections from the thread, and ends the thread.
#[derive(Debug)]
pub(crate) struct Acceptor {
    waiting: Option<Receiver<TcpStream>>,
    thread: Thread,
    is_closing: Arc<AtomicBool>,
    /// A channel that disconnects when the thread has dropped the listener.
    listens: Receiver<()>,
    addr: SocketAddr,
}

impl Acceptor {
    /// Starts the thread. `wakes` is woken when connections wait.
    pub(crate) fn new(listener: TcpListener, wakes: Waker) -> io::Result<Self> {
        let addr = reachable(listener.local_addr()?);
        let (sender, waiting) = sync_channel(WAITING);
        let (listening, listens) = channel::<()>();
        let is_closing = Arc::new(AtomicBool::new(false));
        let closing = is_closing.clone();
        let thread = thread::Builder::new().name("ide-mcp accept".into()).spawn(move || {
            accept(&listener, &sender, &wakes, &closing);
            drop(listener);
            drop(listening);
        })?;
        Ok(Self { waiting: Some(waiting), thread: thread.thread().clone(), is_closing, listens, addr })
    }

    /// Returns the next connection that waits.
    pub(crate) fn next(&self) -> io::Result<TcpStream> {
        let waiting = self.waiting.as_ref().ok_or(ErrorKind::WouldBlock)?;
        waiting.try_recv().map_err(|_| ErrorKind::WouldBlock.into())
    }

    /// Stops listening.
    pub(crate) fn close(&mut self) {
        // Without the receiver, the thread no longer waits for room in the queue.
        if self.waiting.take().is_none() {
            return;
        }
        self.is_closing.store(true, Ordering::SeqCst);
        self.thread.unpark();
        // Only a connection ends the wait of the thread in `accept`.
        let knock = TcpStream::connect_timeout(&self.addr, KNOCKING);
        let _ = self.listens.recv_timeout(CLOSING);
        drop(knock);
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.close();
    }
}

fn accept(listener: &TcpListener, sender: &SyncSender<TcpStream>, wakes: &Waker, is_closing: &AtomicBool) {
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
                wakes.wake_by_ref();
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
