//! The agents: attaching, calling, and attaching again.

use crate::adapter::{Adapter, Agent, Editor};
use crate::support::{TempDir, World, diagnostics, proposal};
use ide_mcp::ide::discovery::client_env::{AUTO_CONNECT_VARIABLE, PORT_VARIABLE};
use ide_mcp::ide::discovery::{Backoff, GaveUp, LockFile};
use ide_mcp::ide::tool::DiffOutcome;
use ide_mcp::ide::{ClientEvent, RequestError};
use ide_mcp::rpc::NotSent;
use ide_mcp::ws;
use ide_mcp_driver::{AgentError, AgentOptions, CallError, ConnectError, NotAdmitted};
use ide_mcp_lockfile::{LockDir, NoEditorReason, new_token};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use std::{any, env, fs, io};

/// Returns the options of an agent that tries again soon, for at most `timeout`.
fn options(lock_file: &Path, timeout: Duration) -> AgentOptions {
    let mut backoff = Backoff::default();
    (backoff.first, backoff.max) = (Duration::from_millis(20), Duration::from_millis(100));
    backoff.timeout = timeout;
    let mut options = AgentOptions::new("agent", "1").lock_file(lock_file);
    options.backoff = backoff;
    options
}

const LONG: Duration = Duration::from_secs(15);

/// Publishes the lock file, and returns the options of an agent that finds it.
fn published<A: Adapter>(world: &mut World<A>, dir: &TempDir) -> AgentOptions {
    dir.publish(world).unwrap();
    options(&world.editor.lock_path().unwrap(), LONG)
}

pub(crate) fn agent_attaches_calls_and_detaches<A: Adapter>() {
    let (dir, mut world) = (TempDir::new(), World::<A>::new());
    let options = published(&mut world, &dir);
    let agent = thread::spawn(move || {
        let mut agent = A::Agent::attach(options).unwrap();
        for _ in 0..2 {
            // The list is answered before the call, and kept for `wait_for`.
            let pending = agent.client_mut().unwrap().list_tools().unwrap();
            assert!(agent.call_tool(&diagnostics()).is_ok());
            let tools = agent.wait_for(pending).unwrap();
            assert!(tools.iter().any(|tool| tool.name == "getDiagnostics"), "{tools:?}");
        }
        agent.detach();
    });
    world.serve(agent);
    world.until(|world| world.connections() == 0);
    assert_eq!((world.seen.ready.len(), world.seen.calls), (1, 2));
    let normal = Some(ws::CloseCode::NORMAL);
    assert!(
        matches!(&world.seen.closed[..], [(_, ws::Closed::Remote { code, .. })] if *code == normal),
        "{:?}",
        world.seen.closed
    );
}

/// An agent that attaches and then does nothing must still be ready at the editor.
pub(crate) fn idle_agent_is_ready_at_the_editor<A: Adapter>() {
    let (dir, mut world) = (TempDir::new(), World::<A>::new());
    let options = published(&mut world, &dir);
    let (ends, ended) = mpsc::channel::<()>();
    let agent = thread::spawn(move || {
        let agent = A::Agent::attach(options).unwrap();
        let _ = ended.recv();
        drop(agent);
    });
    world.until(|world| !world.seen.ready.is_empty());
    drop(ends);
    world.serve(agent);
}

/// Detaches before the editor has answered the opening handshake.
pub(crate) fn detach_before_the_answer_ends_at_once<A: Adapter>() {
    let (dir, mut world) = (TempDir::new(), World::<A>::new());
    let options = published(&mut world, &dir);
    let (ends, ended) = mpsc::channel();
    thread::spawn(move || {
        A::Agent::start_and_detach(options, Duration::from_millis(300));
        ends.send(()).unwrap();
    });
    assert_eq!(ended.recv_timeout(Duration::from_secs(10)), Ok(()), "the agent waits for the editor");
    world.until(|world| world.connections() == 0);
    assert!(world.seen.ready.is_empty());
}

pub(crate) fn agent_that_is_not_admitted_names_the_remedy<A: Adapter>() {
    let (dir, mut world) = (TempDir::new(), World::<A>::new());
    let options = published(&mut world, &dir);
    let lock_file = world.editor.lock_path().unwrap();
    let text = fs::read_to_string(&lock_file).unwrap();
    let attach = move |options: AgentOptions| thread::spawn(move || A::Agent::attach(options).err().unwrap());

    // The guard would restore the editor's own file, so put wrong lock files beside it.
    let other = dir.0.join("1.lock");
    fs::write(&other, &text).unwrap();
    let error = world.serve(attach(options.clone().lock_file(&other)));
    let shown = error.to_string();
    assert!(matches!(error, AgentError::NotConnected { error: ConnectError::Io(_), .. }), "{error:?}");
    assert!(
        shown.contains("does not answer on port 1 (") && shown.contains("start the editor again"),
        "{shown}"
    );

    let elsewhere = TempDir::new();
    fs::create_dir(&elsewhere.0).unwrap();
    let wrong = elsewhere.0.join(lock_file.file_name().unwrap());
    fs::write(&wrong, text.replace(world.token().as_str(), new_token().unwrap().as_str())).unwrap();
    let error = world.serve(attach(options.clone().lock_file(&wrong)));
    let shown = error.to_string();
    assert!(
        matches!(
            error,
            AgentError::NotAdmitted { reason: NotAdmitted::Closed(ws::Closed::NotAccepted(_)), .. }
        ),
        "{error:?}"
    );
    assert!(shown.contains("refuses the token") && shown.contains("start the editor again"), "{shown}");

    let error = world.serve(attach(options.lock_file(elsewhere.0.join("2.lock"))));
    let AgentError::NoEditor(none) = &error else { unreachable!("{error:?}") };
    assert!(matches!(none.reason, NoEditorReason::NoFile { .. }), "{none:?}");
}

/// An agent whose directory fits two editors gets an error that names both. The search reads environment
/// variables, so the agent is this test again, in a process with its own variables.
pub(crate) fn agent_between_two_editors_names_both<A: Adapter>() {
    const AGENT: &str = "IDE_MCP_TEST_AGENT";
    let own = any::type_name::<A>();
    if let Some(adapter) = env::var_os(AGENT) {
        if adapter == own {
            let error = A::Agent::attach(AgentOptions::new("agent", "1").cwd(".")).err().unwrap();
            let AgentError::NoEditor(none) = &error else { unreachable!("{error:?}") };
            assert!(matches!(none.reason, NoEditorReason::SeveralFit { .. }), "{none:?}");
            io::stdout().write_all(error.to_string().as_bytes()).unwrap();
        }
        return;
    }
    let dir = TempDir::new();
    let mut worlds = [World::<A>::new(), World::<A>::new()];
    for (world, name) in worlds.iter_mut().zip(["one editor", "another editor"]) {
        let folders = vec![dir.0.to_str().unwrap().to_owned()];
        let file = LockFile::new(std::process::id(), folders, name, world.token().clone());
        world.editor.publish(&LockDir::create(dir.0.join("ide")).unwrap(), &file).unwrap();
    }
    let agent = Command::new(env::current_exe().unwrap())
        .arg("agent_between_two_editors_names_both")
        .current_dir(&dir.0)
        .envs([(AGENT, own.as_ref()), ("HOME", dir.0.as_os_str()), ("CLAUDE_CONFIG_DIR", dir.0.as_os_str())])
        .env_remove(PORT_VARIABLE)
        .env_remove(AUTO_CONNECT_VARIABLE)
        .output()
        .unwrap();
    let shown = String::from_utf8(agent.stdout).unwrap();
    assert!(agent.status.success(), "{shown}");
    let ports = worlds.each_ref().map(|world| world.addr().port().to_string());
    for part in ["one editor", "another editor", &ports[0], &ports[1], "choose one by its port"] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
}

/// Stops the editor and starts it again on the same port: first with the same token, after a shutdown; then
/// with another token, after a crash that the agent notices without a close frame.
pub(crate) fn agent_finds_restarted_editor_twice<A: Adapter>() {
    let (dir, mut world) = (TempDir::new(), World::<A>::lasting());
    let options = published(&mut world, &dir);
    let (reports, reported) = mpsc::channel();
    let agent = thread::spawn(move || {
        let mut agent = A::Agent::attach(options).unwrap();
        for round in 0..3 {
            assert!(agent.call_tool(&diagnostics()).is_ok(), "round {round}");
            reports.send(round).unwrap();
            if round == 2 {
                break;
            }
            let lost = agent.next_event();
            assert!(matches!(lost, Ok(ClientEvent::Closed(_))), "round {round}: {lost:?}");
            assert!(matches!(agent.client_mut(), Err(NotSent::NotReady)), "round {round}");
            assert!(
                matches!(agent.call_tool(&diagnostics()), Err(CallError::NotSent(NotSent::NotReady))),
                "round {round}"
            );
            let back = agent.next_event();
            assert!(matches!(back, Ok(ClientEvent::Ready(_))), "round {round}: {back:?}");
        }
        agent.detach();
    });
    let port = world.addr().port();
    for round in 0..2 {
        world.until(|_| reported.try_recv() == Ok(round));
        let mut token = world.token().clone();
        if round == 0 {
            world.editor.shutdown();
            world.until(|world| world.editor.is_over());
            let closed = &world.seen.closed;
            assert!(matches!(closed[..], [(_, ws::Closed::Local { clean: true })]), "{closed:?}");
        } else {
            token = new_token().unwrap();
        }
        drop(world);
        // In the meantime the agent looks for the editor, and finds no lock file.
        assert_eq!(reported.recv_timeout(Duration::from_millis(200)), Err(RecvTimeoutError::Timeout));
        world = World::again(port, token);
        dir.publish(&mut world).unwrap();
    }
    world.serve(agent);
    assert_eq!((world.seen.ready.len(), world.seen.calls), (1, 1));
}

pub(crate) fn agent_gives_up_if_editor_stays_away<A: Adapter>() {
    let (dir, mut world) = (TempDir::new(), World::<A>::new());
    dir.publish(&mut world).unwrap();
    let options = options(&world.editor.lock_path().unwrap(), Duration::from_millis(300));
    let attached = thread::spawn(move || A::Agent::attach(options).unwrap());
    // The attached agent moves to this thread.
    let mut agent = world.serve(attached);
    drop(world);
    assert!(matches!(agent.next_event(), Ok(ClientEvent::Closed(_))));
    let end = agent.next_event();
    let given_up = Some(GaveUp::TooLong);
    assert!(matches!(&end, Err(AgentError::Ended { gave_up, .. }) if *gave_up == given_up), "{end:?}");
    assert!(agent.is_over() && matches!(agent.next_event(), Err(AgentError::Over)));
    assert!(matches!(agent.call_tool(&diagnostics()), Err(CallError::NotSent(NotSent::NotReady))));
}

/// Restarts the editor with another token, while the lock file keeps the old one.
pub(crate) fn agent_ends_if_lock_file_is_wrong<A: Adapter>() {
    let (dir, mut world) = (TempDir::new(), World::<A>::lasting());
    let options = published(&mut world, &dir);
    let lock_file = world.editor.lock_path().unwrap();
    let text = fs::read_to_string(&lock_file).unwrap();
    let attached = thread::spawn(move || A::Agent::attach(options).unwrap());
    let mut agent = world.serve(attached);
    let port = world.addr().port();
    drop(world);
    let mut world = World::<A>::again(port, new_token().unwrap());
    fs::write(&lock_file, text).unwrap();
    let end = thread::spawn(move || {
        assert!(matches!(agent.next_event(), Ok(ClientEvent::Closed(_))));
        (agent.next_event(), agent.is_over())
    });
    let (end, is_over) = world.serve(end);
    let given_up = Some(GaveUp::Refused);
    assert!(matches!(&end, Err(AgentError::Ended { gave_up, .. }) if *gave_up == given_up), "{end:?}");
    assert!(is_over && world.seen.ready.is_empty());
}

pub(crate) fn agent_without_reconnect_ends_with_its_connection<A: Adapter>() {
    let (dir, mut world) = (TempDir::new(), World::<A>::new());
    let mut options = published(&mut world, &dir);
    options.reconnects = false;
    let agent = thread::spawn(move || {
        let mut agent = A::Agent::attach(options).unwrap();
        let answer = agent.call_tool(&proposal("new"));
        assert!(matches!(answer, Err(CallError::Failed(RequestError::Closed))), "{answer:?}");
        assert!(matches!(agent.next_event(), Ok(ClientEvent::Closed(_))));
        agent.next_event()
    });
    world.until(|world| !world.seen.open.is_empty());
    drop(world);
    let end = agent.join().unwrap();
    assert!(matches!(&end, Err(AgentError::Ended { gave_up: None, .. })), "{end:?}");
}

pub(crate) fn events_during_a_call_keep_their_order<A: Adapter>() {
    const EVENTS: usize = 100;
    let (dir, mut world) = (TempDir::new(), World::<A>::new());
    let options = published(&mut world, &dir);
    let agent = thread::spawn(move || {
        let mut agent = A::Agent::attach(options).unwrap();
        let mut names = Vec::new();
        for round in 0..2 {
            let answer = agent.call_tool(&proposal("new"));
            assert!(matches!(answer, Ok(DiffOutcome::Rejected { .. })), "round {round}: {answer:?}");
        }
        while names.len() < 2 * EVENTS {
            match agent.next_event() {
                Ok(ClientEvent::Notification { method, .. }) => names.push(method),
                other => unreachable!("{other:?}"),
            }
        }
        agent.detach();
        names
    });
    for round in 0..2 {
        world.until(|world| !world.seen.open.is_empty());
        let (call, _) = world.seen.open.remove(0);
        let server = world.editor.machine_mut();
        for event in 0..EVENTS {
            server.notify_all(&format!("x/{}", round * EVENTS + event), None::<&()>).unwrap();
        }
        server.answer(call, &DiffOutcome::Rejected { tab_name: "t".into() }).unwrap();
    }
    let names = world.serve(agent);
    assert_eq!(names, (0..2 * EVENTS).map(|event| format!("x/{event}").into_boxed_str()).collect::<Vec<_>>());
}
