//! The configuration file of the user: where it is, who may have written it, and what is wrong with it.
//!
//! A mistake in the file ends the program at its start. With only a part of the file, an agent could get what the user
//! hides, or a key could do what it does by default.

mod file;
#[cfg(test)]
mod tests;

use crate::editor::read::read_limited;
use crate::editor::screen::bindings::{Fault, Keymap};
use crate::editor::screen::view::palette::Theme;
pub(crate) use file::Editor;
use file::File;
use ide_mcp::ide::kit::display_safe;
use ide_mcp_lockfile::{Weakness, weak_parents};
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// All settings with their defaults take 4 KiB; a larger file than this is a mistake.
const MAX_FILE: u64 = 64 * 1024;

/// From this similarity on, a known name is suggested for an unknown one, as with the options of the command line.
const SIMILAR: f64 = 0.7;

/// Up to this number of names, a message lists them all.
const MOST_LISTED: usize = 8;

/// The configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    /// False if there is no such file.
    pub(crate) is_read: bool,
}

/// The settings of the file, all of them correct.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// The file; `None` if no directory for it is known.
    pub(crate) source: Option<Source>,
    pub(crate) editor: Editor,
    pub(crate) keys: Keymap,
}

impl Config {
    /// Reads this file, or else the one that the environment names, which need not exist.
    ///
    /// # Errors
    /// A message for the user, if the file cannot be read, if others may have written it, or if it has a fault, which
    /// the message locates by line and column.
    pub(crate) fn read(named: Option<&Path>) -> Result<Self, String> {
        let found = || path(|name| env::var_os(name).map(Into::into), cfg!(windows));
        let Some(path) = named.map(Path::to_owned).or_else(found) else { return Ok(Self::default()) };
        // Not `exists`: a dangling link, or a file in a folder that we may not enter, is not missing.
        let is_missing = || {
            matches!(
                fs::symlink_metadata(&path).map_err(|error| error.kind()),
                Err(ErrorKind::NotFound | ErrorKind::NotADirectory)
            )
        };
        if named.is_none() && is_missing() {
            return Ok(Self { source: Some(Source { path, is_read: false }), ..Self::default() });
        }
        let read = is_trusted(&path).and_then(|()| {
            let text = read_limited(&path, MAX_FILE)?;
            let text = String::from_utf8(text).map_err(|_| format!("{} is not UTF-8", path.display()))?;
            Self::parse(&text).map_err(|(at, message)| {
                let (line, column) = place(&text, at);
                format!("{}:{line}:{column}: {message}", path.display())
            })
        });
        match read {
            Ok(config) => Ok(Self { source: Some(Source { path, is_read: true }), ..config }),
            Err(problem) => Err(format!("{}; --no-config starts without it", display_safe(&problem))),
        }
    }

    /// Parses the text of a file. An error has its byte offset.
    fn parse(text: &str) -> Result<Self, (usize, String)> {
        let File { editor } = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(text.len(), |span| span.start);
            (at, explained(error.message()))
        })?;
        let changed = editor.keys.iter();
        let changed = changed.map(|(named, keys)| (named.1, keys.span().start, keys.get_ref().0.clone()));
        let changed: Vec<_> = changed.collect();
        let keys = changed.iter().map(|(action, _, keys)| (*action, keys.clone())).collect();
        let keys = Keymap::new(keys).map_err(|Fault { of, message }| {
            // Point at the later of two lines, which is the one that the user most likely added.
            let at = changed.iter().filter(|(action, ..)| of.contains(action)).map(|(_, at, _)| *at).max();
            (at.unwrap_or(0), message)
        })?;
        Ok(Self { source: None, editor, keys })
    }

    /// Returns the theme with the colors of the file.
    pub(crate) fn theme(&self) -> Theme {
        let mut theme = Theme::of(self.editor.theme, |name| env::var(name).ok());
        self.editor.colors.iter().for_each(|(shade, tint)| theme.set(*shade, *tint));
        theme
    }
}

/// Returns where the file is according to the environment. As the XDG specification says, a relative path in the
/// variable is ignored.
fn path(variable: impl Fn(&str) -> Option<PathBuf>, is_windows: bool) -> Option<PathBuf> {
    let named = |name| variable(name).filter(|path| path.is_absolute());
    let base = if is_windows {
        named("APPDATA")
    } else {
        named("XDG_CONFIG_HOME").or_else(|| Some(named("HOME")?.join(".config")))
    };
    Some(base?.join("ide-mcp").join("config.toml"))
}

/// Refuses a file that somebody else may have written: it could open the editor to every program, and accept every
/// change.
fn is_trusted(path: &Path) -> Result<(), String> {
    let shown = path.display();
    let metadata = fs::metadata(path).map_err(|error| format!("{shown}: {error}"))?;
    // The advice for files does not fit devices.
    if !metadata.is_file() {
        return Err(format!("{shown} is not a file"));
    }
    for weak in weak_parents(path).map_err(|error| error.to_string())? {
        let parent = weak.path.display();
        match weak.weakness {
            Weakness::Owner { owner, us } => {
                return Err(format!(
                    "{shown} lies below {parent}, which belongs to user {owner}, and you are user {us}"
                ));
            }
            Weakness::WritableByAll { mode } => {
                return Err(format!("every user can replace {shown} in {parent} (mode {mode:03o})"));
            }
            // On many systems a user is the only member of their group, and new folders have such a mode.
            _ => {}
        }
    }
    is_ours(path, &metadata)
}

#[cfg(unix)]
fn is_ours(path: &Path, metadata: &fs::Metadata) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt as _;
    let (owner, us) = (metadata.uid(), rustix::process::geteuid().as_raw());
    let (shown, mode) = (path.display(), metadata.mode() & 0o777);
    // The configuration of a whole system is root's.
    if owner != us && owner != 0 {
        return Err(format!("{shown} belongs to user {owner}, and you are user {us}"));
    }
    // A group with the same number as its user usually has no other member, and the files of such users often have this
    // mode.
    let others = if metadata.gid() == owner { 0o002 } else { 0o022 };
    if mode & others != 0 {
        let command = format!("chmod go-w {}", crate::support::quoted(&path.to_string_lossy()));
        return Err(format!("other users can write to {shown} (mode {mode:03o}): {command}"));
    }
    Ok(())
}

/// On Windows, nobody else can write to the user's own folder.
#[cfg(not(unix))]
fn is_ours(_: &Path, _: &fs::Metadata) -> Result<(), String> {
    Ok(())
}

/// Returns the line and the column of a byte, both from 1.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or(before);
    (before.matches('\n').count().saturating_add(1), line.chars().count().saturating_add(1))
}

/// Rewords a message of the parser for users. For an unknown name it suggests the most similar known one, or lists
/// all if they are few.
fn explained(message: &str) -> String {
    let message = message.trim_end().replace('\n', ", ");
    // The parser would also take a table here, but no setting is a table.
    if message == "wanted string or table" {
        return "expected a name in quotes".into();
    }
    let Some((head, expected)) = message.split_once("`, expected ") else { return message };
    let Some((kind, given)) = head.split_once(" `").filter(|(kind, _)| kind.starts_with("unknown ")) else {
        return message;
    };
    let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let kind = if kind.ends_with("action") { kind } else { "unknown name" };
    let mut text = format!("{kind} `{given}`");
    let similar = known.iter().map(|known| (strsim::jaro(given, known), known));
    let nearest = similar.filter(|(similarity, _)| *similarity > SIMILAR).max_by(|a, b| a.0.total_cmp(&b.0));
    // Writing to a string never fails.
    let _ = match nearest {
        Some((_, known)) => write!(text, " (a similar one exists: `{known}`)"),
        None if known.len() > MOST_LISTED => {
            write!(text, ": `ide-mcp help config` lists those of this version")
        }
        None => write!(text, ", expected {expected}"),
    };
    text
}
