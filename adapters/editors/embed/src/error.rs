//! The errors of the configuration and of commands.

use ide_mcp::ide::MentionError;
use ide_mcp::rpc::{NotAnswered, NotSent};
use std::fmt;

/// A configuration that cannot be used, with the member and the kind that it has to be.
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

/// A command that was not executed. Nothing has changed, except that a result which cannot be used fails its call.
///
/// [Causes and reactions](ide_mcp::guide::errors#a-command-of-an-editor-is-refused).
#[derive(Clone, Debug)]
pub struct CommandError {
    kind: CommandErrorKind,
    message: String,
}

/// The kind of a [`CommandError`], for a program.
///
/// [Causes and reactions](ide_mcp::guide::errors#a-command-of-an-editor-is-refused).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandErrorKind {
    /// A text that is no command, or a value that cannot be used.
    Invalid,
    /// A call, an edit, a form or an agent that has ended, or never was.
    Gone,
    /// A state in which the command is refused: a pause, a hidden file, a full send buffer.
    Refused,
    /// A failure of the system.
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

    /// Returns the kind, for a program.
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
