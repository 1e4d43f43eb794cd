//! What happens, as lines of JSON on standard output.

use ide_mcp::mcp::{Outcome, ServerInfo};
use ide_mcp::rpc::RequestId;
use ide_mcp_examples::say_json;
use serde::Serialize;
use serde_json::value::RawValue;
use std::io;

/// Which requests wait, in the order they were made.
#[derive(Debug, Default)]
pub(crate) struct Report(Vec<Option<RequestId>>);

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event<'a> {
    Ready {
        #[serde(skip_serializing_if = "Option::is_none")]
        server: Option<&'a str>,
        version: &'static str,
    },
    /// `request` counts from 0.
    Result {
        request: usize,
        result: &'a RawValue,
    },
    Error {
        request: usize,
        code: i64,
        message: &'a str,
    },
    Ended {
        request: usize,
        how: &'static str,
    },
    Notification {
        method: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        params: Option<&'a RawValue>,
    },
}

impl Report {
    pub(crate) fn ready(&self, server: &ServerInfo) -> io::Result<()> {
        let name = server.info.as_ref().map(|info| info.name.as_str());
        say_json(&Event::Ready { server: name, version: server.protocol_version.as_str() })
    }

    pub(crate) fn asked(&mut self, request: RequestId) {
        self.0.push(Some(request));
    }

    /// Whether none of them waits.
    pub(crate) fn is_complete(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    pub(crate) fn outcome(&mut self, ended: RequestId, outcome: &Outcome) -> io::Result<()> {
        let Some(request) = self.0.iter().position(|waiting| *waiting == Some(ended)) else { return Ok(()) };
        if let Some(slot) = self.0.get_mut(request) {
            *slot = None;
        }
        let how = match outcome {
            Outcome::Result(result) => return say_json(&Event::Result { request, result }),
            Outcome::Error(error) => {
                return say_json(&Event::Error { request, code: error.code, message: &error.message });
            }
            Outcome::TimedOut => "timed out",
            Outcome::Malformed => "malformed",
            Outcome::Closed => "closed",
            _ => "cancelled",
        };
        say_json(&Event::Ended { request, how })
    }

    pub(crate) fn notification(&self, method: &str, params: Option<&RawValue>) -> io::Result<()> {
        say_json(&Event::Notification { method, params })
    }
}
