//! The ignore files of one folder, and their rules.

use crate::editor::read::read_bytes;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The names of ignore files. An earlier name takes precedence, so that `!target/` in `.claudeignore` shows what
/// `.gitignore` hides.
pub(super) const NAMES: [&str; 3] = [".claudeignore", ".ignore", ".gitignore"];

/// The ignore files of one folder, in the order of [`NAMES`].
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) stamps: [Option<Stamp>; NAMES.len()],
    pub(super) files: [Option<Gitignore>; NAMES.len()],
}

/// Shows that a file has changed: its time and its length.
pub(super) type Stamp = (Option<SystemTime>, u64);

/// Stands for the stamp of a file that could not be read. No file has it, so the next look reads the file again.
pub(super) const UNREAD: Stamp = (None, u64::MAX);

/// Returns true if the ignore files of these folders, innermost first, name this path itself.
pub(super) fn is_ignored(rules: &[(&PathBuf, &Rules)], path: &Path, is_folder: bool) -> bool {
    let around = || rules.iter().filter(|(folder, _)| path != *folder && path.starts_with(folder));
    let decided = (0..NAMES.len()).find_map(|kind| {
        around().find_map(|(_, rules)| {
            let matched = rules.files.get(kind)?.as_ref()?.matched(path, is_folder);
            (!matched.is_none()).then(|| matched.is_ignore())
        })
    });
    decided.unwrap_or(false)
}

/// Returns the stamp of a file. A folder is not an ignore file.
pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok().filter(|metadata| !metadata.is_dir())?;
    Some((metadata.modified().ok(), metadata.len()))
}

/// Returns the rules of an ignore file; `None` if there is no such file.
///
/// # Errors
/// The file exists, and its rules are unknown.
pub(super) fn rules_of(folder: &Path, name: &str) -> Result<Option<Gitignore>, ()> {
    let path = folder.join(name);
    if matches!(path.try_exists(), Ok(false)) || path.is_dir() {
        return Ok(None);
    }
    // As in git, a byte order mark is not part of the first line, and a byte that is not UTF-8 spoils only its own
    // line.
    let bytes = read_bytes(&path).map_err(drop)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut rules = GitignoreBuilder::new(folder);
    for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
        // An invalid line has no effect.
        let _ = rules.add_line(None, line);
    }
    rules.build().map(Some).map_err(drop)
}

/// Returns the rules that hide everything in a folder.
pub(super) fn everything(folder: &Path) -> Option<Gitignore> {
    let mut rules = GitignoreBuilder::new(folder);
    rules.add_line(None, "*").ok()?;
    rules.build().ok()
}

/// A pattern of the user, as a line of a `.gitignore`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Pattern(String);

impl TryFrom<String> for Pattern {
    type Error = String;

    /// Returns the pattern, or an error for one without an effect.
    fn try_from(line: String) -> Result<Self, String> {
        if line.trim().is_empty() {
            return Err("an empty pattern names no file".into());
        }
        if line.starts_with('#') {
            return Err(format!(
                "{line:?} is a comment in a .gitignore: write \\# for a name that begins with #"
            ));
        }
        if line.chars().any(char::is_control) {
            return Err(format!("{line:?} has a control character, which no line of a .gitignore has"));
        }
        if line.trim_start_matches('!').split('/').any(|part| matches!(part, "." | "..")) {
            return Err(format!(
                "{line:?} names no file in a .gitignore: write the path in its folder, without ./ and ../"
            ));
        }
        match GitignoreBuilder::new("").add_line(None, &line) {
            Ok(_) => Ok(Self(line)),
            Err(error) => Err(format!("{line:?} is not a line of a .gitignore: {error}")),
        }
    }
}

/// Returns the rules of patterns in a folder. If there are too many for one set, they hide everything.
pub(super) fn rules_of_patterns(folder: &Path, patterns: &[Pattern]) -> Gitignore {
    let mut rules = GitignoreBuilder::new(folder);
    for Pattern(line) in patterns {
        let _ = rules.add_line(None, line);
    }
    rules.build().ok().or_else(|| everything(folder)).unwrap_or_else(Gitignore::empty)
}
