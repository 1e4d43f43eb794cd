//! The command line.

use ide_mcp::mcp::{ClientConfig, Implementation, Timeout};
use ide_mcp_examples::parse_port;
use lexopt::prelude::*;
use serde_json::value::RawValue;
use std::ffi::OsString;
use std::time::Duration;

pub(crate) const USAGE: &str = "\
Make requests of any MCP server, and print what comes of each.

usage: mcp_client [--timeout MS] [--request \"METHOD PARAMS\"]… stdio COMMAND [ARG…]
       mcp_client [--timeout MS] [--request \"METHOD PARAMS\"]… ws PORT

  --timeout MS   how long a request waits for its answer (default 60000)
  --request R    ask this: a method, and behind a space its parameters as JSON, if it has any. All requests are sent
                 once the session is open, so they are served side by side
  stdio COMMAND  start this server as a child, and speak with it in lines
  ws PORT        speak with a server on a WebSocket of this machine

Lines of JSON, by their member \"event\", and what else they have:
  ready          server, version: the session is open
  result         request (which one, from 0), result
  error          request, code, message
  ended          request, how: it has no answer
  notification   method, params

exit status: 0; 1 if no session came about, or it ended too early; 2 if the command line is wrong";

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) peer: Peer,
    pub(crate) requests: Vec<Request>,
    pub(crate) timeout: Timeout,
}

#[derive(Debug)]
pub(crate) enum Peer {
    /// The program and its arguments.
    Child(Vec<OsString>),
    Port(u16),
}

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) params: Option<Box<RawValue>>,
}

impl Options {
    /// `None` if help was asked for.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let (mut requests, mut timeout) = (Vec::new(), Timeout::Default);
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("timeout") => timeout = Timeout::After(Duration::from_millis(parser.value()?.parse()?)),
                Long("request") => requests.push(parser.value()?.parse_with(Request::parse)?),
                Value(kind) if kind == "stdio" => {
                    let command: Vec<OsString> = parser.raw_args()?.collect();
                    if command.is_empty() {
                        return Err("stdio takes the command of a server".into());
                    }
                    return Ok(Some(Self { peer: Peer::Child(command), requests, timeout }));
                }
                Value(kind) if kind == "ws" => {
                    let port = parse_port(&parser.value()?, 1)?;
                    return Ok(Some(Self { peer: Peer::Port(port), requests, timeout }));
                }
                other => return Err(other.unexpected()),
            }
        }
        Err("say where the server is: stdio COMMAND, or ws PORT".into())
    }

    pub(crate) fn session(&self) -> ClientConfig {
        ClientConfig::new(Implementation::new("mcp_client", env!("CARGO_PKG_VERSION")))
    }
}

impl Request {
    fn parse(text: &str) -> Result<Self, String> {
        let (method, params) = text.split_once(' ').unwrap_or((text, ""));
        let params = match params.trim() {
            "" => None,
            json => Some(serde_json::from_str(json).map_err(|error| format!("--request {text}: {error}"))?),
        };
        Ok(Self { method: method.into(), params })
    }
}
