//! The errors of an agent. If the person can do something, the message says what. No message names a
//! command-line option, because any program may show it.

use super::ConnectError;
use ide_mcp::ide::RequestError;
use ide_mcp::ide::discovery::GaveUp;
use ide_mcp::ide::discovery::client_env::{HOST_VARIABLE, LOOPBACK, authority};
use ide_mcp::ide::kit::{display_line, display_safe};
use ide_mcp::mcp::Failure;
use ide_mcp::rpc::NotSent;
use ide_mcp::ws::{Closed, InvalidClientRequest, NotAccepted};
use ide_mcp_lockfile::{FoundEditor, NoEditor};
use std::fmt;
use std::io;
use thiserror::Error;

/// Why an agent is not attached. Show it to the person: if they can do something, the message says what.
///
/// [Causes and reactions](ide_mcp::guide::errors#an-agent-finds-no-editor).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The search found no editor.
    #[error(transparent)]
    NoEditor(Box<NoEditor>),
    /// We found a lock file, but could not connect to its editor. Nothing was sent.
    #[error(fmt = not_connected)]
    NotConnected {
        /// The editor of the lock file.
        editor: Box<FoundEditor>,
        /// The reason.
        error: ConnectError,
    },
    /// We reached the editor, but it did not admit the agent.
    #[error(fmt = not_admitted)]
    NotAdmitted {
        /// The editor.
        editor: Box<FoundEditor>,
        /// The reason.
        reason: NotAdmitted,
    },
    /// The name or version of the agent, or the host of the editor, cannot be sent in an opening handshake.
    #[error("the options of the agent are not valid: {0}")]
    Invalid(InvalidClientRequest),
    /// An error of the system before the first attempt.
    #[error(transparent)]
    Io(io::Error),
    /// The agent was attached and has lost its connection.
    #[error("{}{}", safe(closed), gave_up.map(|gave_up| format!("; {gave_up}")).unwrap_or_default())]
    Ended {
        /// How the last connection or attempt ended.
        closed: Closed,
        /// Why the agent stopped trying; `None` if it does not reconnect at all.
        gave_up: Option<GaveUp>,
    },
    /// The agent has ended, and an earlier call returned the error.
    #[error("the agent has ended, and an earlier call returned the reason")]
    Over,
}

/// Why an editor did not admit an agent.
#[derive(Debug)]
#[non_exhaustive]
pub enum NotAdmitted {
    /// The connection closed before there was a session, for example because the editor refused the token.
    Closed(Closed),
    /// The session could not be opened.
    Failed(Failure),
    /// The editor did not choose the sub-protocol `mcp`.
    SubprotocolMissing,
}

/// How many characters of an editor's name we show.
const MAX_NAME: usize = 100;

fn not_connected(editor: &FoundEditor, error: &ConnectError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let ConnectError::Io(error) = error else { return write!(f, "the agent does not attach: {error}") };
    let FoundEditor { port, host, name, lock_file, dead_process, .. } = editor;
    write!(f, "no editor found: {:?} does not answer on ", display_line(name, MAX_NAME))?;
    match host.as_str() {
        LOOPBACK => write!(f, "port {port}")?,
        // Name the variable: the person may have forgotten that it is set.
        host => write!(f, "{}, the host of {HOST_VARIABLE}", safe(&authority(host, *port)))?,
    }
    write!(f, " ({error}); ")?;
    if let Some(pid) = dead_process {
        write!(f, "its process {pid} does not run: ")?;
    }
    write!(f, "start the editor again, or remove {}", lock_file.display())
}

fn not_admitted(editor: &FoundEditor, reason: &NotAdmitted, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (port, lock_file) = (editor.port, editor.lock_file.display());
    match reason {
        NotAdmitted::Closed(Closed::NotAccepted(NotAccepted::Status(401, _))) => write!(
            f,
            "the editor on port {port} refuses the token: {lock_file} is not the lock file of this editor; start the editor \
             again, so that it writes a new one"
        ),
        NotAdmitted::Closed(Closed::NotAccepted(NotAccepted::Status(404, _))) => write!(
            f,
            "the program on port {port} answers 404, so it serves no agents at this request target: use another target, or \
             remove {lock_file}"
        ),
        NotAdmitted::Closed(closed) => {
            write!(f, "the editor on port {port} did not admit the agent: {}", safe(closed))
        }
        NotAdmitted::Failed(failure) => {
            write!(f, "the session with the editor on port {port} could not be opened: {}", safe(failure))
        }
        NotAdmitted::SubprotocolMissing => write!(
            f,
            "the program on port {port} does not choose the sub-protocol mcp, so it is not an editor for agents: update its \
             extension, or remove {lock_file}"
        ),
    }
}

/// Makes a message that may quote the peer safe to show.
fn safe(text: &impl ToString) -> String {
    display_safe(&text.to_string()).into_owned()
}

/// Why a request has no answer.
///
/// [Causes and reactions](ide_mcp::guide::errors#a-request-has-no-answer).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CallError {
    /// The request was not sent; [`NotSent::NotReady`] while the agent is not attached.
    #[error(transparent)]
    NotSent(#[from] NotSent),
    /// The request failed: the editor answered with an error, did not answer, or the connection ended.
    // Not the `source` of this error: a program that prints the chain would show the peer's text unescaped.
    #[error("{}", safe(_0))]
    Failed(RequestError),
    /// 10,000 events, or events with more than 16 MiB of text and JSON, wait for the application. The request
    /// is cancelled; take the events before you send the next one.
    #[error(
        "too many events of the editor wait for the application, and the request is cancelled: take the events first"
    )]
    TooManyEvents,
}

impl From<RequestError> for CallError {
    fn from(error: RequestError) -> Self {
        Self::Failed(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;
    use std::io::ErrorKind;

    #[test]
    fn display_shows_a_message_and_debug_the_fields() {
        let ended = |gave_up| AgentError::Ended { closed: Closed::Abnormal, gave_up };
        let rows: &[(&dyn fmt::Display, &str)] = &[
            (&ConnectError::Io(ErrorKind::ConnectionRefused.into()), "connection refused"),
            (&ended(None), "the connection ended without a close frame"),
            (
                &ended(Some(GaveUp::TooLong)),
                "the connection ended without a close frame; the editor has not come back in time: attach again once it is there",
            ),
            (&AgentError::Over, "the agent has ended, and an earlier call returned the reason"),
            (
                &CallError::NotSent(NotSent::Full),
                "the send buffer is full: send later, when the peer has read",
            ),
            (&CallError::Failed(RequestError::TimedOut), "the peer did not answer in time"),
        ];
        for (error, text) in rows {
            assert_eq!(error.to_string(), *text);
        }
        assert_eq!(format!("{:?}", ended(None)), "Ended { closed: Abnormal, gave_up: None }");
        assert_eq!(format!("{:?}", CallError::NotSent(NotSent::Full)), "NotSent(Full)");
        let of_peer = CallError::from(RequestError::Failed("\u{1b}[2J".into()));
        assert!(!of_peer.to_string().contains('\u{1b}'), "{of_peer}");
        assert!(
            of_peer.source().is_none(),
            "a printed chain of sources would show the peer's text unescaped"
        );
    }
}
