//! A server that is our child. Threads read its lines and write ours, so the session waits for nothing but what comes of
//! that, and its own timers: whatever the child does, what is due happens.

use crate::options::Options;
use crate::report::Report;
use ide_mcp::Clock;
use ide_mcp::mcp::{Client, Event};
use ide_mcp::rpc::SessionId;
use ide_mcp_examples::{Input, LINES, LinesOut, PipeWriter, complain, read_lines};
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// How long a child may take to end after its input has.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long it may have ended before that is noticed.
const LOOK: Duration = Duration::from_millis(5);

const ENDED: &str = "the server ended too early";

/// What a thread has to say.
enum Note {
    Read(Input),
    Written(io::Result<usize>),
}

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
    let (read, notes) = sync_channel(LINES);
    let written = read.clone();
    read_lines(output, move |input| read.send(Note::Read(input)).is_ok());
    let writer = PipeWriter::new(input, move |result| written.send(Note::Written(result)).is_ok());
    let served = converse(options, &notes, writer);
    // The end of its input, which `converse` has dropped, is what tells the child to end.
    let ended = end(child, &notes);
    served.and(ended)
}

fn converse(options: &Options, notes: &Receiver<Note>, mut writer: PipeWriter) -> Result<(), Box<dyn Error>> {
    let clock = Clock::new();
    let mut client = Client::new(options.session(), SessionId::new(1));
    let (mut out, mut report) = (LinesOut::default(), Report::default());
    client.start(clock.now(), &mut out)?;
    loop {
        while let Some(event) = client.poll_event(&mut out) {
            match event {
                Event::Ready => {
                    if let Some(server) = client.server() {
                        report.ready(server)?;
                    }
                    for request in &options.requests {
                        let params = request.params.as_deref();
                        report.asked(client.request(&request.method, params, options.timeout, &mut out)?);
                    }
                }
                Event::Failed(failure) => return Err(failure.into()),
                Event::Outcome { request, outcome } => report.outcome(request, &outcome)?,
                Event::Notification { method, params } => report.notification(&method, params.as_deref())?,
                Event::PeerFault(violation) => complain("mcp_client", &format!("the server: {violation}")),
                Event::TooManyFaults => return Err("the server does not speak JSON-RPC".into()),
                _ => {}
            }
        }
        writer.write(&out);
        if client.is_ready() && report.is_complete() {
            return Ok(());
        }
        let note = match clock.until(client.deadline()) {
            Some(wait) => notes.recv_timeout(wait),
            None => notes.recv().map_err(RecvTimeoutError::from),
        };
        match note {
            Ok(Note::Read(Input::Line(line))) => client.receive(clock.now(), &line, &mut out),
            Ok(Note::Read(Input::End)) => return Err(ENDED.into()),
            Ok(Note::Read(Input::Fault(why))) => return Err(format!("the server: {why}").into()),
            Ok(Note::Written(written)) => {
                writer.written(written, &mut out);
                match writer.broken() {
                    Some(error) if error.kind() == ErrorKind::BrokenPipe => return Err(ENDED.into()),
                    Some(error) => return Err(format!("the server cannot be written to: {error}").into()),
                    None => {}
                }
            }
            Err(RecvTimeoutError::Timeout) => client.tick(clock.now()),
            Err(RecvTimeoutError::Disconnected) => return Err(ENDED.into()),
        }
    }
}

/// Waits for the child, which has to end by itself.
fn end(mut child: Child, notes: &Receiver<Note>) -> Result<(), Box<dyn Error>> {
    let clock = Clock::new();
    let end = clock.now().saturating_add(PATIENCE);
    while clock.now() < end {
        if let Some(status) = child.try_wait()? {
            return if status.success() { Ok(()) } else { Err(format!("the server: {status}").into()) };
        }
        // What it still says concerns nobody, and is taken so that it need not wait for us.
        if notes.recv_timeout(LOOK).is_err_and(|error| error == RecvTimeoutError::Disconnected) {
            thread::sleep(LOOK);
        }
    }
    child.kill()?;
    child.wait()?;
    Err("the server did not end when its input did".into())
}
