//! Tests of [`Server::turn`] in virtual time, over a transport that counts its calls.
//!
//! A prefix such as `n05` in a test's name is the number of a threat in `tests/it/threats.rs`.

use ide_mcp::Time;
use ide_mcp::ide::discovery::LockFile;
use ide_mcp::ide::{Auth, Policy, ServerConfig};
use ide_mcp_driver::Shutdown;
use ide_mcp_driver::{Bind, RETRY, Server, Transport};
use ide_mcp_lockfile::{Guard, LockDir, Published};
use std::cell::RefCell;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;

/// The waiting connections of a transport, and the calls of the server.
#[derive(Debug, Default)]
struct Network {
    waiting: usize,
    /// True if accepting fails, as it does for lack of file descriptors.
    is_exhausted: bool,
    /// The errors of clients that give up while they wait.
    gone: Vec<ErrorKind>,
    accepts: usize,
    /// The number of reads of each socket.
    reads: Vec<usize>,
    released: usize,
    is_closed: bool,
}

#[derive(Clone, Debug, Default)]
struct Counting(Rc<RefCell<Network>>);

/// A peer that has connected, and sends nothing.
#[derive(Debug)]
struct Silent {
    network: Counting,
    index: usize,
}

impl Transport for Counting {
    type Incoming = ();
    type Socket = Silent;

    fn accept(&mut self) -> io::Result<()> {
        let mut network = self.0.borrow_mut();
        network.accepts += 1;
        assert!(!network.is_closed, "nothing listens any more");
        if network.is_exhausted {
            return Err(io::Error::other("no file descriptors"));
        }
        if let Some(gone) = network.gone.pop() {
            return Err(gone.into());
        }
        network.waiting = network.waiting.checked_sub(1).ok_or(ErrorKind::WouldBlock)?;
        Ok(())
    }

    fn adopt(&mut self, _: usize, (): ()) -> io::Result<Silent> {
        let mut network = self.0.borrow_mut();
        network.reads.push(0);
        Ok(Silent { network: self.clone(), index: network.reads.len() - 1 })
    }

    fn ends(_: &Silent) -> io::Result<(SocketAddr, SocketAddr)> {
        Err(ErrorKind::Unsupported.into())
    }

    fn release(&mut self, _: Silent) {
        self.0.borrow_mut().released += 1;
    }

    fn close(&mut self) {
        self.0.borrow_mut().is_closed = true;
    }
}

impl Read for Silent {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        *self.network.0.borrow_mut().reads.get_mut(self.index).unwrap() += 1;
        Err(ErrorKind::WouldBlock.into())
    }
}

impl Write for Silent {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shutdown for Silent {
    fn shutdown_write(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn serve(max_pending: usize) -> (Server<Counting>, Counting) {
    let policy = Policy::new(0, Auth::Disabled);
    let session = ServerConfig::new("editor", "1").policy(policy);
    let mut config = session;
    config.max_pending_connections = max_pending;
    let network = Counting::default();
    let server = Server::bind(Bind::AnyPort, config, |_: TcpListener| Ok(network.clone())).unwrap();
    (server, network)
}

/// Runs turns at `now` until the server is due only later. Returns how many.
fn settle(server: &mut Server<Counting>, now: Time) -> usize {
    for turns in 1..10_000 {
        server.turn(now, |_, _| {});
        if server.deadline(now).is_none_or(|at| at > now) {
            return turns;
        }
    }
    unreachable!("never idle");
}

#[test]
fn n05_turn_accepts_four_connections() {
    let (mut server, network) = serve(100);
    network.0.borrow_mut().waiting = 9;
    for expected in [4, 8, 9, 9] {
        server.turn(Time::ZERO, |_, _| {});
        assert_eq!(network.0.borrow().reads, vec![1; expected], "each was read once");
    }
}

#[test]
fn report_of_one_connection_reads_no_other() {
    let (mut server, network) = serve(1000);
    network.0.borrow_mut().waiting = 1000;
    assert_eq!(settle(&mut server, Time::ZERO), 251);
    server.report_room(6);
    settle(&mut server, Time::ZERO);
    assert_eq!(network.0.borrow().reads, vec![1; 1000]);
    server.ready(7);
    settle(&mut server, Time::from_millis(1));
    let network = network.0.borrow();
    let read = |times| move |reads: &&usize| **reads == times;
    assert_eq!(network.reads.iter().filter(read(1)).count(), 999);
    assert_eq!(network.reads.get(7), Some(&2));
}

#[test]
fn failed_accept_is_retried_later() {
    let (mut server, network) = serve(8);
    network.0.borrow_mut().is_exhausted = true;
    network.0.borrow_mut().waiting = 1;
    settle(&mut server, Time::ZERO);
    assert_eq!((network.0.borrow().accepts, server.deadline(Time::ZERO)), (1, Some(Time::new(RETRY))));
    network.0.borrow_mut().is_exhausted = false;
    settle(&mut server, Time::from_millis(99));
    assert_eq!(network.0.borrow().accepts, 1, "it is too early to retry");
    settle(&mut server, Time::from_millis(100));
    assert_eq!(network.0.borrow().reads.len(), 1);
}

/// This transport cannot wait for a descriptor, so the server must wake up to look at the lock file.
#[test]
fn lost_lock_file_is_restored_without_a_watch() {
    let dir = std::env::temp_dir().join(format!("ide-mcp-driver-steps-{}", std::process::id()));
    let (mut server, _) = serve(8);
    let file = LockFile::new(std::process::id(), vec![], "E", None);
    server.lock_file_mut().publish(&LockDir::create(&dir).unwrap(), &file).unwrap();
    settle(&mut server, Time::ZERO);
    let lock = server.lock_file().path().unwrap().to_owned();
    let mut now = Time::ZERO;
    // The second time is like the first.
    for _ in 0..2 {
        std::fs::remove_file(&lock).unwrap();
        let due = server.deadline(now).unwrap();
        assert!(due.saturating_since(now) <= Guard::<Published>::INTERVAL, "{due:?}");
        now = due;
        settle(&mut server, now);
        assert!(lock.exists());
    }
    server.shutdown(now);
    assert!(!lock.exists());
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn client_that_gives_up_does_not_delay_the_next() {
    // Windows reports a client that gives up as a reset.
    for gone in [ErrorKind::Interrupted, ErrorKind::ConnectionAborted, ErrorKind::ConnectionReset] {
        let (mut server, network) = serve(8);
        network.0.borrow_mut().gone = vec![gone; 2];
        network.0.borrow_mut().waiting = 1;
        settle(&mut server, Time::ZERO);
        assert_eq!(network.0.borrow().reads.len(), 1, "{gone:?}");
    }
}

/// Above the limit, the oldest pending connections end and the server releases their sockets. After a
/// shutdown it has released all sockets.
#[test]
fn n05_ended_connections_are_released() {
    let (mut server, network) = serve(8);
    network.0.borrow_mut().waiting = 50;
    settle(&mut server, Time::ZERO);
    assert_eq!(server.machine().connections().count(), 8);
    assert_eq!(network.0.borrow().released, 42);
    server.shutdown(Time::ZERO);
    assert!(network.0.borrow().is_closed);
    let mut now = Time::ZERO;
    while !server.is_over() {
        settle(&mut server, now);
        now = server.deadline(now).unwrap_or(now);
        assert!(now < Time::from_millis(10_000), "{:?}", server.machine().connections().count());
    }
    assert_eq!(network.0.borrow().released, 50);
}

/// The server releases the socket when the application gives up a connection that was never admitted,
/// although no event reports the end of this connection.
#[test]
fn pending_connection_given_up_by_application_is_released() {
    let (mut server, network) = serve(8);
    network.0.borrow_mut().waiting = 2;
    settle(&mut server, Time::ZERO);
    let ids: Vec<_> = server.machine().connections().collect();
    for _ in 0..2 {
        server.machine_mut().feed_eof(Time::ZERO, *ids.first().unwrap());
    }
    settle(&mut server, Time::ZERO);
    assert_eq!((network.0.borrow().released, server.machine().unauthenticated().ended), (1, 1));
}
