//! The choice of a client among lock files (measured, see docs/evidence.md), with a reason for each one it refuses.
//! Pure: what the disk and the process table say is handed in.
//!
//! Paths are compared as text, component by component; to an editor on Windows, `D:\p` is `/mnt/d/p` of a client in WSL. Symbolic links are the caller's business, hence the two forms
//! of the working directory in [`Place`].

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;
use core::time::Duration;

use super::paths::{contains, is_drive};
use super::{LockFile, Transport};

/// Which of `files` a client in `place` may connect to.
///
/// A file that cannot be read, that does not speak WebSocket or whose process is dead is never accepted. If
/// [`Place::port`] names one of the rest, that one is accepted alone and its folders are not looked at; if it names
/// none, it is as if it were not set. Otherwise each file is accepted that has a folder which is the working directory
/// or contains it.
#[must_use]
pub fn choose<E: fmt::Display>(files: &[Listed<E>], place: &Place<'_>) -> Matching {
    let mut newest_first: Vec<(usize, &Listed<E>)> = files.iter().enumerate().collect();
    newest_first.sort_by_key(|(_, file)| Reverse(file.modified));

    let named = newest_first.iter().find(|(_, file)| Some(file.port) == place.port && usable(file).is_ok());
    let named = named.map(|(index, file)| (*index, file.port));

    let mut matching = Matching::default();
    for (index, file) in newest_first {
        let port = file.port;
        let verdict = usable(file).and_then(|lock_file| match named {
            Some((chosen, _)) if chosen == index => Ok(Because::Port),
            Some((_, named)) if named != port => Err(Refusal::OtherPort { port: named }),
            Some(_) => Err(Refusal::Superseded),
            None => by_folder(lock_file, port, place),
        });
        match verdict {
            Ok(_) if matching.accepted.iter().any(|other| other.port == port) => {
                matching.refused.push(Refused { index, port, reason: Refusal::Superseded });
            }
            Ok(because) => matching.accepted.push(Accepted { index, port, because }),
            Err(reason) => matching.refused.push(Refused { index, port, reason }),
        }
    }
    matching
}

/// A lock file with what is known about it. `E` is the reason why it could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<E = super::LockFileError> {
    /// The port in its name ([`LockFile::port_of`]).
    pub port: u16,
    /// What it says.
    pub file: Result<LockFile, E>,
    /// Whether its process lives; `None` where that cannot be known, as for a process of Windows seen from WSL.
    pub pid_alive: Option<bool>,
    /// When it was last written, since any start that is the same for all of them. Unknown counts as oldest.
    pub modified: Option<Duration>,
}

/// Where the client is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place<'a> {
    /// The working directory as the person sees it.
    pub cwd: &'a str,
    /// The working directory without symbolic links, which is all that the real client looks at; `None` if it is not
    /// known. A folder that contains either form matches.
    pub canonical: Option<&'a str>,
    /// `CLAUDE_CODE_SSE_PORT`, read with [`LockFile::parse_port`].
    pub port: Option<u16>,
}

/// The outcome: every lock file is in one of the two lists, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matching {
    /// Those a client may connect to, one for a port.
    pub accepted: Vec<Accepted>,
    /// The others.
    pub refused: Vec<Refused>,
}

impl Matching {
    /// The one to connect to unasked: the only one that was accepted. Among several a person has to pick.
    #[must_use]
    pub fn only(&self) -> Option<&Accepted> {
        match self.accepted.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }
}

/// A lock file that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Accepted {
    /// Its index in the list that was handed in.
    pub index: usize,
    /// Its port.
    pub port: u16,
    /// Why it fits.
    pub because: Because,
}

/// Why a lock file fits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Because {
    /// The environment names its port.
    Port,
    /// One of its folders, this one, contains the working directory.
    Folder(String),
}

/// A lock file that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// Its index in the list that was handed in.
    pub index: usize,
    /// Its port.
    pub port: u16,
    /// Why not.
    pub reason: Refusal,
}

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
            Self::Superseded => f.write_str("a newer lock file for the same port was taken: remove this one"),
        }
    }
}

fn usable<E: fmt::Display>(listed: &Listed<E>) -> Result<&LockFile, Refusal> {
    let file = listed.file.as_ref().map_err(|error| Refusal::Unreadable { reason: error.to_string() })?;
    if file.transport != Transport::WebSocket {
        return Err(Refusal::Transport { transport: file.transport.as_str().to_string() });
    }
    if listed.pid_alive == Some(false) {
        return Err(Refusal::Dead { pid: file.pid });
    }
    Ok(file)
}

fn by_folder(file: &LockFile, port: u16, place: &Place<'_>) -> Result<Because, Refusal> {
    if file.workspace_folders.is_empty() {
        return Err(Refusal::NoFolders { port });
    }
    let mut paths: Vec<&str> = [place.cwd].into_iter().chain(place.canonical).collect();
    if file.running_in_windows {
        paths.extend([place.cwd].into_iter().chain(place.canonical).filter_map(drive_in_wsl));
    }
    let fits = |folder: &&String| paths.iter().any(|path| contains(folder, path));
    match file.workspace_folders.iter().find(fits) {
        Some(folder) => Ok(Because::Folder(folder.clone())),
        None => Err(Refusal::Elsewhere { folders: file.workspace_folders.clone() }),
    }
}

/// A path on a drive of Windows as a client in WSL sees it, `/mnt/d/p`, in the form `/d/p`, which is `D:\p`.
fn drive_in_wsl(path: &str) -> Option<&str> {
    path.strip_prefix("/mnt").filter(|path| is_drive(path.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::paths::is_absolute;
    use crate::ide::{AuthToken, LockFileError};
    use alloc::format;

    /// A file that a client in `/w/p` accepts, to be changed into one that it does not.
    fn listed(port: u16, folders: &[&str]) -> Listed {
        let token = AuthToken::from_text("QZQZ").unwrap();
        let folders = folders.iter().map(ToString::to_string).collect();
        Listed {
            port,
            file: Ok(LockFile::new(u32::from(port), folders, "editor", token)),
            pid_alive: Some(true),
            modified: Some(Duration::from_secs(100)),
        }
    }

    fn changed(mut listed: Listed, change: impl FnOnce(&mut Listed)) -> Listed {
        change(&mut listed);
        listed
    }

    fn at(seconds: u64) -> impl FnOnce(&mut Listed) {
        move |listed| listed.modified = Some(Duration::from_secs(seconds))
    }

    fn with_transport(transport: Transport) -> impl FnOnce(&mut Listed) {
        move |listed| listed.file.as_mut().unwrap().transport = transport
    }

    struct Case {
        name: &'static str,
        files: Vec<Listed>,
        port: Option<u16>,
        /// Index and reason, newest first.
        accepted: Vec<(usize, Because)>,
        refused: Vec<(usize, Refusal)>,
    }

    fn folder(path: &str) -> Because {
        Because::Folder(path.into())
    }

    fn elsewhere(path: &str) -> Refusal {
        Refusal::Elsewhere { folders: Vec::from([path.into()]) }
    }

    #[test]
    fn each_rule_decides_as_the_real_client_does() {
        let here = || listed(1, &["/w/p"]);
        let cases = [
            Case { name: "none", files: Vec::new(), port: None, accepted: Vec::new(), refused: Vec::new() },
            Case {
                name: "the working directory itself",
                files: Vec::from([here()]),
                port: None,
                accepted: Vec::from([(0, folder("/w/p"))]),
                refused: Vec::new(),
            },
            Case {
                name: "its parent, as second folder",
                files: Vec::from([listed(1, &["/decoy", "/w"])]),
                port: None,
                accepted: Vec::from([(0, folder("/w"))]),
                refused: Vec::new(),
            },
            Case {
                name: "a child, a sibling with the same beginning",
                files: Vec::from([listed(1, &["/w/p/sub"]), listed(2, &["/w/p-evil"])]),
                port: None,
                accepted: Vec::new(),
                refused: Vec::from([(0, elsewhere("/w/p/sub")), (1, elsewhere("/w/p-evil"))]),
            },
            Case {
                name: "the canonical form matches",
                files: Vec::from([listed(1, &["/real/p"])]),
                port: None,
                accepted: Vec::from([(0, folder("/real/p"))]),
                refused: Vec::new(),
            },
            Case {
                name: "no folders",
                files: Vec::from([listed(1, &[])]),
                port: None,
                accepted: Vec::new(),
                refused: Vec::from([(0, Refusal::NoFolders { port: 1 })]),
            },
            Case {
                name: "no folders, but the port",
                files: Vec::from([listed(1, &[])]),
                port: Some(1),
                accepted: Vec::from([(0, Because::Port)]),
                refused: Vec::new(),
            },
            Case {
                name: "the port wins alone",
                files: Vec::from([here(), listed(2, &["/elsewhere"])]),
                port: Some(2),
                accepted: Vec::from([(1, Because::Port)]),
                refused: Vec::from([(0, Refusal::OtherPort { port: 2 })]),
            },
            Case {
                name: "a stale port falls back to the folders",
                files: Vec::from([here()]),
                port: Some(9),
                accepted: Vec::from([(0, folder("/w/p"))]),
                refused: Vec::new(),
            },
            Case {
                name: "the port of a dead process falls back to the folders",
                files: Vec::from([
                    here(),
                    changed(listed(2, &["/w/p"]), |file| file.pid_alive = Some(false)),
                ]),
                port: Some(2),
                accepted: Vec::from([(0, folder("/w/p"))]),
                refused: Vec::from([(1, Refusal::Dead { pid: Some(2) })]),
            },
            Case {
                name: "dead, unknown",
                files: Vec::from([
                    changed(here(), |file| file.pid_alive = Some(false)),
                    changed(listed(2, &["/w/p"]), |file| file.pid_alive = None),
                ]),
                port: None,
                accepted: Vec::from([(1, folder("/w/p"))]),
                refused: Vec::from([(0, Refusal::Dead { pid: Some(1) })]),
            },
            Case {
                name: "other transports, even by port",
                files: Vec::from([
                    changed(here(), with_transport(Transport::Sse)),
                    changed(listed(2, &["/w/p"]), with_transport(Transport::Other("x".into()))),
                ]),
                port: Some(1),
                accepted: Vec::new(),
                refused: Vec::from([
                    (0, Refusal::Transport { transport: "sse".into() }),
                    (1, Refusal::Transport { transport: "x".into() }),
                ]),
            },
            Case {
                name: "unreadable",
                files: Vec::from([changed(here(), |file| file.file = Err(LockFileError::Empty))]),
                port: Some(1),
                accepted: Vec::new(),
                refused: Vec::from([(0, Refusal::Unreadable { reason: "the lock file is empty".into() })]),
            },
            Case {
                name: "several, newest first, unknown age last",
                files: Vec::from([
                    changed(listed(1, &["/w/p"]), |file| file.modified = None),
                    changed(listed(2, &["/w/p"]), at(1)),
                    changed(listed(3, &["/w/p"]), at(3)),
                    changed(listed(4, &["/x"]), at(2)),
                    changed(listed(5, &["/x"]), at(4)),
                ]),
                port: None,
                accepted: Vec::from([(2, folder("/w/p")), (1, folder("/w/p")), (0, folder("/w/p"))]),
                refused: Vec::from([(4, elsewhere("/x")), (3, elsewhere("/x"))]),
            },
            Case {
                name: "two files for one port",
                files: Vec::from([changed(here(), at(1)), changed(here(), at(2))]),
                port: None,
                accepted: Vec::from([(1, folder("/w/p"))]),
                refused: Vec::from([(0, Refusal::Superseded)]),
            },
            Case {
                name: "two files for the port in the environment, the newer one broken",
                files: Vec::from([
                    changed(here(), at(1)),
                    changed(here(), |file| {
                        file.modified = Some(Duration::from_secs(2));
                        file.file = Err(LockFileError::Empty);
                    }),
                    changed(here(), at(0)),
                ]),
                port: Some(1),
                accepted: Vec::from([(0, Because::Port)]),
                refused: Vec::from([
                    (1, Refusal::Unreadable { reason: "the lock file is empty".into() }),
                    (2, Refusal::Superseded),
                ]),
            },
        ];
        for Case { name, files, port, accepted, refused } in cases {
            let place = Place { cwd: "/w/p", canonical: Some("/real/p/sub"), port };
            let matching = choose(&files, &place);
            let only = (accepted.len() == 1).then(|| accepted[0].0);
            assert_eq!(matching.only().map(|only| only.index), only, "{name}");
            for (index, port) in (matching.accepted.iter().map(|file| (file.index, file.port)))
                .chain(matching.refused.iter().map(|file| (file.index, file.port)))
            {
                assert_eq!(port, files[index].port, "{name}");
            }
            let ours = matching.accepted.into_iter().map(|file| (file.index, file.because));
            assert_eq!(ours.collect::<Vec<_>>(), accepted, "{name}");
            let theirs = matching.refused.into_iter().map(|file| (file.index, file.reason));
            assert_eq!(theirs.collect::<Vec<_>>(), refused, "{name}");
        }
    }

    #[test]
    fn containment_goes_by_component() {
        let cases: &[(&str, &str, bool)] = &[
            ("/w/p", "/w/p", true),
            ("/w/p/", "/w/p", true),
            ("/w/p", "/w/p/", true),
            ("/w//p", "/w/p/a", true),
            ("/w/./p", "/w/p/a..b", true),
            ("/", "/w", true),
            ("/w/p", "/w/p_evil", false),
            ("/w/p", "/w/p/../q", false),
            ("/w/q/../p", "/w/p", true),
            ("/w/p", "/w", false),
            ("/w/p", "/W/p", false),
            ("w/p", "w/p", false),
            ("", "/w", false),
            ("/w", "", false),
            ("/w\\p", "/w/p", false),
            ("C:\\w", "c:\\w\\p", true),
            ("c:/w", "C:\\w\\p", true),
            ("C:\\w", "C:\\W", false),
            ("C:\\w", "D:\\w", false),
            ("C:\\", "C:\\w", true),
            ("C:", "C:\\w", false),
            ("/c/w", "C:\\w\\p", true),
            ("C:\\w", "/c/w/p", true),
            ("/c", "C:\\w", true),
            ("/C/w", "/c/w", false),
            ("/", "C:\\w", false),
            ("\\\\server\\share", "\\\\server\\share\\p", true),
            ("\\\\server\\share", "\\\\server\\shared", false),
            ("\\\\c\\w", "C:\\w", false),
            ("/é", "/é/x", true),
        ];
        for (folder, path, expected) in cases {
            assert_eq!(contains(folder, path), *expected, "{folder:?} contains {path:?}");
        }
    }

    #[test]
    fn a_drive_is_below_mnt_for_a_client_in_wsl() {
        let cases: &[(&str, bool, &str, bool)] = &[
            ("D:\\p", true, "/mnt/d/p/src", true),
            ("d:\\", true, "/mnt/d", true),
            ("/d/p", true, "/mnt/d/p", true),
            ("/mnt/d/p", true, "/mnt/d/p", true),
            ("D:\\p", true, "/mnt/e/p", false),
            ("D:\\p", true, "/mnt/d/p-evil", false),
            ("D:\\p", false, "/mnt/d/p", false),
            ("/data", true, "/mnt/data/p", false),
            ("/home", true, "/mnt/home/p", false),
        ];
        for (folder, windows, cwd, fits) in cases {
            let file = changed(listed(1, &[folder]), |listed| {
                listed.file.as_mut().unwrap().running_in_windows = *windows;
            });
            for (cwd, canonical) in [(*cwd, None), ("/elsewhere", Some(*cwd))] {
                let matching = choose(core::slice::from_ref(&file), &Place { cwd, canonical, port: None });
                assert_eq!(matching.only().is_some(), *fits, "{folder} {windows} {cwd}");
            }
        }
    }

    #[test]
    fn no_path_panics_and_each_contains_itself() {
        arbtest::arbtest(|u| {
            let (one, other): (&str, &str) = (u.arbitrary()?, u.arbitrary()?);
            let _ = contains(one, other);
            assert_eq!(contains(one, one), is_absolute(one), "{one:?}");
            Ok(())
        });
    }

    #[test]
    fn every_file_is_listed_once() {
        arbtest::arbtest(|u| {
            let mut files = Vec::new();
            for _ in 0..u.int_in_range(0..=6)? {
                let folders: &[&str] = u.choose(&[&["/w/p"] as &[&str], &["/x"], &[]])?;
                let mut file = listed(u.int_in_range(1..=3)?, folders);
                file.pid_alive = u.arbitrary()?;
                file.modified = u.arbitrary::<Option<u8>>()?.map(|at| Duration::from_secs(at.into()));
                files.push(file);
            }
            let place =
                Place { cwd: "/w/p", canonical: None, port: u.arbitrary::<Option<u8>>()?.map(u16::from) };
            let matching = choose(&files, &place);
            let mut seen: Vec<usize> = matching.accepted.iter().map(|file| file.index).collect();
            seen.extend(matching.refused.iter().map(|file| file.index));
            seen.sort_unstable();
            assert_eq!(seen, (0..files.len()).collect::<Vec<_>>());
            Ok(())
        });
    }

    #[test]
    fn a_refusal_says_what_to_do_and_shows_no_control_character() {
        let folders = Vec::from(["/w\u{1b}]0;x\u{7}\u{202e}".to_string()]);
        let cases = [
            (Refusal::Unreadable { reason: "why".into() }, "restart"),
            (Refusal::Transport { transport: "s\u{1b}se".into() }, "update"),
            (Refusal::Dead { pid: Some(1) }, "start the editor again"),
            (Refusal::Dead { pid: None }, "start the editor again"),
            (Refusal::NoFolders { port: 17 }, "CLAUDE_CODE_SSE_PORT=17"),
            (Refusal::Elsewhere { folders }, "open a parent"),
            (Refusal::OtherPort { port: 17 }, "unset"),
            (Refusal::Superseded, "remove"),
        ];
        for (refusal, advice) in cases {
            let text = refusal.to_string();
            assert!(text.contains(advice), "{text}");
            assert!(!text.contains(|c: char| c.is_control() || c == '\u{202e}'), "{text:?}");
        }
        assert!(!format!("{:?}", listed(1, &[])).contains("QZ"));
    }
}
