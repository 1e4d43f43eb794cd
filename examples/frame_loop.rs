//! An editor's server without an adapter and without a poll: an application that draws sixty frames a
//! second reads and writes its sockets once a frame.
//!
//! Each frame calls the turn that the README shows (`src/ide/host/turn.rs`: copy it along with this
//! file). This file adds the listener, the lock file and the clock. A frame without traffic costs a
//! system call for each connection, one for the listener and, on Linux and Android, one for the guard
//! of the lock file. `cargo run --example frame_loop`; Ctrl-C ends it.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::wildcard_enum_match_arm,
    unreachable_pub,
    reason = "a short program"
)]

#[path = "../src/ide/host/turn.rs"]
mod turn;

use ide_mcp::Clock;
use ide_mcp::ide::{
    Host, HostConfig, LockFile, LockFileEvent, Policy, ServerConfig, Tool, ToolSet, display_safe,
};
use ide_mcp::mcp::Implementation;
use ide_mcp_lockfile::{Guard, GuardMode, LockDir, new_token, workspace_folders};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::collections::BTreeMap;
use std::error::Error;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{process, thread};

/// The greatest number of connections accepted in a frame. The host can drop a pending connection for a
/// newer one, so each connection is read before many more are accepted.
const ACCEPTED_A_FRAME: usize = 4;
const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();

    let token = new_token()?;
    let tools = ToolSet::new().handle(Tool::OpenDiff).handle(Tool::GetDiagnostics);
    let info = Implementation::new("frame_loop", "1.0");
    let config = ServerConfig::new(info, Policy::new(port, token.clone()), tools);
    let mut host = Host::new(HostConfig::new(config));

    // The listener exists already, so a client that finds the lock file can connect. On an early
    // return the file is removed before the listener closes: variables are dropped in reverse order
    // of declaration.
    let file = LockFile::new(process::id(), workspace_folders(["."])?, "Frames", token);
    let mut lock = Guard::new(LockDir::from_environment()?.publish(port, &file)?, GuardMode::default());
    println!("listening on port {port}");

    let quit = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, Arc::clone(&quit))?;
    }

    let (mut sockets, mut open) = (BTreeMap::new(), BTreeMap::new());
    let clock = Clock::new();
    while !quit.load(Ordering::Relaxed) {
        let begin = clock.now();
        for _ in 0..ACCEPTED_A_FRAME {
            let Ok((stream, _)) = listener.accept() else { break };
            if stream.set_nonblocking(true).is_ok() {
                let _ = stream.set_nodelay(true);
                sockets.insert(host.connect(begin), stream);
            }
        }
        turn::turn(&mut host, &mut sockets, &mut open, begin);

        // The application draws, and a person decides. This example accepts each proposal at once;
        // the next turn sends the answer.
        while let Some((_, (call, diff))) = open.pop_first() {
            let _ = host.answer(call, &diff.accept());
        }
        // A client that cannot see this process deletes its lock file. The guard learns of that
        // from the system, and reads the disk only then.
        lock.notified();
        while let Some(event) = lock.tick(begin) {
            if let LockFileEvent::Failed { error } = event {
                eprintln!("frame_loop: the lock file: {}", display_safe(&error));
            }
        }
        thread::sleep(FRAME.saturating_sub(clock.now().saturating_since(begin)));
    }

    // The close handshakes take 2 s at most, even if a client does not answer.
    let removed = lock.remove();
    host.shutdown(clock.now());
    while host.connections().next().is_some() {
        turn::turn(&mut host, &mut sockets, &mut open, clock.now());
        thread::sleep(FRAME);
    }
    removed?;
    Ok(())
}
