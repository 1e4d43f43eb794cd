//! An editor that is stopped and started again on its port with its token, over real loopback sockets (Q20).

#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "a test states what it expects")]

use getrandom::SysRng;
use ide_mcp::Clock;
use ide_mcp::ide::{
    AuthToken, Backoff, Client, ClientConfig, ClientEvent, HostConfig, Policy, Reconnect, ServerConfig,
    ToolSet,
};
use ide_mcp::mcp::Implementation;
use ide_mcp::rpc::SessionId;
use ide_mcp::ws::Closed;
use ide_mcp_blocking::Conn;
use ide_mcp_lockfile::new_token;
use ide_mcp_mio::{Bind, Server};
use mio::{Events, Poll, Token};
use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Nothing waits for so long where all is well.
const PATIENCE: Duration = Duration::from_secs(60);

/// One run of an editor: until `over` is true, then it shuts down. The port it had.
fn run(bind: Bind, token: &AuthToken, mut over: impl FnMut(u16) -> bool) -> u16 {
    let (mut poll, mut events, clock) = (Poll::new().unwrap(), Events::with_capacity(8), Clock::new());
    let info = Implementation::new("editor", "1");
    let config = HostConfig::new(ServerConfig::new(info, Policy::new(0, token.clone()), ToolSet::new()));
    let mut server = Server::bind(bind, config, poll.registry(), Token(0)).unwrap();
    let mut shut_down = false;
    while !server.is_over() {
        assert!(clock.now().since_start() < PATIENCE, "it takes too long");
        if !shut_down && over(server.port()) {
            shut_down = true;
            server.shutdown(clock.now());
        }
        match poll.poll(&mut events, Some(Duration::from_millis(10))) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            polled => polled.unwrap(),
        }
        for event in &events {
            server.handle(event);
        }
        server.turn(clock.now(), |_, _| {});
    }
    server.port()
}

/// An agent that looks for the editor where it was, with pauses short enough for a test. It says when it is attached, and
/// leaves the second time.
fn agent(port: u16, token: AuthToken, attached: mpsc::Sender<()>) -> thread::JoinHandle<Vec<Closed>> {
    let config = ClientConfig::new(Implementation::new("agent", "1"), port, Some(token));
    thread::spawn(move || {
        let mut pauses = Backoff::default();
        (pauses.first, pauses.most) = (Duration::from_millis(20), Duration::from_millis(100));
        let clock = Clock::new();
        let mut reconnect = Reconnect::new(pauses, clock.now());
        let (mut sessions, mut ends) = (0, Vec::new());
        while let Some(due) = reconnect.due() {
            thread::sleep(due.since(clock.now()));
            reconnect.started();
            sessions += 1;
            let machine = Client::new(config.clone(), SysRng, SessionId::new(sessions), clock.now()).unwrap();
            let Ok(conn) = Conn::connect((Ipv4Addr::LOCALHOST, port), machine) else {
                let _ = reconnect.ended(clock.now(), &Closed::Vanished);
                continue;
            };
            let mut conn = conn.with_clock(clock);
            while let Some(event) = conn.next_event() {
                match event {
                    ClientEvent::Ready(_) => {
                        reconnect.attached();
                        attached.send(()).unwrap();
                        if !ends.is_empty() {
                            conn.machine_mut().close();
                        }
                    }
                    ClientEvent::Closed(closed) => {
                        let _ = reconnect.ended(clock.now(), &closed);
                        if closed != Closed::Vanished {
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

#[test]
fn a_client_comes_back_to_an_editor_on_the_port_of_before() {
    let token = new_token().unwrap();
    let (sender, attached) = mpsc::channel();
    let mut client = None;
    let port = run(Bind::AnyPort, &token, |port| {
        client.get_or_insert_with(|| agent(port, token.clone(), sender.clone()));
        attached.try_recv().is_ok()
    });
    let again = run(Bind::Resume(port), &token, |_| attached.try_recv().is_ok());
    assert_eq!(again, port);
    let ends = client.unwrap().join().unwrap();
    assert!(
        matches!(&*ends, [Closed::ByPeer { .. }, Closed::ByUs { answered: true }]),
        "closed by the editor, then by the agent: {ends:?}"
    );
}
