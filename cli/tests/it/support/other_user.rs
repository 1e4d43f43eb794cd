//! Another user of this machine: a thread that runs under another uid and captures bytes on a port.
//!
//! Linux has a uid for each thread, and the sockets of a thread belong to its uid.

use rustix::thread::set_thread_uid;
use std::io::Read as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The uid of the other user, which owns nothing else on the machine.
pub const MALLORY: u32 = 61_234;

/// Returns true if the test runs as root, and [skips](super::skip) it otherwise.
pub fn can_be_another_user() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        super::skip("only root can start a thread of another user");
    }
    is_root
}

/// Runs `act` as the other user.
pub fn as_another_user<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    thread::spawn(|| {
        set_thread_uid(rustix::process::Uid::from_raw(MALLORY)).unwrap();
        act()
    })
}

/// A listener of the other user. It accepts each connection and keeps the bytes that arrive.
pub struct Squatter {
    pub port: u16,
    captured: Receiver<Vec<u8>>,
    /// Dropping the sender stops the listener.
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Squatter {
    /// Listens on this port of 127.0.0.1; 0 means any port.
    pub fn listen(port: u16) -> Self {
        let (sender, captured) = mpsc::channel();
        let (listening, bound) = mpsc::channel();
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = as_another_user(move || {
            let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port))).unwrap();
            listener.set_nonblocking(true).unwrap();
            listening.send(listener.local_addr().unwrap().port()).unwrap();
            let mut open: Vec<TcpStream> = Vec::new();
            loop {
                let is_stopped = stopped.try_recv() == Err(mpsc::TryRecvError::Disconnected);
                let mut is_idle = true;
                if let Ok((stream, _)) = listener.accept() {
                    is_idle = false;
                    stream.set_nonblocking(true).unwrap();
                    open.push(stream);
                }
                for stream in &mut open {
                    let mut bytes = vec![0; 4096];
                    if let Ok(n @ 1..) = stream.read(&mut bytes) {
                        is_idle = false;
                        bytes.truncate(n);
                        sender.send(bytes).unwrap();
                    }
                }
                // A program that ended before the stop has sent all of its bytes: they are read first.
                if is_stopped && is_idle {
                    break;
                }
                // Pauses between two rounds, since neither the listener nor a stream blocks.
                thread::sleep(Duration::from_millis(2));
            }
        });
        Self { port: bound.recv().unwrap(), captured, stop, thread }
    }

    /// Stops the listener, and returns all bytes that arrived, as text.
    pub fn captured(self) -> String {
        let Self { captured, stop, thread, .. } = self;
        drop(stop);
        thread.join().unwrap();
        String::from_utf8_lossy(&captured.iter().flatten().collect::<Vec<u8>>()).into_owned()
    }
}
