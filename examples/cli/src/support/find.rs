//! The search for the editor. If it finds no editor, its error names every candidate and the reason
//! against it.

use ide_mcp::ide::client_env::{AUTO_CONNECT_VARIABLE, ClientEnv, PORT_VARIABLE};
use ide_mcp::ide::locate::{Extras, LockDirCandidate};
use ide_mcp::ide::matching::{AgentContext, Matching, check_transport, choose};
use ide_mcp::ide::{AuthToken, LockFile, LockForm};
use ide_mcp_lockfile::{Error, Found, client_env, from_environment, scan_for, system};
use std::ffi::OsStr;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{env, io};

/// The editor to attach to. The default is the choice of the real client: the editor that has the
/// working directory open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// The lock file of the editor. If given, nothing else decides.
    pub(crate) lock: Option<PathBuf>,
    /// The port in the name of the lock file.
    pub(crate) port: Option<u16>,
    /// The directory that the editor has open, instead of the working directory.
    pub(crate) cwd: Option<PathBuf>,
    /// Further directories of lock files.
    pub(crate) extras: Extras,
    /// True to attach to an editor although its process does not run here.
    pub(crate) dead_process: bool,
    /// True if the program is not an agent, so that it ignores `CLAUDE_CODE_AUTO_CONNECT_IDE`.
    pub(crate) no_agent: bool,
}

/// An editor that the program can try to attach to.
#[derive(Clone, Debug)]
pub(crate) struct Editor {
    /// The port on which the editor listens.
    pub(crate) port: u16,
    /// The host on which the editor listens: 127.0.0.1, unless the environment names another.
    pub(crate) host: String,
    /// The name that the editor gives itself, unchecked: display it with
    /// [`display_safe`](ide_mcp::ide::display_safe).
    pub(crate) name: String,
    /// The token that the editor requires, if any.
    pub(crate) token: Option<AuthToken>,
    /// The lock file of the editor.
    pub(crate) lock: PathBuf,
    /// The folders that the editor has open, as in the lock file.
    pub(crate) folders: Vec<String>,
    /// The process of the editor, if it seems not to run: the process of another container is not
    /// visible.
    pub(crate) dead: Option<u32>,
    /// True if the lock file has the mark of this library ([`LockFile::scope`]).
    pub(crate) is_marked: bool,
}

impl Editor {
    fn new(env: &ClientEnv, port: u16, path: &Path, pid_alive: Option<bool>, file: LockFile) -> Self {
        Self {
            port,
            host: env.host().into(),
            name: file.ide_name,
            folders: file.workspace_folders,
            token: file.auth_token,
            lock: path.into(),
            is_marked: file.scope.is_some(),
            dead: file.pid.filter(|_| pid_alive == Some(false)),
        }
    }
}

/// The reason why there is no editor: for a person, in several lines.
#[derive(Debug)]
pub(crate) struct Nothing(String);

impl fmt::Display for Nothing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for Nothing {
    fn from(error: E) -> Self {
        Self(format!("no editor found: {error}"))
    }
}

/// Finds the editor by its lock file, without connecting to it.
///
/// # Errors
/// [`Nothing`], also if several editors match equally well.
pub(crate) fn editor(asked: &Asked) -> Result<Editor, Nothing> {
    let env = client_env();
    if let Some(path) = &asked.lock {
        return by_file(&env, path, asked.dead_process);
    }
    let candidates = from_environment(asked.extras)?;
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    for candidate in &candidates {
        match scan_for(candidate.form(), &candidate.dir) {
            Ok(files) => found.extend(files),
            // Another directory can have the lock file of the editor.
            Err(error @ Error::NotOurs { .. }) => unread.push(error),
            Err(error) => return Err(error.into()),
        }
    }
    let editor = match asked.port {
        Some(port) => by_port(&env, port, &candidates, found, asked.dead_process),
        None => by_directory(&env, asked, &candidates, &found),
    };
    editor.map_err(|Nothing(mut text)| {
        for error in &unread {
            let _ = write!(text, "\n  not read: {error}");
        }
        Nothing(text)
    })
}

const ASK_DOCTOR: &str = "\n  `ide-mcp doctor` says more, and what to do";

/// A directory in both forms in which an editor can have published it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Here {
    /// The path as the person sees it, with its symbolic links.
    pub(crate) logical: String,
    /// The path without symbolic links.
    pub(crate) canonical: String,
}

impl Here {
    /// Resolves this directory, or the working directory, whose path with links is in `PWD` if a
    /// shell has set it.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if it is no directory, [`io::ErrorKind::InvalidInput`] if it is
    /// not Unicode, and every error that the system reports.
    pub(crate) fn of(asked: Option<&Path>) -> io::Result<Self> {
        let logical = match asked {
            Some(asked) if !asked.is_dir() => {
                let text = format!("--cwd: there is no directory {:?}", asked.display().to_string());
                return Err(io::Error::new(io::ErrorKind::NotFound, text));
            }
            Some(asked) => std::path::absolute(asked)?,
            None => working_directory()?,
        };
        let canonical = logical.canonicalize()?;
        Ok(Self { logical: unicode(&logical)?, canonical: unicode(&canonical)? })
    }
}

fn working_directory() -> io::Result<PathBuf> {
    let gone = |error: io::Error| io::Error::new(error.kind(), format!("the working directory: {error}"));
    let physical = env::current_dir().map_err(gone)?;
    let told = env::var_os("PWD").map(PathBuf::from).filter(|path| path.is_absolute());
    let same =
        |path: &PathBuf| path.canonicalize().is_ok_and(|path| Some(path) == physical.canonicalize().ok());
    Ok(told.filter(same).unwrap_or(physical))
}

/// Returns the path as text.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] if the path is not Unicode.
pub(crate) fn unicode(path: &Path) -> io::Result<String> {
    let unusual = || format!("the path {} is not Unicode", path.display());
    path.to_str().map(Into::into).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, unusual()))
}

fn by_file(env: &ClientEnv, path: &Path, dead_process: bool) -> Result<Editor, Nothing> {
    let missing = || Nothing(format!("no editor found: there is no lock file {}", path.display()));
    let name = path.file_name().ok_or_else(missing)?;
    let Some(form) = form_of(name) else {
        path.symlink_metadata().map_err(|_| missing())?;
        let path = path.display();
        return Err(Nothing(format!(
            "no editor found: {path} is not named after a port, such as 41111.lock"
        )));
    };
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let found = scan_for(form, dir)?.into_iter().find(|found| found.path.file_name() == Some(name));
    asked_for(env, found.ok_or_else(missing)?, dead_process)
}

/// Returns the form of a lock file that has a port in its name.
fn form_of(name: &OsStr) -> Option<LockForm> {
    let name = name.to_str()?;
    [LockForm::Lock, LockForm::Project].into_iter().find(|form| form.port_of(name).is_some())
}

fn by_port(
    env: &ClientEnv,
    port: u16,
    candidates: &[LockDirCandidate],
    found: Vec<Found>,
    dead_process: bool,
) -> Result<Editor, Nothing> {
    let missing = || {
        let dirs = list(candidates);
        Nothing(format!("no editor found: there is no {port}.lock in {dirs}{ASK_DOCTOR}"))
    };
    let found = found.into_iter().find(|found| found.port == Some(port)).ok_or_else(missing)?;
    asked_for(env, found, dead_process)
}

/// Returns the editor of this lock file, if its process runs or `dead_process` is true.
fn asked_for(env: &ClientEnv, found: Found, dead_process: bool) -> Result<Editor, Nothing> {
    let Found { path, port, file, pid_alive, .. } = found;
    let file = file?;
    if let Err(refusal) = check_transport(&file) {
        return Err(Nothing(format!("no editor found: {}: {refusal}", path.display())));
    }
    match port {
        Some(port) => {
            let editor = Editor::new(env, port, &path, pid_alive, file);
            match editor.dead {
                Some(pid) if !dead_process => Err(Nothing(format!(
                    "no editor found: the process {pid} of {lock} does not run here, so another program can have its port: \
                     start the editor again, or remove {lock}; say --dead-process if it runs in another container{ASK_DOCTOR}",
                    lock = path.display()
                ))),
                _ => Ok(editor),
            }
        }
        None => Err(Nothing(format!("no editor found: {} has no port", path.display()))),
    }
}

/// Finds the editor as the real client does: by the port that a terminal of the editor has in its
/// environment, or by the directory.
fn by_directory(
    env: &ClientEnv,
    asked: &Asked,
    candidates: &[LockDirCandidate],
    found: &[Found],
) -> Result<Editor, Nothing> {
    let here = Here::of(asked.cwd.as_deref()).map_err(|error| Nothing(error.to_string()))?;
    let place = AgentContext {
        cwd: &here.logical,
        canonical: Some(&here.canonical),
        port: env.port(),
        any_folder: env.skips_folder_check(),
        system: system(),
    };
    // Files without a port in their name are no lock files. Without them an index is valid in both
    // lists.
    let (files, listed): (Vec<&Found>, Vec<_>) =
        found.iter().filter_map(|found| Some((found, found.listed()?))).unzip();
    let matching = choose(&listed, &place);
    let may_attach = asked.no_agent || env.auto_connects();
    let chosen = matching.unique().filter(|_| may_attach).and_then(|only| {
        let found = files.get(only.index)?;
        Some(Editor::new(env, only.port, &found.path, found.pid_alive, found.file.as_ref().ok()?.clone()))
    });
    chosen.ok_or_else(|| explain(&here.logical, candidates, &files, &matching, env, may_attach))
}

fn explain(
    cwd: &str,
    candidates: &[LockDirCandidate],
    files: &[&Found],
    matching: &Matching,
    env: &ClientEnv,
    may_attach: bool,
) -> Nothing {
    let path =
        |index: usize| files.get(index).map(|found| found.path.display().to_string()).unwrap_or_default();
    let mut text = String::new();
    if matching.accepted.is_empty() {
        let _ = write!(text, "no editor found for {cwd}");
    } else if !may_attach {
        let value = env.auto_connect.as_deref().unwrap_or_default();
        let _ = write!(
            text,
            "not attaching by default, since {AUTO_CONNECT_VARIABLE} is {value:?}; choose an editor with --port, or unset \
             the variable"
        );
    } else {
        let _ = write!(text, "several editors fit {cwd}; choose one with --port");
    }
    let _ = write!(text, "\n  looked in {}", list(candidates));
    if let Some(port) = env.port.as_deref() {
        let advice = if LockFile::parse_port(port).is_some() { "" } else { ", which is no port: unset it" };
        let _ = write!(text, "\n  {PORT_VARIABLE} is {port:?}{advice}");
    }
    for accepted in &matching.accepted {
        let name = files
            .get(accepted.index)
            .and_then(|found| found.file.as_ref().ok())
            .map(|file| file.ide_name.as_str())
            .unwrap_or_default();
        let _ = write!(text, "\n  --port {}: {name:?}", accepted.port);
    }
    for refused in &matching.refused {
        let _ = write!(text, "\n  {}: {}", path(refused.index), refused.reason);
    }
    if files.is_empty() {
        text.push_str("\n  there are no lock files: start the editor, or its terminal integration, first");
    } else if matching.accepted.is_empty() {
        text.push_str("\n  say --cwd DIR for an editor that has another directory open");
    }
    if matching.accepted.is_empty() {
        text.push_str(ASK_DOCTOR);
    }
    Nothing(text)
}

fn list(candidates: &[LockDirCandidate]) -> String {
    candidates.iter().map(|candidate| candidate.dir.as_str()).collect::<Vec<_>>().join(", ")
}
