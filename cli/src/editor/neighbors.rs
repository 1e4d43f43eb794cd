//! The other editors whose agents can see the same files.
//!
//! An agent that finds several editors attaches to none of them by itself. The user must then choose one, by its name
//! or its port.

use crate::editor::folders::Folders;
use crate::support::local;
use ide_mcp::ide::discovery::locate::Extras;
use ide_mcp::ide::discovery::matching::check_transport;
use ide_mcp_lockfile::{Found, from_environment, pid_alive, scan};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, SystemTime};

/// The time of a directory is trusted once it is this old, because then a later change has another time. Some file
/// systems count in seconds.
const SETTLED: Duration = Duration::from_secs(2);

/// An editor with a folder that contains one of the open folders, or lies in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Neighbor {
    pub(crate) name: String,
    pub(crate) port: u16,
    pub(crate) pid: Option<u32>,
}

/// The neighbors of an editor, and the state of the directories of lock files when they were read.
#[derive(Debug)]
pub(crate) struct Neighbors {
    /// The open folders without symbolic links.
    folders: Vec<PathBuf>,
    dirs: Vec<(PathBuf, Option<SystemTime>)>,
    found: Vec<Neighbor>,
}

impl Neighbors {
    /// Reads the lock files that the real client reads. Without a directory of lock files there are no
    /// neighbors; the start of the server reports that error.
    pub(crate) fn new(folders: &Folders) -> Self {
        let dirs = from_environment(Extras::default()).unwrap_or_default();
        Self::in_dirs(dirs.into_iter().map(|candidate| candidate.dir.into()).collect(), folders.real())
    }

    /// Returns no neighbors, for an editor that agents do not look for.
    pub(crate) const fn none() -> Self {
        Self { folders: Vec::new(), dirs: Vec::new(), found: Vec::new() }
    }

    fn in_dirs(dirs: Vec<PathBuf>, folders: &[PathBuf]) -> Self {
        let dirs = dirs.into_iter().map(|dir| (dir, None)).collect();
        let mut neighbors = Self { folders: folders.to_vec(), dirs, found: Vec::new() };
        neighbors.read();
        neighbors
    }

    pub(crate) fn found(&self) -> &[Neighbor] {
        &self.found
    }

    /// Reads the lock files again if a file was added or removed, or if a neighbor is dead: a killed editor leaves
    /// its file. Returns true if the neighbors have changed. Otherwise it only reads the metadata of each directory.
    pub(crate) fn look(&mut self) -> bool {
        let is_same = self.dirs.iter().all(|(dir, time)| modified(dir) == *time);
        let is_dead = |neighbor: &Neighbor| neighbor.pid.and_then(pid_alive) == Some(false);
        if is_same && !self.found.iter().any(is_dead) {
            return false;
        }
        let before = self.found.clone();
        self.read();
        before != self.found
    }

    /// Returns a name that no neighbor has, because agents list equal names without a difference. It gets a number,
    /// since the name of the folder would not tell two editors of one folder apart.
    pub(crate) fn free_name(&self, wanted: &str) -> String {
        let is_free = |name: &String| !self.found.iter().any(|neighbor| neighbor.name == *name);
        let numbered = (2_u32..).map(|number| format!("{wanted} {number}"));
        std::iter::once(wanted.to_owned()).chain(numbered).find(is_free).unwrap_or_else(|| wanted.to_owned())
    }

    fn read(&mut self) {
        let mut found = Vec::new();
        for (dir, time) in &mut self.dirs {
            // Read the time before the files, so that a change during the scan counts as later. A time that a later
            // change may have too is not kept.
            *time = modified(dir).filter(|time| time.elapsed().is_ok_and(|age| age >= SETTLED));
            let files = scan(&*dir).unwrap_or_default();
            found.extend(files.iter().filter_map(|file| neighbor(file, &self.folders)));
        }
        found.sort_by_key(|neighbor: &Neighbor| neighbor.port);
        self.found = found;
    }
}

fn neighbor(found: &Found, folders: &[PathBuf]) -> Option<Neighbor> {
    let file = found.file.as_ref().ok()?;
    let is_usable = check_transport(file).is_ok() && found.pid_alive != Some(false);
    let overlaps = |folder: &String| {
        let theirs = local::resolved(Path::new(folder)).unwrap_or_else(|_| folder.into());
        folders
            .iter()
            .any(|ours| theirs.is_absolute() && (ours.starts_with(&theirs) || theirs.starts_with(ours)))
    };
    let is_other = file.pid != Some(process::id());
    let is_neighbor = is_usable && is_other && file.workspace_folders.iter().any(overlaps);
    is_neighbor.then_some(Neighbor { name: file.ide_name.clone(), port: found.port?, pid: file.pid })
}

fn modified(dir: &Path) -> Option<SystemTime> {
    dir.metadata().and_then(|metadata| metadata.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::temp::{create_private, waiting_program};
    use ide_mcp::ide::discovery::LockFile;
    use ide_mcp_lockfile::{LockDir, new_token};
    use std::fs;
    use tempfile::TempDir;

    /// The folders, and what removes them.
    struct Dir(PathBuf, #[expect(dead_code, reason = "removes the folders on drop")] TempDir);

    impl Dir {
        fn new() -> Self {
            let temp = crate::support::temp::private_temp_dir();
            for folder in ["p/src", "q", "ide"] {
                create_private(&temp.path().join(folder));
            }
            Self(local::resolved(temp.path()).unwrap(), temp)
        }

        /// Writes the lock file of another process. The file stays.
        fn lock(&self, port: u16, name: &str, folder: &str, pid: u32) {
            let file = LockFile::new(pid, vec![self.path(folder)], name, new_token().unwrap());
            fs::write(self.0.join(format!("ide/{port}.lock")), file.to_json()).unwrap();
        }

        fn path(&self, folder: &str) -> String {
            let root = self.0.ancestors().last().unwrap();
            let path = if folder == "/" { root.to_owned() } else { self.0.join(folder) };
            path.to_str().unwrap().into()
        }

        fn neighbors(&self, folder: &str) -> Neighbors {
            // Opens the directory, so that its mode is that of a directory of lock files.
            LockDir::create(self.0.join("ide")).unwrap();
            Neighbors::in_dirs(vec![self.0.join("ide")], &[self.0.join(folder)])
        }
    }

    #[test]
    fn neighbors_have_an_overlapping_folder() {
        let dir = Dir::new();
        let mut other = waiting_program();
        let cases = [
            ("the same folder", "p", other.id(), true),
            ("a folder above", "/", other.id(), true),
            ("a folder below", "p/src", other.id(), true),
            ("another folder", "q", other.id(), false),
            ("a folder with a longer name", "px", other.id(), false),
            ("this editor", "p", process::id(), false),
            ("a dead process", "p", u32::MAX, pid_alive(u32::MAX).is_none()),
        ];
        for (name, folder, pid, expected) in cases {
            dir.lock(50_001, "other", folder, pid);
            let neighbors = dir.neighbors("p");
            assert_eq!(neighbors.found().len() == 1, expected, "{name}: {:?}", neighbors.found());
        }
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn neighbors_come_and_go() {
        let dir = Dir::new();
        let mut neighbors = dir.neighbors("p");
        assert!(!neighbors.look() && neighbors.found().is_empty());
        let mut other = waiting_program();
        dir.lock(50_001, "other", "p", other.id());
        assert!(neighbors.look());
        assert_eq!(neighbors.found().len(), 1);
        assert!(!neighbors.look(), "nothing has changed");
        // A change within the same tick of the clock is found too.
        let second = format!("{}/ide/50002.lock", dir.0.display());
        let kept = fs::metadata(dir.0.join("ide")).unwrap().modified().unwrap();
        dir.lock(50_002, "second", "p", other.id());
        // Windows does not open a folder as a file.
        if cfg!(unix) {
            fs::File::open(dir.0.join("ide")).unwrap().set_modified(kept).unwrap();
        }
        assert!(neighbors.look());
        fs::remove_file(second).unwrap();
        assert!(neighbors.look());
        other.kill().unwrap();
        other.wait().unwrap();
        if pid_alive(other.id()).is_none() {
            return eprintln!("skipped: this system does not tell that a process has ended");
        }
        assert!(neighbors.look(), "its file is still there");
        assert!(neighbors.found().is_empty());
    }

    #[test]
    fn free_names_have_numbers() {
        let dir = Dir::new();
        let mut other = waiting_program();
        for (port, name, expected) in
            [(50_001, "other", "ed"), (50_002, "ed", "ed 2"), (50_003, "ed 2", "ed 3")]
        {
            dir.lock(port, name, "p", other.id());
            assert_eq!(dir.neighbors("p").free_name("ed"), expected);
        }
        assert_eq!(dir.neighbors("q").free_name("ed"), "ed");
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
