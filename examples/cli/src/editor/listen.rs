//! The listening socket, and the lock file that announces it.

use crate::editor::folders::Folders;
use crate::editor::options::Options;
use crate::support::complain;
use ide_mcp::ide::{HostConfig, LockFile, Policy, ServerConfig, ToolSet};
use ide_mcp::mcp::Implementation;
use ide_mcp_lockfile::{LockDir, new_token, workspace_folders};
use ide_mcp_mio::{Bind, GuardMode, Guarding, Server, Wake};
use mio::{Registry, Token};
use std::error::Error;
use std::io::{self, ErrorKind};
use std::process;

/// Binds the port before it publishes the lock file, so that a client that finds the lock file can
/// connect.
pub(crate) fn listen(
    options: &Options,
    folders: &Folders,
    tools: ToolSet,
    registry: &Registry,
    token: Token,
    wake: Wake,
) -> Result<Server, Box<dyn Error>> {
    let secret = options.token.clone().map_or_else(new_token, Ok)?;
    let info = Implementation::new(options.name.as_str(), env!("CARGO_PKG_VERSION"));
    // The port 0 is a placeholder for the port that gets bound.
    let policy = match &options.token {
        _ if !options.asks_for_token => Policy::without_authentication(0),
        // The token outlived the editor that published it.
        Some(kept) => Policy::resumed(0, kept.clone()),
        None => Policy::new(0, secret.clone()),
    };
    let mut config = HostConfig::new(ServerConfig::new(info, policy, tools).for_dialect(options.dialect));
    config.filter = folders.filter();
    let bind = if options.port == 0 { Bind::AnyPort } else { Bind::Port(options.port) };
    let bound = Server::bind(bind, config, registry, token);
    let mut server = bound.map_err(|error| no_port(options.port, &error))?;
    if let (Some(_), Some(asked)) = (&options.token, server.token()) {
        if *asked != secret {
            complain(
                "editor",
                "this system does not tell whose a socket is, so the kept token is not used: there is a fresh one",
            );
        }
    }
    let names = workspace_folders(folders.given())?;
    let file = LockFile::new(process::id(), names, options.name.as_str(), secret);
    // The guard runs on a thread, so that the loop never waits for a disk.
    let guarding = Guarding::OnThread(GuardMode::default(), wake);
    server.publish_guarded(&LockDir::from_environment()?, &file, guarding)?;
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
