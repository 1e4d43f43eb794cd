//! An editor that is stopped and started again on its port with its token, over real loopback sockets (quirk
//! Q20 of docs/conformance.md).

use ide_mcp::Clock;
use ide_mcp::ide::discovery::{AuthToken, Backoff, Reconnect};
use ide_mcp::ide::{Auth, Client, ClientConfig, ClientEvent, Policy, ServerConfig};
use ide_mcp::mcp::Implementation;
use ide_mcp::rpc::SessionId;
use ide_mcp::ws::Closed;
use ide_mcp_blocking::Conn;
use ide_mcp_lockfile::new_token;
use ide_mcp_mio::{Bind, Server};
use mio::{Events, Poll, Token};
use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A test fails after this time; one that passes never waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

/// The ports for editors that come back on their port. The system does not choose from this range, so it
/// cannot give the port to another program while no editor listens.
const LASTING: RangeInclusive<u16> = 10_000..=32_000;

/// Waits until an ended editor has freed its port: a process that another test starts inherits the listener
/// for a moment.
fn await_port(port: u16) {
    let clock = Clock::new();
    while let Err(error) = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
        assert!(clock.now().since_start() < PATIENCE, "port {port}: {error}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Runs an editor until `over` is true, then shuts it down. Returns its port, and whether it has kept the
/// token.
fn run(bind: Bind, token: &AuthToken, mut over: impl FnMut(u16) -> bool) -> (u16, bool) {
    let (mut poll, mut events, clock) = (Poll::new().unwrap(), Events::with_capacity(8), Clock::new());
    let config = ServerConfig::new("editor", "1").policy(Policy::new(0, Auth::Token(token.clone())));
    let mut server = Server::bind(bind, config, poll.registry(), Token(0)).unwrap();
    let mut shut_down = false;
    while !server.is_over() {
        assert!(clock.now().since_start() < PATIENCE, "it takes too long");
        if !shut_down && over(server.local_addr().port()) {
            shut_down = true;
            server.shutdown(clock.now());
        }
        match poll.poll(&mut events, Some(Duration::from_millis(10))) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            polled => polled.unwrap(),
        }
        for event in &events {
            server.handle_event(event);
        }
        server.turn(clock.now(), |_, _| {});
    }
    (server.local_addr().port(), server.lock_file().token() == Some(token))
}

/// Starts an agent that looks for the editor at its last port, with pauses short enough for a test. It
/// reports each time that it is attached, and leaves after the second time.
fn agent(port: u16, token: AuthToken, attached: mpsc::Sender<()>) -> thread::JoinHandle<Vec<Closed>> {
    let config = ClientConfig::new(Implementation::new("agent", "1"), port, Some(token));
    thread::spawn(move || {
        let mut pauses = Backoff::default();
        (pauses.first, pauses.max) = (Duration::from_millis(20), Duration::from_millis(100));
        let clock = Clock::new();
        let mut reconnect = Reconnect::new(pauses, clock.now());
        let (mut sessions, mut ends) = (0, Vec::new());
        while let Some(due) = reconnect.next_attempt() {
            thread::sleep(due.saturating_since(clock.now()));
            reconnect.on_attempt();
            sessions += 1;
            let machine =
                Client::new(config.clone(), getrandom::fill, SessionId::new(sessions), clock.now()).unwrap();
            let Ok(conn) = Conn::connect((Ipv4Addr::LOCALHOST, port), machine) else {
                let _ = reconnect.on_disconnected(clock.now(), &Closed::Abnormal);
                continue;
            };
            let mut conn = conn.with_clock(clock);
            while let Some(event) = conn.next_event() {
                match event {
                    ClientEvent::Ready(_) => {
                        reconnect.on_connected();
                        attached.send(()).unwrap();
                        if !ends.is_empty() {
                            conn.machine_mut().close();
                        }
                    }
                    ClientEvent::Closed(closed) => {
                        let _ = reconnect.on_disconnected(clock.now(), &closed);
                        if closed != Closed::Abnormal {
                            ends.push(closed);
                        }
                    }
                    _ => {}
                }
            }
        }
        ends
    })
}

/// If the system does not report who owns a client's socket, the editor has a fresh token, and the agent is
/// refused.
#[test]
fn client_returns_to_editor_on_same_port() {
    let token = new_token().unwrap();
    let (sender, attached) = mpsc::channel();
    let mut client = None;
    let (port, _) = run(Bind::Ports(LASTING), &token, |port| {
        client.get_or_insert_with(|| agent(port, token.clone(), sender.clone()));
        attached.try_recv().is_ok()
    });
    await_port(port);
    let client = client.unwrap();
    let again = run(Bind::Resume(port), &token, |_| attached.try_recv().is_ok() || client.is_finished());
    assert_eq!(again, (port, cfg!(target_os = "linux")));
    let ends = client.join().unwrap();
    let as_expected = match &*ends {
        [Closed::Remote { .. }, Closed::Local { clean: true }] => again.1,
        [Closed::Remote { .. }, Closed::NotAccepted(_)] => !again.1,
        _ => false,
    };
    assert!(as_expected, "closed by the editor, then by the agent, or refused: {ends:?}");
}

/// Returns the answer to a handshake with this token, from a socket of the calling thread.
#[cfg(target_os = "linux")]
fn answer_to(port: u16, token: &AuthToken) -> String {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    let head = format!(
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Protocol: mcp\r\nX-Claude-Code-Ide-Authorization: {}\r\n\r\n",
        token.as_str()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    String::from_utf8_lossy(&first).into_owned()
}

/// An editor keeps its token for the next run. Another user who listened on the port in between, and received
/// the token from an agent, cannot attach with it.
#[cfg(target_os = "linux")]
#[test]
fn l14_captured_token_opens_nothing_for_another_user() {
    use std::io::{Write as _, stderr};
    if !rustix::process::geteuid().is_root() {
        assert!(std::env::var_os("IDE_MCP_NO_SKIPS").is_none(), "a skipped test is a failure here");
        // On the real standard error, which libtest does not capture.
        let reason =
            "skipped l14_captured_token_opens_nothing_for_another_user: only root can act as another user\n";
        return stderr().write_all(reason.as_bytes()).unwrap();
    }
    let token = new_token().unwrap();
    let (port, _) = run(Bind::Ports(LASTING), &token, |_| true);
    await_port(port);
    let mut clients = None;
    let (again, _) = run(Bind::Resume(port), &token, |port| {
        let clients = clients.get_or_insert_with(|| {
            let (captured, own) = (token.clone(), token.clone());
            let another = thread::spawn(move || {
                rustix::thread::set_thread_uid(rustix::process::Uid::from_raw(61_234)).unwrap();
                answer_to(port, &captured)
            });
            [another, thread::spawn(move || answer_to(port, &own))]
        });
        clients.iter().all(thread::JoinHandle::is_finished)
    });
    assert_eq!(again, port);
    let answers = clients.unwrap().map(|client| client.join().unwrap());
    assert_eq!(answers, ["HTTP/1.1 401", "HTTP/1.1 101"], "another user, and our user");
}
