//! Where lock files are, computed from variables that you pass (measured, see docs/protocol.md). Nothing here reads the
//! environment or the disk, and nothing guesses: an invalid variable is an error that says what to do.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::LockForm;
use crate::ide::paths::{is_absolute, is_windows};

/// Returns the directories where lock files may be, in order. An editor publishes in the first one; a client reads all
/// of them.
///
/// The real client reads `$CLAUDE_CONFIG_DIR/ide` if that variable is set, otherwise `~/.claude/ide`, and nothing else.
/// The directories of [`Extras`] come after this one.
///
/// # Errors
/// [`LocateError`] if a variable that is needed is unset, empty or not an absolute path.
pub fn locate(environment: &Environment<'_>, extras: Extras) -> Result<Vec<LockDirCandidate>, LocateError> {
    let config_dir = environment.claude_config_dir;
    let home = || absolute(HOME_VARIABLE, environment.home.ok_or(LocateError::NoHome)?);
    let mut found = Vec::new();
    if let Some(dir) = config_dir {
        let dir = absolute("CLAUDE_CONFIG_DIR", dir)?;
        found.push(LockDirCandidate { dir: join(dir, &["ide"]), source: Source::ConfigDir });
    }
    if config_dir.is_none() || extras.default_too {
        found.push(LockDirCandidate { dir: join(home()?, &[".claude", "ide"]), source: Source::Home });
    }
    if extras.xdg {
        // XDG: an empty variable counts as unset.
        let dir = match environment.xdg_config_home.filter(|dir| !dir.is_empty()) {
            Some(dir) => join(absolute("XDG_CONFIG_HOME", dir)?, &["claude", "ide"]),
            None => join(home()?, &[".config", "claude", "ide"]),
        };
        found.push(LockDirCandidate { dir, source: Source::Xdg });
    }
    if extras.claude_code {
        found.push(LockDirCandidate { dir: join(home()?, &[".claude-code"]), source: Source::ClaudeCode });
    }
    Ok(found)
}

/// The variable that names the home directory on the system this crate was compiled for: `HOME`, or `USERPROFILE` on
/// Windows.
pub const HOME_VARIABLE: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

/// The variables that determine the directories; `None` if not set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Environment<'a> {
    /// `CLAUDE_CONFIG_DIR`.
    pub claude_config_dir: Option<&'a str>,
    /// [`HOME_VARIABLE`].
    pub home: Option<&'a str>,
    /// `XDG_CONFIG_HOME`, which is read only with [`Extras::xdg`].
    pub xdg_config_home: Option<&'a str>,
}

/// Further directories, which the real client does not read. Default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// `~/.claude/ide`, even if `CLAUDE_CONFIG_DIR` is set, for editors that do not read that
    /// variable.
    pub default_too: bool,
    /// `$XDG_CONFIG_HOME/claude/ide`, or `~/.config/claude/ide`. The real client never reads this
    /// directory.
    pub xdg: bool,
    /// `~/.claude-code`, with files for [`LockForm::Project`]. When you search for an editor, also look in the
    /// directory `.claude-code` of each project around your working directory, which [`locate`] does not know.
    pub claude_code: bool,
}

/// A directory that may contain lock files. It need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockDirCandidate {
    /// The absolute path of the directory.
    pub dir: String,
    /// Why the directory is a candidate.
    pub source: Source,
}

impl LockDirCandidate {
    /// Returns the kind of the lock files in this directory.
    #[must_use]
    pub const fn form(&self) -> LockForm {
        match self.source {
            Source::ClaudeCode => LockForm::Project,
            Source::ConfigDir | Source::Home | Source::Xdg | Source::WindowsHome => LockForm::Lock,
        }
    }

    /// Returns where an editor on Windows publishes, for a client in WSL. `home` is the home directory of a Windows
    /// user as WSL shows it, such as `/mnt/c/Users/me`. The real client reads this directory of each user after its
    /// own: its code shows that, but we have not run it in WSL.
    #[must_use]
    pub fn on_windows(home: &str) -> Self {
        Self { dir: join(home, &[".claude", "ide"]), source: Source::WindowsHome }
    }
}

/// Why a directory is a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// The variable `CLAUDE_CONFIG_DIR`, which names the parent directory.
    ConfigDir,
    /// The default below the home directory.
    Home,
    /// The option [`Extras::xdg`].
    Xdg,
    /// The option [`Extras::claude_code`].
    ClaudeCode,
    /// The home of a Windows user, for a client in WSL. Editors in WSL do not publish there.
    WindowsHome,
}

/// Why [`locate`] cannot name a directory.
///
/// [Causes and reactions](crate::guide::errors#lock-files-tokens-paths).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LocateError {
    /// The home directory is needed and not known.
    NoHome,
    /// A variable is set and empty.
    Empty {
        /// The name of the variable.
        variable: &'static str,
    },
    /// A variable is not an absolute path.
    Relative {
        /// The name of the variable.
        variable: &'static str,
        /// The value of the variable.
        value: String,
    },
}

impl fmt::Display for LocateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHome => {
                write!(f, "{HOME_VARIABLE} is not set: set it, or set CLAUDE_CONFIG_DIR to an absolute path")
            }
            Self::Empty { variable } => {
                write!(f, "{variable} is set but empty: unset it, or set it to an absolute path")
            }
            Self::Relative { variable, value } => {
                write!(f, "{variable} is {value:?}, which is not an absolute path: set it to one")
            }
        }
    }
}

impl core::error::Error for LocateError {}

fn absolute<'a>(variable: &'static str, value: &'a str) -> Result<&'a str, LocateError> {
    if value.is_empty() {
        return Err(LocateError::Empty { variable });
    }
    if is_absolute(value) {
        Ok(value)
    } else {
        Err(LocateError::Relative { variable, value: value.to_string() })
    }
}

fn join(dir: &str, names: &[&str]) -> String {
    let (dir, separator) = match is_windows(dir) {
        true => (dir.trim_end_matches(['/', '\\']), '\\'),
        false => (dir.trim_end_matches('/'), '/'),
    };
    names.iter().fold(dir.to_string(), |path, name| format!("{path}{separator}{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const PLAIN: Extras = Extras { default_too: false, xdg: false, claude_code: false };
    const ALL: Extras = Extras { default_too: true, xdg: true, claude_code: true };

    struct Case {
        name: &'static str,
        /// The values of `CLAUDE_CONFIG_DIR`, `HOME` and `XDG_CONFIG_HOME`.
        environment: [Option<&'static str>; 3],
        extras: Extras,
        expected: Result<Vec<(&'static str, Source)>, LocateError>,
    }

    fn empty<T>(variable: &'static str) -> Result<T, LocateError> {
        Err(LocateError::Empty { variable })
    }

    fn relative<T>(variable: &'static str, value: &str) -> Result<T, LocateError> {
        Err(LocateError::Relative { variable, value: value.into() })
    }

    #[test]
    fn l07_the_directories_follow_the_variables() {
        let cases = [
            Case {
                name: "home",
                environment: [None, Some("/home/u"), None],
                extras: PLAIN,
                expected: Ok(vec![("/home/u/.claude/ide", Source::Home)]),
            },
            Case {
                name: "config dir replaces the home",
                environment: [Some("/c"), Some("/home/u"), Some("/x")],
                extras: PLAIN,
                expected: Ok(vec![("/c/ide", Source::ConfigDir)]),
            },
            Case {
                name: "config dir needs no home",
                environment: [Some("/c/"), None, None],
                extras: PLAIN,
                expected: Ok(vec![("/c/ide", Source::ConfigDir)]),
            },
            Case {
                name: "everything",
                environment: [Some("/c"), Some("/home/u"), Some("/x//")],
                extras: ALL,
                expected: Ok(vec![
                    ("/c/ide", Source::ConfigDir),
                    ("/home/u/.claude/ide", Source::Home),
                    ("/x/claude/ide", Source::Xdg),
                    ("/home/u/.claude-code", Source::ClaudeCode),
                ]),
            },
            Case {
                name: "the default is not listed twice",
                environment: [None, Some("/home/u"), None],
                extras: Extras { default_too: true, ..PLAIN },
                expected: Ok(vec![("/home/u/.claude/ide", Source::Home)]),
            },
            Case {
                name: "xdg is ignored without the option",
                environment: [None, Some("/home/u"), Some("relative")],
                extras: PLAIN,
                expected: Ok(vec![("/home/u/.claude/ide", Source::Home)]),
            },
            Case {
                name: "empty xdg counts as unset",
                environment: [Some("/c"), Some("/home/u"), Some("")],
                extras: Extras { xdg: true, ..PLAIN },
                expected: Ok(vec![
                    ("/c/ide", Source::ConfigDir),
                    ("/home/u/.config/claude/ide", Source::Xdg),
                ]),
            },
            Case {
                name: "a Windows home",
                environment: [None, Some("C:\\Users\\u\\"), None],
                extras: PLAIN,
                expected: Ok(vec![("C:\\Users\\u\\.claude\\ide", Source::Home)]),
            },
            Case {
                name: "the root directory as home",
                environment: [None, Some("/"), None],
                extras: PLAIN,
                expected: Ok(vec![("/.claude/ide", Source::Home)]),
            },
            Case {
                name: "home unset",
                environment: [None, None, None],
                extras: PLAIN,
                expected: Err(LocateError::NoHome),
            },
            Case {
                name: "home unset and needed for an extra",
                environment: [Some("/c"), None, None],
                extras: Extras { xdg: true, ..PLAIN },
                expected: Err(LocateError::NoHome),
            },
            Case {
                name: "home empty",
                environment: [None, Some(""), None],
                extras: PLAIN,
                expected: empty(HOME_VARIABLE),
            },
            Case {
                name: "home relative",
                environment: [None, Some("u"), None],
                extras: PLAIN,
                expected: relative(HOME_VARIABLE, "u"),
            },
            Case {
                name: "config dir empty",
                environment: [Some(""), Some("/home/u"), None],
                extras: PLAIN,
                expected: empty("CLAUDE_CONFIG_DIR"),
            },
            Case {
                name: "config dir with a tilde that no shell expanded",
                environment: [Some("~/.claude"), Some("/home/u"), None],
                extras: PLAIN,
                expected: relative("CLAUDE_CONFIG_DIR", "~/.claude"),
            },
            Case {
                name: "config dir relative to a drive",
                environment: [Some("C:claude"), Some("/home/u"), None],
                extras: PLAIN,
                expected: relative("CLAUDE_CONFIG_DIR", "C:claude"),
            },
            Case {
                name: "xdg relative",
                environment: [None, Some("/home/u"), Some("x")],
                extras: ALL,
                expected: relative("XDG_CONFIG_HOME", "x"),
            },
        ];
        for Case { name, environment: [config_dir, home, xdg], extras, expected } in cases {
            let environment = Environment { claude_config_dir: config_dir, home, xdg_config_home: xdg };
            let expected = expected.map(|list| {
                list.into_iter()
                    .map(|(dir, source)| LockDirCandidate { dir: dir.into(), source })
                    .collect::<Vec<_>>()
            });
            let found = locate(&environment, extras);
            assert_eq!(found, expected, "{name}");
            for candidate in found.iter().flatten() {
                let has_projects = candidate.dir.ends_with(".claude-code");
                assert_eq!(candidate.form() == LockForm::Project, has_projects, "{name}: {candidate:?}");
            }
        }
    }

    #[test]
    fn editor_on_windows_has_a_directory_in_wsl() {
        let candidate = LockDirCandidate::on_windows("/mnt/c/Users/me");
        assert_eq!(
            (candidate.dir.as_str(), candidate.source),
            ("/mnt/c/Users/me/.claude/ide", Source::WindowsHome)
        );
        assert_eq!(candidate.form(), LockForm::Lock);
    }

    #[test]
    fn error_names_variable_and_escapes_its_value() {
        let error = LocateError::Relative { variable: "HOME", value: "\u{1b}[2J".into() };
        assert_eq!(error.to_string(), r#"HOME is "\u{1b}[2J", which is not an absolute path: set it to one"#);
    }
}
