//! The open folders, and the paths in them.
//!
//! Paths are compared in their real form, without symbolic links and `..`. Between the check and the use of a path, a
//! program that can write to the folders can still replace what the path leads to. But such a program could change
//! the files anyway.

use crate::editor::ignored::{Ignored, Pattern};
use crate::editor::paths::MAX_PATH;
use crate::support::local;
use ide_mcp::ide::Filter;
use ide_mcp::ide::kit::secret_reason;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

/// The error of every call of an agent about a hidden file, whether the file exists or not. The library also sends this
/// string instead of a hidden file's text.
const HIDDEN: &str = "the file may not leave the editor";

#[derive(Clone, Debug)]
pub(crate) struct Folders {
    /// The folders as given, but absolute. Relative paths start at the first one.
    given: Vec<PathBuf>,
    real: Vec<PathBuf>,
    /// The ignored files; `None` if ignore files are not read, and the user has no patterns either.
    ignored: Option<Arc<Ignored>>,
}

/// A path in one of the folders, in two forms. The file can be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inside {
    /// The absolute path as it was written. It is the real path if the written one has `..` or leads to a hidden file.
    pub(crate) shown: PathBuf,
    /// The path without symbolic links.
    pub(crate) real: PathBuf,
}

impl Folders {
    /// Opens folders. A path that is not a folder is an error.
    pub(crate) fn open(folders: &[PathBuf]) -> Result<Self, String> {
        let mut opened = Self { given: Vec::new(), real: Vec::new(), ignored: None };
        for folder in folders {
            let fails = |error: io::Error| match folder.to_str() {
                Some(".") => {
                    format!("the working directory cannot be used ({error}): change to one that exists")
                }
                _ => format!("{}: {error}", folder.display()),
            };
            let real = local::resolved(folder).map_err(fails)?;
            if !real.is_dir() {
                return Err(format!("{} is not a folder", folder.display()));
            }
            opened.given.push(local::as_on_disk(local::absolute(folder).map_err(fails)?, &real));
            opened.real.push(real);
        }
        Ok(opened)
    }

    /// Returns the first folder, where commands start.
    pub(crate) fn first(&self) -> &Path {
        self.given.first().map_or_else(|| Path::new("."), PathBuf::as_path)
    }

    /// Hides from agents the files that ignore files name.
    #[cfg(test)]
    pub(crate) fn with_ignored(self) -> Self {
        self.hiding(&[], true)
    }

    /// Hides from agents the files that these patterns name, and those that ignore files name if they are read.
    pub(crate) fn hiding(mut self, patterns: &[Pattern], reads_files: bool) -> Self {
        if reads_files || !patterns.is_empty() {
            self.ignored = Some(Arc::new(Ignored::new(&self.given, &self.real, patterns, reads_files)));
        }
        self
    }

    /// Returns the filter for agents. It hides the files that usually contain secrets, and the ignored files.
    pub(crate) fn filter(&self) -> Filter {
        match self.ignored.clone() {
            Some(ignored) => Filter::secrets().hide(move |path| ignored.hides(path)),
            None => Filter::secrets(),
        }
    }

    /// Reads those ignore files that concern these files and have changed.
    pub(crate) fn look_at_ignored<'a>(&self, files: impl IntoIterator<Item = &'a Path>) {
        if let Some(ignored) = &self.ignored {
            ignored.look(files);
        }
    }

    /// Returns a number for the rules that hide files. It changes with the rules.
    pub(crate) fn rules_version(&self) -> u64 {
        self.ignored.as_ref().map_or(0, |ignored| ignored.version())
    }

    pub(crate) fn given(&self) -> &[PathBuf] {
        &self.given
    }

    /// Returns the folders without symbolic links.
    pub(crate) fn real(&self) -> &[PathBuf] {
        &self.real
    }

    /// Returns the label of a file in a list: its path in its folder, or else the whole path.
    pub(crate) fn label(&self, shown: &Path) -> String {
        let below = self.given.iter().chain(&self.real).find_map(|folder| {
            let path = shown.strip_prefix(folder).ok()?;
            let name = folder.file_name().filter(|_| self.given.len() > 1);
            Some(name.map_or_else(|| path.to_owned(), |name| Path::new(name).join(path)))
        });
        below.as_deref().unwrap_or(shown).to_string_lossy().into_owned()
    }

    /// Returns the label of the file that a path or a `file:` URI means.
    pub(crate) fn label_of(&self, text: &str) -> String {
        let meant = local::meanings(text, self.first()).ok().and_then(|meanings| meanings.into_iter().next());
        self.label(meant.as_deref().unwrap_or_else(|| Path::new(text)))
    }

    /// Resolves a path from a command or a tool. Relative paths start at the first folder. A `file:` URI works too,
    /// percent-encoded or not, and so does every spelling of the system.
    pub(crate) fn find(&self, path: &str) -> Result<Inside, String> {
        if path.len() > MAX_PATH {
            return Err(format!("a path has at most {MAX_PATH} bytes"));
        }
        let mut meanings = local::meanings(path, self.first())?;
        let last = meanings.pop().unwrap_or_default();
        // An existing file with the literal name takes precedence.
        let literal = meanings.iter().filter_map(|path| self.inside(path).ok());
        literal.into_iter().find(|place| place.real.exists()).map_or_else(|| self.inside(&last), Ok)
    }

    /// Resolves a path for an agent, as [`find`](Self::find) does.
    ///
    /// The same error for every path that names a hidden file or leads to one, without reading the file.
    pub(crate) fn find_for_agent(&self, path: &str) -> Result<Inside, String> {
        let found = self.find(path);
        let is_hidden = match &found {
            Ok(Inside { shown, real }) => self.hides(real) || self.hides(shown),
            // The system's own error would reveal the state of the file.
            Err(_) => {
                let meanings = local::meanings(path, self.first());
                let meanings = meanings.unwrap_or_else(|_| vec![self.first().join(path)]);
                self.look_at_ignored(meanings.iter().map(PathBuf::as_path));
                meanings.iter().any(|path| self.hides(path))
            }
        };
        if is_hidden { Err(HIDDEN.into()) } else { found }
    }

    fn inside(&self, joined: &Path) -> Result<Inside, String> {
        let real = real(joined).map_err(|error| format!("{}: {error}", joined.display()))?;
        if !self.real.iter().any(|folder| real.starts_with(folder)) {
            return Err(format!("{} is outside the open folders", joined.display()));
        }
        self.look_at_ignored([real.as_path()]);
        // A path with `..` does not show where it leads. And the filter recognizes a link to a hidden file only by the
        // real name.
        let plain = !joined.components().any(|part| part == Component::ParentDir) && !self.hides(&real);
        let shown =
            if plain { local::as_on_disk(joined.components().collect(), &real) } else { real.clone() };
        Ok(Inside { shown, real })
    }

    /// Returns true if the filter hides the file with this absolute path, by the ignore files read so far.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        let path = path.to_string_lossy();
        secret_reason(&path).is_some() || self.ignored.as_ref().is_some_and(|ignored| ignored.hides(&path))
    }
}

/// Returns the path without symbolic links and `..`, as the system would follow it. Components that
/// do not exist are kept as written, below the deepest directory that exists.
fn real(path: &Path) -> io::Result<PathBuf> {
    let mut real = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                real.pop();
            }
            Component::Prefix(_) | Component::RootDir => real.push(part),
            Component::Normal(name) => {
                real.push(name);
                match local::resolved(&real) {
                    Ok(resolved) => real = resolved,
                    Err(error) if !is_missing(&error) => return Err(error),
                    // A dangling link: a write there would create a file elsewhere.
                    Err(error) if fs::symlink_metadata(&real).is_ok() => return Err(error),
                    Err(_) => {}
                }
            }
        }
    }
    Ok(real)
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn path_is_inside_by_its_real_form() {
        let temp = crate::support::temp::private_temp_dir();
        let root = temp.path().join("folders");
        fs::create_dir_all(root.join("p/sub")).unwrap();
        fs::create_dir_all(root.join("p_evil")).unwrap();
        fs::write(root.join("p/a.txt"), "").unwrap();
        fs::write(root.join("p/ü.txt"), "").unwrap();
        fs::write(root.join("p/a%41.txt"), "").unwrap();
        fs::write(root.join("secret"), "").unwrap();
        symlink("/etc", root.join("p/etc")).unwrap();
        symlink("sub", root.join("p/in")).unwrap();
        symlink("../missing", root.join("p/nowhere")).unwrap();
        symlink("loop", root.join("p/loop")).unwrap();
        let root = root.canonicalize().unwrap();
        let text = root.to_str().unwrap();
        let folders = Folders::open(&[root.join("p")]).unwrap();
        let cases = [
            ("the folder", ".", Some("p")),
            ("a file", "a.txt", Some("p/a.txt")),
            ("a file, absolute", &format!("{text}/p//./a.txt"), Some("p/a.txt")),
            ("down and up", "sub/../a.txt", Some("p/a.txt")),
            ("up and down", "../p/a.txt", Some("p/a.txt")),
            ("missing", "sub/new/b.txt", Some("p/sub/new/b.txt")),
            ("below a file", "a.txt/b", Some("p/a.txt/b")),
            ("nothing is expanded", "$HOME/~/a..b", Some("p/$HOME/~/a..b")),
            ("a link that stays inside", "in/b.txt", Some("p/sub/b.txt")),
            ("a URI", &format!("file://{text}/p/a.txt"), Some("p/a.txt")),
            ("a URI, plain", &format!("file://{text}/p/ü.txt"), Some("p/ü.txt")),
            ("a URI, encoded", &format!("file://{text}/p/%C3%BC.txt"), Some("p/ü.txt")),
            ("a URI that looks encoded", &format!("file://{text}/p/a%41.txt"), Some("p/a%41.txt")),
            ("a URI, half encoded", &format!("file://{text}/p/50%"), Some("p/50%")),
            ("a neighbor whose name begins alike", "../p_evil/x", None),
            ("above", "..", None),
            ("above a missing folder", "new/../../secret", None),
            ("above a missing folder, twice", "new/../new/../../x", None),
            ("elsewhere", "/etc/passwd", None),
            ("a link that leads outside", "etc/passwd", None),
            ("a link that leads outside, missing", "etc/ide-mcp-missing/x", None),
            ("a link that leads nowhere", "nowhere", None),
            ("a link to itself", "loop/x", None),
            ("above a link", "in/../../secret", None),
            ("a URI of this machine", &format!("file://localhost{text}/p/a.txt"), Some("p/a.txt")),
            ("a URI of another machine", "file://other/a.txt", None),
            ("a URI with a sign in place of a digit", &format!("file://{text}/p/%+1"), Some("p/%+1")),
            ("the longest path", &format!("{}/a.txt", "./".repeat(2045)), Some("p/a.txt")),
            ("a path above the limit", &format!("{}a.txt", "./".repeat(2046)), None),
            ("a URI with an encoded .. that leads outside", &format!("file://{text}/p/%2e%2e/secret"), None),
            ("a NUL", "a\0b", None),
        ];
        for (name, path, expected) in cases {
            let found = folders.find(path);
            let expected = expected.map(|path| root.join(path));
            assert_eq!(found.as_ref().ok().map(|place| &place.real), expected.as_ref(), "{name}: {found:?}");
        }
        let shown = |path| folders.find(path).unwrap().shown;
        assert_eq!(shown("in/b.txt"), root.join("p/in/b.txt"), "as the user knows it");
        assert_eq!(shown("in/../a.txt"), root.join("p/a.txt"), "`..` does not show a reader where it leads");
    }
}
