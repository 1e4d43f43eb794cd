#![allow(clippy::unwrap_used, reason = "a test states what it expects")]

mod late;
mod support;

use super::*;
use ide_mcp::ide::ClientEvent;
use ide_mcp::mcp::Outcome;
use ide_mcp::ws::Closed;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::{fs, io, process};
use support::{
    DEAD, LockFile, PORT, addr, answered, at, attach, connect, foreign, lose, open, pass, refused,
};

#[test]
fn first_attempt_is_not_repeated() {
    type Fail = fn(&mut AgentSession);
    let cases: &[(&str, Fail, &str)] = &[
        (
            "nothing listens",
            |session| session.on_not_connected(at(0), io::Error::from(ErrorKind::ConnectionRefused)),
            "NotConnected",
        ),
        ("another user", |session| session.on_not_connected(at(0), foreign()), "NotConnected"),
        (
            "a socket connected to itself",
            |session| assert!(!session.on_connected(at(0), addr(PORT), addr(PORT))),
            "NotConnected",
        ),
        ("no answer in time", |session| assert_eq!(session.step(at(30)), AgentStep::Over), "NotConnected"),
        (
            "a refused token",
            |session| {
                assert!(session.on_connected(at(0), addr(1), addr(PORT)));
                session.on_event(at(0), refused());
            },
            "NotAdmitted",
        ),
        (
            "no sub-protocol",
            |session| {
                assert!(session.on_connected(at(0), addr(1), addr(PORT)));
                session.on_event(at(0), ClientEvent::SubprotocolMissing);
                session.on_event(at(0), ClientEvent::Closed(Closed::Local { clean: true }));
            },
            "NotAdmitted",
        ),
    ];
    for (name, fail, kind) in cases {
        let lock = LockFile::new();
        let mut session = lock.session();
        connect(&mut session, at(0));
        assert_eq!(session.step(at(29)), AgentStep::Wait(at(30)), "{name}");
        fail(&mut session);
        assert!(!session.is_over() && session.deadline(at(1)) == Some(at(1)), "{name}: an event waits");
        let error = session.take_attached().unwrap().unwrap_err();
        assert!(kind_of(&error).starts_with(kind), "{name}: {error}");
        assert!(!error.to_string().contains("--"), "{name}: {error} names an option of a command line");
        assert_eq!((session.step(at(100)), session.is_over()), (AgentStep::Over, true), "{name}");
    }
}

/// The first attempt takes the editor that was found; the next one reads the lock file again.
#[test]
fn first_attempt_does_not_read_the_lock_file_again() {
    let lock = LockFile::new();
    let mut session = lock.session();
    fs::remove_file(&lock.0).unwrap();
    attach(&mut session, at(0));
    assert!(matches!(session.next_event(), Ok(Some(ClientEvent::Ready(_)))));
    lose(&mut session, at(1));
    assert_eq!(session.step(at(2)), AgentStep::Wait(at(4)));
}

#[test]
fn lost_editor_is_tried_again_each_time() {
    let lock = LockFile::new();
    let mut session = lock.attached();
    for loss in [100, 200] {
        lose(&mut session, at(loss));
        // Failed attempts are not events: nothing listens, the lock file is gone, its process is dead.
        assert_eq!(session.step(at(loss)), AgentStep::Wait(at(loss + 1)));
        connect(&mut session, at(loss + 1));
        session.on_not_connected(at(loss + 1), io::Error::from(ErrorKind::ConnectionRefused));
        fs::remove_file(&lock.0).unwrap();
        assert_eq!(session.step(at(loss + 3)), AgentStep::Wait(at(loss + 7)));
        lock.write('a', DEAD);
        assert_eq!(session.step(at(loss + 7)), AgentStep::Wait(at(loss + 15)), "a dead process");
        lock.write('a', process::id());
        attach(&mut session, at(loss + 15));
        assert!(matches!(session.next_event(), Ok(Some(ClientEvent::Ready(_)))));
        assert!(matches!(session.next_event(), Ok(None)) && session.is_attached());
    }
}

#[test]
fn lost_session_ends_with_the_reason() {
    type Fail = fn(&mut AgentSession, &LockFile);
    let cases: &[(&str, Fail, &str)] = &[
        (
            "another user has the port",
            |session, _| session.on_not_connected(at(101), foreign()),
            "NotConnected",
        ),
        (
            "the token of the lock file is refused",
            |session, _| {
                assert!(session.on_connected(at(101), addr(1), addr(PORT)));
                session.on_event(at(101), refused());
            },
            "Ended { closed: NotAccepted(Status(401, \"\")), gave_up: Some(Refused) }",
        ),
        (
            "the editor stays away",
            |session, lock| {
                fs::remove_file(&lock.0).unwrap();
                session.on_not_connected(at(101), io::Error::from(ErrorKind::ConnectionRefused));
                while let AgentStep::Wait(due) = session.step(at(155)) {
                    assert!(due > at(155));
                    assert_eq!(session.step(at(200)), AgentStep::Over);
                }
            },
            "Ended { closed: Abnormal, gave_up: Some(TooLong) }",
        ),
        (
            "the program at the port is no editor any more",
            |session, _| {
                assert!(session.on_connected(at(101), addr(1), addr(PORT)));
                session.on_event(at(101), ClientEvent::SubprotocolMissing);
                session.on_event(at(101), ClientEvent::Closed(Closed::Local { clean: true }));
            },
            "NotAdmitted",
        ),
    ];
    for (name, fail, kind) in cases {
        let lock = LockFile::new();
        let mut session = lock.attached();
        lose(&mut session, at(100));
        connect(&mut session, at(101));
        fail(&mut session, &lock);
        let error = session.next_event().unwrap_err();
        assert!(kind_of(&error).starts_with(kind), "{name}: {error}");
        assert!(session.is_over() && session.step(at(102)) == AgentStep::Over, "{name}");
        assert!(matches!(session.next_event(), Err(AgentError::Over)), "{name}: the error comes once");
    }
}

#[test]
fn lock_file_is_read_again_after_a_refused_token() {
    type Change = fn(&LockFile);
    let cases: &[(&str, Change)] = &[
        ("another token", |lock| lock.write('b', process::id())),
        ("no lock file yet", |lock| fs::remove_file(&lock.0).unwrap()),
    ];
    for (name, change) in cases {
        let lock = LockFile::new();
        let mut session = lock.attached();
        for loss in [100, 200] {
            lock.write('a', process::id());
            lose(&mut session, at(loss));
            connect(&mut session, at(loss + 1));
            assert!(session.on_connected(at(loss + 1), addr(1), addr(PORT)), "{name}");
            change(&lock);
            session.on_event(at(loss + 1), refused());
            assert!(matches!(session.next_event(), Ok(None)), "{name}");
            assert_eq!(session.step(at(loss + 1)), AgentStep::Wait(at(loss + 3)), "{name}");
            lock.write('b', process::id());
            connect(&mut session, at(loss + 3));
            assert_eq!(session.editor().token.as_ref().unwrap().as_str(), "b".repeat(32), "{name}");
            session.on_not_connected(at(loss + 3), io::Error::from(ErrorKind::ConnectionRefused));
            lock.write('a', process::id());
            attach(&mut session, at(loss + 7));
            assert!(matches!(session.next_event(), Ok(Some(ClientEvent::Ready(_)))), "{name}");
        }
    }
}

/// After a 404 the agent asks for the other default target: once per attempt, on a new socket whose owner is
/// checked, and without an event.
#[test]
fn after_404_the_other_target_is_tried() {
    // The target in the options, how many 404s the first attempt and the one after a loss get, and the
    // targets that they ask for.
    let cases: &[(&str, Option<&str>, usize, usize, &[&str])] = &[
        ("an editor at /", None, 0, 0, &["/", "/"]),
        ("an editor at /mcp", None, 1, 0, &["/", "/mcp", "/mcp"]),
        ("an editor that has moved", None, 1, 1, &["/", "/mcp", "/mcp", "/"]),
        ("an editor at neither", None, 2, 0, &["/", "/mcp"]),
        ("an editor that has left both", None, 0, 2, &["/", "/", "/mcp"]),
        ("a target set in the options", Some("/own"), 0, 0, &["/own", "/own"]),
        ("a wrong target set in the options", Some("/own"), 1, 0, &["/own"]),
    ];
    for (name, set, first, second, expected) in cases {
        let lock = LockFile::new();
        let mut options = AgentOptions::new("agent", "1").lock_file(&lock.0);
        options.trust = Trust::EveryUser;
        options.target = set.map(String::from);
        let mut session = AgentSession::find(options).unwrap();
        let (mut seen, mut missing, mut now) = (Vec::new(), *first, at(0));
        while !session.is_over() {
            connect(&mut session, now);
            assert!(session.on_connected(now, addr(1), addr(PORT)), "{name}");
            let mut client = session.machine(now).unwrap();
            let head = String::from_utf8(pass(&mut client, now).1).unwrap();
            seen.push(head.split(' ').nth(1).unwrap().to_owned());
            if missing > 0 {
                missing -= 1;
                session.on_event(now, answered(404));
                assert_eq!(session.deadline(now), Some(now), "{name}");
                let ended = session.next_event().is_err();
                assert_eq!(ended, session.is_over(), "{name}: a second try is no event");
                continue;
            }
            open(&mut session, now);
            session.next_event().unwrap().unwrap();
            if now > at(0) {
                break;
            }
            lose(&mut session, now);
            (now, missing) = (at(1), *second);
        }
        assert_eq!(seen, *expected, "{name}");
    }
}

/// Connects three times to a server on another machine. The system cannot report the owner of its socket.
#[test]
fn unknown_owner_is_shown_at_every_connection() {
    let [near, far] = [1, 2].map(|host| SocketAddr::from(([192, 0, 2, host], PORT)));
    for (trust, is_shown) in [(Trust::OurUser, true), (Trust::EveryUser, false)] {
        let lock = LockFile::new();
        let mut session = lock.session_with(trust);
        for now in [0, 100, 200] {
            connect(&mut session, at(now));
            assert_eq!(session.unknown_owner().is_some(), is_shown && now > 0, "{trust:?} before {now} s");
            assert!(session.on_connected(at(now), Ok(near), Ok(far)));
            assert_eq!(session.unknown_owner().is_some(), is_shown, "{trust:?} at {now} s");
            open(&mut session, at(now));
            let seen: Vec<_> = std::iter::from_fn(|| session.next_event().unwrap()).collect();
            assert!(matches!(&seen[..], [ClientEvent::Ready(_)]), "{trust:?} at {now} s: {seen:?}");
            lose(&mut session, at(now));
        }
    }
}

#[test]
fn wait_ends_when_too_many_events_are_queued() {
    let lock = LockFile::new();
    let mut session = lock.attached();
    for _ in 0..9_999 {
        session.on_event(at(0), ClientEvent::ToolsChanged);
    }
    assert!(matches!(session.take_outcome(), Ok(None)));
    session.on_event(at(0), ClientEvent::ToolsChanged);
    assert!(matches!(session.take_outcome(), Err(CallError::TooManyEvents)));
    session.next_event().unwrap().unwrap();
    assert!(matches!(session.take_outcome(), Ok(None)));
}

/// After a detach no error follows, whatever the session was doing.
#[test]
fn detach_ends_every_stage_without_an_error() {
    for stage in ["found", "connecting", "opening", "ready", "lost", "connecting again"] {
        let lock = LockFile::new();
        let mut session = lock.session();
        if ["ready", "lost", "connecting again"].contains(&stage) {
            session = lock.attached();
        }
        if ["lost", "connecting again"].contains(&stage) {
            lose(&mut session, at(0));
        }
        if ["connecting", "opening", "connecting again"].contains(&stage) {
            connect(&mut session, at(1));
        }
        if stage == "opening" {
            assert!(session.on_connected(at(1), addr(1), addr(PORT)));
        }
        session.detach();
        let has_connection = ["opening", "ready"].contains(&stage);
        assert_eq!(session.has_connection(), has_connection, "{stage}: the adapter closes the connection");
        if has_connection {
            assert!(!session.is_over(), "{stage}");
            session.on_event(at(2), ClientEvent::Closed(Closed::Local { clean: true }));
        }
        if stage == "ready" {
            assert!(!session.is_over() && session.deadline(at(2)) == Some(at(2)), "an event waits");
            let closed = session.next_event();
            assert!(
                matches!(closed, Ok(Some(ClientEvent::Closed(Closed::Local { clean: true })))),
                "{closed:?}"
            );
        }
        assert_eq!((session.step(at(100)), session.is_over()), (AgentStep::Over, true), "{stage}");
        assert!(matches!(session.next_event(), Ok(None)), "{stage}");
        assert!(matches!(session.take_attached(), Some(Err(AgentError::Over))), "{stage}");
    }
}

#[test]
fn detach_keeps_an_error_that_was_not_taken() {
    let lock = LockFile::new();
    let mut session = lock.session();
    connect(&mut session, at(0));
    session.on_not_connected(at(0), foreign());
    session.detach();
    assert!(!session.is_over());
    assert!(matches!(session.next_event(), Err(AgentError::NotConnected { .. })));
    assert!(session.is_over());
}

/// Such a wait ends at once, because the outcome was delivered when the connection ended.
#[test]
fn wait_ends_if_the_connection_of_its_request_has_ended() {
    let lock = LockFile::new();
    let mut session = lock.session();
    let first = attach(&mut session, at(0)).list_tools().unwrap().id();
    assert!(matches!(session.next_event(), Ok(Some(ClientEvent::Ready(_)))));
    session.begin_wait(first);
    assert!(matches!(session.take_outcome(), Ok(None)));
    lose(&mut session, at(1));
    assert!(matches!(session.take_outcome(), Ok(Some(Outcome::Closed))), "without a connection");
    let mut client = attach(&mut session, at(2));
    session.begin_wait(first);
    assert!(matches!(session.take_outcome(), Ok(Some(Outcome::Closed))), "on a later connection");
    let second = client.list_tools().unwrap().id();
    session.begin_wait(second);
    assert!(matches!(session.take_outcome(), Ok(None)));
    // The request has ended in the machine, and its outcome arrives after the wait has begun.
    pass(&mut client, at(2));
    session.abandon_wait(Some(&mut client));
    assert!(!pass(&mut client, at(2)).1.is_empty(), "the editor hears of the cancellation");
    let third = client.list_tools().unwrap().id();
    session.begin_wait(third);
    session.abandon_wait(Some(&mut client));
    for request in [second, third] {
        session.on_event(at(3), ClientEvent::Outcome { request, outcome: Outcome::TimedOut });
    }
    let others: Vec<_> = std::iter::from_fn(|| session.next_event().unwrap()).collect();
    assert!(matches!(&others[..], [ClientEvent::Ready(_)]), "{others:?}");
}

#[test]
fn session_shows_its_state() {
    let lock = LockFile::new();
    let mut session = lock.session();
    assert!(!session.is_connecting() && session.server().is_none());
    connect(&mut session, at(0));
    assert!(session.is_connecting());
    assert!(session.on_connected(at(0), addr(1), addr(PORT)));
    assert!(!session.is_connecting() && session.server().is_none());
    open(&mut session, at(0));
    let name = session.server().and_then(|server| server.info.as_ref()).map(|info| &*info.name);
    assert_eq!(name, Some("E"));
}

/// Returns the name of the variant, and the fields of `Ended`.
fn kind_of(error: &AgentError) -> String {
    match error {
        AgentError::NoEditor(_) => "NoEditor".into(),
        AgentError::NotConnected { .. } => "NotConnected".into(),
        AgentError::NotAdmitted { .. } => "NotAdmitted".into(),
        AgentError::Invalid(_) => "Invalid".into(),
        AgentError::Io(_) => "Io".into(),
        AgentError::Over => "Over".into(),
        AgentError::Ended { closed, gave_up } => {
            format!("Ended {{ closed: {closed:?}, gave_up: {gave_up:?} }}")
        }
    }
}
