//! What the answer to a request must be.

use super::Answer;
use ide_mcp::rpc::code;
use serde_json::Value;

/// The answer that a request requires.
#[derive(Clone, Debug, PartialEq)]
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
    /// A result with a list of this name, whose entries have these names.
    Listing(&'static str, Value),
    /// The result of a failed tool.
    Failed,
    /// A result other than that of a failed tool; or the failure with which the server answers `getDiagnostics` at the
    /// deadline, which a busy machine can exceed.
    ResultOrLate,
    /// An error with this code.
    Error(i64),
    /// The refusal of wrong arguments: an error, or the result by which a model learns of it (MCP 2025-11-25).
    InvalidArguments,
    /// The verdict of a person on this proposal, perhaps with a text of the person, or the end of its
    /// tab, at any time.
    Verdict(String),
    /// An error, since the id is open already; or a result if the id is no longer open.
    Refused,
}

/// The states of a session, as far as its answers depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Before the answer to `initialize`; at a client, before the session is ready.
    New,
    Open,
    /// The session still answers what is open, and accepts nothing new.
    Ending,
}

/// The text of a person who edits a proposal and accepts it.
pub const EDITED: &str = "edited by the person";

impl Expected {
    /// Returns the answer that every session gives, whatever the application offers (I20–I25); `None` if the answer
    /// depends on more than the method.
    pub fn of_session(is_server: bool, state: State, method: &str) -> Option<Self> {
        Some(match method {
            "ping" => Self::Exactly("{}"),
            "server/discover" => Self::Error(code::METHOD_NOT_FOUND),
            "initialize" if is_server && state == State::New => {
                Self::Containing(r#""protocolVersion":""#.into())
            }
            _ if state != State::Open => Self::Error(code::INVALID_REQUEST),
            "initialize" if is_server => Self::Error(code::INVALID_REQUEST),
            "initialize" => Self::Error(code::METHOD_NOT_FOUND),
            _ => return None,
        })
    }

    /// Returns the answer of an editor to a client that keeps all rules. `version` is the version of MCP that the
    /// client offers, as JSON text.
    pub fn of_editor(method: &str, version: Option<&str>) -> Self {
        match (method, version) {
            ("initialize", Some(version)) => Self::Containing(format!(r#""protocolVersion":{version}"#)),
            ("tools/list", _) => Self::Containing("openDiff".into()),
            ("resources/list", _) => Self::Containing(r#""uri":"ide://diagnostics""#.into()),
            ("resources/subscribe" | "x/unknown", _) => Self::Error(code::METHOD_NOT_FOUND),
            _ => Self::of_session(true, State::Open, method).unwrap_or(Self::Any),
        }
    }

    pub fn fits(&self, answer: &Answer) -> bool {
        let Some(text) = &answer.result else {
            return match self {
                Self::Any => true,
                Self::Error(code) => answer.code == Some(*code),
                Self::InvalidArguments => answer.code == Some(code::INVALID_PARAMS),
                Self::Refused => answer.code == Some(code::INVALID_REQUEST),
                _ => false,
            };
        };
        let result = || serde_json::from_str::<Value>(text).unwrap();
        let failed = || result()["isError"] == true;
        let text_of = |block: usize| result()["content"][block]["text"].as_str().map(str::to_owned);
        let begins = |with: &str| text_of(0).is_some_and(|text| text.starts_with(with));
        match self {
            Self::Any | Self::Answered | Self::Refused => true,
            Self::Error(_) => false,
            Self::Exactly(expected) => text == expected,
            Self::Containing(part) => text.contains(part.as_str()),
            Self::Listing(list, names) => {
                let entries = result()[list].as_array().cloned().unwrap_or_default();
                entries.into_iter().map(|mut entry| entry["name"].take()).collect::<Value>() == *names
            }
            Self::Result => !failed(),
            Self::Failed => failed(),
            Self::ResultOrLate => !failed() || begins("unknown: "),
            Self::InvalidArguments => failed() && begins("Invalid arguments: "),
            Self::Verdict(proposal) if text_of(0).as_deref() == Some("FILE_SAVED") => {
                !failed() && text_of(1).is_some_and(|text| text == *proposal || text == EDITED)
            }
            Self::Verdict(_) => {
                !failed() && text_of(0).is_some_and(|word| word == "DIFF_REJECTED" || word == "TAB_CLOSED")
            }
        }
    }
}
