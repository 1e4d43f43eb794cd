//! How an agent finds its editor, in one call: from the environment, the directories of lock files, and the
//! choice among the files. If no editor fits, [`NoEditor`] has every candidate and what is wrong with it.

mod no_editor;
mod row;
#[cfg(test)]
mod tests;
mod working_dir;

pub use no_editor::{NoEditor, NoEditorReason, RefusedFile};
pub use row::ago;
pub use working_dir::WorkingDir;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ide_mcp::ide::discovery::client_env::ClientEnv;
use ide_mcp::ide::discovery::locate::{Extras, LockDirCandidate, Source};
use ide_mcp::ide::discovery::matching::{
    Accepted, AgentContext, Candidate, Matching, Refusal, Refused, check_transport, choose,
};
use ide_mcp::ide::discovery::{AuthToken, LockForm};
use ide_mcp::ide::paths::{LocalPath, Platform, System};

use crate::ports::listening;
use crate::{Error, Found, client_env, from_environment, scan_for, system};

/// Finds the editor that has this directory open, as the real client does. Reads the environment and the
/// disk. For more options, see [`EditorSearch`].
///
/// Usually this connects to nothing. Only if lock files compete and we cannot see the process of the one that
/// fits (for example on the other side of WSL), we connect to its port and send nothing, so that the file of
/// a killed editor does not hide a living one.
///
/// ```no_run
/// match ide_mcp_lockfile::find_editor(".") {
///     Ok(editor) => println!("{:?} listens on port {}", editor.name, editor.port),
///     Err(no_editor) => eprintln!("{no_editor}"),
/// }
/// ```
///
/// # Errors
/// [`NoEditor`], also if several editors fit equally well.
pub fn find_editor(cwd: impl AsRef<Path>) -> Result<FoundEditor, Box<NoEditor>> {
    EditorSearch::in_dir(cwd).find()
}

/// Says which editor to look for. The default chooses as the real client does: the editor on the port that
/// the environment names, otherwise the one that has the working directory open.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct EditorSearch {
    /// Take the editor of this lock file, and look at nothing else. Default none.
    pub lock_file: Option<PathBuf>,
    /// Take the editor on this port, whatever folders it has open. Default none.
    pub port: Option<u16>,
    /// Take the editor that has this directory open. Default none, which means the working directory of the
    /// process.
    pub cwd: Option<PathBuf>,
    /// More directories to look in. [`Extras::claude_code`] adds `.claude-code` in the working directory and
    /// above it, for editors that publish in their project. Default none.
    pub extras: Extras,
    /// Accept an editor whose process does not run here, if you name its lock file or port. Set this for an
    /// editor in another container, whose process we cannot see. Be careful: when a process has ended,
    /// another program may get its port. Default false.
    pub permits_dead_process: bool,
    /// Ignore `CLAUDE_CODE_AUTO_CONNECT_IDE`. Set this for a program that is not an agent. Default false.
    pub ignores_auto_connect: bool,
}

impl EditorSearch {
    /// Looks for the editor that has this directory open.
    #[must_use]
    pub fn in_dir(cwd: impl AsRef<Path>) -> Self {
        Self { cwd: Some(cwd.as_ref().into()), ..Self::default() }
    }

    /// Looks for the editor whose lock file is named for this port, such as `41111.lock` for 41111.
    #[must_use]
    pub fn on_port(port: u16) -> Self {
        Self { port: Some(port), ..Self::default() }
    }

    /// Looks for the editor of this lock file.
    #[must_use]
    pub fn of_lock_file(path: impl Into<PathBuf>) -> Self {
        Self { lock_file: Some(path.into()), ..Self::default() }
    }

    /// Ignores `CLAUDE_CODE_AUTO_CONNECT_IDE`, for a program that is not an agent.
    #[must_use]
    pub const fn ignore_auto_connect(mut self) -> Self {
        self.ignores_auto_connect = true;
        self
    }

    /// Finds the editor, as [`find_editor`] does.
    ///
    /// # Errors
    /// [`NoEditor`], also if several editors fit equally well.
    pub fn find(&self) -> Result<FoundEditor, Box<NoEditor>> {
        let env = client_env();
        if let Some(path) = &self.lock_file {
            return Ok(self.by_file(&env, path)?);
        }
        let dirs = from_environment(self.extras).map_err(NoEditorReason::Unreadable)?;
        let mut dirs: Vec<SearchDir> = dirs.into_iter().map(SearchDir::from).collect();
        if self.extras.claude_code {
            self.add_project_dirs(&mut dirs);
        }
        self.find_in(&env, dirs)
    }

    /// Adds the directories `.claude-code` in the working directory and above it, where one description of
    /// the protocol puts the file. If the working directory cannot be used, the search reports that.
    fn add_project_dirs(&self, dirs: &mut Vec<SearchDir>) {
        let Ok(cwd) = WorkingDir::of(self.cwd.as_deref()) else { return };
        for folder in Path::new(&cwd.canonical).ancestors() {
            let dir = folder.join(".claude-code");
            if dir.is_dir() && !dirs.iter().any(|known| known.form == LockForm::Project && known.dir == dir) {
                dirs.push(SearchDir { form: LockForm::Project, dir, may_fail: true });
            }
        }
    }

    /// Finds the editor in these directories.
    fn find_in(&self, env: &ClientEnv, dirs: Vec<SearchDir>) -> Result<FoundEditor, Box<NoEditor>> {
        let (mut found, mut unread) = (Vec::new(), Vec::new());
        for SearchDir { form, dir, may_fail } in &dirs {
            match scan_for(*form, dir) {
                Ok(files) => found.extend(files),
                // The lock file may be in another directory.
                Err(error @ Error::NotOurs { .. }) => unread.push(error),
                Err(error) if *may_fail => unread.push(error),
                Err(error) => return Err(NoEditorReason::Unreadable(error).into()),
            }
        }
        let editor = match self.port {
            Some(port) => self.by_port(env, port, found).map_err(Box::from),
            None => self.by_directory(env, &found),
        };
        editor.map_err(|mut none| {
            none.directories = dirs.into_iter().map(|searched| searched.dir).collect();
            none.unread = unread;
            none.port.clone_from(&env.port);
            none
        })
    }

    fn by_file(&self, env: &ClientEnv, path: &Path) -> Result<FoundEditor, NoEditorReason> {
        let missing = || NoEditorReason::NoFile { path: path.into() };
        let name = path.file_name().ok_or_else(missing)?;
        let Some(form) = form_of(name) else {
            path.symlink_metadata().map_err(|_| missing())?;
            return Err(NoEditorReason::Misnamed { path: path.into() });
        };
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        let files = scan_for(form, dir).map_err(NoEditorReason::Unreadable)?;
        let found = files.into_iter().find(|found| found.path.file_name() == Some(name));
        self.requested(env, found.ok_or_else(missing)?)
    }

    fn by_port(&self, env: &ClientEnv, port: u16, found: Vec<Found>) -> Result<FoundEditor, NoEditorReason> {
        let found = found.into_iter().find(|found| found.port == Some(port));
        self.requested(env, found.ok_or(NoEditorReason::NoFileForPort { port })?)
    }

    /// Returns the editor of the lock file that the caller has named.
    fn requested(&self, env: &ClientEnv, found: Found) -> Result<FoundEditor, NoEditorReason> {
        let editor = FoundEditor::new(env, &found);
        let path = found.path;
        let file = found.file.map_err(NoEditorReason::Unreadable)?;
        if let Err(refusal) = check_transport(&file) {
            return Err(NoEditorReason::Refused { path, refusal });
        }
        let Some(editor) = editor else { return Err(NoEditorReason::Misnamed { path }) };
        match editor.dead_process {
            Some(pid) if !self.permits_dead_process => Err(NoEditorReason::DeadProcess { path, pid }),
            _ => Ok(editor),
        }
    }

    /// Finds the editor as the real client does: by the port in the environment of the editor's terminal, or
    /// by the directory.
    fn by_directory(&self, env: &ClientEnv, found: &[Found]) -> Result<FoundEditor, Box<NoEditor>> {
        let dir = WorkingDir::of(self.cwd.as_deref()).map_err(NoEditorReason::WorkingDir)?;
        let context = AgentContext {
            cwd: &dir.logical,
            canonical: Some(&dir.canonical),
            port: env.port(),
            any_folder: env.skips_folder_check(),
            system: system(),
        };
        // Leave out files that have no port in their name, so that an index is valid in both lists.
        let (mut files, mut listed): (Vec<&Found>, Vec<_>) =
            found.iter().filter_map(|found| Some((found, found.listed()?))).unzip();
        let mut matching = choose(&listed, &context);
        let mut refusing = Vec::new();
        while let Some(dead) = self::refusing(env, &matching, &listed) {
            for index in dead.into_iter().rev() {
                listed.remove(index);
                refusing.push(files.remove(index));
            }
            matching = choose(&listed, &context);
        }
        let may_attach = self.ignores_auto_connect || env.auto_connects();
        let editor = |index: usize| FoundEditor::new(env, files.get(index)?);
        let unique = matching.unique().filter(|_| may_attach).and_then(|only| editor(only.index));
        unique.ok_or_else(|| {
            let Matching { accepted, refused, .. } = matching;
            let reason = match (accepted.is_empty(), may_attach) {
                (true, _) => NoEditorReason::NoneFits { cwd: dir.logical.clone() },
                (false, true) => NoEditorReason::SeveralFit { cwd: dir.logical.clone() },
                (false, false) => {
                    NoEditorReason::AutoConnectOff { value: env.auto_connect.clone().unwrap_or_default() }
                }
            };
            let refused = refused.into_iter().filter_map(|refused| {
                let path = files.get(refused.index)?.path.clone();
                Some(RefusedFile { path, port: refused.port, reason: refused.reason })
            });
            let refused = refused.chain(refusing.into_iter().filter_map(|found| {
                let port = found.port?;
                let is_across_wsl = matches!(context.system, System::Wsl { .. })
                    && found.file.as_ref().is_ok_and(|file| file.running_in_windows);
                let reason = Refusal::NobodyListens { port, is_across_wsl };
                Some(RefusedFile { path: found.path.clone(), port, reason })
            }));
            let parsed = |dir: &String| LocalPath::parse(dir, Platform::native()).ok();
            let mut none: Box<NoEditor> = reason.into();
            none.accepted = accepted.into_iter().filter_map(|fit| editor(fit.index)).collect();
            none.refused = refused.collect();
            none.dirs = [&dir.logical, &dir.canonical].into_iter().filter_map(parsed).collect();
            none
        })
    }
}

/// A directory in which a search looks.
#[derive(Debug)]
struct SearchDir {
    form: LockForm,
    dir: PathBuf,
    /// True if the search goes on when the directory cannot be read: a project may lie in a shared folder,
    /// and a Windows home has its own access rights.
    may_fail: bool,
}

impl From<LockDirCandidate> for SearchDir {
    fn from(candidate: LockDirCandidate) -> Self {
        let form = candidate.form();
        let may_fail = form == LockForm::Project || candidate.source == Source::WindowsHome;
        Self { form, dir: candidate.dir.into(), may_fail }
    }
}

/// Returns the indices, in order, of accepted files whose process we cannot see and whose port refuses
/// connections; `None` if there are none. Connects only if that can change the choice: if several files fit,
/// or if another one fits less well.
fn refusing(env: &ClientEnv, matching: &Matching, listed: &[Candidate<String>]) -> Option<Vec<usize>> {
    let is_worse = |refused: &Refused| matches!(refused.reason, Refusal::BetterMatch { .. });
    if matching.accepted.len() < 2 && !matching.refused.iter().any(is_worse) {
        return None;
    }
    let is_unseen = |accepted: &&Accepted| {
        listed.get(accepted.index).is_some_and(|candidate| candidate.pid_alive.is_none())
    };
    let unseen: Vec<&Accepted> = matching.accepted.iter().filter(is_unseen).collect();
    let ports: Vec<u16> = unseen.iter().map(|accepted| accepted.port).collect();
    // Only an address is tried: a name would have to be resolved, perhaps to another machine.
    let answers = listening(env.host().parse().ok()?, &ports);
    let refuse = unseen.iter().zip(answers).filter(|(_, answer)| *answer == Some(false));
    let mut refusing: Vec<usize> = refuse.map(|(accepted, _)| accepted.index).collect();
    refusing.sort_unstable();
    (!refusing.is_empty()).then_some(refusing)
}

/// An editor to which an agent can try to attach.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FoundEditor {
    /// The port on which the editor listens.
    pub port: u16,
    /// The host on which the editor listens, a name or an address without brackets: 127.0.0.1, unless the
    /// environment names another.
    pub host: String,
    /// The editor's name in the lock file. Anybody can have written it: show it with
    /// [`display_safe`](ide_mcp::ide::kit::display_safe).
    pub name: String,
    /// The token that the editor requires, if any.
    pub token: Option<AuthToken>,
    /// The path of the lock file.
    pub lock_file: PathBuf,
    /// The folders that the editor has open, as in the lock file.
    pub folders: Vec<String>,
    /// The editor's process, according to the lock file.
    pub pid: Option<u32>,
    /// When the lock file was last written, if the system tells.
    pub modified: Option<SystemTime>,
    /// The editor's process, if it does not seem to run. It may run in another container.
    pub dead_process: Option<u32>,
    /// True if the lock file carries the mark of this crate
    /// ([`LockFile::scope`](ide_mcp::ide::discovery::LockFile::scope)).
    pub is_marked: bool,
}

impl FoundEditor {
    /// Returns the editor of a file that was readable and has a port in its name.
    fn new(env: &ClientEnv, found: &Found) -> Option<Self> {
        let file = found.file.as_ref().ok()?.clone();
        Some(Self {
            port: found.port?,
            host: env.host().into(),
            name: file.ide_name,
            folders: file.workspace_folders,
            token: file.auth_token,
            lock_file: found.path.clone(),
            pid: file.pid,
            modified: found.modified,
            is_marked: file.scope.is_some(),
            dead_process: file.pid.filter(|_| found.pid_alive == Some(false)),
        })
    }
}

/// Returns the form of a lock file that has a port in its name.
fn form_of(name: &OsStr) -> Option<LockForm> {
    let name = name.to_str()?;
    [LockForm::Lock, LockForm::Project].into_iter().find(|form| form.port_of(name).is_some())
}
