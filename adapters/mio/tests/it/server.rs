//! What only this adapter's server has: the tokens of a `Poll`, and the deadline that the loop must respect.
//! `adapters/tests` tests everything else for all adapters at once.

use crate::adapter::Editor as _;
use crate::over_mio::Mio;
use crate::support::{TempDir, World, diagnostics};
use ide_mcp::ide::discovery::LockFile;
use ide_mcp::ide::{LockFileEvent, ServerConfig};
use ide_mcp_mio::{Bind, NestedServer};
use mio::Token;
use std::fs;
use std::time::Duration;

#[test]
fn abandoned_server_has_no_deadline() {
    let mut world = World::<Mio>::new();
    let agent = world.agent(diagnostics(), false);
    assert_eq!(world.serve(agent).answers, [["[]"]]);
    world.until(|world| world.connections() == 0);
    let rest = world.editor.now().saturating_add(Duration::from_millis(1500));
    world.until(|world| world.editor.now() >= rest);
    assert_eq!(world.editor.server.deadline(world.editor.now()), None);
}

#[test]
fn lock_file_that_vanishes_is_reported_and_restored() {
    let (dir, mut world) = (TempDir::new(), World::<Mio>::new());
    dir.publish(&mut world).unwrap();
    let path = world.editor.lock_path().unwrap();
    world.step();
    fs::remove_file(&path).unwrap();
    world.until(|world| world.seen.lock_file.last() == Some(&LockFileEvent::Restored));
    assert!(path.exists());
    // Without notifications the guard looks after an interval, and never sees a loss.
    let lost = if cfg!(target_os = "linux") { vec![LockFileEvent::Lost] } else { vec![] };
    assert_eq!(world.seen.lock_file, [lost, vec![LockFileEvent::Restored]].concat());
    let other = LockFile::new(1, vec![], "other", world.token().clone());
    world.editor.server.lock_file_mut().update(&other).unwrap();
    assert!(fs::read_to_string(&path).unwrap().contains("other"));
}

/// An idle server gets no event and sets no timer, even in a wait that is longer than the interval of a guard
/// without notifications.
#[cfg(target_os = "linux")]
#[test]
fn idle_server_with_guard_never_wakes() {
    let (dir, mut world) = (TempDir::new(), World::<Mio>::new());
    dir.publish(&mut world).unwrap();
    for _ in 0..3 {
        world.step();
    }
    assert_eq!(world.editor.server.deadline(world.editor.now()), None);
    let crate::over_mio::MioEditor { poll, events, .. } = &mut world.editor;
    poll.poll(events, Some(Duration::from_millis(5_500))).unwrap();
    assert!(events.is_empty() && world.seen.lock_file.is_empty(), "{events:?}");
    assert_eq!(world.editor.server.deadline(world.editor.now()), None);
}

#[test]
fn server_owns_its_tokens_and_no_others() {
    let world = World::<Mio>::new();
    let cases = [("below", 0, false), ("first", 1, true), ("last", 1024, true), ("above", 1025, false)];
    for (name, token, owns) in cases {
        assert_eq!(world.editor.server.owns(Token(token)), owns, "{name}");
    }
    assert!(!world.editor.server.owns(Token(usize::MAX)));
}

/// Work from outside a turn ends the next wait, even on a system without a timer in the `Poll`.
#[test]
fn shutdown_of_a_nested_server_ends_an_unlimited_wait() {
    let mut server = NestedServer::bind(Bind::AnyPort, ServerConfig::new("editor", "1")).unwrap();
    server.machine_mut();
    assert_eq!(server.timeout(), Some(Duration::ZERO), "the next turn writes");
    server.dispatch_within(None, |_, _| ()).unwrap();
    assert_eq!(server.timeout(), None, "nothing is left to do");
    server.shutdown();
    while !server.is_over() {
        server.dispatch_within(None, |_, _| ()).unwrap();
    }
}
