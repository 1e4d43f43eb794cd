//! An editor's server that shares one `Poll` with other things: a thread that checks files, a timer, a
//! signal.
//!
//! The loop never waits for the checker. It passes each `getDiagnostics` to the checker, which answers
//! through a handle. If that takes longer than the client waits, the server answers by itself.
//! `cargo run --example mio_loop`; Ctrl-C ends it.

#![allow(clippy::print_stdout, clippy::wildcard_enum_match_arm, reason = "it shows what it does")]

use ide_mcp_mio::ide::kit::{Position, Range, display_safe};
use ide_mcp_mio::ide::tool::{
    Call, Diagnostic, Diagnostics, FileDiagnostics, GetDiagnostics, Severity, Tool, ToolCall,
};
use ide_mcp_mio::ide::{ServerConfig, ServerEvent};
use ide_mcp_mio::mio::{Events, Poll, Token};
use ide_mcp_mio::{Clock, Handle, Server, Time, Waker};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::error::Error;
use std::sync::mpsc::{self, Receiver, SendError};
use std::time::Duration;
use std::{io, thread};

const WAKER: Token = Token(0);
/// The first of the [`Server::TOKENS`] tokens that the server owns.
const SERVER: Token = Token(1);

/// How often a timer of the application fires. One wait serves this timer and those of the server.
const STATUS_EVERY: Duration = Duration::from_secs(60);

fn main() -> Result<(), Box<dyn Error>> {
    let mut poll = Poll::new()?;
    let editor = ServerConfig::new("mio loop", "1.0").folder(".").tools([Tool::GetDiagnostics]);
    let mut server = Server::start(editor, poll.registry(), SERVER)?;
    println!("listening on port {}", server.local_addr().port());

    // Other threads use the server through clones of this handle, which wakes the `Poll`.
    let handle = server.handle(&Waker::new(poll.registry(), WAKER)?);
    let (jobs, work) = mpsc::channel();
    thread::spawn({
        let handle = handle.clone();
        move || check_all(&work, &handle)
    });
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::spawn(move || signals.forever().for_each(|_| handle.shutdown()));

    let (clock, mut events) = (Clock::new(), Events::with_capacity(64));
    let mut status_at = clock.now().saturating_add(STATUS_EVERY);
    while !server.is_over() {
        // The earlier of the two deadlines ends the wait.
        let next = earliest(server.deadline(clock.now()), status_at);
        match poll.poll(&mut events, clock.until(Some(next))) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error.into()),
            _ => {}
        }
        for event in &events {
            // This is false for an event of the application's own sources.
            let _is_of_the_server = server.handle_event(event);
        }
        let now = clock.now();
        if status_at <= now {
            status_at = now.saturating_add(STATUS_EVERY);
            // Pending and closing connections do not count.
            println!("{} attached", server.machine().agents().count());
        }
        server.turn(now, |ide, event| {
            match event {
                ServerEvent::Ready { client, .. } => {
                    let name = client.map_or_else(|| "a client".into(), |client| client.name);
                    println!("{} is attached", display_safe(&name));
                }
                ServerEvent::Call { call: ToolCall::GetDiagnostics(call, query), .. } => {
                    let uri = query.uri.unwrap_or_default();
                    // If the checker has ended, fail the call now, or it would stay open until its deadline.
                    if let Err(SendError((call, _))) = jobs.send((call, uri)) {
                        let _ = ide.call(call).fail("the checker has ended");
                    }
                }
                _ => {}
            }
        });
    }
    Ok(())
}

/// Answers each call. After the deadline of its call, an answer does nothing.
fn check_all(work: &Receiver<(Call<GetDiagnostics>, String)>, handle: &Handle) {
    for (call, uri) in work {
        let found = Diagnostics { files: vec![FileDiagnostics::new(uri.as_str(), check(&uri))] };
        if handle.answer(call, found).is_err() {
            return;
        }
    }
}

/// Stands in for a language server or a compiler: warns about files with "draft" in their names.
fn check(uri: &str) -> Vec<Diagnostic> {
    if !uri.contains("draft") {
        return Vec::new();
    }
    let begin = Position::new(0, 0);
    vec![Diagnostic::new(Severity::Warning, Range::new(begin, begin), "this is a draft")]
}

fn earliest(server: Option<Time>, own: Time) -> Time {
    server.map_or(own, |server| server.min(own))
}
