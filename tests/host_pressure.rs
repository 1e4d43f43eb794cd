//! A host whose client does not read, or whose application does not poll: what it holds, and what it does when nothing
//! happens (E1, E2, I36).
#![cfg(feature = "ide")]
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "a test states what it expects")]

#[path = "support/ide.rs"]
mod support;

use std::time::Duration;

use allocation_counter::measure;
use ide_mcp::ide::{ConnId, Host, HostConfig};
use ide_mcp::{Machine, Time, Wire};
use support::{
    CONNECTED, HEAD, INITIALIZE, INITIALIZED, at, config, drain, masked, request, selection, text, texts,
    written,
};

fn attached(config: HostConfig) -> (Host, ConnId) {
    let mut host = Host::new(config);
    let conn = host.connect(at(0));
    for bytes in [HEAD.as_bytes().to_vec(), text(INITIALIZE), text(INITIALIZED), text(CONNECTED)] {
        host.wire(conn).unwrap().feed(at(0), &bytes);
        drain(&mut host);
        written(&mut host.wire(conn).unwrap());
    }
    while host.poll_transmit().is_some() {}
    (host, conn)
}

/// One turn of a loop whose socket takes nothing. How many there are in the ten seconds before this time.
fn idle(host: &mut Host, mut now: Time) -> usize {
    let until = now.after(Duration::from_secs(10));
    let mut turns = 0;
    while let Some(due) = host.deadline().filter(|due| *due < until) {
        assert!(due > now || turns == 0, "it would spin at {now:?}");
        now = now.max(due);
        host.tick(now);
        drain(host);
        while host.poll_transmit().is_some() {}
        turns += 1;
        assert!(turns < 100, "it spins");
    }
    turns
}

/// A million selections of a kilobyte at a client that lives and reads nothing, with and without a debounce.
#[test]
fn e01_a_million_selections_at_a_client_that_reads_nothing() {
    let pong = masked(0x8a, b"");
    for debounce in [50, 0] {
        let mut config = HostConfig::new(config());
        config.debounce = Duration::from_millis(debounce);
        let (mut host, conn) = attached(config);
        let mut now = at(0);
        let filler = "x".repeat(1000);
        let used = measure(|| {
            for count in 0..1_000_000_u64 {
                now = at(count);
                host.select(now, selection(&format!("{count} {filler}")));
                if count % 10_000 == 0 {
                    host.wire(conn).unwrap().feed(now, &pong);
                }
                host.tick(now);
                assert!(drain(&mut host).is_empty(), "it lives");
                while host.poll_transmit().is_some() {}
            }
        });
        println!(
            "debounce {debounce} ms: {} bytes at most, {} allocations",
            used.bytes_max, used.count_total
        );
        assert!(used.bytes_max < 192 * 1024, "{} bytes with {debounce} ms", used.bytes_max);

        let turns = idle(&mut host, now.after(Duration::from_millis(300)));
        assert!(turns < 5, "{turns} turns in ten idle seconds");

        // It reads again, a little at a time.
        let mut read = Vec::new();
        loop {
            let mut wire = host.wire(conn).unwrap();
            let some = wire.outgoing().len().min(1000);
            read.extend_from_slice(&wire.outgoing()[..some]);
            wire.sent(some);
            if some == 0 {
                break;
            }
        }
        let said = texts(&read);
        assert!(said.len() < 100, "{} selections were kept", said.len());
        assert!(said.last().unwrap().contains("\"999999 x"), "the last one arrives");
    }
}

/// A client asks as well. Above the mark one message and the mark are read and not answered.
#[test]
fn e01_requests_of_a_client_that_reads_nothing() {
    const MARK: usize = 256 * 1024;
    let mut config = HostConfig::new(config());
    config.server.limits.outgoing = MARK;
    config.server.limits.message = MARK;
    let (mut host, conn) = attached(config);
    let ping = text(&request(7, "ping"));
    let mut fed = 0_u32;
    let used = measure(|| {
        for count in 0..1_000_000_u64 {
            let now = at(count / 1000);
            host.select(now, selection(&format!("{count}")));
            let mut wire = host.wire(conn).unwrap();
            if wire.wants_input() {
                wire.feed(now, &ping);
                fed += 1;
            }
            host.tick(now);
            drain(&mut host);
        }
    });
    println!("{} bytes at most, {fed} requests", used.bytes_max);
    let waiting = host.wire(conn).unwrap().outgoing().len();
    assert!((MARK..MARK + 64 * 1024).contains(&waiting), "{waiting} wait");
    // The buffers double as they grow.
    assert!(used.bytes_max < 6 * u64::try_from(MARK).unwrap() + 64 * 1024, "{} bytes", used.bytes_max);
    assert!(idle(&mut host, at(1001)) < 5);
}

#[test]
fn e02_a_host_that_nobody_polls_takes_so_much_and_no_more() {
    let (mut host, conn) = attached(HostConfig::new(config()));
    let ping = text(&request(7, "ping"));
    let mut taken = 0;
    let used = measure(|| {
        for _ in 0..1_000_000 {
            let mut wire = host.wire(conn).unwrap();
            let space = wire.space();
            let said = &ping[taken % ping.len()..];
            let some = said.len().min(space.len());
            space[..some].copy_from_slice(&said[..some]);
            if some > 0 {
                wire.filled(at(1), some);
                taken += some;
            }
        }
    });
    println!("{} bytes at most, {taken} taken", used.bytes_max);
    assert_eq!(taken, 256 * 1024);
    assert!(used.bytes_max < 768 * 1024, "{} bytes", used.bytes_max);
    assert!(host.wire(conn).unwrap().space().is_empty());
    assert!(drain(&mut host).is_empty() && host.wire(conn).unwrap().wants_input());
    assert_eq!(texts(&written(&mut host.wire(conn).unwrap())).len(), taken / ping.len());
}

/// A thousand that send a byte a second and never a whole head, and one that knows the token.
#[test]
fn n05_a_thousand_strangers_cost_eight() {
    let mut host = Host::new(HostConfig::new(config()));
    let mut friend = None;
    let used = measure(|| {
        let mut conns: Vec<ConnId> = Vec::with_capacity(1_000);
        for second in 0..4 {
            let now = at(second * 1_000);
            for _ in 0..250 {
                conns.push(host.connect(now));
                // A loop polls and writes between any two that it accepts, and lets those go that are over.
                conns.retain(|conn| {
                    let Some(mut wire) = host.wire(*conn) else { return false };
                    if wire.wants_input() {
                        wire.feed(now, b"G");
                    }
                    true
                });
                drain(&mut host);
                while let Some(conn) = host.poll_transmit() {
                    if host.wire(conn).is_some_and(|wire| wire.is_done()) {
                        host.remove(now, conn);
                    }
                }
                assert!(host.connections().count() <= 8);
            }
            if second == 2 {
                let conn = host.connect(now);
                host.wire(conn).unwrap().feed(now, HEAD.as_bytes());
                drain(&mut host);
                assert!(written(&mut host.wire(conn).unwrap()).starts_with(b"HTTP/1.1 101 "), "at once");
                host.remove(now, conn);
                drain(&mut host);
                friend = Some(conn);
            }
        }
    });
    println!("{} bytes at most", used.bytes_max);
    assert!(friend.is_some() && used.bytes_max < 8 * 16 * 1024, "{} bytes", used.bytes_max);
    // Nobody is there any more once they have had their 5 s.
    host.tick(at(8_000));
    drain(&mut host);
    assert!(host.connections().all(|(_, server)| !server.is_open() && !server.wants_input()));
}
