//! A client that runs any MCP server as its child process, makes requests, and prints the outcomes.
//!
//! `cargo run --example stdio_client -- [--timeout MS] [--request "METHOD PARAMS"]… COMMAND [ARG…]`
//!
//! It makes all requests as soon as the session is open, and ends after the last outcome. Each line it
//! prints is a JSON object with an "event": ready, result, error, ended (no answer) or notification.

#![allow(
    clippy::wildcard_enum_match_arm,
    clippy::print_stdout,
    reason = "it handles only the events that it needs"
)]

use ide_mcp::Clock;
use ide_mcp::ide::kit::display_safe;
use ide_mcp::mcp::{Client, ClientConfig, ClientEvent, Implementation, Lines, Outcome, Timeout};
use ide_mcp::rpc::{RequestId, SessionId};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::error::Error;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;
use std::{env, thread};

const ENDED: &str = "the server ended too early";

/// How many lines may wait for the loop.
const WAITING: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let mut task = Task::default();
    let mut arguments = env::args().skip(1);
    loop {
        let first =
            arguments.next().ok_or("usage: stdio_client [--timeout MS] [--request R]… COMMAND [ARG…]")?;
        match first.as_str() {
            "--timeout" => {
                let ms = arguments.next().ok_or("--timeout needs a number of milliseconds")?.parse()?;
                task.timeout = Timeout::After(Duration::from_millis(ms));
            }
            "--request" => {
                let request = arguments.next().ok_or("--request needs a method")?;
                let (method, params) = request.split_once(' ').unwrap_or((&request, ""));
                let params = if params.is_empty() { None } else { Some(serde_json::from_str(params)?) };
                task.requests.push((method.into(), params));
            }
            program => return task.run(Command::new(program).args(arguments)),
        }
    }
}

#[derive(Default)]
struct Task {
    requests: Vec<(String, Option<Box<RawValue>>)>,
    timeout: Timeout,
    /// The requests, in the order of the command line, and whether each has an outcome.
    made: Vec<(RequestId, bool)>,
}

impl Task {
    fn run(mut self, command: &mut Command) -> Result<(), Box<dyn Error>> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (mut stdin, stdout) =
            child.stdin.take().zip(child.stdout.take()).ok_or("the child has no pipes")?;
        // One thread for each direction, so that waiting for the child never delays a deadline.
        let (send_line, lines) = mpsc::sync_channel(WAITING);
        thread::spawn(move || BufReader::new(stdout).lines().try_for_each(|line| send_line.send(line)));
        let (output, chunks) = mpsc::channel::<Vec<u8>>();
        thread::spawn(move || chunks.iter().try_for_each(|chunk| stdin.write_all(&chunk)));

        let served = self.converse(&lines, &output);
        // The child ends when its input does. If it does not within 2 s, it is killed.
        drop(output);
        for _ in 0..200 {
            if let Some(status) = child.try_wait()? {
                let ended =
                    if status.success() { Ok(()) } else { Err(format!("the server: {status}").into()) };
                return served.and(ended);
            }
            lines.try_iter().for_each(drop);
            thread::sleep(Duration::from_millis(10));
        }
        child.kill()?;
        served.and(Err("the server did not end when its input did".into()))
    }

    fn converse(
        &mut self,
        lines: &Receiver<io::Result<String>>,
        output: &Sender<Vec<u8>>,
    ) -> Result<(), Box<dyn Error>> {
        let (clock, mut out) = (Clock::new(), Lines::new());
        let config = ClientConfig::new(Implementation::new("stdio_client", "1.0"));
        let mut client = Client::new(config, SessionId::new(1));
        client.start(clock.now(), &mut out)?;
        let mut first = None;
        loop {
            // Read, then poll, with the same time. Otherwise a request could time out although its answer
            // has arrived.
            let now = clock.now();
            for line in first.into_iter().chain(lines.try_iter().take(WAITING)) {
                client.receive(now, &line?, &mut out);
            }
            while let Some(event) = client.poll(now, &mut out) {
                match event {
                    ClientEvent::Ready => {
                        let server = client.server().ok_or(ENDED)?;
                        let name = server.info.as_ref().map(|info| &info.name);
                        let version = server.protocol_version.as_str();
                        report(&json!({"event": "ready", "server": name, "version": version}));
                        for (method, params) in &self.requests {
                            let request =
                                client.request(method, params.as_deref(), self.timeout, &mut out)?;
                            self.made.push((request, false));
                        }
                    }
                    ClientEvent::Failed(failure) => return Err(failure.into()),
                    ClientEvent::Outcome { request, outcome } => self.report_outcome(request, &outcome),
                    ClientEvent::Notification { method, params } => {
                        report(&json!({"event": "notification", "method": method, "params": params}));
                    }
                    ClientEvent::TooManyFaults => return Err("the server does not speak JSON-RPC".into()),
                    _ => {}
                }
            }
            // An error means that the child no longer reads. The end of its output ends the loop.
            let _ = output.send(out.outgoing().to_vec());
            out.written(usize::MAX);
            let is_complete = self.made.len() == self.requests.len() && self.made.iter().all(|made| made.1);
            if client.is_ready() && is_complete {
                return Ok(());
            }
            first = match lines.recv_timeout(clock.until(client.deadline()).unwrap_or(Duration::MAX)) {
                Ok(line) => Some(line),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Err(ENDED.into()),
            };
        }
    }

    fn report_outcome(&mut self, ended: RequestId, outcome: &Outcome) {
        let Some(number) = self.made.iter().position(|(request, _)| *request == ended) else { return };
        self.made.iter_mut().filter(|made| made.0 == ended).for_each(|made| made.1 = true);
        report(&match outcome {
            Outcome::Result(result) => json!({"event": "result", "request": number, "result": result}),
            Outcome::Error(error) => {
                json!({"event": "error", "request": number, "code": error.code, "message": error.message})
            }
            other => json!({"event": "ended", "request": number, "reason": format!("{other:?}")}),
        });
    }
}

/// Prints an event, with the peer's control characters replaced.
fn report(event: &Value) {
    println!("{}", display_safe(&event.to_string()));
}
