//! An editor's server beside other things in one `Poll`: a thread that checks files, a timer, a
//! signal.
//!
//! The loop never waits for the checker. It hands each `getDiagnostics` to the checker and answers
//! when the result comes back. If that takes longer than the client waits, the machine answers by
//! itself. `cargo run --example mio_loop`; Ctrl-C ends it.

#![allow(clippy::print_stdout, clippy::wildcard_enum_match_arm, reason = "it shows what it does")]

use ide_mcp_mio::ide::{
    Call, Diagnostic, Diagnostics, FileDiagnostics, GetDiagnostics, HostConfig, HostEvent, LockFile, Policy,
    Position, Range,
};
use ide_mcp_mio::ide::{ServerConfig, ServerEvent, Severity, Tool, ToolCall, ToolSet, display_safe};
use ide_mcp_mio::lockfile::{LockDir, new_token, workspace_folders};
use ide_mcp_mio::mcp::Implementation;
use ide_mcp_mio::mio::{Events, Poll, Token};
use ide_mcp_mio::{Bind, Server, Waker};
use ide_mcp_mio::{Clock, Time};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::error::Error;
use std::sync::mpsc::{self, Receiver, SendError, Sender};
use std::time::Duration;
use std::{io, process, thread};

const WAKER: Token = Token(0);
/// The first of the [`Server::TOKENS`] tokens that the server owns.
const SERVER: Token = Token(1);

/// The interval of a timer of the application, which shares the wait with the timers of the server.
const STATUS_EVERY: Duration = Duration::from_secs(60);

/// A message of another thread to the loop. The thread puts it into the queue first and wakes second.
enum Message {
    Checked(Call<GetDiagnostics>, FileDiagnostics),
    Quit,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut poll = Poll::new()?;
    let mut server = listen(&poll)?;
    let (queue, jobs) = start_threads(&Waker::new(poll.registry(), WAKER)?)?;

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
            // `handle` returns false for an event of the application's own sources.
            let _is_ours = server.handle_event(event);
        }
        for message in queue.try_iter() {
            match message {
                // An error means that the deadline has answered the call, or that the agent has gone.
                Message::Checked(call, file) => {
                    let _ = server.host_mut().answer(call, &Diagnostics::new(vec![file]));
                }
                Message::Quit => server.shutdown(clock.now()),
            }
        }
        let now = clock.now();
        if status_at <= now {
            status_at = now.saturating_add(STATUS_EVERY);
            // Pending and closing connections do not count.
            let attached = server.host().agents().count();
            println!("{attached} attached");
        }
        server.turn(now, |host, event| {
            let HostEvent::Agent { event, .. } = event else { return };
            match event {
                ServerEvent::Ready { client } => {
                    let name = client.map_or_else(|| "somebody".into(), |client| client.name);
                    println!("{} is attached", display_safe(&name));
                }
                ServerEvent::Call(ToolCall::GetDiagnostics(call, asked)) => {
                    let uri = asked.uri.unwrap_or_default();
                    // If the checker has ended, the call would otherwise stay open until its
                    // deadline.
                    if let Err(SendError((call, _))) = jobs.send((call, uri)) {
                        let _ = host.call(call).fail(-32603, "the checker has ended");
                    }
                }
                _ => {}
            }
        });
    }
    Ok(())
}

fn listen(poll: &Poll) -> Result<Server, Box<dyn Error>> {
    let token = new_token()?;
    let info = Implementation::new("mio_loop", "1.0");
    let tools = ToolSet::new().handle(Tool::GetDiagnostics);
    let config = HostConfig::new(ServerConfig::new(info, Policy::new(0, token.clone()), tools));
    let mut server = Server::bind(Bind::AnyPort, config, poll.registry(), SERVER)?;
    let file = LockFile::new(process::id(), workspace_folders(["."])?, "mio loop", token);
    server.publish(&LockDir::from_environment()?, &file)?;
    println!("listening on port {}", server.port());
    Ok(server)
}

type Jobs = Sender<(Call<GetDiagnostics>, String)>;

/// Starts the threads of the checker and of the signals. Returns the queue of their messages, and the
/// channel that takes work to the checker.
fn start_threads(waker: &Waker) -> io::Result<(Receiver<Message>, Jobs)> {
    let (results, queue) = mpsc::channel();
    let (jobs, work) = mpsc::channel::<(Call<GetDiagnostics>, String)>();
    let checker = (results.clone(), waker.clone());
    thread::spawn(move || {
        let (results, waker) = checker;
        for (call, uri) in work {
            let checked = Message::Checked(call, FileDiagnostics::new(uri.as_str(), check(&uri)));
            if results.send(checked).is_err() || waker.wake().is_err() {
                return;
            }
        }
    });
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let waker = waker.clone();
    thread::spawn(move || {
        for _ in signals.forever() {
            if results.send(Message::Quit).is_err() || waker.wake().is_err() {
                return;
            }
        }
    });
    Ok((queue, jobs))
}

/// Stands for a language server or a compiler: warns of files with "draft" in their names.
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
