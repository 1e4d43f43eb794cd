//! The open files, as they are on disk. Only files in the open folders are read.

use crate::editor::diagnostics::check;
use crate::editor::folders::{Folders, Inside};
use crate::editor::read::read;
use ide_mcp::ide::{
    Diagnostic, FileDiagnostics, Mention, MissingText, OpenFile, Passage, Position, Range, Selection,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(crate) struct Workspace {
    folders: Folders,
    /// The opened files by their real paths: a file with several names is in the map once.
    open: BTreeMap<PathBuf, PathBuf>,
}

/// A file that was opened at the request of an agent.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) path: String,
    pub(crate) lines: usize,
    pub(crate) selection: Selection,
    /// The text of the request, start or end, that the file does not contain.
    pub(crate) missing: Option<MissingText>,
}

impl Workspace {
    pub(crate) fn new(folders: Folders) -> Self {
        Self { folders, open: BTreeMap::new() }
    }

    /// Returns the selection of a range of a file, and opens the file.
    pub(crate) fn select(&mut self, path: &str, range: Range) -> Result<Selection, String> {
        let (path, text) = self.open(path)?;
        selection(&path, &text, range)
    }

    /// Opens a file for an agent, and finds the passage to select.
    pub(crate) fn open_file(&mut self, asked: &OpenFile) -> Result<Opened, String> {
        let (path, text) = self.open(&asked.file_path)?;
        let Passage { range, missing, .. } = asked.passage(&text);
        Ok(Opened {
            path: unicode(&path)?,
            lines: text.lines().count(),
            selection: selection(&path, &text, range)?,
            missing,
        })
    }

    /// Returns the mention of a file that exists, or of lines of it. The number of lines is unknown
    /// if the file is not text.
    pub(crate) fn mention(&self, path: &str, lines: Option<(u32, u32)>) -> Result<Mention, String> {
        let Inside { shown, real } = self.folders.find(path)?;
        real.metadata().map_err(|error| format!("{}: {error}", shown.display()))?;
        let mut mention = Mention::new(unicode(&shown)?, lines);
        mention.line_count = read(&real).ok().and_then(|text| u32::try_from(text.lines().count()).ok());
        Ok(mention)
    }

    /// Returns true if a path, which can be that of a new file, lies in none of the folders.
    pub(crate) fn is_outside(&self, path: &str) -> bool {
        self.folders.find(path).is_err()
    }

    /// Returns the problems of one file, in the spelling of the request, or of all open files.
    pub(crate) fn diagnostics(&mut self, uri: Option<&str>) -> Result<Vec<FileDiagnostics>, String> {
        self.forget_removed();
        Ok(match uri {
            Some(uri) => vec![FileDiagnostics::new(uri, on_disk(&self.folders.find(uri)?.real))],
            None => {
                let open = self.open.iter();
                open.map(|(real, shown)| {
                    FileDiagnostics::new(format!("file://{}", shown.display()), on_disk(real))
                })
                .collect()
            }
        })
    }

    /// Reads a file and remembers it as open.
    fn open(&mut self, path: &str) -> Result<(PathBuf, String), String> {
        let Inside { shown, real } = self.folders.find(path)?;
        let text = read(&real)?;
        if !self.open.contains_key(&real) {
            // So that there are never more open files than existing ones.
            self.forget_removed();
            self.open.insert(real, shown.clone());
        }
        Ok((shown, text))
    }

    fn forget_removed(&mut self) {
        self.open.retain(|real, _| real.is_file());
    }
}

/// Returns the note about a text that was to be selected and is not in the file.
pub(crate) fn missing_note(missing: Option<MissingText>) -> Option<String> {
    missing.map(|text| format!("{} is not in it", text.argument()))
}

/// Returns the problems of a file as it is on disk. A file that does not exist or is not text has
/// none.
pub(crate) fn on_disk(path: &Path) -> Vec<Diagnostic> {
    read(path).map(|text| check(path, &text)).unwrap_or_default()
}

fn selection(path: &Path, text: &str, range: Range) -> Result<Selection, String> {
    let selected = range.slice(text).ok_or_else(|| format!("{} has no such range", path.display()))?;
    // Columns after the end of a line are moved back to it, so that the range matches the text.
    let place = |position: Position| {
        position.to_byte_offset(text).map_or(position, |byte| Position::from_byte_offset(text, byte))
    };
    Ok(Selection::new(unicode(path)?, Range::new(place(range.start), place(range.end)), selected))
}

pub(crate) fn unicode(path: &Path) -> Result<String, String> {
    path.to_str().map(Into::into).ok_or_else(|| format!("{} is not Unicode", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn existing_file_is_open_once() {
        let root = std::env::temp_dir().join(format!("ide-mcp-open-{}", std::process::id()));
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(root.join("a.json"), "{").unwrap();
        fs::write(root.join("b.txt"), "b").unwrap();
        let mut workspace = Workspace::new(Folders::open(std::slice::from_ref(&root)).unwrap());
        for path in ["a.json", "./a.json", "sub/../a.json", "b.txt"] {
            workspace.open(path).unwrap();
        }
        let all = workspace.diagnostics(None).unwrap();
        assert_eq!(all.iter().map(|file| file.diagnostics.len()).collect::<Vec<_>>(), [1, 0]);
        fs::remove_file(root.join("a.json")).unwrap();
        assert_eq!(workspace.diagnostics(None).unwrap().len(), 1);
        fs::write(root.join("c.txt"), "c").unwrap();
        fs::remove_file(root.join("b.txt")).unwrap();
        workspace.open("c.txt").unwrap();
        assert_eq!(workspace.open.len(), 1);
        fs::remove_dir_all(&root).unwrap();
    }
}
