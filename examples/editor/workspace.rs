//! The folders that are open and the files in them, as they are on disk.

use ide_mcp::ide::{Diagnostic, FileDiagnostics, Position, Range, Selection, Severity};
use std::fs;
use std::path::{Path, PathBuf};

/// More than a person edits; a larger file is not read into memory for a selection.
const MAX_FILE: u64 = 16 * 1024 * 1024;

#[derive(Debug)]
pub(crate) struct Workspace {
    /// The first is where relative paths begin.
    folders: Vec<PathBuf>,
    /// The files that were opened, each once, in order.
    open: Vec<PathBuf>,
}

impl Workspace {
    /// Opens folders; each must be one.
    pub(crate) fn new(folders: &[PathBuf]) -> Result<Self, String> {
        let absolute = |folder: &PathBuf| {
            let absolute = std::path::absolute(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            if absolute.is_dir() { Ok(absolute) } else { Err(format!("{} is no folder", folder.display())) }
        };
        Ok(Self { folders: folders.iter().map(absolute).collect::<Result<_, _>>()?, open: Vec::new() })
    }

    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Where a path of a command or of a tool lies; a `file:` URI is one as well, encoded or not.
    pub(crate) fn resolve(&self, path: &str) -> PathBuf {
        let path = path.strip_prefix("file://").unwrap_or(path);
        let base = self.folders.first().map_or_else(|| Path::new("/"), PathBuf::as_path);
        base.join(path)
    }

    /// Reads a file and remembers it as open.
    pub(crate) fn open(&mut self, path: &str) -> Result<(PathBuf, String), String> {
        let path = self.resolve(path);
        let text = read(&path)?;
        if !self.open.contains(&path) {
            self.open.push(path.clone());
        }
        Ok((path, text))
    }

    /// What lies in this range of a file.
    pub(crate) fn select(&mut self, path: &str, range: Range) -> Result<Selection, String> {
        let (path, text) = self.open(path)?;
        let selected = range.of(&text).ok_or_else(|| format!("{} has no such range", path.display()))?;
        // Columns behind the end of their line are brought back to it, so that the range is what the text is.
        let place = |position: Position| {
            position.byte_in(&text).map_or(position, |byte| Position::of_byte(&text, byte))
        };
        Ok(Selection::new(unicode(&path)?, Range::new(place(range.start), place(range.end)), selected))
    }

    /// The absolute path of a file that exists.
    pub(crate) fn existing(&self, path: &str) -> Result<String, String> {
        let path = self.resolve(path);
        fs::metadata(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        unicode(&path)
    }

    /// The problems of one file, in the spelling in which it was asked for, or of all open files.
    pub(crate) fn diagnostics(&self, uri: Option<&str>) -> Vec<FileDiagnostics> {
        match uri {
            Some(uri) => vec![FileDiagnostics::new(uri, check(&self.resolve(uri)))],
            None => self
                .open
                .iter()
                .map(|path| FileDiagnostics::new(format!("file://{}", path.display()), check(path)))
                .collect(),
        }
    }
}

/// What this editor knows of programming languages: whether JSON is JSON.
fn check(path: &Path) -> Vec<Diagnostic> {
    if path.extension().is_none_or(|extension| extension != "json") {
        return Vec::new();
    }
    let Ok(text) = read(path) else { return Vec::new() };
    match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
        Ok(_) => Vec::new(),
        Err(error) => {
            // serde_json counts both from 1, columns in bytes; 0 stands for the end of a line.
            let line = u32::try_from(error.line().saturating_sub(1)).unwrap_or(u32::MAX);
            let begin = Position::new(line, 0).byte_in(&text).unwrap_or(text.len());
            let place = Position::of_byte(&text, begin.saturating_add(error.column().saturating_sub(1)));
            let mut problem = Diagnostic::new(Severity::Error, Range::new(place, place), error.to_string());
            problem.source = Some("json".into());
            vec![problem]
        }
    }
}

fn read(path: &Path) -> Result<String, String> {
    let says = |error: std::io::Error| format!("{}: {error}", path.display());
    let metadata = fs::metadata(path).map_err(says)?;
    if !metadata.is_file() {
        return Err(format!("{} is no file", path.display()));
    }
    if metadata.len() > MAX_FILE {
        return Err(format!("{} is larger than {} MiB", path.display(), MAX_FILE / 1024 / 1024));
    }
    fs::read_to_string(path).map_err(says)
}

fn unicode(path: &Path) -> Result<String, String> {
    path.to_str().map(Into::into).ok_or_else(|| format!("{} is not Unicode", path.display()))
}
