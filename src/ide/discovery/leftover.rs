//! Lock files that an editor left behind when it was killed, and when they may be removed.
//!
//! A live process may be invisible from here: a Windows process seen from WSL, or one in another container. So a file
//! counts as left over only if it is readable and ours, its process is known to be dead, and its port refuses
//! connections.

use super::matching::Candidate;
use core::fmt;

/// Checks that your own editor left this file behind, so that you may remove it.
///
/// `ide_name` is the name of your editor, byte for byte. `listening` is true if a process accepts connections on the
/// port of the file; `None` if you do not know.
///
/// # Errors
/// Why the file must stay.
pub fn is_left_over<E>(
    candidate: &Candidate<E>,
    ide_name: &str,
    listening: Option<bool>,
) -> Result<(), NotStaleReason> {
    let Ok(file) = &candidate.file else { return Err(NotStaleReason::NotUnderstood) };
    if ide_name.is_empty() || file.ide_name != ide_name {
        return Err(NotStaleReason::OfAnother);
    }
    match (candidate.pid_alive, listening) {
        (Some(true), _) => Err(NotStaleReason::Alive),
        (None, _) => Err(NotStaleReason::PerhapsAlive),
        (Some(false), Some(true)) => Err(NotStaleReason::Listening),
        (Some(false), None) => Err(NotStaleReason::PerhapsListening),
        (Some(false), Some(false)) => Ok(()),
    }
}

/// Why a lock file must stay.
///
/// [Causes and reactions](crate::guide::errors#lock-files-tokens-paths).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotStaleReason {
    /// The file could not be read, so we do not know whose it is.
    NotUnderstood,
    /// The name of the editor in the file is not ours, or ours is empty.
    OfAnother,
    /// The process is alive.
    Alive,
    /// The process is not visible from here, and may be alive.
    PerhapsAlive,
    /// The port accepts connections.
    Listening,
    /// The port may accept connections: `listening` was `None`.
    PerhapsListening,
    /// Another file has taken this name. [`is_left_over`] never returns this, because it looks at one file only.
    Replaced,
}

impl fmt::Display for NotStaleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotUnderstood => "it could not be read, so its editor is unknown",
            Self::OfAnother => "it belongs to another editor",
            Self::Alive => "its process is alive",
            Self::PerhapsAlive => "its process is not visible from here and may be alive",
            Self::Listening => "a program listens on its port",
            Self::PerhapsListening => "a program may be listening on its port",
            Self::Replaced => "it was written again meanwhile",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::discovery::{AuthToken, LockFile, LockFileError};

    #[test]
    fn l06_only_own_dead_file_is_left_over() {
        let listed = |name: &str, pid_alive| Candidate::<LockFileError> {
            port: 1,
            file: Ok(LockFile::new(2, [].into(), name, AuthToken::from_text("t").unwrap())),
            pid_alive,
            modified: None,
        };
        let unreadable = Candidate { file: Err(LockFileError::Empty), ..listed("", Some(false)) };
        let cases = [
            ("the process is dead and the port closed", listed("me", Some(false)), Some(false), Ok(())),
            ("unreadable", unreadable, Some(false), Err(NotStaleReason::NotUnderstood)),
            ("another editor", listed("Me", Some(false)), Some(false), Err(NotStaleReason::OfAnother)),
            ("a file without a name", listed("", Some(false)), Some(false), Err(NotStaleReason::OfAnother)),
            ("alive", listed("me", Some(true)), Some(false), Err(NotStaleReason::Alive)),
            (
                "the process is not visible",
                listed("me", None),
                Some(false),
                Err(NotStaleReason::PerhapsAlive),
            ),
            (
                "the port accepts connections",
                listed("me", Some(false)),
                Some(true),
                Err(NotStaleReason::Listening),
            ),
            (
                "the port was not checked",
                listed("me", Some(false)),
                None,
                Err(NotStaleReason::PerhapsListening),
            ),
        ];
        for (name, listed, listening, expected) in cases {
            assert_eq!(is_left_over(&listed, "me", listening), expected, "{name}");
        }
        assert_eq!(
            is_left_over(&listed("", Some(false)), "", Some(false)),
            Err(NotStaleReason::OfAnother),
            "our editor has no name"
        );
    }

    #[test]
    fn reasons_have_messages() {
        let texts = [
            (NotStaleReason::NotUnderstood, "it could not be read, so its editor is unknown"),
            (NotStaleReason::OfAnother, "it belongs to another editor"),
            (NotStaleReason::Alive, "its process is alive"),
            (NotStaleReason::PerhapsAlive, "its process is not visible from here and may be alive"),
            (NotStaleReason::Listening, "a program listens on its port"),
            (NotStaleReason::PerhapsListening, "a program may be listening on its port"),
            (NotStaleReason::Replaced, "it was written again meanwhile"),
        ];
        for (reason, text) in texts {
            assert_eq!(alloc::string::ToString::to_string(&reason), text);
        }
    }
}
