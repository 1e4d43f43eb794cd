//! The directory in which an agent works, in both forms that an editor may have published.

use std::path::{Path, PathBuf};
use std::{env, io};

use crate::folders::plain;
use crate::links::canonical;

/// A directory in both forms in which an editor may have published it, written as
/// [`workspace_folders`](crate::workspace_folders) does: on Windows without `\\?\`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkingDir {
    /// The path as the person sees it, with its symbolic links.
    pub logical: String,
    /// The path without symbolic links.
    pub canonical: String,
}

impl WorkingDir {
    /// Resolves this directory, or with `None` the working directory of the process; for the latter, `PWD`
    /// has the path with links if a shell has set it.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if it is not a directory, [`io::ErrorKind::InvalidInput`] if it is not
    /// Unicode, and every error of the system.
    pub fn of(dir: Option<&Path>) -> io::Result<Self> {
        let logical = match dir {
            Some(dir) if !dir.is_dir() => return Err(no_directory(&dir.display().to_string())),
            // For this directory too, the shell knows the path with links.
            Some(dir) if dir == Path::new(".") => working_directory()?,
            Some(dir) => std::path::absolute(dir)?,
            None => working_directory()?,
        };
        let canonical = canonical(&logical)?;
        Ok(Self { logical: unicode(&logical)?, canonical: unicode(&canonical)? })
    }
}

fn no_directory(dir: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("there is no directory {dir:?}"))
}

fn not_unicode(path: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("the path {path} is not Unicode, so no lock file can name it: work in another directory"),
    )
}

fn working_directory() -> io::Result<PathBuf> {
    let gone = |error: io::Error| {
        io::Error::new(
            error.kind(),
            format!("the working directory cannot be used ({error}): change to one that exists"),
        )
    };
    let physical = env::current_dir().map_err(gone)?;
    let of_shell = env::var_os("PWD").map(PathBuf::from).filter(|path| path.is_absolute());
    let same = |path: &PathBuf| canonical(path).is_ok_and(|path| Some(path) == canonical(&physical).ok());
    Ok(of_shell.filter(same).unwrap_or(physical))
}

fn unicode(path: &Path) -> io::Result<String> {
    path.to_str().map(plain).ok_or_else(|| not_unicode(&path.display().to_string()))
}
