//! The listening socket, and the lock file that announces it.

use crate::editor::folders::Folders;
use crate::editor::last_run::LastRun;
use crate::editor::options::{Face, Settings};
use crate::editor::workspace::unicode;
use crate::support::save::{NO_STATE_DIR, state_dir};
use ide_mcp::ide::tool::ToolSet;
use ide_mcp::ide::{Auth, ServerConfig};
use ide_mcp_mio::{Bind, GuardMode, Guarding, Server, StartError, StartOptions, Wake};
use mio::{Registry, Token};
use std::error::Error;
use std::io::{self, ErrorKind};

/// A server that listens.
pub(crate) struct Listening {
    pub(crate) server: Server,
    /// What the user must know about the port and the token.
    pub(crate) notices: Vec<String>,
}

/// Starts the server. The guard of the lock file runs on a thread, so that the loop never waits for a disk.
pub(crate) fn listen(
    settings: &Settings<'_>,
    name: &str,
    folders: &Folders,
    tools: ToolSet,
    registry: &Registry,
    token: Token,
    wake: Wake,
) -> Result<Listening, Box<dyn Error>> {
    let options = settings.options;
    let editor = ServerConfig::new(name, env!("CARGO_PKG_VERSION"))
        .folders(folders.given().iter().map(|folder| unicode(folder)).collect::<Result<Vec<_>, _>>()?)
        .tools(tools)
        .for_dialect(settings.dialect)
        .filter(folders.filter());
    let state = state_dir();
    let start = |bind, auth| {
        let editor = match auth {
            None if !settings.asks_for_token => editor.clone().auth(Auth::Disabled),
            None => editor.clone(),
            Some(token) => editor.clone().auth(Auth::Resumed(token)),
        };
        let start = StartOptions::new(editor)
            .bind(bind)
            .guarding(Guarding::OnThread(GuardMode::default(), wake.clone()));
        let start = match &options.lock_dir {
            Some(dir) => start.lock_dir(dir.clone()),
            None => start,
        };
        Server::start(start, registry, token)
    };
    let mut notices = Vec::new();
    let last = match state.as_deref().filter(|_| options.resumes) {
        Some(state) => LastRun::read(state, folders).unwrap_or_else(|problem| {
            notices.push(problem);
            None
        }),
        None => None,
    };
    let bind = if options.port == 0 { Bind::AnyPort } else { Bind::Port(options.port) };
    // Take the port and the token of the last run together, in one binding: if another editor has taken the port
    // meanwhile, it must not share the token.
    let (started, kept) = match last {
        None => (start(bind, options.token.clone()), options.token.clone()),
        Some(LastRun { port, token }) => match start(Bind::Port(port), Some(token.clone())) {
            Err(StartError::Bind { error, .. }) if error.kind() == ErrorKind::AddrInUse => {
                let started = start(Bind::AnyPort, None);
                if let Ok(server) = &started {
                    notices.push(port_is_taken(port, server.local_addr().port()));
                }
                (started, None)
            }
            started => (started, Some(token)),
        },
    };
    let server = started.map_err(|error| match error {
        StartError::Bind { error, .. } => no_port(options.port, &error).into(),
        error => Box::<dyn Error>::from(error),
    })?;
    if kept.is_some() && settings.asks_for_token && server.lock_file().token() != kept.as_ref() {
        notices.push(
            "this system does not report the owner of a socket, so a fresh token replaces the kept one"
                .into(),
        );
    }
    // The command has the port in its environment, so the next run of the editor must use it again.
    let is_wanted = options.resumes || !options.command.is_empty();
    // An editor that a script needs for a moment must not replace the user's run.
    let is_kept = is_wanted || (options.face() == Ok(Face::Screen) && !options.is_apart());
    if let (true, Some(token)) = (is_kept, server.lock_file().token()) {
        let run = LastRun { port: server.local_addr().port(), token: token.clone() };
        let written = state.ok_or_else(|| NO_STATE_DIR.to_owned());
        let written = written.and_then(|state| run.write(&state, folders));
        if let (true, Err(problem)) = (is_wanted, written) {
            notices.push(format!("--resume will not find this run: {problem}"));
        }
    }
    Ok(Listening { server, notices })
}

/// Returns the message about a last run whose port another program has now.
fn port_is_taken(port: u16, other: u16) -> String {
    format!("port {port} is taken: this editor has port {other}, so attach the agents again")
}

/// Returns the message about a port that cannot be bound, with advice.
fn no_port(port: u16, error: &io::Error) -> String {
    match (port, error.kind()) {
        (0, _) => format!("cannot listen on any port of 127.0.0.1: {error}"),
        (port, ErrorKind::AddrInUse) => format!(
            "port {port} is in use: end the program that listens there, choose another port, or leave --port out to get a free one"
        ),
        (port, _) => {
            format!("cannot listen on port {port}: {error}; leave --port out to get a free one")
        }
    }
}
