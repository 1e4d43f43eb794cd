//! The command line.

use ide_mcp::mcp::{ClientConfig, Implementation, Timeout};
use ide_mcp_examples::parse_port;
use lexopt::prelude::*;
use serde_json::value::RawValue;
use std::ffi::OsString;
use std::time::Duration;

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
    pub(crate) fn parse() -> Result<Self, lexopt::Error> {
        let mut parser = lexopt::Parser::from_env();
        let (mut requests, mut timeout) = (Vec::new(), Timeout::Default);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("timeout") => timeout = Timeout::After(Duration::from_millis(parser.value()?.parse()?)),
                Long("request") => requests.push(parser.value()?.parse_with(Request::parse)?),
                Value(kind) if kind == "stdio" => {
                    let command: Vec<OsString> = parser.raw_args()?.collect();
                    if command.is_empty() {
                        return Err("stdio takes the command of a server".into());
                    }
                    return Ok(Self { peer: Peer::Child(command), requests, timeout });
                }
                Value(kind) if kind == "ws" => {
                    let port = parse_port(&parser.value()?, 1)?;
                    return Ok(Self { peer: Peer::Port(port), requests, timeout });
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
