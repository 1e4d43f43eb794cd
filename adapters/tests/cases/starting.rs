//! Starting a server from the options of an editor, and handles for other threads.

use crate::adapter::{Adapter, Editor};
use crate::plain::PATIENCE;
use crate::support::{Talk, TempDir, World, agent_with, diagnostics, proposal};
use ide_mcp::ide::discovery::{AuthToken, LockFile};
use ide_mcp::ide::tool::{DiffOutcome, OpenDiff, Tool, ToolSet};
use ide_mcp::ide::{Auth, Client, ClientConfig, Mention, ServerConfig};
use ide_mcp::mcp::Implementation;
use ide_mcp::rpc::SessionId;
use ide_mcp::{Clock, Time, ws};
use ide_mcp_driver::{Bind, Handle, HandleError, StartError, StartOptions};
use ide_mcp_lockfile::{LockDir, new_token};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, process, thread};

/// Returns true if a lock file has these folders: on Windows with their drive, and followed by their spellings for
/// agents in WSL and MSYS.
fn publishes(file: &LockFile, folders: &[&str]) -> bool {
    let (count, own) = (file.workspace_folders.len(), file.workspace_folders.iter().take(folders.len()));
    let is_own = |(own, folder): (&String, &&str)| own.replace('\\', "/").ends_with(folder);
    count == folders.len() * if cfg!(windows) { 3 } else { 1 } && own.zip(folders).all(is_own)
}

pub(crate) fn options_are_published_and_kept<A: Adapter>() {
    let dir = TempDir::new();
    let mut world = {
        let editor = editor().folder("/w/b").auth(Auth::Token(new_token().unwrap()));
        let options = StartOptions::new(editor).pid(4711).lock_dir(LockDir::create(&dir.0).unwrap());
        World::<A>::start(options)
    };
    let read = |path: &Path| LockFile::parse(&fs::read_to_string(path).unwrap()).unwrap();
    let path = world.editor.lock_path().unwrap();
    let file = read(&path);
    assert_eq!(path, dir.0.join(format!("{}.lock", world.addr().port())));
    assert_eq!((file.pid, file.ide_name.as_str()), (Some(4711), "editor"));
    assert!(publishes(&file, &["/w/a", "/w/b"]), "{file:?}");
    assert_eq!(file.auth_token.as_ref(), Some(world.token()));
    for folders in [vec!["/w/c"], vec![], vec!["/w/a", "/w/d"]] {
        world.editor.set_folders(&folders).unwrap();
        // A guard on a thread writes the file a moment later.
        world.until(|_| publishes(&read(&path), &folders));
        let changed = read(&path);
        assert_eq!((changed.pid, &changed.auth_token), (Some(4711), &file.auth_token));
    }
    let agent = world.agent(diagnostics(), false);
    assert_eq!(world.serve(agent).answers, [["[]"]]);
    drop(world);
    assert!(!path.exists());
}

/// Two servers that start from equal options each have their own token, which opens only that server.
pub(crate) fn each_start_generates_another_token<A: Adapter>() {
    let dir = TempDir::new();
    let options = options(&dir);
    let (mut one, other) = (World::<A>::start(options.clone()), World::<A>::start(options));
    assert_ne!(one.token(), other.token());
    let wrong = agent_with::<A>(one.addr(), other.token(), diagnostics(), false);
    assert!(matches!(one.serve(wrong).closed, ws::Closed::NotAccepted(_)));
    let right = one.agent(diagnostics(), false);
    assert_eq!(one.serve(right).answers, [["[]"]]);
}

pub(crate) fn misuse_of_start_has_clear_errors<A: Adapter>() {
    let dir = TempDir::new();
    let foreign = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let taken = foreign.local_addr().unwrap().port();
    let first = World::<A>::start(options(&dir));
    let again = options(&dir).bind(Bind::Port(first.addr().port()));
    let plain = || ServerConfig::new("editor", "1");
    let there = |editor| StartOptions::new(editor).lock_dir(LockDir::create(&dir.0).unwrap());
    let exposed = Bind::ExposedToOtherMachines(SocketAddr::from(([0, 0, 0, 0], 0)));
    let rows = [
        (
            "no folder",
            there(plain()),
            "the editor has no folder, so no agent finds it: add one with `folder`",
        ),
        (
            "port taken",
            there(plain().folder("/w")).bind(Bind::Port(taken)),
            "; end whatever listens there, perhaps an earlier server of this program, or bind another port",
        ),
        // `start` consumes the options and returns a new server, so no server can be started twice. A copy of
        // the options starts another editor; on a fixed port it meets the first one.
        ("second start", again, "end whatever listens there, perhaps an earlier server of this program"),
        (
            "exposed",
            there(editor().auth(Auth::Disabled)).bind(exposed),
            "an editor that other machines can reach needs a token",
        ),
        (
            "too many folders",
            there(plain().folders((0..9000).map(|n| format!("/w/{n}")))),
            "cannot publish its lock file",
        ),
        ("no port in range", options(&dir).bind(Bind::Ports(0..=0)), "a port from 0 to 0 of 127.0.0.1"),
    ];
    for (name, options, expected) in rows {
        let error = A::Editor::start(options).err().unwrap_or_else(|| unreachable!("{name}"));
        assert!(error.to_string().contains(expected), "{name}: {error}");
        assert_eq!(matches!(error, StartError::NoFolder), name == "no folder", "{name}");
        let (text, error) = (error.to_string(), std::io::Error::from(error));
        assert_eq!(error.to_string(), text, "{name}");
        assert_eq!(
            error.kind() == std::io::ErrorKind::AddrInUse,
            matches!(name, "port taken" | "second start"),
            "{name}"
        );
    }
    assert_eq!(fs::read_dir(&dir.0).unwrap().count(), 1, "only the first editor has a lock file");
    assert!(A::Editor::start(there(plain()).without_folders()).is_ok());
}

/// Generates a token and starts an agent with random sources that fail. A server has no source of its own.
pub(crate) fn failing_random_source_has_a_clear_error<A: Adapter>() {
    let error = AuthToken::generate(failing(0)).unwrap_err();
    assert_eq!(error, "no entropy", "the error of the source");
    let dir = TempDir::new();
    let mut world = World::<A>::start(options(&dir));
    let rows = [("at the handshake", 0, 0), ("at the first message", 1, 0), ("never", u32::MAX, 1)];
    for (name, draws, answers) in rows {
        let (addr, token) = (world.addr(), world.token().clone());
        let agent = thread::spawn(move || {
            let config = ClientConfig::new(Implementation::new("agent", "1"), addr.port(), Some(token));
            let client = Client::new(config, failing(draws), SessionId::new(1), Time::ZERO).unwrap();
            let mut talk = Talk::new(diagnostics(), false);
            A::connect(addr, client, |client, event| talk.event(client, event)).unwrap();
            talk.report()
        });
        let report = world.serve(agent);
        assert_eq!(report.answers.len(), answers, "{name}");
        let failed = "the source of randomness failed";
        assert_eq!(report.closed.to_string() == failed, answers == 0, "{name}: {}", report.closed);
    }
}

/// A source of equal bytes that fails after some draws. A client cannot notice that the bytes are equal.
fn failing(mut draws: u32) -> impl FnMut(&mut [u8]) -> Result<(), &'static str> {
    move |bytes| {
        draws = draws.checked_sub(1).ok_or("no entropy")?;
        bytes.fill(7);
        Ok(())
    }
}

pub(crate) fn handles_reach_the_server_in_order<A: Adapter>() {
    const EACH: usize = 5_000;
    let dir = TempDir::new();
    let mut world = World::<A>::start(options(&dir));
    let agent = world.agent(diagnostics(), false);
    world.serve(agent);
    let (handle, gone) = (world.editor.handle(), *world.seen.ready.first().unwrap());
    let (sender, ran) = mpsc::channel();
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let (handle, sender) = (handle.clone(), sender.clone());
            thread::spawn(move || {
                for n in 0..EACH {
                    let send = || {
                        let sender = sender.clone();
                        handle.with(move |_, _| sender.send((thread, n)))
                    };
                    while send() == Err(HandleError::Full) {
                        thread::yield_now();
                    }
                }
                // The work before this mention causes no event. The mention does, and so ends the server's wait.
                let last = || handle.mention(Mention::new("/w/a/x", None), Some(gone));
                while last() == Err(HandleError::Full) {
                    thread::yield_now();
                }
            })
        })
        .collect();
    while world.seen.expired < 4 {
        // After a lost wake-up this step would take its whole timeout, and the next one would fail.
        world.step_for(PATIENCE);
    }
    world.step();
    let mut next = [0; 4];
    for (thread, n) in ran.try_iter() {
        let next: &mut usize = next.get_mut(thread).unwrap();
        assert_eq!(n, *next, "thread {thread}");
        *next += 1;
    }
    assert_eq!(next, [EACH; 4]);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Decides a diff on another thread, mentions a file to an agent that does not exist, and replaces folders.
pub(crate) fn shortcuts_of_a_handle_have_their_effects<A: Adapter>() {
    let dir = TempDir::new();
    let mut world = World::<A>::start(options(&dir));
    let handle = world.editor.handle();
    assert_eq!(handle.port(), world.addr().port());
    for text in ["first", "second"] {
        let agent = world.agent(proposal(text), false);
        world.until(|world| !world.seen.open.is_empty());
        let (call, diff): (_, OpenDiff) = world.seen.open.pop().unwrap();
        let decides = handle.clone();
        thread::spawn(move || {
            let outcome = DiffOutcome::Accepted { contents: diff.new_file_contents };
            decides.answer(call, outcome).unwrap();
        });
        assert_eq!(world.serve(agent).answers, [["FILE_SAVED", text]]);
    }
    let agent = world.agent(proposal("third"), false);
    world.until(|world| !world.seen.open.is_empty());
    let (call, _) = world.seen.open.pop().unwrap();
    handle.fail(call, "nobody decides").unwrap();
    world.until(|_| agent.is_finished());
    assert!(agent.join().is_err(), "the agent asserts that its calls succeed");

    let gone = *world.seen.ready.first().unwrap();
    handle.mention(Mention::new("/w/a/x", None), Some(gone)).unwrap();
    world.until(|world| world.seen.expired == 1);
    handle.set_folders(["/w/e"]).unwrap();
    world.until(|world| fs::read_to_string(world.editor.lock_path().unwrap()).unwrap().contains("/w/e"));
}

pub(crate) fn full_queue_refuses_until_next_turn<A: Adapter>() {
    let dir = TempDir::new();
    let mut world = World::<A>::start(options(&dir));
    let handle = world.editor.handle();
    for round in 0..2 {
        for _ in 0..Handle::MAX_QUEUED {
            handle.with(|_, _| ()).unwrap();
        }
        assert_eq!(handle.with(|_, _| ()), Err(HandleError::Full), "round {round}");
        world.step();
    }
}

pub(crate) fn handle_ends_with_its_server<A: Adapter>() {
    let dir = TempDir::new();
    let mut world = World::<A>::start(options(&dir));
    let stays = world.agent(diagnostics(), true);
    world.until(|world| world.seen.calls == 1);
    let handle = world.editor.handle();
    // No turn runs meanwhile, so the server cannot be over yet.
    assert!(!handle.end(Duration::ZERO));
    let waits = thread::spawn({
        let handle = handle.clone();
        move || {
            handle.shutdown();
            handle.end(PATIENCE)
        }
    });
    world.until(|world| world.editor.is_over());
    assert!(waits.join().unwrap());
    assert!(stays.join().is_ok());
    assert_eq!(fs::read_dir(&dir.0).unwrap().count(), 0);
    for (name, late) in
        [("a handle made before the end", handle), ("one made after it", world.editor.handle())]
    {
        assert_eq!(late.with(|_, _| ()), Err(HandleError::Ended), "{name}");
        assert!(late.end(Duration::ZERO), "{name}");
    }
    let mut dropped = World::<A>::start(options(&dir));
    let handle = dropped.editor.handle();
    let (held, freed) = mpsc::channel::<()>();
    handle.with(move |_, _| drop(held)).unwrap();
    drop(dropped);
    assert!(handle.end(Duration::ZERO));
    assert_eq!(freed.recv(), Err(mpsc::RecvError), "the work was dropped");
    assert_eq!(handle.with(|_, _| ()), Err(HandleError::Ended));
}

/// A server without connections ends at once, although nothing but the end itself wakes its loop.
pub(crate) fn idle_server_ends_at_once<A: Adapter>() {
    let dir = TempDir::new();
    let mut world = World::<A>::start(options(&dir));
    let handle = world.editor.handle();
    world.step();
    world.editor.shutdown();
    assert!(world.editor.is_over() && handle.end(Duration::ZERO));
    assert_eq!(handle.with(|_, _| ()), Err(HandleError::Ended));
    let mut other = World::<A>::start(options(&dir));
    let handle = other.editor.handle();
    other.step();
    handle.shutdown();
    // A loop that is not woken would wait for the whole time.
    let clock = Clock::new();
    other.step_for(PATIENCE);
    assert!(other.editor.is_over() && clock.now() < Time::ZERO.saturating_add(PATIENCE));
}

fn options(dir: &TempDir) -> StartOptions {
    StartOptions::new(editor()).pid(process::id()).lock_dir(LockDir::create(&dir.0).unwrap())
}

fn editor() -> ServerConfig {
    let tools = ToolSet::new().handle(Tool::GetDiagnostics).handle(Tool::OpenDiff);
    ServerConfig::new("editor", "1").folder("/w/a").tools(tools)
}
