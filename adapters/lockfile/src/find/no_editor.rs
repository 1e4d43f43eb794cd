//! Why a search found no editor, with the facts that help a person.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use ide_mcp::ide::discovery::LockFile;
use ide_mcp::ide::discovery::client_env::{AUTO_CONNECT_VARIABLE, PORT_VARIABLE};
use ide_mcp::ide::discovery::matching::Refusal;
use ide_mcp::ide::paths::{LocalPath, Platform};

use super::FoundEditor;
use crate::Error;

/// The maximum number of rows in each of the two lists of the message: the editors that fit, and the lock
/// files that do not. One such list fits on a screen of 24 rows.
const MAX_ROWS: usize = 20;
/// The maximum number of bytes in each list. The first row is always shown; those left out are counted.
const MAX_BYTES: usize = 8 * 1024;

/// Why a search found no editor, with every candidate and what is wrong with it. The message has several
/// lines and says what to do. Its length is bounded, whatever the lock files contain; the fields have
/// everything.
///
/// [Causes and reactions](ide_mcp::guide::errors#an-agent-finds-no-editor).
#[derive(Debug)]
#[non_exhaustive]
pub struct NoEditor {
    /// The reason.
    pub reason: NoEditorReason,
    /// The directories that were read; none if the search names a lock file.
    pub directories: Vec<PathBuf>,
    /// The editors that fit equally well, newest first. Let the person choose one by its port.
    pub accepted: Vec<FoundEditor>,
    /// The lock files that do not fit, newest first.
    pub refused: Vec<RefusedFile>,
    /// Why some directories were not read: because another user owns them, or, for those of a project and for
    /// Windows homes in WSL, any other error.
    pub unread: Vec<Error>,
    /// The value of [`PORT_VARIABLE`].
    pub(super) port: Option<String>,
    /// The working directory, with and without symbolic links.
    pub(super) dirs: Vec<LocalPath>,
}

/// Why a search found no editor.
///
/// [Causes and reactions](ide_mcp::guide::errors#an-agent-finds-no-editor).
#[derive(Debug)]
#[non_exhaustive]
pub enum NoEditorReason {
    /// The working directory cannot be used.
    WorkingDir(io::Error),
    /// We could not determine or read a directory of lock files, or could not read the lock file that the
    /// search names.
    Unreadable(Error),
    /// The lock file that the search names does not exist.
    NoFile {
        /// Its path.
        path: PathBuf,
    },
    /// The file that the search names is not named for a port.
    Misnamed {
        /// Its path.
        path: PathBuf,
    },
    /// No lock file is named for the port.
    NoFileForPort {
        /// The port.
        port: u16,
    },
    /// The search names a lock file that no client would use.
    Refused {
        /// Its path.
        path: PathBuf,
        /// Why not.
        refusal: Refusal,
    },
    /// The process of the lock file that the search names does not run here, and the search does not [permit
    /// that](super::EditorSearch::permits_dead_process).
    DeadProcess {
        /// The path of the lock file.
        path: PathBuf,
        /// The process.
        pid: u32,
    },
    /// No editor has the directory open.
    NoneFits {
        /// The directory.
        cwd: String,
    },
    /// Several editors have the directory open; [`NoEditor::accepted`] lists them.
    SeveralFit {
        /// The directory.
        cwd: String,
    },
    /// `CLAUDE_CODE_AUTO_CONNECT_IDE` says that an agent should attach only to an editor that the person
    /// names. [`NoEditor::accepted`] lists those that fit.
    AutoConnectOff {
        /// The value.
        value: String,
    },
}

/// A lock file that a search refused.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RefusedFile {
    /// Its path.
    pub path: PathBuf,
    /// The port in its name.
    pub port: u16,
    /// The reason.
    pub reason: Refusal,
}

impl From<NoEditorReason> for Box<NoEditor> {
    fn from(reason: NoEditorReason) -> Self {
        Self::new(NoEditor {
            reason,
            directories: Vec::new(),
            accepted: Vec::new(),
            refused: Vec::new(),
            unread: Vec::new(),
            port: None,
            dirs: Vec::new(),
        })
    }
}

impl fmt::Display for NoEditor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, accepted, refused, unread, .. } = self;
        write!(f, "{reason}")?;
        match reason {
            NoEditorReason::NoFileForPort { .. } => write!(f, " in {}", self.list())?,
            NoEditorReason::NoneFits { .. }
            | NoEditorReason::SeveralFit { .. }
            | NoEditorReason::AutoConnectOff { .. } => self.write_search(f)?,
            // These reasons already name the path or the directory.
            NoEditorReason::WorkingDir(_)
            | NoEditorReason::Unreadable(_)
            | NoEditorReason::NoFile { .. }
            | NoEditorReason::Misnamed { .. }
            | NoEditorReason::Refused { .. }
            | NoEditorReason::DeadProcess { .. } => {}
        }
        write_rows(f, accepted, FoundEditor::summary)?;
        write_rows(f, refused, |file| self.refused_as(file))?;
        if matches!(reason, NoEditorReason::NoneFits { .. }) && refused.is_empty() {
            writeln!(f)?;
            f.write_str(
                "  there are no lock files: start the editor, or its terminal integration, first, or run `ide-mcp editor`",
            )?;
        }
        for error in unread {
            writeln!(f)?;
            write!(f, "  not read: {error}")?;
        }
        Ok(())
    }
}

/// Writes a row for each item up to a limit, and then how many more there are.
fn write_rows<T>(f: &mut fmt::Formatter<'_>, items: &[T], row: impl Fn(&T) -> String) -> fmt::Result {
    let mut bytes = 0_usize;
    for (index, item) in items.iter().enumerate() {
        let row = row(item);
        bytes = bytes.saturating_add(row.len());
        if index >= MAX_ROWS || (index > 0 && bytes > MAX_BYTES) {
            return write!(f, "\n  … and {} more", items.len().saturating_sub(index));
        }
        write!(f, "\n  {row}")?;
    }
    Ok(())
}

impl NoEditor {
    fn write_search(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n  looked in {}", self.list())?;
        match &self.port {
            Some(port) if LockFile::parse_port(port).is_none() => {
                write!(f, "\n  {PORT_VARIABLE} is {port:?}, which is not a port: unset it")
            }
            Some(port) => write!(f, "\n  {PORT_VARIABLE} is {port:?}"),
            None => Ok(()),
        }
    }

    fn refused_as(&self, RefusedFile { path, reason, .. }: &RefusedFile) -> String {
        let inside = "; /ide in Claude Code lists this editor, whose folder is inside that directory";
        format!("{}: {reason}{}", path.display(), if self.is_inside(reason) { inside } else { "" })
    }

    /// Returns true if a refused editor has a folder inside the working directory open. The real client does
    /// not attach to such an editor by itself, but lists it (measured).
    fn is_inside(&self, reason: &Refusal) -> bool {
        let Refusal::Elsewhere { folders } = reason else { return false };
        let parsed = folders.iter().filter_map(|folder| LocalPath::parse(folder, Platform::native()).ok());
        parsed.into_iter().any(|folder| self.dirs.iter().any(|dir| folder.is_within(dir)))
    }

    fn list(&self) -> String {
        let shown = |dir: &PathBuf| dir.display().to_string();
        self.directories.iter().map(shown).collect::<Vec<_>>().join(", ")
    }
}

impl std::error::Error for NoEditor {}

impl fmt::Display for NoEditorReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |path: &Path| path.display().to_string();
        match self {
            Self::WorkingDir(error) => write!(f, "no editor found: {error}"),
            Self::Unreadable(error) => write!(f, "no editor found: {error}"),
            Self::NoFile { path } => write!(f, "no editor found: there is no lock file {}", shown(path)),
            Self::Misnamed { path } => {
                write!(f, "no editor found: {} is not named after a port, such as 41111.lock", shown(path))
            }
            Self::NoFileForPort { port } => write!(f, "no editor found: there is no {port}.lock"),
            Self::Refused { path, refusal } => write!(f, "no editor found: {}: {refusal}", shown(path)),
            Self::DeadProcess { path, pid } => write!(
                f,
                "no editor found: process {pid} of {lock} does not run here, so another program may have its port: \
                 start the editor again, or remove {lock}; if the editor runs in another container, permit a dead process",
                lock = shown(path)
            ),
            Self::NoneFits { cwd } => write!(f, "no editor found for {cwd}"),
            Self::SeveralFit { cwd } => write!(f, "several editors fit {cwd}: choose one by its port"),
            Self::AutoConnectOff { value } => write!(
                f,
                "not attaching by default, since {AUTO_CONNECT_VARIABLE} is {value:?}: choose an editor by its port, or unset \
                 the variable"
            ),
        }
    }
}
