//! The port and the token of the last run in the same folders, so that agents that were attached find the editor
//! again. The file is below `XDG_STATE_HOME` or `~/.local/state`, on Windows below `LOCALAPPDATA`, and only its user
//! can read it.
//!
//! While no editor listened on the port, another program could have got the token. So the server accepts it only from
//! programs of our own user (`Auth::Resumed`).

use crate::editor::folders::Folders;
use crate::support::save::{create_private, fixed_hash};
use ide_mcp::ide::discovery::AuthToken;
use ide_mcp_lockfile::{Error, read_private, write_private};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The maximum number of files that are kept: nobody works in more lists of folders at a time. The oldest are removed.
const MAX_RUNS: usize = 64;

/// The port and the token of an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LastRun {
    pub(crate) port: u16,
    pub(crate) token: AuthToken,
}

/// What the file contains. The folders are compared, because two lists of folders may have the same file name.
#[derive(Serialize, Deserialize)]
struct Stored {
    folders: Vec<PathBuf>,
    port: u16,
    token: String,
}

impl LastRun {
    /// Reads the last run in these folders; `None` if there is none. If another program listens on the port, the
    /// token is of no use: two editors do not share one.
    ///
    /// # Errors
    /// Why a file is not trusted: whoever put it there would know the token.
    pub(crate) fn read(state: &Path, folders: &Folders) -> Result<Option<Self>, String> {
        let path = file(state, folders);
        let not_taken = |reason: &dyn fmt::Display| {
            format!(
                "{} {reason}: this editor uses a new port and token, so attach the agents again",
                path.display()
            )
        };
        let text = match read_private(&path) {
            Ok(text) => text,
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(not_taken(&Fault(&error))),
        };
        let stored = serde_json::from_str(&text).ok();
        let run = stored.and_then(|Stored { folders, port, token }| {
            Some((folders, Self { port, token: AuthToken::from_text(token).ok().filter(|_| port != 0)? }))
        });
        let (known, run) = run.ok_or_else(|| not_taken(&"is not the state of a run"))?;
        Ok((known == folders.given()).then_some(run))
    }

    /// Writes this run, for the next one.
    ///
    /// # Errors
    /// Why the file cannot be written.
    pub(crate) fn write(&self, state: &Path, folders: &Folders) -> Result<(), String> {
        let path = file(state, folders);
        let dir = path.parent().unwrap_or(state);
        create_private(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        let stored =
            Stored { folders: folders.given().to_vec(), port: self.port, token: self.token.as_str().into() };
        let text = serde_json::to_string(&stored).map_err(|error| error.to_string())?;
        write_private(&path, &text).map_err(|error| error.to_string())?;
        remove_oldest(dir);
        Ok(())
    }
}

/// What is wrong with the file, without the advice that only fits lock files.
struct Fault<'a>(&'a Error);

impl fmt::Display for Fault<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Error::NotOurs { owner, us, .. } => write!(f, "belongs to user {owner}, and you are user {us}"),
            Error::TooOpen { mode, .. } => {
                write!(f, "can be read or written by other users (mode {:03o})", mode & 0o777)
            }
            Error::Symlink { .. } => f.write_str("is a symbolic link, which is not followed"),
            Error::NotRegular { .. } => f.write_str("is not a regular file"),
            Error::Malformed { .. } => f.write_str("is not the state of a run"),
            Error::ParentNotOurs { path, owner, us } => {
                let path = path.display();
                write!(f, "lies below {path}, which belongs to user {owner}, and you are user {us}")
            }
            Error::ParentTooOpen { path, mode } => {
                let path = path.display();
                write!(f, "lies below {path}, where every user can replace it (mode {:03o})", mode & 0o7777)
            }
            error => write!(f, "cannot be read ({error})"),
        }
    }
}

/// Removes the oldest files beyond [`MAX_RUNS`]. A file that cannot be removed stays.
fn remove_oldest(dir: &Path) {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .filter(|entry| entry.path().extension().is_some_and(|kind| kind == "json"))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort();
    let surplus = files.len().saturating_sub(MAX_RUNS);
    for (_, path) in files.into_iter().take(surplus) {
        let _ = fs::remove_file(path);
    }
}

fn file(state: &Path, folders: &Folders) -> PathBuf {
    state.join("ide-mcp").join(name(folders.given()))
}

/// Returns the name of the file of these folders. No path has a zero byte.
fn name(folders: impl IntoIterator<Item = impl AsRef<Path>>) -> String {
    let mut paths = Vec::new();
    for folder in folders {
        paths.extend_from_slice(folder.as_ref().as_os_str().as_encoded_bytes());
        paths.push(0);
    }
    format!("{}.json", fixed_hash(&paths))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::temp::create_private;

    #[test]
    fn last_run_comes_back_in_its_folders() {
        let temp = crate::support::temp::private_temp_dir();
        let root = temp.path().join("last-run");
        let (one, other, state) = (root.join("one"), root.join("other"), root.join("state"));
        for folder in [&one, &other] {
            create_private(folder);
        }
        let [one, other] = [one, other].map(|folder| Folders::open(&[folder]).unwrap());
        assert_eq!(LastRun::read(&state, &one), Ok(None));
        let port = 41_111;
        for token in ["a", "b"] {
            let run = LastRun { port, token: AuthToken::from_text(token.repeat(32)).unwrap() };
            run.write(&state, &one).unwrap();
        }
        let run = LastRun::read(&state, &one).unwrap().unwrap();
        assert_eq!((run.port, run.token.as_str()), (port, "b".repeat(32).as_str()));
        assert_eq!(LastRun::read(&state, &other), Ok(None));
        // A later release must find the run of this one.
        let named = [Path::new("/project"), Path::new("/other")];
        assert_eq!(name(named), "958ab746e845971b.json");
        assert_ne!(name(named), name([Path::new("/project/other")]));
        // The name of the file is not enough: its list of folders must be equal too.
        fs::copy(file(&state, &one), file(&state, &other)).unwrap();
        assert_eq!(LastRun::read(&state, &other), Ok(None));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&file(&state, &one)), 0o600);
            assert_eq!(mode(&state.join("ide-mcp")), 0o700);
        }
        // The files of other folders are bounded, and the newest stay.
        for other in 0..=MAX_RUNS {
            fs::write(state.join(format!("ide-mcp/{other}.json")), "{}").unwrap();
        }
        let run = LastRun { port, token: AuthToken::from_text("c".repeat(32)).unwrap() };
        run.write(&state, &one).unwrap();
        assert_eq!(fs::read_dir(state.join("ide-mcp")).unwrap().count(), MAX_RUNS);
        assert_eq!(LastRun::read(&state, &one), Ok(Some(run)));
        fs::write(file(&state, &one), "{").unwrap();
        assert!(LastRun::read(&state, &one).unwrap_err().contains("is not the state of a run"));
    }
}
