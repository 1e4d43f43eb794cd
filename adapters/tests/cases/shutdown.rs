//! The end of a server, and of its lock file.

use crate::adapter::{Adapter, Editor};
use crate::plain::{Upto, contains, read_all};
use crate::support::{TempDir, World, proposal};
use ide_mcp::ide::LockFileEvent;
use ide_mcp::{Clock, Time, ws};
use ide_mcp_lockfile::Error;
use std::fs;
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

pub(crate) fn shutdown_rejects_diffs_and_closes_all<A: Adapter>() {
    // No other test may be given the port as soon as it is free.
    let (dir, mut world) = (TempDir::new(), World::<A>::lasting());
    dir.publish(&mut world).unwrap();
    let path = world.editor.lock_path().unwrap();
    let agent = world.agent(proposal("new"), true);
    world.until(|world| !world.seen.open.is_empty());
    assert!(path.exists());
    world.editor.shutdown();
    assert!(!path.exists());
    assert!(TcpStream::connect(world.addr()).is_err(), "nobody listens any more");
    world.until(|world| world.editor.is_over());
    let report = agent.join().unwrap();
    let first = report.answers.first().and_then(|texts| texts.first());
    assert_eq!((report.answers.len(), first.map(String::as_str)), (1, Some("DIFF_REJECTED")));
    let going_away = Some(ws::CloseCode::GOING_AWAY);
    assert!(
        matches!(report.closed, ws::Closed::Remote { code, .. } if code == going_away),
        "{:?}",
        report.closed
    );
    assert_eq!(world.seen.closed.len(), 1);
    assert!(matches!(dir.publish(&mut world), Err(Error::PortZero)));
}

pub(crate) fn l05_lock_file_is_removed_before_listener_closes<A: Adapter>() {
    for round in 0..50 {
        let (dir, mut world) = (TempDir::new(), World::<A>::new());
        let addr = world.addr();
        dir.publish(&mut world).unwrap();
        let path = world.editor.lock_path().unwrap();
        let (begun, begins) = mpsc::channel();
        let observer = thread::spawn(move || {
            while path.exists() {
                // The listener may close while we connect, but not before the file is removed.
                let connected = TcpStream::connect(addr).is_ok();
                assert!(connected || !path.exists(), "round {round}: the file is there and nobody listens");
                let _ = begun.send(());
            }
        });
        begins.recv().unwrap();
        if round % 2 == 0 {
            world.editor.shutdown();
        }
        drop(world);
        observer.join().unwrap();
    }
}

pub(crate) fn l06_a_lock_file_that_vanishes_comes_back<A: Adapter>() {
    let (dir, mut world) = (TempDir::new(), World::<A>::new());
    dir.publish(&mut world).unwrap();
    let path = world.editor.lock_path().unwrap();
    world.step();
    fs::remove_file(&path).unwrap();
    // The guard wakes the server although nothing else happens.
    let clock = Clock::new();
    let restored = Some(&LockFileEvent::Restored);
    while clock.now() < Time::from_millis(6000) && world.seen.lock_file.last() != restored {
        world.step_for(Duration::from_secs(6));
    }
    assert!(world.seen.lock_file.last() == restored && path.exists());
    // Publishing again removes the first file.
    let elsewhere = TempDir::new();
    elsewhere.publish(&mut world).unwrap();
    assert!(!path.exists());
    assert!(world.editor.lock_path().unwrap().starts_with(&elsewhere.0));
}

/// An admitted client that has not sent a close frame gets the close code 1001 (going away), and no client
/// delays the shutdown.
pub(crate) fn shutdown_ends_connections_in_every_state<A: Adapter>() {
    for upto in Upto::ALL {
        let mut world = World::<A>::new();
        let mut stream = world.plain(upto);
        world.until(|world| world.has_handled(0, upto));
        let clock = Clock::new();
        world.editor.shutdown();
        let reader = thread::spawn(move || read_all(&mut stream));
        world.until(|world| world.editor.is_over());
        // The close handshake takes at most two seconds, and the last bytes at most one; a client that
        // delayed it would do so forever.
        assert!(
            clock.now() < Time::ZERO.saturating_add(Duration::from_secs(15)),
            "{upto:?}: {:?}",
            clock.now()
        );
        let all = reader.join().unwrap();
        let unauthenticated = world.editor.machine_mut().unauthenticated().total();
        assert_eq!(world.seen.closed.len() + usize::try_from(unauthenticated).unwrap(), 1, "{upto:?}");
        let has_close_frame = contains(&all, &[0x03, 0xe9]);
        let is_in = !matches!(upto, Upto::Nothing | Upto::HalfRequest | Upto::CloseFrame);
        assert_eq!(has_close_frame, is_in, "{upto:?}: {all:?}");
    }
}
