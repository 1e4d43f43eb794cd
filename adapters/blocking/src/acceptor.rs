//! A thread that waits for connections.

use ide_mcp_server::RETRY;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::task::Waker;
use std::thread::{self, Thread};
use std::time::Duration;

/// How many connections wait here for the application; the others wait with the system.
const WAITING: usize = 4;

/// How long closing waits for the thread. It takes a moment; if it cannot be reached, it ends with the next connection.
const CLOSING: Duration = Duration::from_secs(1);

/// How long it is knocked for at its door.
const KNOCKING: Duration = Duration::from_millis(500);

/// The thread, seen by the application.
#[derive(Debug)]
pub(crate) struct Acceptor {
    waiting: Option<Receiver<TcpStream>>,
    thread: Thread,
    is_closing: Arc<AtomicBool>,
    /// Disconnected once nobody listens any more.
    listens: Receiver<()>,
    addr: SocketAddr,
}

impl Acceptor {
    /// Rings when connections wait.
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

    /// The next connection that waits.
    pub(crate) fn next(&self) -> io::Result<TcpStream> {
        let waiting = self.waiting.as_ref().ok_or(ErrorKind::WouldBlock)?;
        waiting.try_recv().map_err(|_| ErrorKind::WouldBlock.into())
    }

    /// Stops listening.
    pub(crate) fn close(&mut self) {
        // A thread that waits for room in the queue is told by that.
        if self.waiting.take().is_none() {
            return;
        }
        self.is_closing.store(true, Ordering::SeqCst);
        self.thread.unpark();
        // Nothing but a connection ends the wait for one.
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
            // For want of file descriptors or memory.
            Err(_) => thread::park_timeout(RETRY),
        }
    }
}

/// Where to knock at a listener that is bound to this address.
const fn reachable(addr: SocketAddr) -> SocketAddr {
    let ip = match addr.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
    };
    SocketAddr::new(ip, addr.port())
}
