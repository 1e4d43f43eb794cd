//! What only this adapter does: its waits can be dropped at any time, and other tasks run beside the server.

#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "a test states what it expects")]
#![allow(dead_code, reason = "these tests use a part of the code of the common tests")]

#[path = "../../tests/adapter.rs"]
mod adapter;
#[path = "../../tests/over_smol.rs"]
mod over_smol;
#[path = "../../tests/plain.rs"]
mod plain;
#[path = "../../tests/support.rs"]
mod support;

use ide_mcp::ide::tool::GetDiagnostics;
use ide_mcp::ide::{Client, ClientConfig, ClientEvent, ServerEvent};
use ide_mcp::mcp::{Implementation, ToolResult};
use ide_mcp::rpc::SessionId;
use ide_mcp::{Clock, Time, ws};
use ide_mcp_smol::{Agent, AgentOptions, Conn};
use over_smol::Smol;
use plain::PATIENCE;
use smol::block_on;
use std::future::{Future, poll_fn};
use std::net::TcpListener;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;
use support::{TempDir, World, diagnostics, proposal};

const CALLS: usize = 2000;

/// How many calls may be in flight.
const AT_ONCE: usize = 100;

/// Polls a future once and drops it, as a race against a ready future would.
fn once<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    }
}

/// Twice, a call is dropped after one poll. The editor closes the diff, no event reports the outcome, and the
/// next call is answered.
#[test]
fn dropped_call_of_an_agent_is_cancelled() {
    let (dir, mut world) = (TempDir::new(), World::<Smol>::new());
    dir.publish(&mut world).unwrap();
    let options = AgentOptions::new("agent", "1").lock_file(world.editor.lock_file().path().unwrap());
    let agent = thread::spawn(move || {
        block_on(async {
            let mut agent = Agent::attach(options).await.unwrap();
            for round in 0..2 {
                assert!(once(agent.call_tool(&proposal("new"))).is_none(), "round {round}");
                assert!(agent.call_tool(&diagnostics()).await.is_ok(), "round {round}");
            }
            let event = agent.next_event().await;
            assert!(
                matches!(&event, Ok(ClientEvent::Notification { method, .. }) if &**method == "x/end"),
                "{event:?}"
            );
            agent.detach().await;
        });
    });
    world.until(|world| world.seen.calls == 4 && world.seen.open.is_empty());
    world.editor.machine_mut().notify_all("x/end", None::<&()>).unwrap();
    world.serve(agent);
}

/// Both sides drop every wait after one poll, thousands of times. No call and no answer is lost or comes
/// twice.
#[test]
fn dropped_waits_lose_nothing() {
    let World { editor: mut server, token, .. } = World::<Smol>::new();
    let config =
        ClientConfig::new(Implementation::new("agent", "1"), server.local_addr().port(), Some(token));
    let machine = Client::new(config, getrandom::fill, SessionId::new(1), Time::ZERO).unwrap();
    let mut conn = block_on(Conn::connect(server.local_addr(), machine)).unwrap();

    let (mut calls, mut answers, mut ends, mut waits) = (0, 0, 0, 0_usize);
    let clock = Clock::new();
    while !conn.is_over() || ends == 0 {
        assert!(
            clock.now() < Time::ZERO.saturating_add(PATIENCE),
            "{calls} calls, {answers} answers in {waits} waits"
        );
        waits += 2;
        match once(server.next_event()) {
            Some(Some(ServerEvent::Call { call, .. })) => {
                calls += 1;
                server.machine_mut().call(call).respond(&ToolResult::text("[]")).unwrap();
            }
            Some(Some(ServerEvent::Closed { .. })) => ends += 1,
            _ => {}
        }
        match once(conn.next_event()) {
            Some(Some(ClientEvent::Ready(_))) => {
                for _ in 0..AT_ONCE {
                    conn.machine_mut().call_tool(&GetDiagnostics::default()).unwrap();
                }
            }
            Some(Some(ClientEvent::Outcome { .. })) => {
                answers += 1;
                if answers + AT_ONCE <= CALLS {
                    conn.machine_mut().call_tool(&GetDiagnostics::default()).unwrap();
                } else if answers == CALLS {
                    conn.machine_mut().close();
                }
            }
            _ => {}
        }
    }
    assert_eq!((calls, answers, ends), (CALLS, CALLS, 1));
}

/// The agent answers a close frame after any number of events, although a wait yields after 128 in a row.
#[test]
fn close_frame_is_answered_after_any_number_of_events() {
    for events in 120..=130 {
        let (dir, mut world) = (TempDir::new(), World::<Smol>::new());
        dir.publish(&mut world).unwrap();
        let options = AgentOptions::new("agent", "1").lock_file(world.editor.lock_file().path().unwrap());
        let ((attached, is_attached), (written, is_written)) = (mpsc::channel(), mpsc::channel());
        let agent = thread::spawn(move || {
            block_on(async {
                let mut agent = Agent::attach(options).await.unwrap();
                agent.call_tool(&diagnostics()).await.unwrap();
                attached.send(()).unwrap();
                is_written.recv().unwrap();
                while agent.next_event().await.is_ok() {}
            });
        });
        world.until(|_| is_attached.try_recv().is_ok());
        for _ in 0..events {
            world.editor.machine_mut().notify_all("x/event", None::<&()>).unwrap();
        }
        let (id, now) = (world.seen.ready[0], world.editor.now());
        world.editor.machine_mut().agent_mut(id).disconnect(now);
        (0..3).for_each(|_| world.step());
        written.send(()).unwrap();
        world.until(|world| !world.seen.closed.is_empty());
        world.serve(agent);
        assert_eq!(world.seen.closed, [(id, ws::Closed::Local { clean: true })], "{events} events");
    }
}

/// Counts the wake-ups of a task.
struct Count(AtomicUsize, thread::Thread);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
        self.1.unpark();
    }
}

/// A wait without events is woken only a few times in 1.5 s.
#[test]
fn idle_wait_is_rarely_woken() {
    let mut server = World::<Smol>::new().editor;
    let count = Arc::new(Count(AtomicUsize::new(0), thread::current()));
    let waker = Waker::from(count.clone());
    let peer = std::net::TcpStream::connect(server.local_addr()).unwrap();
    let (clock, mut polls) = (Clock::new(), 0_usize);
    {
        let mut next = pin!(server.next_event());
        while clock.now() < Time::from_millis(1500) {
            let before = count.0.load(Ordering::Relaxed);
            assert!(next.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            polls += 1;
            // The task sleeps until it is woken, as with an executor.
            while count.0.load(Ordering::Relaxed) == before && clock.now() < Time::from_millis(1500) {
                thread::park_timeout(Time::from_millis(1500).saturating_since(clock.now()));
            }
        }
    }
    assert!(polls <= 6, "{polls} polls for a connection that sends nothing");
    drop(peer);
}

/// A task gets its turns although another one on its thread is flooded with messages.
#[test]
fn a_flood_leaves_room_for_other_tasks() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let flood = thread::spawn(move || {
        let request = ws::ClientRequest::new(addr.to_string());
        let machine = ws::Client::new(request, getrandom::fill, ws::Limits::default(), Time::ZERO).unwrap();
        block_on(async {
            let mut conn = Conn::connect(addr, machine).await.unwrap();
            let mut sent = 0;
            while let Some(event) = conn.next_event().await {
                if matches!(event, ws::OwnedEvent::Open { .. }) {
                    while sent < 20_000 {
                        conn.machine_mut().sender().text("x").unwrap();
                        sent += 1;
                    }
                    conn.machine_mut().sender().close(ws::CloseCode::NORMAL, "").unwrap();
                }
            }
            sent
        })
    });
    let machine = ws::Server::new(ws::Limits::default(), Time::ZERO);
    let mut conn = Conn::from_stream(listener.accept().unwrap().0, machine).unwrap();
    let (mut received, mut turns_of_the_other) = (0, 0_usize);
    block_on(async {
        let mut flooded = pin!(async {
            while let Some(event) = conn.next_event().await {
                match event {
                    ws::OwnedEvent::Upgrade(_) => conn.machine_mut().accept(None).unwrap(),
                    ws::OwnedEvent::Text(_) => received += 1,
                    _ => {}
                }
            }
        });
        poll_fn(|context| {
            turns_of_the_other += 1;
            flooded.as_mut().poll(context)
        })
        .await;
    });
    assert_eq!(flood.join().unwrap(), received);
    assert!(turns_of_the_other >= 20_000 / 128, "{turns_of_the_other} turns beside {received} events");
}

/// Servers, connections and their futures are `Send`, so that an executor with threads can run them.
#[test]
fn servers_connections_and_their_waits_are_send() {
    fn is_send<T: Send>(_: &T) {}
    let mut server = World::<Smol>::new().editor;
    is_send(&server);
    is_send(&server.waker());
    is_send(&server.next_event());
    let stream = std::net::TcpStream::connect(server.local_addr()).unwrap();
    let mut conn = Conn::from_stream(stream, ws::Server::new(ws::Limits::default(), Time::ZERO)).unwrap();
    is_send(&conn);
    is_send(&conn.waker());
    is_send(&conn.next_event());
}

/// The editor and the agent are tasks of smol's executor, which runs on another thread than the test.
#[test]
fn editor_and_agent_are_tasks_of_smol() {
    let (dir, mut world) = (TempDir::new(), World::<Smol>::new());
    dir.publish(&mut world).unwrap();
    let mut server = world.editor;
    let options = AgentOptions::new("agent", "1").lock_file(server.lock_file().path().unwrap());
    let editor = smol::spawn(async move {
        let mut calls = 0;
        while !server.is_over() {
            match server.next_event().await {
                Some(ServerEvent::Call { call, .. }) => {
                    calls += 1;
                    server.machine_mut().call(call).respond(&ToolResult::text("[]")).unwrap();
                }
                Some(ServerEvent::Closed { .. }) => server.shutdown(),
                _ => {}
            }
        }
        calls
    });
    let agent = smol::spawn(async {
        let mut agent = Agent::attach(options).await.unwrap();
        agent.call_tool(&diagnostics()).await.unwrap();
        agent.detach().await;
    });
    let both = async {
        agent.await;
        Some(editor.await)
    };
    let too_late = async {
        smol::Timer::after(PATIENCE).await;
        None
    };
    assert_eq!(block_on(smol::future::or(both, too_late)), Some(1), "calls answered");
}

#[test]
fn waker_ends_the_wait_of_a_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let _peer = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let machine = ws::Server::new(ws::Limits::default(), Time::ZERO);
    let mut conn = Conn::from_stream(listener.accept().unwrap().0, machine).unwrap();
    let waker = conn.waker();
    let other = thread::spawn(move || {
        // By now the task most likely waits; the wake-up must work even if it does not.
        thread::sleep(Duration::from_millis(50));
        waker.wake();
    });
    assert_eq!(block_on(conn.next_event()), None);
    assert!(!conn.is_over());
    other.join().unwrap();
}

/// Waits longer than the interval at which a guard without notifications looks at its file, and then removes
/// the file.
#[cfg(target_os = "linux")]
#[test]
fn idle_guarded_server_wakes_when_file_vanishes() {
    let (dir, mut world) = (TempDir::new(), World::<Smol>::new());
    dir.publish(&mut world).unwrap();
    let mut server = world.editor;
    let path = server.lock_file().path().unwrap().to_owned();
    for _ in 0..5 {
        assert!(once(server.next_event()).is_none(), "nothing has happened");
        // Within this time the reactor reports the notifications that publishing itself caused.
        thread::sleep(Duration::from_millis(20));
    }
    let count = Arc::new(Count(AtomicUsize::new(0), thread::current()));
    let waker = Waker::from(count.clone());
    let poll = |server: &mut ide_mcp_smol::Server| {
        let mut future = pin!(server.next_event());
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(event) => event,
            Poll::Pending => None,
        }
    };
    assert!(poll(&mut server).is_none());
    thread::sleep(Duration::from_millis(5_500));
    assert_eq!(count.0.load(Ordering::Relaxed), 0);
    std::fs::remove_file(&path).unwrap();
    let clock = Clock::new();
    let mut events = Vec::new();
    while events.len() < 2 {
        assert!(clock.now() < Time::ZERO.saturating_add(PATIENCE), "{events:?}");
        events.extend(poll(&mut server).map(|event| format!("{event:?}")));
        // The pause between two polls.
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(events, ["LockFile(Lost)", "LockFile(Restored)"]);
    assert!(path.exists());
}
