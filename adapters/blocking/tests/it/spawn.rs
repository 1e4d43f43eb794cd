//! A server on its own thread, used through a handle only.

use crate::plain::PATIENCE;
use ide_mcp::Time;
use ide_mcp::ide::tool::{OpenDiff, Tool, ToolCall, ToolSet};
use ide_mcp::ide::{Auth, Client, ClientConfig, ClientEvent, ServerConfig, ServerEvent};
use ide_mcp::mcp::{Implementation, Outcome, ToolResult};
use ide_mcp::rpc::SessionId;
use ide_mcp_blocking::lockfile::LockDir;
use ide_mcp_blocking::{Bind, Conn, HandleError, StartError, StartOptions, spawn};
use std::sync::mpsc::channel;
use std::{env, fs, process};

#[test]
fn spawned_server_is_used_by_its_handle() {
    let dir = env::temp_dir().canonicalize().unwrap().join(format!("ide-mcp-spawn-{}", process::id()));
    let token = ide_mcp_blocking::lockfile::new_token().unwrap();
    let editor = ServerConfig::new("spawned", "1")
        .folder("/w")
        .tools(ToolSet::new().handle(Tool::OpenDiff))
        .auth(Auth::Token(token.clone()));
    let editor = StartOptions::new(editor).lock_dir(LockDir::create(&dir).unwrap());
    let (sender, events) = channel();
    let handle = spawn(editor.clone(), move |event| drop(sender.send(event))).unwrap();

    let taken = spawn(editor.bind(Bind::Port(handle.port())), |_| ()).unwrap_err();
    assert!(matches!(taken, StartError::Bind { .. }), "{taken}");

    let config = ClientConfig::new(Implementation::new("agent", "1"), handle.port(), Some(token));
    let client = Client::new(config, getrandom::fill, SessionId::new(1), Time::ZERO).unwrap();
    let mut agent = Conn::connect(("127.0.0.1", handle.port()), client).unwrap();
    while !matches!(agent.next_event().unwrap(), ClientEvent::Ready(_)) {}
    for text in ["first", "second"] {
        agent.machine_mut().call_tool(&OpenDiff::new("/w/a", text, text)).unwrap();
        assert!(agent.flush(PATIENCE));
        let (call, diff) = events
            .iter()
            .find_map(|event| match event {
                ServerEvent::Call { call: ToolCall::OpenDiff(call, diff), .. } => Some((call, diff)),
                _ => None,
            })
            .unwrap();
        handle.answer(call, diff.accept()).unwrap();
        let outcome = loop {
            if let ClientEvent::Outcome { outcome, .. } = agent.next_event().unwrap() {
                break outcome;
            }
        };
        let Outcome::Result(raw) = outcome else { unreachable!("{outcome:?}") };
        assert_eq!(ToolResult::read(&raw).unwrap().texts().collect::<Vec<_>>(), ["FILE_SAVED", text]);
    }
    assert!(handle.end(PATIENCE));
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
    assert_eq!(handle.with(|_, _| ()), Err(HandleError::Ended));
    while agent.next_event().is_some() {}
    fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn panic_of_the_application_ends_handles() {
    let dir = env::temp_dir().canonicalize().unwrap().join(format!("ide-mcp-panic-{}", process::id()));
    let editor = ServerConfig::new("panics", "1").folder("/w");
    let editor = StartOptions::new(editor).lock_dir(LockDir::create(&dir).unwrap());
    let handle = spawn(editor, |_| ()).unwrap();
    handle.with(|_, _| std::panic::resume_unwind(Box::new("of the test"))).unwrap();
    assert!(handle.end(PATIENCE));
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0, "the server removed its lock file");
    assert_eq!(handle.with(|_, _| ()), Err(HandleError::Ended));
    fs::remove_dir_all(&dir).unwrap();
}
