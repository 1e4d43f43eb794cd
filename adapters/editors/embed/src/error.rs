//! What is wrong with a configuration or a command.

use ide_mcp::ide::MentionError;
use ide_mcp::rpc::{NotAnswered, NotSent};
use std::fmt;

/// The configuration cannot be used. The message names the member and says what it must be.
///
/// [Causes and reactions](ide_mcp::guide::errors#a-command-of-an-editor-is-refused).
#[derive(Debug)]
pub struct ConfigError(String);

impl ConfigError {
    pub(crate) const fn new(problem: String) -> Self {
        Self(problem)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the configuration cannot be used: {}", self.0)
    }
}

impl std::error::Error for ConfigError {}

/// A command was not run. Nothing has changed, except that a result which cannot be used fails its call.
///
/// [Causes and reactions](ide_mcp::guide::errors#a-command-of-an-editor-is-refused).
#[derive(Clone, Debug)]
pub struct CommandError {
    kind: CommandErrorKind,
    message: String,
}

/// The kind of a [`CommandError`], for your program; the message is for people.
///
/// [Causes and reactions](ide_mcp::guide::errors#a-command-of-an-editor-is-refused).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandErrorKind {
    /// The JSON is not a command, or a value cannot be used.
    Invalid,
    /// The call, form or agent has ended, or never existed.
    Gone,
    /// The command cannot be run now: a pause, a hidden file, a full send buffer.
    Refused,
    /// The lock file could not be updated.
    Io,
}

impl CommandError {
    pub(crate) fn new(kind: CommandErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(CommandErrorKind::Invalid, message)
    }

    pub(crate) fn gone(message: impl Into<String>) -> Self {
        Self::new(CommandErrorKind::Gone, message)
    }

    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::new(CommandErrorKind::Refused, message)
    }

    /// Returns the kind, for your program.
    #[must_use]
    pub const fn kind(&self) -> CommandErrorKind {
        self.kind
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CommandError {}

impl From<NotAnswered> for CommandError {
    fn from(error: NotAnswered) -> Self {
        if error.is_over() {
            return Self::gone(error.to_string());
        }
        Self::invalid(format!("`result` cannot be used: {error}"))
    }
}

impl From<NotSent> for CommandError {
    fn from(error: NotSent) -> Self {
        let kind = if error == NotSent::Closed {
            CommandErrorKind::Gone
        } else if error == NotSent::Unserializable {
            CommandErrorKind::Invalid
        } else {
            CommandErrorKind::Refused
        };
        Self::new(kind, error.to_string())
    }
}

impl From<MentionError> for CommandError {
    fn from(error: MentionError) -> Self {
        let is_gone = error == MentionError::NoSuchAgent;
        Self::new(if is_gone { CommandErrorKind::Gone } else { CommandErrorKind::Refused }, error.to_string())
    }
}
