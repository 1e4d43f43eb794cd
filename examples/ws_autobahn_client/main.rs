//! A WebSocket client that lets a fuzzing server of the Autobahn test suite examine it.
//!
//! `ws_autobahn_client --help` says how it is used, and what its exit status means.

#![allow(clippy::wildcard_enum_match_arm, reason = "a program takes the events that concern it")]

use getrandom::SysRng;
use ide_mcp::{Time, ws};
use ide_mcp_blocking::Conn;
use ide_mcp_examples::{Program, say};
use lexopt::prelude::*;
use std::error::Error;
use std::process::ExitCode;

const USAGE: &str = "\
Let a fuzzing server of the Autobahn test suite examine the WebSocket client.

usage: ws_autobahn_client URL AGENT

  URL     where the server is, ws://HOST:PORT
  AGENT   the name of the client in the report, which goes into the targets as it is

It asks URL/getCaseCount how many cases there are, opens URL/runCase?case=N&agent=AGENT for each and says back whatever
comes until the connection ends, and has the report written with URL/updateReports?agent=AGENT. At the end it prints
{\"event\":\"finished\",\"cases\":N}; the server judges.

exit status: 0; 1 if the server cannot be reached, or does not serve these targets; 2 if the command line is wrong";

const PROGRAM: Program = Program::new("ws_autobahn_client", USAGE);

fn main() -> ExitCode {
    PROGRAM.main(Options::parse, |Options { host, agent }| PROGRAM.done(run(&host, &agent)))
}

fn run(host: &str, agent: &str) -> Result<(), Box<dyn Error>> {
    let mut count = None;
    let closed = converse(host, "/getCaseCount", |_, event| {
        if let ws::OwnedEvent::Text(text) = event {
            count = text.parse().ok();
        }
    })?;
    let count = count.ok_or_else(|| format!("the server does not say how many cases it has: {closed}"))?;
    for case in 1..=count {
        // However it ends: the server judges that.
        converse(host, &format!("/runCase?case={case}&agent={agent}"), echo)?;
    }
    converse(host, &format!("/updateReports?agent={agent}"), |_, _| {})?;
    say(&format!(r#"{{"event":"finished","cases":{count}}}"#));
    Ok(())
}

fn echo(machine: &mut ws::Client, event: ws::OwnedEvent) {
    // What cannot be sent any more is missed by nobody.
    match event {
        ws::OwnedEvent::Text(text) => {
            let _ = machine.sender().text(&text);
        }
        ws::OwnedEvent::Binary(bytes) => {
            let _ = machine.sender().binary(&bytes);
        }
        _ => {}
    }
}

/// One connection from its beginning to its end, with every event but the last handed to `on`; how it ended.
fn converse(
    host: &str,
    target: &str,
    mut on: impl FnMut(&mut ws::Client, ws::OwnedEvent),
) -> Result<ws::Closed, Box<dyn Error>> {
    let ask = ws::ClientRequest::new(host).target(target);
    let machine = ws::Client::new(ask, SysRng, ws::Limits::default(), Time::ZERO)?;
    let mut conn = Conn::connect(host, machine)?;
    let mut end = ws::Closed::Abnormal;
    // Also after the last event: the farewell goes out with the call that follows.
    while let Some(event) = conn.next_event() {
        match event {
            ws::OwnedEvent::Closed(closed) => end = closed,
            event => on(conn.machine_mut(), event),
        }
    }
    if let ws::Closed::NotAccepted(error) = &end {
        return Err(format!("{target}: {error}").into());
    }
    Ok(end)
}

struct Options {
    host: String,
    agent: String,
}

impl Options {
    /// `None` if help was asked for.
    fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let mut values = Vec::new();
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Value(value) => values.push(value.string()?),
                other => return Err(other.unexpected()),
            }
        }
        let [url, agent] = <[String; 2]>::try_from(values).map_err(|_| "it takes URL and AGENT")?;
        let host = url.strip_prefix("ws://").ok_or("URL must begin with ws://")?.trim_end_matches('/');
        Ok(Some(Self { host: host.into(), agent }))
    }
}
