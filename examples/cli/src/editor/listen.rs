//! The listening socket, and the lock file that announces it.

use crate::editor::folders::Folders;
use crate::editor::last_run::{LastRun, state_dir};
use crate::editor::options::Options;
use crate::support::complain;
use ide_mcp::ide::ToolSet;
use ide_mcp_mio::{Bind, EditorOptions, GuardMode, Guarding, Server, StartError, Wake};
use mio::{Registry, Token};
use std::env;
use std::error::Error;
use std::io::{self, ErrorKind};

/// Starts the server. The guard of the lock file runs on a thread, so that the loop never waits for a disk.
pub(crate) fn listen(
    options: &Options,
    name: &str,
    folders: &Folders,
    tools: ToolSet,
    registry: &Registry,
    token: Token,
    wake: Wake,
) -> Result<Server, Box<dyn Error>> {
    let editor = EditorOptions::new(name, env!("CARGO_PKG_VERSION"))
        .folders(folders.given())
        .tools(tools)
        .dialect(options.dialect)
        .filter(folders.filter())
        .guarding(Guarding::OnThread(GuardMode::default(), wake));
    let state = state_dir(|name| env::var_os(name).map(Into::into));
    let last = state.as_deref().filter(|_| options.resumes).and_then(|state| LastRun::read(state, folders));
    let (bind, kept) = match last {
        Some(LastRun { port, token }) => (Bind::Resume(port), Some(token)),
        None if options.port == 0 => (Bind::AnyPort, options.token.clone()),
        None => (Bind::Port(options.port), options.token.clone()),
    };
    let editor = match &kept {
        _ if !options.asks_for_token => editor.without_token(),
        Some(kept) => editor.resumed_token(kept.clone()),
        None => editor,
    };
    let editor = editor.bind(bind);
    let server = Server::start(editor, registry, token).map_err(|error| match error {
        StartError::Bind { error, .. } => no_port(options.port, &error).into(),
        error => Box::<dyn Error>::from(error),
    })?;
    if kept.is_some() && options.asks_for_token && server.token() != kept.as_ref() {
        complain(
            "editor",
            "this system does not report the owner of a socket, so a fresh token replaces the kept one",
        );
    }
    // The command has the port in its environment, so the next run of the editor has to come back on it.
    if let (true, Some(token)) = (options.resumes || !options.command.is_empty(), server.token()) {
        let run = LastRun { port: server.port(), token: token.clone() };
        let written = state.ok_or_else(|| "neither XDG_STATE_HOME nor HOME is set".into());
        if let Err(problem) = written.and_then(|state| run.write(&state, folders)) {
            complain("editor", &format!("--resume will not find this run: {problem}"));
        }
    }
    Ok(server)
}

/// Returns the message about a port that cannot be bound, with advice.
fn no_port(port: u16, error: &io::Error) -> String {
    match (port, error.kind()) {
        (0, _) => format!("no port of 127.0.0.1 can be listened on: {error}"),
        (port, ErrorKind::AddrInUse) => format!(
            "port {port} is in use: end the program that listens there, choose another port, or leave --port out \
             for one that is free"
        ),
        (port, _) => {
            format!("port {port} cannot be listened on: {error}; leave --port out for one that is free")
        }
    }
}
