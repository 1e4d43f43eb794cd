//! Lock files that an editor left behind when it was killed, and the conditions for their removal.
//!
//! A living process can be invisible from here: a process of Windows from within WSL, or a process of
//! another container. So a file counts as left over only if all facts show it. A file of another
//! editor, or a file that could not be read, never counts as left over.

use super::matching::Candidate;
use core::fmt;

/// Checks that our own editor left this file behind, so that the file can be removed.
///
/// `ide_name` is the name of our editor, byte for byte. `listening` is true if a process accepts
/// connections on the port of the file; `None` if that is not known.
///
/// # Errors
/// The reason for which the file has to stay.
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

/// The reason for which a lock file has to stay.
///
/// [Causes and reactions](crate::guide::errors#lock-files-tokens-paths).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotStaleReason {
    /// A file that could not be read, so that its editor is not known.
    NotUnderstood,
    /// An editor name in the file that differs from ours, or an empty name on our side.
    OfAnother,
    /// A process that is alive.
    Alive,
    /// A process that is not visible from here and possibly alive.
    PerhapsAlive,
    /// A port that accepts connections.
    Listening,
    /// A port that possibly accepts connections: `listening` was `None`.
    PerhapsListening,
    /// Another file that has this name by now. [`is_left_over`] never returns this reason, since it
    /// takes one file.
    Replaced,
}

impl fmt::Display for NotStaleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotUnderstood => "it could not be read, so its editor is unknown",
            Self::OfAnother => "it belongs to another editor",
            Self::Alive => "its process lives",
            Self::PerhapsAlive => "its process is not visible from here, and possibly lives",
            Self::Listening => "a program listens on its port",
            Self::PerhapsListening => "a program possibly listens on its port",
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
            ("dead and closed", listed("me", Some(false)), Some(false), Ok(())),
            ("unreadable", unreadable, Some(false), Err(NotStaleReason::NotUnderstood)),
            ("another editor", listed("Me", Some(false)), Some(false), Err(NotStaleReason::OfAnother)),
            ("no name", listed("", Some(false)), Some(false), Err(NotStaleReason::OfAnother)),
            ("alive", listed("me", Some(true)), Some(false), Err(NotStaleReason::Alive)),
            ("of another world", listed("me", None), Some(false), Err(NotStaleReason::PerhapsAlive)),
            ("its port is taken", listed("me", Some(false)), Some(true), Err(NotStaleReason::Listening)),
            ("its port is unknown", listed("me", Some(false)), None, Err(NotStaleReason::PerhapsListening)),
        ];
        for (name, listed, listening, expected) in cases {
            assert_eq!(is_left_over(&listed, "me", listening), expected, "{name}");
        }
        assert_eq!(
            is_left_over(&listed("", Some(false)), "", Some(false)),
            Err(NotStaleReason::OfAnother),
            "we have no name"
        );
    }

    #[test]
    fn reasons_have_texts() {
        let texts = [
            (NotStaleReason::NotUnderstood, "it could not be read, so its editor is unknown"),
            (NotStaleReason::OfAnother, "it belongs to another editor"),
            (NotStaleReason::Alive, "its process lives"),
            (NotStaleReason::PerhapsAlive, "its process is not visible from here, and possibly lives"),
            (NotStaleReason::Listening, "a program listens on its port"),
            (NotStaleReason::PerhapsListening, "a program possibly listens on its port"),
            (NotStaleReason::Replaced, "it was written again meanwhile"),
        ];
        for (reason, text) in texts {
            assert_eq!(alloc::string::ToString::to_string(&reason), text);
        }
    }
}
