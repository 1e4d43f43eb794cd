//! What only the agent in a `Poll` does; what all adapters do is tested in `adapters/tests`.

use ide_mcp::Time;
use ide_mcp_mio::{Agent, AgentError, AgentOptions, Trust};
use mio::{Events, Poll, Token};
use std::net::{Ipv4Addr, TcpListener};
use std::{env, fs, process};

/// Connecting must not use up the time of the opening handshake.
#[test]
fn handshake_timer_starts_once_connected() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let dir = env::temp_dir().join(format!("ide-mcp-mio-agent-{}", process::id()));
    fs::create_dir_all(&dir).unwrap();
    let lock = dir.join(format!("{}.lock", listener.local_addr().unwrap().port()));
    let (pid, windows) = (process::id(), cfg!(windows));
    let fields =
        format!(r#"{{"pid":{pid},"workspaceFolders":["/w"],"transport":"ws","runningInWindows":{windows}}}"#);
    fs::write(&lock, fields).unwrap();

    let (mut poll, mut events) = (Poll::new().unwrap(), Events::with_capacity(8));
    let mut options = AgentOptions::new("agent", "1").lock_file(&lock);
    options.trust = Trust::EveryUser;
    let mut agent = Agent::start(options, poll.registry(), Token(0)).unwrap();
    assert!(agent.next_event(Time::ZERO).unwrap().is_none());
    assert_eq!(agent.deadline(Time::ZERO), Some(Time::from_millis(30_000)), "the time to connect");
    let connected = Time::from_millis(25_000);
    while agent.deadline(connected) != Some(connected) {
        poll.poll(&mut events, None).unwrap();
        assert!(events.iter().all(|event| agent.handle_event(event)));
    }
    for millis in [25_000, 26_000, 54_999] {
        assert!(agent.next_event(Time::from_millis(millis)).unwrap().is_none(), "at {millis} ms");
    }
    let ended = agent.next_event(Time::from_millis(55_000));
    assert!(matches!(ended, Err(AgentError::NotAdmitted { .. })), "{ended:?}");
    fs::remove_dir_all(dir).unwrap();
}
