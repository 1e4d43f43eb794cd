//! The temporary folder of the demo: a project of three files, and the directory of the lock file beside it.

use ide_mcp_lockfile::LockDir;
use std::path::{Path, PathBuf};
use std::{env, fs, io};
use tempfile::{Builder, TempDir};

/// The file that is open at the beginning, and the first one to change.
pub(crate) const GREETING: &str = "greeting.py";
/// The file that the user signs.
pub(crate) const GUESTBOOK: &str = "guestbook.txt";

/// The variable that names the place of temporary folders.
const PLACE: &str = if cfg!(windows) { "TMP" } else { "TMPDIR" };

/// The cursor starts in this line of [`GREETING`].
const LINE: usize = 2;

const FILES: [(&str, &str); 3] = [
    (
        GREETING,
        "def greet(name):\n    print(\"Helo, \" + name)\n\nfor line in open(\"guestbook.txt\"):\n    greet(line.split()[0])\n",
    ),
    (GUESTBOOK, "Ada was here.\nGrace was here.\n"),
    (
        "README.md",
        "# A folder to play with\n\nYou can change everything here: the end of the demo removes it.\n",
    ),
];

/// The folder, which is removed when this is dropped.
pub(crate) struct Project(TempDir);

impl Project {
    /// Creates the folder in the directory for temporary files, so that only our user can look into it.
    ///
    /// # Errors
    /// A message for the user.
    pub(crate) fn create() -> Result<Self, String> {
        Self::create_in(&env::temp_dir())
    }

    fn create_in(place: &Path) -> Result<Self, String> {
        let shown = |error: io::Error| {
            format!("cannot create a temporary folder: {error}; set {PLACE} to another place")
        };
        let mut builder = Builder::new();
        builder.prefix("ide-mcp-demo-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let project = Self(builder.tempdir_in(place).map_err(shown)?);
        let folder = project.folder();
        fs::create_dir(&folder).map_err(shown)?;
        for (name, text) in FILES {
            fs::write(folder.join(name), text).map_err(shown)?;
        }
        Ok(project)
    }

    /// Returns the folder of the files.
    pub(crate) fn folder(&self) -> PathBuf {
        self.0.path().join("demo")
    }

    /// Returns the paths for the command line of an editor.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let folder = self.folder();
        let file = folder.join(format!("{GREETING}:{LINE}"));
        vec![folder, file]
    }

    /// Returns the directory of the lock file, where none of the user's own agents looks.
    ///
    /// # Errors
    /// A message for the user. That of the library would advise to set CLAUDE_CONFIG_DIR, which the demo does not read.
    pub(crate) fn lock_dir(&self) -> Result<LockDir, String> {
        LockDir::create(self.0.path().join("ide"))
            .map_err(|error| error.to_string().replace("CLAUDE_CONFIG_DIR", PLACE))
    }

    /// Removes the folder.
    ///
    /// # Errors
    /// A message for the user, who must then remove it.
    pub(crate) fn remove(self) -> Result<(), String> {
        let path: &Path = self.0.path();
        let problem = format!("the temporary folder {} could not be removed", path.display());
        self.0.close().map_err(|error| format!("{problem}: {error}"))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn error_about_an_insecure_place_names_its_variable() {
        let temp = crate::support::temp::private_temp_dir();
        let place = temp.path().join("open");
        fs::create_dir(&place).unwrap();
        fs::set_permissions(&place, fs::Permissions::from_mode(0o777)).unwrap();
        let error = Project::create_in(&place).unwrap().lock_dir().unwrap_err();
        assert!(error.contains("or set TMPDIR to") && !error.contains("CLAUDE_CONFIG_DIR"), "{error}");
    }
}
