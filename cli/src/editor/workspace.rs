//! The open files, as they are on disk. Only files in the open folders are read.

use crate::editor::diagnostics::{RequestedFiles, check, checks, of_known};
use crate::editor::edits::Edits;
use crate::editor::folders::{Folders, Inside};
use crate::editor::read::read;
use crate::support::local;
use ide_mcp::ide::kit::{Position, Range};
use ide_mcp::ide::tool::{
    Diagnostic, EditorTab, FileDiagnostics, OpenFile, WorkspaceFolder, WorkspaceFolders,
};
use ide_mcp::ide::tool::{MissingText, Passage};
use ide_mcp::ide::{Mention, Selection};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(crate) struct Workspace {
    folders: Folders,
    /// The opened files by their real paths: a file with several names is in the map only once.
    open: BTreeMap<PathBuf, PathBuf>,
    requested: RequestedFiles,
    edits: Edits,
}

impl AsMut<Edits> for Workspace {
    fn as_mut(&mut self) -> &mut Edits {
        &mut self.edits
    }
}

/// A file that was opened for an agent.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) path: String,
    pub(crate) lines: usize,
    pub(crate) selection: Selection,
    /// The start text or end text of the request, if the file does not contain it.
    pub(crate) missing: Option<MissingText>,
}

impl Workspace {
    pub(crate) fn new(folders: Folders) -> Self {
        Self {
            edits: Edits::new(folders.clone()),
            folders,
            open: BTreeMap::new(),
            requested: RequestedFiles::default(),
        }
    }

    /// Returns the selection of a range of a file, and opens the file.
    pub(crate) fn select(&mut self, path: &str, range: Range) -> Result<Selection, String> {
        let place = self.folders.find(path)?;
        self.select_at(place, range)
    }

    /// Returns the selection of a range of a file for an agent, and opens the file.
    pub(crate) fn select_for_agent(&mut self, path: &str, range: Range) -> Result<Selection, String> {
        let place = self.folders.find_for_agent(path)?;
        self.select_at(place, range)
    }

    fn select_at(&mut self, place: Inside, range: Range) -> Result<Selection, String> {
        let (path, text) = self.open(place)?;
        selection(&path, &text, range)
    }

    /// Opens a file for an agent, and finds the passage to select. Returns `None` if there is no such file.
    pub(crate) fn open_file(&mut self, requested: &OpenFile) -> Result<Option<Opened>, String> {
        let place = self.folders.find_for_agent(&requested.file_path)?;
        if !place.real.exists() {
            return Ok(None);
        }
        let (path, text) = self.open(place)?;
        let Passage { range, missing, .. } = requested.passage(&text);
        Ok(Some(Opened {
            path: unicode(&path)?,
            lines: text.lines().count(),
            selection: selection(&path, &text, range)?,
            missing,
        }))
    }

    /// Returns the mention of a file that exists, or of lines of it. The number of lines is unknown if the file is not
    /// UTF-8 or too large.
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

    /// Returns the problems of one file, in the spelling of the request, or of all files that are open or were
    /// requested before. Leaves out files whose problems are unknown; if there are no others, the result is an error.
    pub(crate) fn diagnostics(&mut self, uri: Option<&str>) -> Result<Vec<FileDiagnostics>, String> {
        self.forget_removed();
        if let Some(uri) = uri {
            let file = self.folders.find_for_agent(uri)?;
            let found = on_disk(&file.real);
            self.requested.add(file);
            return Ok(vec![FileDiagnostics::new(uri, found?)]);
        }
        let requested: Vec<&Inside> = self.requested.files().collect();
        self.folders.look_at_ignored(requested.iter().map(|file| file.real.as_path()));
        let only_requested = requested
            .into_iter()
            .filter(|file| !self.open.contains_key(&file.real) && !self.folders.hides(&file.real));
        let files = self.visible().chain(only_requested.map(|file| (&file.real, &file.shown)));
        of_known(files.map(|(real, shown)| (shown.to_string_lossy(), on_disk(real))))
    }

    pub(crate) const fn folders(&self) -> &Folders {
        &self.folders
    }

    /// Returns the text of a file for an agent.
    pub(crate) fn text(&self, path: &str) -> Result<String, String> {
        let place = self.folders.find_for_agent(path)?;
        // In the words of the description of Obsidian's protocol.
        if place.real.exists() { read(&place.real) } else { Err("File not found".into()) }
    }

    /// Opens files for an agent. Returns the paths of those that could be opened.
    pub(crate) fn open_files(&mut self, paths: &[String]) -> Vec<String> {
        let open = |path: &String| {
            let place = self.folders.find_for_agent(path).ok()?;
            unicode(&self.open(place).ok()?.0).ok()
        };
        paths.iter().filter_map(open).collect()
    }

    /// Returns the path of a file as it is shown, if the file is open and agents receive it.
    pub(crate) fn shown(&mut self, path: &str) -> Option<String> {
        self.forget_removed();
        unicode(self.open.get(&self.folders.find_for_agent(path).ok()?.real)?).ok()
    }

    /// Returns the paths of the open files that agents receive.
    pub(crate) fn paths(&mut self) -> Vec<String> {
        self.forget_removed();
        self.visible().filter_map(|(_, shown)| unicode(shown).ok()).collect()
    }

    /// Returns the open files that agents receive, as paths below their folders. The filter of the server cannot
    /// recognize a file by such a path if several folders are open.
    pub(crate) fn labels(&mut self) -> Vec<String> {
        self.forget_removed();
        self.visible().map(|(_, shown)| self.folders.label(shown)).collect()
    }

    /// Returns the path of this file below its folder, if agents receive the file.
    pub(crate) fn label_of(&self, path: Option<&str>) -> Option<String> {
        let place = self.folders.find_for_agent(path?).ok()?;
        Some(self.folders.label(&place.shown))
    }

    /// Returns the open files that agents receive: their real paths, and their paths as they are shown.
    fn visible(&self) -> impl Iterator<Item = (&PathBuf, &PathBuf)> {
        self.open.iter().filter(|(real, _)| !self.folders.hides(real))
    }

    /// Returns the open files as tabs; `active` is the path of the file that has the focus.
    pub(crate) fn tabs(&mut self, active: Option<&str>) -> Vec<EditorTab> {
        let tab = |path: String| {
            let mut tab = EditorTab::new(local::uri(&path), local::name(&path), "plaintext");
            tab.is_active = active == Some(path.as_str());
            tab.file_name = Some(path);
            tab
        };
        self.paths().into_iter().map(tab).collect()
    }

    /// Reads a file and remembers it as open.
    fn open(&mut self, Inside { shown, real }: Inside) -> Result<(PathBuf, String), String> {
        let text = read(&real)?;
        if !self.open.contains_key(&real) {
            // So there are never more open files than existing ones.
            self.forget_removed();
            self.open.insert(real, shown.clone());
        }
        Ok((shown, text))
    }

    /// Forgets the open files that do not exist any more, and reads the ignore files of the others.
    fn forget_removed(&mut self) {
        self.open.retain(|real, _| real.is_file());
        self.folders.look_at_ignored(self.open.keys().map(PathBuf::as_path));
    }
}

/// Returns the note about a text that should be selected and is not in the file.
pub(crate) fn missing_note(missing: Option<MissingText>) -> Option<String> {
    missing.map(|text| format!("{} is not in it", text.argument()))
}

/// Returns the problems of a file as it is on disk. A file that does not exist has none.
///
/// # Errors
/// Why the problems are unknown.
pub(crate) fn on_disk(path: &Path) -> Result<Vec<Diagnostic>, String> {
    checks(path)?;
    match read(path) {
        Ok(text) => Ok(check(path, &text)),
        Err(_) if !path.exists() => Ok(Vec::new()),
        Err(reason) => Err(reason),
    }
}

/// Returns the open folders as an answer.
pub(crate) fn folder_list(folders: &Folders) -> Result<WorkspaceFolders, String> {
    let folders = folders.given().iter().map(|path| unicode(path).map(WorkspaceFolder::new));
    folders.collect::<Result<_, _>>().map(|folders| WorkspaceFolders { folders })
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
        let temp = crate::support::temp::private_temp_dir();
        let root = temp.path().join("open");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(root.join("a.json"), "{").unwrap();
        fs::write(root.join("b.txt"), "b").unwrap();
        let mut workspace = Workspace::new(Folders::open(std::slice::from_ref(&root)).unwrap());
        for path in ["a.json", "./a.json", "sub/../a.json", "b.txt"] {
            workspace.select(path, Range::default()).unwrap();
        }
        assert_eq!(workspace.paths().len(), 2);
        fs::remove_file(root.join("a.json")).unwrap();
        assert_eq!(workspace.paths().len(), 1);
        fs::write(root.join("c.txt"), "c").unwrap();
        fs::remove_file(root.join("b.txt")).unwrap();
        workspace.select("c.txt", Range::default()).unwrap();
        assert_eq!(workspace.open.len(), 1);
    }

    #[test]
    fn empty_list_means_checked_files() {
        let temp = crate::support::temp::private_temp_dir();
        let root = temp.path().join("known");
        fs::create_dir_all(&root).unwrap();
        for (name, text) in [("good.json", "1"), ("bad.json", "{"), ("a.txt", "a")] {
            fs::write(root.join(name), text).unwrap();
        }
        fs::write(root.join("bytes.json"), b"\xff").unwrap();
        let new = || Workspace::new(Folders::open(std::slice::from_ref(&root)).unwrap());
        let cases = [
            ("a checked file without problems", "good.json", Some(0)),
            ("a checked file with a problem", "bad.json", Some(1)),
            ("a checked file that does not exist yet", "new.json", Some(0)),
            ("an unchecked file", "a.txt", None),
            ("an unchecked file that does not exist yet", "new.txt", None),
            ("not UTF-8", "bytes.json", None),
        ];
        for (name, uri, expected) in cases {
            let found = new().diagnostics(Some(uri));
            assert_eq!(found.ok().map(|files| files[0].diagnostics.len()), expected, "{name}");
        }
        let of_all = |workspace: &mut Workspace| {
            let files = workspace.diagnostics(None)?;
            Ok::<_, String>(files.iter().map(|file| file.diagnostics.len()).collect::<Vec<_>>())
        };
        let mut workspace = new();
        assert_eq!(of_all(&mut workspace), Ok(vec![]), "no file is open");
        workspace.select("a.txt", Range::default()).unwrap();
        let unknown = of_all(&mut workspace).unwrap_err();
        assert!(unknown.contains("are unknown") && !unknown.contains("a.txt"), "{unknown}");
        workspace.diagnostics(Some("new.json")).unwrap();
        workspace.diagnostics(Some("never.json")).unwrap();
        assert_eq!((workspace.paths().len(), workspace.labels().len()), (1, 1), "other calls come between");
        fs::write(root.join("new.json"), "[").unwrap();
        assert_eq!(of_all(&mut workspace), Ok(vec![1]), "the agent has written the file");
        workspace.select("new.json", Range::default()).unwrap();
        assert_eq!(of_all(&mut workspace), Ok(vec![1]), "once");
    }
}
