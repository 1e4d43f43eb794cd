//! A connection must not wake its thread again and again while the peer does not read.

use crate::sockets::opened;
use cpu_time::ThreadTime;
use ide_mcp::ws;
use std::io::Write as _;
use std::time::Duration;

/// Returns how many times this thread has waited so far.
#[cfg(target_os = "linux")]
fn waits() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches")).unwrap();
    line.split_whitespace().last().unwrap().parse().unwrap()
}

/// The peer sends the first byte of a frame, and does not read.
#[test]
fn flush_waits_after_an_incomplete_frame() {
    let (mut stream, mut conn) = opened(ws::Limits::default());
    assert!(matches!(conn.next_event(), Some(ws::OwnedEvent::Upgrade(_))));
    conn.machine_mut().accept(None).unwrap();
    conn.machine_mut().sender().binary(&vec![7; 6 << 20]).unwrap();
    assert!(!conn.flush(Duration::from_millis(100)));
    stream.write_all(&[0x81]).unwrap();
    let before = ThreadTime::now();
    assert!(!conn.flush(Duration::from_secs(1)));
    let spent = before.elapsed();
    assert!(spent < Duration::from_millis(200), "the thread never waits: {spent:?} of a second");
}

#[cfg(target_os = "linux")]
#[test]
fn peer_that_never_reads_causes_no_wakes() {
    use crate::plain::PATIENCE;
    use ide_mcp::{Clock, Time};
    use std::io::Read as _;

    let (mut stream, mut conn) = opened(ws::Limits::default());
    assert!(matches!(conn.next_event(), Some(ws::OwnedEvent::Upgrade(_))));
    conn.machine_mut().accept(None).unwrap();
    for size in [6 << 20, 16 << 20] {
        // First the send buffer stays below the high-water mark, and the connection reads input; in the
        // second round it is above.
        conn.machine_mut().sender().binary(&vec![7; size]).unwrap();
        assert!(conn.poll(Duration::from_millis(500)).is_none());
        let before = waits();
        assert!(conn.poll(Duration::from_secs(2)).is_none());
        let after = waits();
        assert!(after - before <= 5, "{} waits in 2 s, with {size} bytes to write", after - before);
    }
    // The peer reads, which makes room for the remaining bytes.
    let reader = std::thread::spawn(move || {
        let mut read = Vec::new();
        // The connection may end with a reset, which is an error.
        let _ = stream.read_to_end(&mut read);
        read.len()
    });
    let begin = Clock::new();
    while !conn.flush(Duration::from_secs(1)) {
        assert!(begin.now() < Time::ZERO.saturating_add(PATIENCE));
    }
    drop(conn);
    assert!(reader.join().unwrap() > 22 << 20);
}
