//! Reports of an adapter that arrive after the session has ended.

use super::support::{LockFile, PORT, addr, at, connect, lose};
use crate::agent::{AgentSession, AgentStep};
use std::io::{self, ErrorKind};

/// One turn of a loop can bring both the end of a session and a report about its socket. The report then does
/// nothing, because no attempt waits for the socket any more.
#[test]
fn late_report_of_a_socket_changes_nothing() {
    type Report = fn(&mut AgentSession);
    let reports: [(&str, Report); 2] = [
        ("connected", |session| assert!(!session.on_connected(at(0), addr(1), addr(PORT)))),
        ("refused", |session| {
            session.on_not_connected(at(0), io::Error::from(ErrorKind::ConnectionRefused));
        }),
    ];
    for (name, report) in reports {
        let lock = LockFile::new();
        // The first attempt, and one after the editor was lost.
        for is_first in [true, false] {
            let mut session = if is_first { lock.session() } else { lock.attached() };
            if !is_first {
                lose(&mut session, at(0));
            }
            let now = at(u64::from(!is_first));
            assert!(is_first || matches!(session.step(at(0)), AgentStep::Wait(_)));
            connect(&mut session, now);
            session.detach();
            report(&mut session);
            assert!(session.is_over() && session.step(at(100)) == AgentStep::Over, "{name}");
            assert!(matches!(session.next_event(), Ok(None)) && !session.has_connection(), "{name}");
        }
    }
}

#[test]
fn detached_while_opening_is_over_once_the_socket_fails() {
    let lock = LockFile::new();
    for is_first in [true, false] {
        let mut session = if is_first { lock.session() } else { lock.attached() };
        if !is_first {
            lose(&mut session, at(0));
            assert!(matches!(session.step(at(0)), AgentStep::Wait(_)));
        }
        let now = at(u64::from(!is_first));
        connect(&mut session, now);
        assert!(session.on_connected(now, addr(1), addr(PORT)));
        session.detach();
        session.on_not_connected(now, io::Error::from(ErrorKind::ConnectionRefused));
        assert!(session.is_over() && session.step(at(100)) == AgentStep::Over);
        assert!(matches!(session.next_event(), Ok(None)) && session.deadline(at(5)).is_none());
    }
}
