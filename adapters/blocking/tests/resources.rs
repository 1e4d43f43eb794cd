//! What a server holds in the system, in a process of its own: nothing else opens descriptors or starts threads here.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test states what it expects")]

use ide_mcp_blocking::ide::{Auth, Policy, ServerConfig};
use ide_mcp_blocking::{Bind, Server};
use std::fs;
use std::net::TcpStream;
use std::time::Duration;

/// Returns the numbers of descriptors and threads of this process.
fn held() -> (usize, usize) {
    let count = |folder| fs::read_dir(folder).unwrap().count();
    (count("/proc/self/fd"), count("/proc/self/task"))
}

#[test]
fn thousand_silent_peers_leave_no_thread_and_no_descriptor() {
    let before = held();
    let policy = Policy::new(0, Auth::Disabled);
    let config = ServerConfig::new("editor", "1").policy(policy);
    let mut server = Server::bind(Bind::AnyPort, config).unwrap();
    let idle = held();
    let mut peers = Vec::new();
    for _ in 0..1_000 {
        peers.push(TcpStream::connect(server.local_addr()).unwrap());
        assert!(server.poll(Duration::ZERO).is_none());
        let (descriptors, threads) = held();
        assert_eq!(threads, idle.1, "after {} peers", peers.len());
        // Half of them are those of the peers. Of the silent ones, a server keeps few, and some linger.
        assert!(descriptors <= idle.0 + peers.len() + 64, "{descriptors} descriptors, {} peers", peers.len());
    }
    drop(peers);
    let end = server.now().saturating_add(Duration::from_secs(20));
    while held() != idle {
        assert!(server.now() < end, "{:?}, and idle {idle:?}", held());
        server.poll(Duration::from_millis(10));
    }
    drop(server);
    assert_eq!(held(), before);
}
