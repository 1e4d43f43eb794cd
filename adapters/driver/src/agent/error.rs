//! The errors of an agent. Their texts name the remedy, and no option of a program.

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

/// The reason why an agent is not attached. Its text, that of `Display`, tells a person what to do.
///
/// [Causes and reactions](ide_mcp::guide::errors#an-agent-finds-no-editor).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The search found no editor.
    #[error(transparent)]
    NoEditor(Box<NoEditor>),
    /// There is a lock file, and no connection to its editor. Nothing was sent.
    #[error(fmt = not_connected)]
    NotConnected {
        /// The editor of the lock file.
        editor: Box<FoundEditor>,
        /// The reason.
        error: ConnectError,
    },
    /// There is an editor, and it does not admit the agent.
    #[error(fmt = not_admitted)]
    NotAdmitted {
        /// The editor.
        editor: Box<FoundEditor>,
        /// The reason.
        reason: NotAdmitted,
    },
    /// The name or version of the agent, or the host of the editor, is not valid in an opening handshake.
    #[error("the options of the agent are not valid: {0}")]
    Invalid(InvalidClientRequest),
    /// An error of the system before the first attempt.
    #[error(transparent)]
    Io(io::Error),
    /// The agent was attached, and its connection has ended.
    #[error("{}{}", safe(closed), gave_up.map(|gave_up| format!("; {gave_up}")).unwrap_or_default())]
    Ended {
        /// The end of the last connection or attempt.
        closed: Closed,
        /// The reason why the agent does not try again; `None` if it does not reconnect at all.
        gave_up: Option<GaveUp>,
    },
    /// The agent is over, and the error that ended it was returned before.
    #[error("the agent is over, and its end was reported before")]
    Over,
}

/// The reason why an editor did not admit an agent.
#[derive(Debug)]
#[non_exhaustive]
pub enum NotAdmitted {
    /// The end of the connection before there was a session, such as the refusal of the token.
    Closed(Closed),
    /// A session that could not be opened.
    Failed(Failure),
    /// An editor that did not choose the sub-protocol `mcp`.
    SubprotocolMissing,
}

/// The maximum number of characters of the name of an editor.
const MAX_NAME: usize = 100;

fn not_connected(editor: &FoundEditor, error: &ConnectError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let ConnectError::Io(error) = error else { return write!(f, "the agent does not attach: {error}") };
    let FoundEditor { port, host, name, lock_file, dead_process, .. } = editor;
    write!(f, "no editor found: {:?} does not answer on ", display_line(name, MAX_NAME))?;
    match host.as_str() {
        LOOPBACK => write!(f, "port {port}")?,
        // The message names the variable, which the person can have forgotten.
        host => write!(f, "{}, the host of {HOST_VARIABLE}", safe(&authority(host, *port)))?,
    }
    write!(f, " ({error}); ")?;
    if let Some(pid) = dead_process {
        write!(f, "its process {pid} does not run: ")?;
    }
    write!(f, "start the editor again, or remove {}", lock_file.display())
}

fn not_admitted(editor: &FoundEditor, reason: &NotAdmitted, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let port = editor.port;
    match reason {
        NotAdmitted::Closed(Closed::NotAccepted(NotAccepted::Status(401, _))) => write!(
            f,
            "the editor on port {port} refuses the token: {} is not the lock file of this editor; start the editor again, \
             so that it writes a new one",
            editor.lock_file.display()
        ),
        NotAdmitted::Closed(Closed::NotAccepted(NotAccepted::Status(404, _))) => {
            write!(
                f,
                "the program on port {port} answers 404: it has nothing for agents at the request target"
            )
        }
        NotAdmitted::Closed(closed) => {
            write!(f, "the editor on port {port} lets nobody in: {}", safe(closed))
        }
        NotAdmitted::Failed(failure) => {
            write!(f, "the session with the editor on port {port} could not be opened: {}", safe(failure))
        }
        NotAdmitted::SubprotocolMissing => write!(
            f,
            "the program on port {port} does not choose the sub-protocol mcp: it isn't an editor for agents"
        ),
    }
}

/// Returns a text that can contain text of the peer, to be shown.
fn safe(text: &impl ToString) -> String {
    display_safe(&text.to_string()).into_owned()
}

/// The reason why a request that an agent waits for has no answer.
///
/// [Causes and reactions](ide_mcp::guide::errors#a-request-has-no-answer).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CallError {
    /// The request was not sent. [`NotSent::NotReady`] while the agent is not attached.
    #[error(transparent)]
    NotSent(#[from] NotSent),
    /// The request has no answer of its kind.
    // Not the source of this error: a program that prints a chain of sources would show text of the peer as it came.
    #[error("{}", safe(_0))]
    Failed(RequestError),
    /// 10,000 events wait for the application, or events with more than 16 MiB of texts and JSON. The request
    /// is cancelled; take the events first.
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
    fn errors_show_texts_and_debug_their_fields() {
        let ended = |gave_up| AgentError::Ended { closed: Closed::Abnormal, gave_up };
        let rows: &[(&dyn fmt::Display, &str)] = &[
            (&ConnectError::Io(ErrorKind::ConnectionRefused.into()), "connection refused"),
            (&ended(None), "the connection ended without a close frame"),
            (
                &ended(Some(GaveUp::TooLong)),
                "the connection ended without a close frame; the editor has not come back in time: attach again once it is there",
            ),
            (&AgentError::Over, "the agent is over, and its end was reported before"),
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
        assert!(of_peer.source().is_none(), "a chain of sources would show the text of the peer as it came");
    }
}
