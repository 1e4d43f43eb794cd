//! The reasons for which a client does not take a lock file, each with what a person can do about it.

use alloc::{string::String, vec::Vec};
use core::fmt;

/// Why a lock file does not fit. As text it says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It could not be read.
    Unreadable {
        /// The error as text.
        reason: String,
    },
    /// It does not speak WebSocket.
    Transport {
        /// What it speaks.
        transport: String,
    },
    /// The lock file has no `transport`. The real client then assumes the older transport and does not attach
    /// (measured).
    NoTransport,
    /// Its process has ended. The real client deletes such a file.
    Dead {
        /// The process, if the file says which.
        pid: Option<u32>,
    },
    /// It has no folder: only a terminal that names its port finds it.
    NoFolders {
        /// That port.
        port: u16,
    },
    /// None of its folders contains the working directory.
    Elsewhere {
        /// Its folders.
        folders: Vec<String>,
    },
    /// The environment names another port.
    OtherPort {
        /// That port.
        port: u16,
    },
    /// A newer file for the same port was taken.
    Superseded,
    /// It fits in another spelling, or was not checked, and another editor fits better.
    BetterMatch {
        /// The port of that editor.
        port: u16,
    },
}

impl fmt::Display for Refusal {
    // Text from a file is quoted with its control characters escaped, since this is made for terminals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { reason } => {
                write!(
                    f,
                    "it cannot be used ({reason}): restart the editor, so that it writes the file again"
                )
            }
            Self::Transport { transport } => {
                write!(f, "its transport is {transport:?}, not \"ws\": update the editor or its extension")
            }
            Self::NoTransport => f.write_str(
                "it has no member \"transport\", and clients require \"ws\": update the editor or its extension",
            ),
            Self::Dead { pid: Some(pid) } => {
                write!(f, "its process {pid} does not run: start the editor again, or remove the file")
            }
            Self::Dead { pid: None } => {
                f.write_str("its process does not run: start the editor again, or remove the file")
            }
            Self::NoFolders { port } => {
                write!(f, "it has no folder: open one in the editor, or set CLAUDE_CODE_SSE_PORT={port}")
            }
            Self::Elsewhere { folders } => {
                write!(
                    f,
                    "none of its folders {folders:?} contains the working directory: start in one of them, or open a \
                     parent of the working directory in the editor"
                )
            }
            Self::OtherPort { port } => {
                write!(f, "CLAUDE_CODE_SSE_PORT is {port}: unset it, so that others are considered")
            }
            Self::BetterMatch { port } => {
                write!(f, "the editor on port {port} fits better: name this one's port to choose it")
            }
            Self::Superseded => f.write_str("a newer lock file for the same port was taken: remove this one"),
        }
    }
}
