//! Why a client refuses a lock file, each with a remedy for the person.

use alloc::{string::String, vec::Vec};
use core::fmt;

/// Why a lock file does not fit. Its message says what to do.
///
/// [Causes and reactions](crate::guide::errors#an-agent-finds-no-editor).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The file could not be read.
    Unreadable {
        /// The error as text.
        reason: String,
    },
    /// The transport is not WebSocket.
    Transport {
        /// The transport in the file.
        transport: String,
    },
    /// There is no `transport`. The real client then assumes the older transport and does not attach (measured).
    NoTransport,
    /// The process has ended. The real client deletes such a file.
    Dead {
        /// The process, if the file names it.
        pid: Option<u32>,
    },
    /// The port refuses connections, and we cannot tell whether the process runs. [`choose`](super::choose), which does
    /// no I/O, never returns this.
    NobodyListens {
        /// The port of the file.
        port: u16,
        /// True if the editor runs on Windows, and the client in WSL.
        is_across_wsl: bool,
    },
    /// There are no folders. Only a client whose `CLAUDE_CODE_SSE_PORT` is this port accepts the file.
    NoFolders {
        /// The port of the file.
        port: u16,
    },
    /// None of the folders contains the working directory.
    Elsewhere {
        /// The folders of the file.
        folders: Vec<String>,
    },
    /// The environment names another port.
    OtherPort {
        /// The port in the environment.
        port: u16,
    },
    /// A newer file for the same port was accepted instead.
    Superseded,
    /// Another editor fits better; this file fits in another spelling, or was not checked.
    BetterMatch {
        /// The port of the editor that fits better.
        port: u16,
    },
}

/// How many folders of a lock file the message of a [`Refusal`] shows.
const MAX_FOLDERS: usize = 3;
/// How many characters of a string from a lock file are shown, counted after escaping. A path is rarely longer, but one
/// in a hostile file can be.
const MAX_SHOWN: usize = 200;

/// A string from a lock file, shortened and with its control characters escaped.
struct Shown<'a>(&'a str);

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut length = 0_usize;
        let is_too_long = |character: char| {
            length = length.saturating_add(character.escape_debug().len());
            length > MAX_SHOWN
        };
        match self.0.find(is_too_long) {
            Some(end) => write!(f, "{:?}…", self.0.get(..end).unwrap_or_default()),
            None => write!(f, "{:?}", self.0),
        }
    }
}

/// The first of the folders of a lock file, and the number of the others.
struct Folders<'a>(&'a [String]);

impl fmt::Display for Folders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = self.0.len().saturating_sub(MAX_FOLDERS);
        let mut list = f.debug_list();
        list.entries(self.0.iter().take(MAX_FOLDERS).map(|folder| Shown(folder)));
        if more > 0 {
            list.entry(&format_args!("and {more} more"));
        }
        list.finish()
    }
}

impl fmt::Display for Refusal {
    // Terminals show this message, so control characters from the file are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { reason } => {
                write!(
                    f,
                    "it cannot be used ({reason}): restart the editor, so that it writes the file again"
                )
            }
            Self::Transport { transport } => {
                write!(
                    f,
                    "its transport is {:?}, not \"ws\": update the editor or its extension",
                    Shown(transport)
                )
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
            Self::NobodyListens { port, is_across_wsl: false } => {
                write!(f, "nothing listens on its port {port}: start the editor again, or remove the file")
            }
            Self::NobodyListens { port, is_across_wsl: true } => write!(
                f,
                "nothing listens on its port {port} from here: start the editor on Windows again, or set \
                 networkingMode=mirrored in .wslconfig"
            ),
            Self::NoFolders { port } => {
                write!(f, "it has no folder: open one in the editor, or set CLAUDE_CODE_SSE_PORT={port}")
            }
            Self::Elsewhere { folders } => {
                write!(
                    f,
                    "none of its folders {} contains the working directory: start in one of them, or open a parent of \
                     the working directory in the editor",
                    Folders(folders)
                )
            }
            Self::OtherPort { port } => {
                write!(f, "CLAUDE_CODE_SSE_PORT is {port}: unset it, so that others are considered")
            }
            Self::BetterMatch { port } => {
                write!(
                    f,
                    "the editor on port {port} fits better: to choose this one, set CLAUDE_CODE_SSE_PORT to its port"
                )
            }
            Self::Superseded => f.write_str("a newer lock file for the same port was used instead: remove this one"),
        }
    }
}
