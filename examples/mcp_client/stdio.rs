//! A server that is our child. A thread waits for its lines; the session waits for them and for its own timers.

use crate::options::Options;
use crate::report::Report;
use ide_mcp::Clock;
use ide_mcp::mcp::{Client, ClientEvent};
use ide_mcp::rpc::SessionId;
use ide_mcp_examples::{LinesIn, LinesOut, complain};
use std::error::Error;
use std::ffi::OsString;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// How long a child may take to end after its input has.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many lines may wait to be looked at: the pipe behind them is what holds the server back.
const QUEUE: usize = 64;

const ENDED: &str = "the server ended too early";

pub(crate) fn run(command: &[OsString], options: &Options) -> Result<(), Box<dyn Error>> {
    let Some((program, arguments)) = command.split_first() else { return Err("no command".into()) };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{} cannot be started: {error}", Path::new(program).display()))?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the child has no pipes".into());
    };
    let (sender, lines) = sync_channel(QUEUE);
    thread::spawn(move || read(output, &sender));
    let served = converse(options, &lines, input);
    // The end of its input, which `converse` has dropped, is what tells the child to end.
    let ended = end(child, &lines);
    served.and(ended)
}

/// The lines of the child, to its end.
fn read(mut output: ChildStdout, lines: &SyncSender<String>) {
    let mut input = LinesIn::default();
    while !input.has_ended() && input.read(|buf| output.read(buf)).is_ok() {
        loop {
            match input.next_line() {
                Ok(Some(line)) => {
                    if lines.send(line.to_owned()).is_err() {
                        return;
                    }
                }
                Ok(None) => break,
                Err(fault) => return complain("mcp_client", &format!("the server: {fault}")),
            }
        }
    }
}

fn converse(
    options: &Options,
    lines: &Receiver<String>,
    mut input: ChildStdin,
) -> Result<(), Box<dyn Error>> {
    let clock = Clock::new();
    let mut client = Client::new(options.session(), SessionId::new(1));
    let (mut out, mut report) = (LinesOut::default(), Report::default());
    client.start(clock.now(), &mut out)?;
    loop {
        while let Some(event) = client.poll_event(&mut out) {
            match event {
                ClientEvent::Ready(server) => {
                    report.ready(&server)?;
                    for request in &options.requests {
                        let params = request.params.as_deref();
                        report.asked(client.request(&request.method, params, options.timeout, &mut out)?);
                    }
                }
                ClientEvent::Failed(failure) => return Err(failure.into()),
                ClientEvent::Outcome { request, outcome } => report.outcome(request, &outcome)?,
                ClientEvent::Notification { method, params } => {
                    report.notification(&method, params.as_deref())?
                }
                ClientEvent::Violation(violation) => {
                    complain("mcp_client", &format!("the server: {violation}"))
                }
                ClientEvent::TooManyViolations => return Err("the server does not speak JSON-RPC".into()),
                _ => {}
            }
        }
        // This may block: the thread reads on, so the child never waits for us.
        match input.write_all(out.waiting()).and_then(|()| input.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Err(ENDED.into()),
            written => written?,
        }
        out.sent(out.waiting().len());
        if client.is_ready() && report.is_complete() {
            return Ok(());
        }
        let line = match clock.until(client.deadline()) {
            Some(wait) => lines.recv_timeout(wait),
            None => lines.recv().map_err(RecvTimeoutError::from),
        };
        match line {
            Ok(line) => client.receive(clock.now(), &line, &mut out),
            Err(RecvTimeoutError::Timeout) => client.tick(clock.now()),
            Err(RecvTimeoutError::Disconnected) => return Err(ENDED.into()),
        }
    }
}

/// Waits for the child, which has to end by itself.
fn end(mut child: Child, lines: &Receiver<String>) -> Result<(), Box<dyn Error>> {
    let clock = Clock::new();
    let end = clock.now().after(PATIENCE);
    // Its output ends when it does.
    while let Some(left) = clock.until(Some(end)).filter(|left| !left.is_zero()) {
        if lines.recv_timeout(left) == Err(RecvTimeoutError::Disconnected) {
            let status = child.wait()?;
            return if status.success() { Ok(()) } else { Err(format!("the server: {status}").into()) };
        }
    }
    child.kill()?;
    child.wait()?;
    Err("the server did not end when its input did".into())
}
