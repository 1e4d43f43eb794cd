//! Hides the files that ignore files name: build output, copies of data, settings of one machine. The editor does not
//! send their contents to agents, though another program may.

mod rules;

use crate::editor::paths::MAX_PATH;
use ignore::gitignore::Gitignore;
pub(crate) use rules::Pattern;
use rules::{NAMES, Rules, UNREAD, everything, is_ignored, rules_of, rules_of_patterns, stamp};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The maximum number of components of a path that is compared with the rules: far more than a user's files have. The
/// work is quadratic in this number, and an agent chooses the path.
const MAX_DEPTH: usize = 256;

/// The rules of the ignore files in and above the open folders.
///
/// The disk thread reads them ([`look`](Self::look)), and the loop looks files up ([`hides`](Self::hides)), so that
/// the loop never waits for a disk.
#[derive(Debug)]
pub(crate) struct Ignored {
    /// The open folders. In each, `top` is the topmost folder whose ignore files count: the root of the repository, or
    /// the folder itself.
    folders: Vec<Top>,
    /// False if ignore files are not read.
    reads_files: bool,
    rules: Mutex<BTreeMap<PathBuf, Rules>>,
    /// Counts the changes of the rules.
    version: AtomicU64,
}

#[derive(Debug)]
struct Top {
    given: PathBuf,
    real: PathBuf,
    top: PathBuf,
    /// The user's patterns. No ignore file can take them back, since others may have written it.
    own: Gitignore,
}

impl Ignored {
    /// Creates the rules of these folders from the user's patterns and, if `reads_files`, from ignore files, which are
    /// read later. `given` and `real` are the same folders, as the user named them and without links.
    pub(crate) fn new(given: &[PathBuf], real: &[PathBuf], patterns: &[Pattern], reads_files: bool) -> Self {
        let top = |(given, real): (&PathBuf, &PathBuf)| {
            let root = real.ancestors().find(|folder| folder.join(".git").exists());
            Top {
                given: given.clone(),
                real: real.clone(),
                top: root.unwrap_or(real).to_owned(),
                own: rules_of_patterns(real, patterns),
            }
        };
        Self {
            folders: given.iter().zip(real).map(top).collect(),
            reads_files,
            rules: Mutex::default(),
            version: AtomicU64::new(0),
        }
    }

    /// Reads the ignore files that apply to these files, and reads earlier ones again if they have changed. An ignore
    /// file that cannot be read hides everything in its folder until a later look can read it. As in git, an invalid
    /// line has no effect.
    pub(crate) fn look<'a>(&self, files: impl IntoIterator<Item = &'a Path>) {
        if !self.reads_files {
            return;
        }
        let mut folders: BTreeSet<PathBuf> = self.rules().keys().cloned().collect();
        for file in files {
            let file = self.real(file);
            if !is_too_long(&file) {
                folders.extend(self.folders_of(&file).map(Path::to_owned));
            }
        }
        for folder in folders {
            let mut stamps = NAMES.map(|name| stamp(&folder.join(name)));
            if self.rules().get(&folder).map_or([None; NAMES.len()], |rules| rules.stamps) == stamps {
                continue;
            }
            // Read the disk without the lock, since the loop may be waiting for it.
            let read = NAMES.map(|name| rules_of(&folder, name));
            for (stamp, read) in stamps.iter_mut().zip(&read) {
                if read.is_err() {
                    *stamp = Some(UNREAD);
                }
            }
            let files = read.map(|read| read.unwrap_or_else(|_| everything(&folder)));
            // If a file still cannot be read, the rules are the same.
            if self.rules().get(&folder).is_none_or(|rules| rules.stamps != stamps) {
                self.version.fetch_add(1, Ordering::Relaxed);
            }
            let is_empty = files.iter().all(Option::is_none);
            let rules = Rules { stamps, files };
            let _ = if is_empty { self.rules().remove(&folder) } else { self.rules().insert(folder, rules) };
        }
    }

    /// Returns true if the rules that were read hide this file or a folder above it, and for a path that is too long to
    /// compare. Relative paths start at the first folder.
    pub(crate) fn hides(&self, path: &str) -> bool {
        if path.len() > MAX_PATH {
            return true;
        }
        let path = self.real(Path::new(path));
        // The filter also asks about the same path without `..`, and that answer counts.
        if path.components().any(|part| part == Component::ParentDir) {
            return false;
        }
        if is_too_long(&path) {
            return true;
        }
        if self.folders.iter().any(|folder| folder.hides(&path)) {
            return true;
        }
        let all = self.rules();
        let rules = self.folders_of(&path).filter_map(|folder| all.get_key_value(folder));
        let rules: Vec<(&PathBuf, &Rules)> = rules.collect();
        if rules.is_empty() {
            return false;
        }
        // As in git, a file in an ignored folder cannot be shown again. An open folder counts as not ignored, and so
        // do the folders above it: the user has opened it.
        let is_below = |folder: &Path| {
            self.folders.iter().any(|open| folder != open.real && folder.starts_with(&open.real))
        };
        let mut below = self.folders_of(&path).filter(|folder| is_below(folder));
        let inner = below.any(|folder| is_ignored(&rules, folder, true));
        // The path can name a file or a folder.
        inner || [false, true].into_iter().any(|is_folder| is_ignored(&rules, &path, is_folder))
    }

    /// Returns a number for the current rules. It changes with them.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Relaxed)
    }

    /// Returns the path with the real path of its open folder instead of the given one.
    fn real(&self, path: &Path) -> PathBuf {
        let given = |of: &Top| path.strip_prefix(&of.given).ok().map(|below| of.real.join(below));
        let first = || self.folders.first().map(|first| first.real.join(path));
        let found = self.folders.iter().find_map(given);
        found.or_else(|| if path.is_absolute() { None } else { first() }).unwrap_or_else(|| path.to_owned())
    }

    /// Returns the folders whose ignore files apply to a path, innermost first.
    fn folders_of<'a>(&self, path: &'a Path) -> impl Iterator<Item = &'a Path> + use<'a> {
        let top = self.folders.iter().map(|of| &of.top).filter(|top| path.starts_with(top));
        let depth = top.map(|top| top.components().count()).min();
        let below = depth.map_or(0, |depth| path.components().count().saturating_sub(depth));
        path.ancestors().skip(1).take(below)
    }

    fn rules(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Rules>> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Top {
    /// Returns true if the user's patterns hide this path or a folder above it.
    fn hides(&self, path: &Path) -> bool {
        if path == self.real || !path.starts_with(&self.real) {
            return false;
        }
        // The path can name a file or a folder.
        [false, true]
            .into_iter()
            .any(|is_folder| self.own.matched_path_or_any_parents(path, is_folder).is_ignore())
    }
}

fn is_too_long(path: &Path) -> bool {
    path.as_os_str().len() > MAX_PATH || path.components().nth(MAX_DEPTH).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ide_mcp::{Clock, Time};
    use std::fs;
    use std::time::{Duration, SystemTime};

    #[test]
    fn ignore_files_name_hidden_files() {
        let temp = crate::support::temp::private_temp_dir();
        let root = temp.path().join("ignored");
        for folder in
            ["repository/.git", "repository/opened", "repository/p/sub/deep", "plain/sub", "plain/.git-not"]
        {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let files = [
            ("repository/.gitignore", "/opened\n/p/by_root\ntarget/\n*.log\n!kept.log\nsub/deep/x\n"),
            ("repository/p/.gitignore", "generated\n[\n"),
            ("repository/p/.claudeignore", "!shown.log\nnotes.md\n"),
            ("repository/p/sub/.ignore", "*.tmp\n!again.log\n"),
            (".gitignore", "*\n"),
            ("plain/.ignore", "private/\n"),
        ];
        for (name, text) in files {
            fs::write(root.join(name), text).unwrap();
        }
        let root = root.canonicalize().unwrap();
        let folders = ["repository/p", "plain", "repository/opened"].map(|folder| root.join(folder));
        let given = ["link", "plain", "repository/opened"].map(|folder| root.join(folder));
        let ignored = Ignored::new(&given, &folders, &[], true);
        let hides = |path: &str| {
            let path = root.join(path);
            ignored.look([path.as_path()]);
            ignored.hides(path.to_str().unwrap())
        };
        let rows = [
            ("a file without a rule", "repository/p/a.rs", false),
            ("by the root of the repository", "repository/p/by_root", true),
            ("the same name elsewhere", "repository/p/sub/by_root", false),
            ("in a folder", "repository/p/target/debug/a.rs", true),
            ("the folder itself", "repository/p/target", true),
            ("a file with an ignored suffix", "repository/p/sub/a.log", true),
            ("taken back", "repository/p/kept.log", false),
            ("by the folder itself", "repository/p/generated", true),
            ("by its path from the root", "repository/p/sub/deep/x", false),
            ("by .claudeignore", "repository/p/notes.md", true),
            ("shown by .claudeignore", "repository/p/shown.log", false),
            ("by .ignore", "repository/p/sub/a.tmp", true),
            ("the same suffix outside of its folder", "repository/p/a.tmp", false),
            ("shown by .ignore", "repository/p/sub/again.log", false),
            ("shown again in an ignored folder", "repository/p/target/kept.log", true),
            ("as the folder was given", "link/target/a", true),
            ("as the folder was given, shown", "link/a.rs", false),
            ("no rule above a folder without a repository", "plain/a", false),
            ("by .ignore without a repository", "plain/private/a", true),
            ("in an ignored folder that is open", "repository/opened/a.rs", false),
            ("an ignored file in it", "repository/opened/a.log", true),
            ("outside of the folders", "elsewhere/a.log", false),
            ("a path with ..", "repository/p/target/../a.rs", false),
        ];
        for (name, path, expected) in rows {
            assert_eq!(hides(path), expected, "{name}");
        }
        assert!(ignored.hides("target/a") && !ignored.hides("a.rs"), "relative to the first folder");
    }

    #[test]
    fn patterns_of_the_user_hide_files() {
        let temp = crate::support::temp::private_temp_dir();
        let root = temp.path().canonicalize().unwrap();
        for folder in ["p/sub", "q"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("p/.claudeignore"), "!a.pem\n!notes/\nlocal\n").unwrap();
        let real = ["p", "q"].map(|folder| root.join(folder));
        let given = [root.join("link"), root.join("q")];
        let patterns = ["*.pem", "/notes", "sub/deep/", "!shown.pem"];
        let patterns = patterns.map(|line| Pattern::try_from(line.to_owned()).unwrap());
        let rows = [
            ("a suffix", "p/sub/a.pem", true),
            ("a suffix in another folder", "q/a.pem", true),
            ("taken back by the user", "p/shown.pem", false),
            ("a file", "p/notes", true),
            ("in a folder", "q/notes/x/a.rs", true),
            ("the same name below", "p/sub/notes", false),
            ("by a pattern for folders", "p/sub/deep/a", true),
            ("as the folder was given", "link/a.pem", true),
            ("another file", "p/a.rs", false),
            ("the folder itself", "p", false),
            ("outside of the folders", "a.pem", false),
        ];
        for reads_files in [true, false] {
            let ignored = Ignored::new(&given, &real, &patterns, reads_files);
            let hides = |path: &str| {
                let path = root.join(path);
                ignored.look([path.as_path()]);
                ignored.hides(path.to_str().unwrap())
            };
            for (name, path, expected) in rows {
                assert_eq!(hides(path), expected, "{name}, {reads_files}");
            }
            assert_eq!(hides("p/local"), reads_files, "an ignore file counts too");
            assert!(ignored.hides("a.pem"), "relative to the first folder");
        }
    }

    #[test]
    fn damaged_ignore_files_hide_files() {
        let temp = crate::support::temp::private_temp_dir();
        let root = temp.path().join("damaged");
        fs::create_dir_all(root.join("sub")).unwrap();
        let root = root.canonicalize().unwrap();
        let rules = root.join(".gitignore");
        let ignored = Ignored::new(std::slice::from_ref(&root), std::slice::from_ref(&root), &[], true);
        let hidden = || {
            let files = ["a.txt", "b.txt", "sub/c.txt"].map(|name| root.join(name));
            ignored.look(files.iter().map(PathBuf::as_path));
            files.map(|file| ignored.hides(file.to_str().unwrap()))
        };
        let cases = [
            ("a byte order mark", &b"\xef\xbb\xbfa.txt\nb.txt\n"[..], [true, true, false]),
            ("a byte that is not UTF-8", b"a.txt\n\xff\nsub/\n", [true, false, true]),
            ("a byte that is not UTF-8, in a comment", b"# na\xefve\r\na.txt\r\n", [true, false, false]),
            ("a byte order mark in another line", b"a.txt\n\xef\xbb\xbfb.txt\n", [true, false, false]),
        ];
        for (name, bytes, expected) in cases {
            fs::write(&rules, bytes).unwrap();
            assert_eq!(hidden(), expected, "{name}");
        }
        // The largest file is read, and a larger one hides everything in its folder.
        for (mebibytes, more, expected) in [(16, 0, false), (16, 1, true), (16, 2, true)] {
            fs::File::create(&rules).unwrap().set_len(mebibytes * 1024 * 1024 + more).unwrap();
            assert_eq!(hidden(), [expected; 3], "{mebibytes} MiB and {more}");
        }
        fs::remove_file(&rules).unwrap();
        assert_eq!(hidden(), [false; 3], "removed");
        fs::create_dir(&rules).unwrap();
        assert_eq!(hidden(), [false; 3], "a folder is not an ignore file");
        fs::remove_dir(&rules).unwrap();
        fs::write(&rules, "a.txt\n").unwrap();
        assert_eq!(hidden(), [true, false, false], "readable again");
    }

    #[test]
    fn paths_above_limits_are_hidden() {
        let temp = crate::support::temp::private_temp_dir();
        let root = temp.path().join("long");
        fs::create_dir_all(&root).unwrap();
        fs::write(root.join(".gitignore"), "*.log\n").unwrap();
        let root = root.canonicalize().unwrap();
        let ignored = Ignored::new(std::slice::from_ref(&root), std::slice::from_ref(&root), &[], true);
        let depth = root.components().count();
        let deep = |components: usize, name: &str| root.join("x/".repeat(components - depth - 1)).join(name);
        let long = |length: usize| {
            let names = "x".repeat(250) + "/";
            let path = format!("{}/{}", root.display(), names.repeat(20));
            PathBuf::from(path.get(..length).unwrap())
        };
        let rows = [
            ("the maximum depth", deep(MAX_DEPTH, "a"), false),
            ("the maximum depth, ignored", deep(MAX_DEPTH, "a.log"), true),
            ("one component deeper", deep(MAX_DEPTH + 1, "a"), true),
            ("2000 components", deep(2000, "a"), true),
            ("the maximum length", long(MAX_PATH), false),
            ("one byte longer", long(MAX_PATH + 1), true),
        ];
        let clock = Clock::new();
        // An agent can repeat its request.
        for _ in 0..200 {
            for (name, path, expected) in &rows {
                ignored.look([path.as_path()]);
                assert_eq!(ignored.hides(path.to_str().unwrap()), *expected, "{name}");
            }
        }
        // Each look accesses the disk, which is slowest in an emulator.
        let most = if cfg!(windows) { 120_000 } else { 20_000 };
        assert!(clock.now() < Time::from_millis(most), "{:?}", clock.now());
        assert!(
            !ignored.hides(&"x".repeat(MAX_PATH - root.as_os_str().len() - 1)),
            "relative, the maximum length"
        );
        assert!(ignored.hides(&"x".repeat(MAX_PATH - root.as_os_str().len())), "relative, one byte longer");
    }

    #[test]
    fn changed_ignore_files_are_read_again() {
        let temp = crate::support::temp::private_temp_dir();
        let root = temp.path().join("reread");
        fs::create_dir_all(&root).unwrap();
        let root = root.canonicalize().unwrap();
        let (rules, file) = (root.join(".gitignore"), root.join("a.txt"));
        let ignored = Ignored::new(std::slice::from_ref(&root), std::slice::from_ref(&root), &[], true);
        let steps = [
            (None, false),
            (Some("a.txt"), true),
            (Some("b.txt"), false),
            (Some("a.txt"), true),
            (None, false),
            (Some("a.txt"), true),
        ];
        for (at, (text, expected)) in steps.into_iter().enumerate() {
            match text {
                Some(text) => {
                    fs::write(&rules, text).unwrap();
                    // The lengths are equal, so only the time shows the change.
                    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(at).unwrap());
                    fs::File::options().write(true).open(&rules).unwrap().set_modified(time).unwrap();
                }
                None => drop(fs::remove_file(&rules)),
            }
            // Files that were read before are read again, even if another file is looked at.
            let looked: &[&Path] = if at < 2 { &[file.as_path()] } else { &[] };
            ignored.look(looked.iter().copied().chain((at == 5).then_some(file.as_path())));
            assert_eq!(ignored.hides(file.to_str().unwrap()), expected, "step {at}");
        }
    }
}
