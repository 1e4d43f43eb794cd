//! A WebSocket client that lets a fuzzing server of the Autobahn test suite examine it.
//!
//! `ws_autobahn_client URL AGENT` asks `URL/getCaseCount` how many cases there are, opens
//! `URL/runCase?case=N&agent=AGENT` for each and says back whatever comes until the connection ends, and then has the
//! report written with `URL/updateReports?agent=AGENT`. `URL` is `ws://host:port`; `AGENT` goes into it as it is. At
//! the end it prints `{"event":"finished","cases":N}`.

#![allow(clippy::wildcard_enum_match_arm, reason = "a program takes the events that concern it")]

use getrandom::SysRng;
use ide_mcp::{Time, ws};
use ide_mcp_blocking::Conn;
use lexopt::prelude::*;
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(cases) => {
            ide_mcp_examples::say(&format!(r#"{{"event":"finished","cases":{cases}}}"#));
            ExitCode::SUCCESS
        }
        Err(error) => {
            ide_mcp_examples::complain("ws_autobahn_client", &error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<u32, Box<dyn Error>> {
    let (url, agent) = arguments()?;
    let host = url.strip_prefix("ws://").ok_or("the URL must begin with ws://")?.trim_end_matches('/');

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
    Ok(count)
}

fn echo(machine: &mut ws::Client<SysRng>, event: ws::OwnedEvent) {
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
    mut on: impl FnMut(&mut ws::Client<SysRng>, ws::OwnedEvent),
) -> Result<ws::Closed, Box<dyn Error>> {
    let ask = ws::Ask::new(host).target(target);
    let machine = ws::Client::new(ask, SysRng, ws::Limits::default(), Time::ZERO)?;
    let mut conn = Conn::connect(host, machine)?;
    let mut end = ws::Closed::Vanished;
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

fn arguments() -> Result<(String, String), lexopt::Error> {
    let (mut parser, mut values) = (lexopt::Parser::from_env(), Vec::new());
    while let Some(argument) = parser.next()? {
        match argument {
            Value(value) => values.push(value.string()?),
            other => return Err(other.unexpected()),
        }
    }
    match <[String; 2]>::try_from(values) {
        Ok([url, agent]) => Ok((url, agent)),
        Err(_) => Err("usage: ws_autobahn_client URL AGENT".into()),
    }
}
