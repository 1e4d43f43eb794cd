//! How a client reads a directory of lock files. It deletes nothing, because a process that we cannot see may
//! be alive.

use std::cmp::Reverse;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use ide_mcp::ide::discovery::matching::Candidate;
use ide_mcp::ide::discovery::{LockFile, LockForm};

use crate::read::{Contents, read};
use crate::{Error, parents, pid_alive, sys};

/// Returns every `*.lock` in `dir`, readable or not, newest first; none if the directory does not exist.
///
/// # Errors
/// [`Error::Io`] if the directory itself cannot be read. [`Error::NotOurs`] if another user owns it, and so
/// decides which files are in it; the real client reads such a directory (measured with a client that runs as
/// root). [`Error::ParentNotOurs`] and [`Error::ParentTooOpen`] if another user can put another directory in
/// its place.
pub fn scan(dir: impl AsRef<Path>) -> Result<Vec<Found>, Error> {
    scan_for(LockForm::Lock, dir)
}

/// Returns the files in this form, as [`scan`] does for lock files. A `*.json` that is not named for a port
/// belongs to something else, and is left out.
///
/// # Errors
/// The errors of [`scan`].
pub fn scan_for(form: LockForm, dir: impl AsRef<Path>) -> Result<Vec<Found>, Error> {
    let dir = dir.as_ref();
    let handle = match sys::Dir::open(dir) {
        Ok(handle) => handle,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("open", dir)(error)),
    };
    handle.check_owner(dir)?;
    parents::check(dir)?;
    let keeps_modes = sys::keeps_modes(dir);
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(Error::io("list", dir))? {
        let name = entry.map_err(Error::io("list", dir))?.file_name();
        if !name.as_encoded_bytes().ends_with(form.suffix().as_bytes()) {
            continue;
        }
        let path = dir.join(&name);
        match name.to_str().and_then(|name| form.port_of(name)) {
            Some(port) => {
                let contents = read(&handle, &name, form, &path);
                // Leave out a file that was removed since it was listed.
                if !contents.file.as_ref().is_err_and(Error::is_not_found) {
                    let mut file = Found::new(path, port, contents);
                    file.mode = file.mode.filter(|_| keeps_modes);
                    found.push(file);
                }
            }
            None if form == LockForm::Lock => found.push(Found::misnamed(path)),
            None => {}
        }
    }
    found.sort_unstable_by(|a, b| (Reverse(a.modified), &a.path).cmp(&(Reverse(b.modified), &b.path)));
    Ok(found)
}

/// One `*.lock`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Found {
    /// The path of the file.
    pub path: PathBuf,
    /// The port in the name. A file without one is not read.
    pub port: Option<u16>,
    /// The contents, or why they could not be read.
    pub file: Result<LockFile, Error>,
    /// When it was last written; `None` if the file could not be opened.
    pub modified: Option<SystemTime>,
    /// The permission bits, if the system has any. If a bit of others (0077) is set, other users may be able
    /// to read the token. `None` also for a file on a Windows drive under WSL, where the bits mean nothing.
    pub mode: Option<u32>,
    /// Whether the process is alive ([`pid_alive`]). `None` also if it belongs to the other of the two
    /// systems, Windows and Linux, that share a directory under WSL.
    pub pid_alive: Option<bool>,
}

impl Found {
    fn new(path: PathBuf, port: u16, Contents { metadata, file }: Contents) -> Self {
        let of_this_system = file.as_ref().ok().filter(|file| file.running_in_windows == cfg!(windows));
        let pid_alive = of_this_system.and_then(|file| file.pid).and_then(pid_alive);
        Self {
            path,
            port: Some(port),
            file,
            modified: metadata.as_ref().and_then(|metadata| metadata.modified().ok()),
            mode: metadata.as_ref().and_then(sys::mode),
            pid_alive,
        }
    }

    fn misnamed(path: PathBuf) -> Self {
        let file = Err(Error::NotAPort { path: path.clone() });
        Self { path, port: None, file, modified: None, mode: None, pid_alive: None }
    }

    /// Returns the file as a candidate for [`choose`](ide_mcp::ide::discovery::matching::choose), with the
    /// error as a string; `None` without a port.
    #[must_use]
    pub fn listed(&self) -> Option<Candidate<String>> {
        Some(Candidate {
            port: self.port?,
            file: self.file.as_ref().map(Clone::clone).map_err(ToString::to_string),
            pid_alive: self.pid_alive,
            modified: self.modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok()),
        })
    }
}
