//! The descriptors and threads that connections hold. The test has a process of its own, in which nothing
//! else opens descriptors or starts threads.

#![cfg(any(target_os = "linux", windows))]
#![allow(clippy::unwrap_used, reason = "a test states what it expects")]

use ide_mcp_blocking::ide::{Auth, Policy, ServerConfig};
use ide_mcp_blocking::{Bind, Clock, Conn, Server, Time, ws};
use std::io::{ErrorKind, Read as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// Returns how many threads and descriptors this process has.
#[cfg(target_os = "linux")]
fn held() -> (usize, usize) {
    let count = |folder| std::fs::read_dir(folder).unwrap().count();
    (count("/proc/self/task"), count("/proc/self/fd"))
}

/// Returns how many threads this process has. No safe function counts sockets here, but each peer sees that
/// its own connection ends.
#[cfg(windows)]
fn held() -> (usize, usize) {
    use winsafe::{HPROCESSLIST, co, prelude::*};
    let mut all = HPROCESSLIST::CreateToolhelp32Snapshot(co::TH32CS::SNAPTHREAD, None).unwrap();
    let ours = std::process::id();
    (all.iter_threads().filter(|thread| thread.as_ref().unwrap().th32OwnerProcessID == ours).count(), 0)
}

/// Waits until this process holds as many threads and descriptors as before.
fn await_release(before: (usize, usize), clock: &Clock, mut meanwhile: impl FnMut()) {
    let end = clock.now().saturating_add(Duration::from_secs(20));
    while held() != before {
        assert!(clock.now() < end, "{:?} threads and descriptors, and {before:?} before", held());
        meanwhile();
        thread::sleep(Duration::from_millis(10));
    }
}

/// Returns true if a peer has seen the end of its connection, or soon does.
fn sees_the_end(mut peer: &TcpStream) -> bool {
    peer.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    match peer.read(&mut [0; 64]) {
        Ok(n) => n == 0,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    }
}

/// One test, because two would run at the same time.
#[test]
fn ended_connections_leave_no_thread_and_no_socket() {
    dropped_connections_with_silent_peers();
    a_server_with_a_thousand_silent_peers();
}

fn dropped_connections_with_silent_peers() {
    let (before, clock) = (held(), Clock::new());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    for _ in 0..20 {
        let peer = TcpStream::connect(addr).unwrap();
        let server = ws::Server::new(ws::Limits::default(), Time::ZERO);
        let mut conn = Conn::from_stream(listener.accept().unwrap().0, server).unwrap();
        assert!(conn.poll(Duration::from_millis(5)).is_none());
        drop(conn);
        assert!(sees_the_end(&peer), "the peer of a server");

        let request = ws::ClientRequest::new(addr.to_string());
        let client = ws::Client::new(request, getrandom::fill, ws::Limits::default(), Time::ZERO).unwrap();
        let mut conn = Conn::connect(addr, client).unwrap();
        let (mut peer, _) = listener.accept().unwrap();
        assert!(conn.poll(Duration::from_millis(5)).is_none());
        peer.read_exact(&mut [0; 16]).unwrap();
        drop(conn);
        while matches!(peer.read(&mut [0; 512]), Ok(1..)) {}
        assert!(sees_the_end(&peer), "the peer of a client");
    }
    drop(listener);
    await_release(before, &clock, || ());
}

fn a_server_with_a_thousand_silent_peers() {
    let (before, clock) = (held(), Clock::new());
    let policy = Policy::new(0, Auth::Disabled);
    let config = ServerConfig::new("editor", "1").policy(policy);
    let mut server = Server::bind(Bind::AnyPort, config).unwrap();
    let idle = held();
    let mut peers = Vec::new();
    for _ in 0..1_000 {
        peers.push(TcpStream::connect(server.local_addr()).unwrap());
        assert!(server.poll(Duration::ZERO).is_none());
        if peers.len() % 50 == 0 {
            let (threads, descriptors) = held();
            assert_eq!(threads, idle.0, "after {} peers", peers.len());
            // The peers have one descriptor each. The server keeps only a few silent connections, and some of
            // their sockets linger.
            assert!(
                descriptors <= idle.1 + peers.len() + 64,
                "{descriptors} descriptors, {} peers",
                peers.len()
            );
        }
    }
    // The last ones may still be pending.
    let rest = peers.split_off(1_000 - 64);
    assert!(peers.iter().all(sees_the_end));
    drop((peers, rest));
    await_release(idle, &clock, || drop(server.poll(Duration::from_millis(10))));
    drop(server);
    await_release(before, &clock, || ());
}
