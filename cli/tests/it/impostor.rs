//! Another user holds the port of a lock file: no program of this package sends a byte there.
//!
//! A thread under another uid acts as the other user, so these tests need root. Without root they
//! are skipped.
#![cfg(target_os = "linux")]

use crate::support::other_user::{MALLORY, Squatter, as_another_user, can_be_another_user};
use crate::support::{Place, dead};
use ide_mcp_lockfile::{Error, check_server};
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const TOKEN: &str = "0123456789-the-token-of-the-victim";

/// Writes a lock file as an editor of the current user would, for this port and process.
fn lock(place: &Place, port: u16, pid: u32) -> String {
    let path = place.publish(port, &json!({"pid": pid, "ideName": "Victim", "authToken": TOKEN}));
    path.to_str().unwrap().into()
}

/// Tries every way that once gave the other user the token. The lock file names a dead process, or a process id that
/// another program of the current user has by now.
#[test]
fn l13_no_program_sends_to_another_user() {
    if !can_be_another_user() {
        return;
    }
    let place = Place::new("impostor");
    let squatter = Squatter::listen(0);
    let port = squatter.port.to_string();
    let refusal = format!("belongs to user {MALLORY}");
    // (name, program, arguments, true if the process of the lock file lives, part of standard error)
    let not_running = "does not run";
    let rows: &[(&str, &str, &[&str], bool, &str)] = &[
        ("agent by directory", "agent", &["tools"], true, &refusal),
        ("agent by port", "agent", &["--port", &port, "tools"], false, not_running),
        ("agent by file", "agent", &["--lock", "LOCK", "tools"], false, not_running),
        (
            "agent by port, dead on purpose",
            "agent",
            &["--dead-process", "--port", &port, "tools"],
            false,
            &refusal,
        ),
        (
            "agent by file, dead on purpose",
            "agent",
            &["--dead-process", "--lock", "LOCK", "tools"],
            false,
            &refusal,
        ),
        ("agent that reconnects", "agent", &["--reconnect", "--port", &port, "watch"], true, &refusal),
        ("bridge by directory", "bridge", &[], true, &refusal),
        ("bridge by port", "bridge", &["--port", &port], false, not_running),
        ("bridge by port, dead on purpose", "bridge", &["--dead-process", "--port", &port], false, &refusal),
        ("tap by port", "tap", &["--port", &port], false, not_running),
    ];
    for (name, program, arguments, lives, expected) in rows {
        let pid = if *lives { std::process::id() } else { dead() };
        let path = lock(&place, squatter.port, pid);
        let arguments: Vec<&str> =
            arguments.iter().map(|word| if *word == "LOCK" { path.as_str() } else { *word }).collect();
        let mut process = place.start(program, &arguments);
        if *program == "bridge" {
            let info = json!({"name": "test", "version": "1"});
            let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
            let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
            process.try_send_line(&initialize.to_string());
        }
        let (status, output) = process.end_within(Duration::from_secs(5));
        assert!(status.is_some_and(|status| status > 0), "{name}: {status:?} {output}");
        assert!(output.contains(expected), "{name}: {output}");
    }
    lock(&place, squatter.port, std::process::id());
    let mut doctor = place.start("doctor", &["--json"]);
    let found = doctor.rest().join("\n");
    assert_eq!(doctor.end().0, Some(1));
    assert!(found.contains("\"port-of-another-user\"") && found.contains(&refusal), "{found}");
    assert_eq!(squatter.captured(), "", "no program sends a byte");
}

#[test]
fn l13_tap_sends_another_user_nothing() {
    if !can_be_another_user() {
        return;
    }
    let place = Place::new("impostor-tap");
    let squatter = Squatter::listen(0);
    lock(&place, squatter.port, std::process::id());
    let port = squatter.port.to_string();
    let tap = place.start("tap", &["--port", &port]);
    let published = place.published("tap", Some(&port));
    let own = published.file_stem().and_then(|port| port.to_str()).unwrap().parse().unwrap();
    let mut agent = TcpStream::connect(("127.0.0.1", own)).unwrap();
    agent.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    agent.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut answer = String::new();
    let _ = agent.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
    drop(tap);
    assert_eq!(squatter.captured(), "");
}

/// The editor is killed while an agent is attached, and another user takes the port. First the
/// process of the lock file is dead; then the lock file names a living process.
#[test]
fn l13_reconnecting_agent_refuses_another_user() {
    if !can_be_another_user() {
        return;
    }
    let place = Place::new("impostor-again");
    let mut editor = place.editor(&[]);
    let port = editor.port.parse().unwrap();
    let mut agent = place.agent(&["--reconnect", "watch"]);
    editor.until("connected");
    editor.kill();
    let squatter = Squatter::listen(port);
    // Time for the agent to try while the process of the lock file is dead.
    thread::sleep(Duration::from_secs(4));
    lock(&place, port, std::process::id());
    agent.fails(1, &[&format!("belongs to user {MALLORY}")]);
    assert_eq!(squatter.captured(), "");
}

/// The queue of the listener is full, so the kernel lists the other end of a connection in no table
/// until the first byte comes.
#[test]
fn l13_full_queue_hides_nobody() {
    if !can_be_another_user() {
        return;
    }
    let (listening, port) = mpsc::channel();
    let (stop, stopped) = mpsc::channel::<()>();
    let squatter = as_another_user(move || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        listening.send(listener.local_addr().unwrap()).unwrap();
        // The listener never accepts a connection.
        let _ = stopped.recv();
    });
    let addr = port.recv().unwrap();
    let connect = |_| TcpStream::connect_timeout(&addr, Duration::from_millis(200)).ok();
    let connected: Vec<TcpStream> = (0..6).filter_map(connect).collect();
    assert!(!connected.is_empty());
    for (at, stream) in connected.iter().enumerate() {
        let checked = check_server(stream.local_addr().unwrap(), addr);
        assert!(matches!(checked, Err(Error::PortNotOurs { owner: MALLORY, .. })), "{at}: {checked:?}");
    }
    drop(stop);
    squatter.join().unwrap();
}

/// With `--trust-port` a user confirms that the port is forwarded.
#[test]
fn l13_trusted_port_gets_token() {
    if !can_be_another_user() {
        return;
    }
    let place = Place::new("impostor-trusted");
    let squatter = Squatter::listen(0);
    lock(&place, squatter.port, std::process::id());
    let mut agent = place.agent(&["--trust-port", "tools"]);
    agent.end_within(Duration::from_secs(2));
    assert!(squatter.captured().contains(TOKEN));
}
