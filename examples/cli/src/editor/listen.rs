//! The listening socket, and the lock file that announces it.

use crate::editor::folders::Folders;
use crate::editor::options::Options;
use crate::support::complain;
use ide_mcp::ide::ToolSet;
use ide_mcp_mio::{Bind, EditorOptions, GuardMode, Guarding, Server, StartError, Wake};
use mio::{Registry, Token};
use std::error::Error;
use std::io::{self, ErrorKind};

/// Starts the server. The guard of the lock file runs on a thread, so that the loop never waits for a disk.
pub(crate) fn listen(
    options: &Options,
    folders: &Folders,
    tools: ToolSet,
    registry: &Registry,
    token: Token,
    wake: Wake,
) -> Result<Server, Box<dyn Error>> {
    let editor = EditorOptions::new(options.name.as_str(), env!("CARGO_PKG_VERSION"))
        .folders(folders.given())
        .tools(tools)
        .dialect(options.dialect)
        .filter(folders.filter())
        .bind(if options.port == 0 { Bind::AnyPort } else { Bind::Port(options.port) })
        .guarding(Guarding::OnThread(GuardMode::default(), wake));
    let editor = match &options.token {
        _ if !options.asks_for_token => editor.without_token(),
        Some(kept) => editor.resumed_token(kept.clone()),
        None => editor,
    };
    let server = Server::start(editor, registry, token).map_err(|error| match error {
        StartError::Bind { error, .. } => no_port(options.port, &error).into(),
        error => Box::<dyn Error>::from(error),
    })?;
    if options.token.is_some() && options.asks_for_token && server.token() != options.token.as_ref() {
        complain(
            "editor",
            "this system does not report the owner of a socket, so a fresh token replaces the kept one",
        );
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
