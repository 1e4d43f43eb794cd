//! An editor's server that has a thread of its own, beside two other threads: one stands for a person
//! who decides on proposals, one waits for signals.
//!
//! The other threads put messages for the server into a queue, and then end its wait by the waker.
//! `cargo run --example blocking_loop`; Ctrl-C ends it.

#![allow(clippy::print_stdout, clippy::wildcard_enum_match_arm, reason = "it shows what it does")]

use ide_mcp_blocking::ide::{
    Call, Diagnostics, DiffOutcome, HostConfig, HostEvent, LockFile, OpenDiff, Policy, ServerConfig,
    ServerEvent,
};
use ide_mcp_blocking::ide::{Tool, ToolCall, ToolSet, display_safe};
use ide_mcp_blocking::lockfile::{LockDir, new_token, workspace_folders};
use ide_mcp_blocking::mcp::Implementation;
use ide_mcp_blocking::{Bind, Server, Waker};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::error::Error;
use std::sync::mpsc::{self, Receiver, SendError, Sender};
use std::{io, process, thread};

/// A message of another thread to the server. The thread puts it into the queue first and wakes
/// second.
enum Message {
    Decided(Call<OpenDiff>, DiffOutcome),
    Quit,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut server = listen()?;
    let (queue, proposals) = start_threads(&server.waker())?;
    while !server.is_over() {
        // The thread sleeps here until bytes arrive, a timer is due or the waker is used.
        if let Some(HostEvent::Agent { event, .. }) = server.next_event() {
            hear(&mut server, event, &proposals);
        }
        for message in queue.try_iter() {
            match message {
                // An error means that the agent has gone or has closed the diff: the answer is too
                // late.
                Message::Decided(call, outcome) => drop(server.host_mut().answer(call, &outcome)),
                Message::Quit => server.shutdown(),
            }
        }
    }
    Ok(())
}

fn listen() -> Result<Server, Box<dyn Error>> {
    let token = new_token()?;
    let tools = ToolSet::new().handle(Tool::OpenDiff).handle(Tool::GetDiagnostics);
    let info = Implementation::new("blocking_loop", "1.0");
    let config = HostConfig::new(ServerConfig::new(info, Policy::new(0, token.clone()), tools));
    let mut server = Server::bind(Bind::AnyPort, config)?;
    let file = LockFile::new(process::id(), workspace_folders(["."])?, "blocking loop", token);
    server.publish(&LockDir::from_environment()?, &file)?;
    println!("listening on port {}", server.port());
    Ok(server)
}

fn hear(server: &mut Server, event: ServerEvent, proposals: &Sender<(Call<OpenDiff>, OpenDiff)>) {
    match event {
        ServerEvent::Ready { client } => {
            let name = client.map_or_else(|| "somebody".into(), |client| client.name);
            println!("{} is attached", display_safe(&name));
        }
        ServerEvent::Call(ToolCall::GetDiagnostics(call, _)) => {
            let _ = server.host_mut().answer(call, &Diagnostics::new(Vec::new()));
        }
        // The answer comes later, from the other thread: a proposal waits for a person and delays
        // nothing else.
        ServerEvent::Call(ToolCall::OpenDiff(call, diff)) => {
            let Err(SendError((call, _))) = proposals.send((call, diff)) else { return };
            let _ = server.host_mut().call(call).fail(-32603, "nobody is there to decide");
        }
        _ => {}
    }
}

/// Starts the threads of the person and of the signals. Returns the queue of their messages, and the
/// channel that takes proposals to the person.
fn start_threads(waker: &Waker) -> io::Result<(Receiver<Message>, Sender<(Call<OpenDiff>, OpenDiff)>)> {
    let (sender, queue) = mpsc::channel();
    let (proposals, proposed) = mpsc::channel::<(Call<OpenDiff>, OpenDiff)>();
    let (decided, person) = (sender.clone(), waker.clone());
    thread::spawn(move || {
        // This person accepts every proposal unchanged.
        for (call, diff) in proposed {
            if decided.send(Message::Decided(call, diff.accept())).is_err() {
                return;
            }
            person.wake();
        }
    });
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let waker = waker.clone();
    thread::spawn(move || {
        for _ in signals.forever() {
            let _ = sender.send(Message::Quit);
            waker.wake();
        }
    });
    Ok((queue, proposals))
}
