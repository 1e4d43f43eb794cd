//! The answer that each request requires of a session, for the simulation and for the soak of the
//! program (`cli/tests/it/soak`), which includes this file.

use serde_json::Value;

/// The JSON-RPC error code for an invalid request.
pub const INVALID_REQUEST: i64 = -32600;

/// The JSON-RPC error code for an unknown method.
const METHOD_NOT_FOUND: i64 = -32601;

/// The answer that a request requires.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "only the soak has verdicts and calls that fail")]
pub enum Expected {
    /// Any answer.
    Any,
    /// A result other than that of a failed tool.
    Result,
    /// The result of any tool, failed or not.
    Answered,
    /// This result, byte for byte.
    Exactly(&'static str),
    /// A result with this text in it.
    Containing(String),
    /// The result of a failed tool.
    Failed,
    /// A result other than that of a failed tool; or the failure with which the host answers `getDiagnostics` at the
    /// deadline, which a busy machine can exceed.
    ResultOrLate,
    /// An error with this code.
    Error(i64),
    /// The verdict of a person on this proposal, perhaps with a text of the person, or the end of its
    /// tab, at any time.
    Verdict(String),
    /// An error, since the id is open already; or a result if the id is no longer open.
    Refused,
}

/// The text of a person who edits a proposal and accepts it.
pub const EDITED: &str = "edited by the person";

/// An answer: its result as JSON text, or the code of its error.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    pub result: Option<&'a str>,
    pub code: Option<i64>,
}

impl Expected {
    /// Returns the answer of every editor to a request, as far as the method decides (I20–I25).
    /// `version` is the version of MCP that the client offers, as JSON text.
    pub fn of(method: &str, version: Option<&str>) -> Self {
        match (method, version) {
            ("initialize", Some(version)) => Self::Containing(format!(r#""protocolVersion":{version}"#)),
            ("ping", _) => Self::Exactly("{}"),
            ("tools/list", _) => Self::Containing("openDiff".into()),
            ("resources/list", _) => Self::Containing(r#""uri":"ide://diagnostics""#.into()),
            ("server/discover" | "resources/subscribe" | "x/unknown", _) => Self::Error(METHOD_NOT_FOUND),
            _ => Self::Any,
        }
    }

    pub fn fits(&self, answer: &Answer<'_>) -> bool {
        let result = || answer.result.and_then(|result| serde_json::from_str::<Value>(result).ok());
        let failed = |result: &Value| result["isError"] == true;
        match self {
            Self::Any => true,
            Self::Result => result().is_some_and(|result| !failed(&result)),
            Self::Answered => answer.result.is_some(),
            Self::Exactly(text) => answer.result == Some(*text),
            Self::Containing(text) => answer.result.is_some_and(|result| result.contains(text.as_str())),
            Self::Failed => result().is_some_and(|result| failed(&result)),
            Self::ResultOrLate => result().is_some_and(|result| {
                let text = result["content"][0]["text"].as_str().unwrap_or_default();
                !failed(&result) || text.starts_with("unknown: ")
            }),
            Self::Error(expected) => answer.code == Some(*expected),
            Self::Verdict(proposal) => {
                result().is_some_and(|result| !failed(&result) && is_verdict(&result, proposal))
            }
            Self::Refused => answer.result.is_some() || answer.code == Some(INVALID_REQUEST),
        }
    }
}

fn is_verdict(result: &Value, proposal: &str) -> bool {
    let [word, contents] = [0, 1].map(|block| result["content"][block]["text"].as_str());
    match word {
        Some("FILE_SAVED") => contents == Some(proposal) || contents == Some(EDITED),
        Some("DIFF_REJECTED" | "TAB_CLOSED") => true,
        _ => false,
    }
}
