//! The disk access of the screen, on its worker's thread: open files, folders, and the files that proposals change.

mod list;

use crate::editor::diagnostics::RequestedFiles;
use crate::editor::edits::Edits;
use crate::editor::folders::{Folders, Inside};
use crate::editor::neighbors::Neighbors;
use crate::editor::read::read;
use crate::editor::screen::model::document::Document;
use crate::editor::screen::model::old::{Changed, Old, OldText};
use crate::editor::workspace::{on_disk, unicode};
use crate::support::save::{self, Change, NotSaved, Seen};
use ide_mcp::ide::tool::{Diagnostic, OpenDiff};
pub(crate) use list::{Listing, list_all};
use list::{entry_of, modified};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The state of the disk thread.
#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) folders: Folders,
    /// What each file contained before and after writes that the screen may not know about yet, oldest first.
    written: BTreeMap<PathBuf, Vec<Seen>>,
    requested: RequestedFiles,
    edits: Edits,
    /// The other editors in these folders; `None` before this editor has a port.
    pub(crate) neighbors: Option<Neighbors>,
}

impl AsMut<Edits> for Disk {
    fn as_mut(&mut self) -> &mut Edits {
        &mut self.edits
    }
}

impl Disk {
    pub(crate) fn new(folders: Folders) -> Self {
        Self {
            edits: Edits::new(folders.clone()),
            folders,
            written: BTreeMap::new(),
            requested: RequestedFiles::default(),
            neighbors: None,
        }
    }

    /// Writes a file, unless another program has changed it since it was `seen`.
    pub(crate) fn save(&mut self, real: &Path, text: &str, seen: Seen) -> Result<Seen, String> {
        let known = self.written.entry(real.to_owned()).or_default();
        // The screen knows about everything up to here.
        match known.iter().position(|known| *known == seen) {
            Some(at) => drop(known.drain(..at)),
            None => *known = vec![seen],
        }
        let written = save::save(real, text.as_bytes(), known.last());
        known.extend(written.as_ref().ok());
        written.map_err(|error| self.not_saved(real, &error))
    }

    /// Returns the message about a file that was not written. The name comes before the reason, and both must fit into
    /// a status line.
    fn not_saved(&self, real: &Path, error: &NotSaved) -> String {
        let label = self.folders.label(real);
        match error {
            NotSaved::Changed(change) => format!("{label} was not saved: it {change} on disk"),
            error => format!("{label} was not saved: {error}"),
        }
    }

    /// Writes a file under a name that the user chose. Returns `None` if the file exists and `overwrite` is false.
    pub(crate) fn save_as(
        &mut self,
        real: &Path,
        text: &str,
        overwrite: bool,
    ) -> Result<Option<Seen>, String> {
        if real.is_dir() {
            return Err(format!("{} is a folder", real.display()));
        }
        match save::save(real, text.as_bytes(), (!overwrite).then_some(&Seen::ABSENT)) {
            Err(NotSaved::Changed(Change::Created)) if !overwrite => Ok(None),
            written => written.map(Some).map_err(|error| self.not_saved(real, &error)),
        }
    }
}

/// What the editor knows of the disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The real paths of the open files.
    pub(crate) files: Vec<(PathBuf, Seen)>,
    /// The unfolded folders.
    pub(crate) folders: BTreeMap<PathBuf, Option<SystemTime>>,
    /// The [version](Folders::rules_version) of the rules that hide files.
    pub(crate) rules: u64,
}

/// The problems of a file as it is on disk.
#[derive(Debug)]
pub(crate) struct Problems {
    /// The file, as the request spelled it; or its path, if an agent requested it before.
    pub(crate) name: String,
    pub(crate) real: PathBuf,
    /// The problems, or why the editor does not have them.
    pub(crate) on_disk: Result<Vec<Diagnostic>, String>,
}

/// The differences between the disk and [`Known`].
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) files: Vec<Changed>,
    pub(crate) listing: Option<Listing>,
}

/// Looks for changed files and folders, and reads them.
pub(crate) fn look(folders: &Folders, known: Known) -> Found {
    let files = known.files.iter().map(|(real, _)| real.clone());
    let within: Vec<PathBuf> = files.chain(known.folders.keys().map(|folder| entry_of(folder))).collect();
    folders.look_at_ignored(within.iter().map(PathBuf::as_path));
    let files = known.files.into_iter().filter_map(|(real, seen)| {
        let now = Seen::unread(&real);
        if now.has_attributes_of(&seen) {
            return None;
        }
        let text = read(&real);
        let now = text.as_ref().map_or(now, |text| now.with_text(text.as_bytes()));
        Some(Changed { real, seen, now, text })
    });
    let files = files.collect();
    let is_same = known.folders.iter().all(|(folder, time)| modified(folder) == *time);
    let listing = (!is_same || folders.rules_version() != known.rules)
        .then(|| list_all(folders, known.folders.into_keys()));
    Found { files, listing }
}

/// Reads a file of the open folders.
pub(crate) fn open(folders: &Folders, Inside { shown, real }: Inside) -> Result<Document, String> {
    let (text, seen) = reread(&real)?;
    let mut document = Document::new(unicode(&shown)?, real, folders.label(&shown), text, seen);
    document.is_hidden = folders.hides(&document.real);
    Ok(document)
}

/// Reads a file of the open folders, or begins a new one if there is none.
pub(crate) fn open_or_new(folders: &Folders, place: Inside) -> Result<Document, String> {
    if fs::symlink_metadata(&place.real).is_ok() {
        return open(folders, place);
    }
    let Inside { shown, real } = place;
    if !real.parent().is_some_and(Path::is_dir) {
        return Err(format!("the folder of {} does not exist", real.display()));
    }
    let mut document =
        Document::new(unicode(&shown)?, real, folders.label(&shown), String::new(), Seen::ABSENT);
    document.is_hidden = folders.hides(&document.real);
    Ok(document)
}

/// Reads an open file again.
pub(crate) fn reread(real: &Path) -> Result<(String, Seen), String> {
    let seen = Seen::unread(real);
    let text = read(real)?;
    let seen = seen.with_text(text.as_bytes());
    Ok((text, seen))
}

/// Returns the problems of this file in the open folders; without a file, those of the files that agents requested
/// before.
pub(crate) fn problems(disk: &mut Disk, uri: Option<String>) -> Result<Vec<Problems>, String> {
    if let Some(name) = uri {
        let file = disk.folders.find_for_agent(&name)?;
        let problems = Problems { on_disk: on_disk(&file.real), name, real: file.real.clone() };
        disk.requested.add(file);
        return Ok(vec![problems]);
    }
    let requested: Vec<&Inside> = disk.requested.files().collect();
    disk.folders.look_at_ignored(requested.iter().map(|file| file.real.as_path()));
    let visible = requested.into_iter().filter(|file| !disk.folders.hides(&file.real));
    let known = visible.map(|Inside { shown, real }| Problems {
        on_disk: on_disk(real),
        name: shown.display().to_string(),
        real: real.clone(),
    });
    Ok(known.collect())
}

/// Returns the file that a proposal changes, and the file at its new path if that is another file.
pub(crate) fn files_of(folders: &Folders, diff: &OpenDiff) -> (Old, Option<Old>) {
    let file = old(folders, &diff.old_file_path);
    let is_moved = diff.old_file_path != diff.new_file_path;
    let target = is_moved.then(|| old(folders, &diff.new_file_path));
    // Two paths may lead to the same file.
    let is_same = |target: &Old| target.place.as_ref().is_some_and(|(real, _)| file.is_of(real));
    let target = target.filter(|target| !is_same(target));
    (file, target)
}

/// Reads a file of a proposal, unless the file is outside of the folders.
fn old(folders: &Folders, path: &str) -> Old {
    let Ok(Inside { real, .. }) = folders.find(path) else {
        return Old { place: None, text: OldText::Hidden("it is outside the open folders".into()) };
    };
    let seen = Seen::unread(&real);
    if fs::symlink_metadata(&real).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        return Old { place: Some((real, Seen::ABSENT)), text: OldText::Nothing };
    }
    match read(&real) {
        Ok(text) => {
            let seen = seen.with_text(text.as_bytes());
            Old { place: Some((real, seen)), text: OldText::Text(text) }
        }
        Err(reason) => Old { place: Some((real, seen)), text: OldText::Hidden(reason) },
    }
}

#[cfg(test)]
mod tests {
    use super::list::list;
    use super::*;
    use crate::support::local;
    use crate::support::temp::{set_mode, symlink};

    #[test]
    fn files_are_read_listed_and_written() {
        let root = std::env::temp_dir().join(format!("ide-mcp-disk-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("p/src")).unwrap();
        fs::create_dir_all(root.join("p/.git")).unwrap();
        fs::write(root.join("p/a.txt"), "a\n").unwrap();
        fs::write(root.join("secret"), "s").unwrap();
        let has_links = symlink("..", root.join("p/out")) && symlink("a.txt", root.join("p/link"));
        let root = local::resolved(&root).unwrap();
        let folders = Folders::open(&[root.join("p")]).unwrap();

        let names = |folder: &str| -> Vec<String> {
            list(&folders, &root.join(folder)).into_iter().map(|listed| listed.name).collect()
        };
        if has_links {
            assert_eq!(names("p"), ["out", "src", "a.txt", "link"]);
            assert!(names("p/out")[0].contains("outside"), "a link that leads outside lists nothing");
        } else {
            assert_eq!(names("p"), ["src", "a.txt"]);
        }
        assert_eq!(names("p/missing"), [""; 0]);

        let open = |path| open(&folders, folders.find(path)?);
        let name = if has_links { "link" } else { "a.txt" };
        let document = open(name).unwrap();
        assert_eq!((document.label.as_str(), document.buffer.text().as_str()), (name, "a\n"));
        assert!(open("../secret").is_err() && open("src").is_err());

        set_mode(&root.join("p/a.txt"), 0o640);
        let mut disk = Disk::new(folders.clone());
        let seen = disk.save(&document.real, "longer\n", document.seen).unwrap();
        assert!(seen.is_text(b"longer\n"));
        assert_eq!(fs::read_to_string(root.join("p/a.txt")).unwrap(), "longer\n");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(root.join("p/a.txt")).unwrap().permissions().mode() & 0o777, 0o640);
            assert!(fs::symlink_metadata(root.join("p/link")).unwrap().is_symlink());
        }
        assert_eq!(names("p").len(), if has_links { 4 } else { 2 }, "nothing else is left");
        fs::hard_link(root.join("p/a.txt"), root.join("other")).unwrap();
        disk.save(&document.real, "both\n", seen).unwrap();
        assert_eq!(fs::read_to_string(root.join("other")).unwrap(), "both\n");
        let refused = disk.save(&root.join("p/src"), "x", Seen::unread(&root.join("p/src"))).unwrap_err();
        let why = if cfg!(windows) { "Access denied" } else { "Is a directory" };
        assert!(refused.starts_with(&format!("src was not saved: {why}")), "{refused}");

        // The screen learns of a write later, and starts others meanwhile.
        let file = root.join("p/queue.txt");
        let first = disk.save(&file, "1", Seen::ABSENT).unwrap();
        let second = disk.save(&file, "2", Seen::ABSENT).unwrap();
        let third = disk.save(&file, "3", first).unwrap();
        fs::write(&file, "of somebody else").unwrap();
        for seen in [Seen::ABSENT, second, third] {
            let refused = disk.save(&file, "4", seen).unwrap_err();
            assert!(refused.starts_with("queue.txt was not saved: it ") && refused.ends_with(" on disk"));
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "of somebody else");
        // This editor once wrote this text, but somebody else has put it back, so it must not be overwritten.
        let theirs = Seen::now(&file);
        fs::write(&file, "3").unwrap();
        assert!(disk.save(&file, "4", theirs).is_err());
        assert_eq!(disk.save_as(&file, "4", false), Ok(None));
        assert!(disk.save_as(&file, "4", true).unwrap().is_some_and(|seen| seen.is_text(b"4")));

        let mut seen = Seen::now(&file);
        let changed = |seen| {
            let known = Known { files: vec![(file.clone(), seen)], ..Known::default() };
            look(&folders, known).files.into_iter().map(|changed| changed.now).collect::<Vec<_>>()
        };
        assert_eq!(changed(seen), []);
        seen.doubt();
        assert_eq!(changed(seen), [Seen::now(&file)], "attributes that are in doubt are looked at again");
        fs::remove_file(&file).unwrap();
        assert_eq!(changed(seen), [Seen::ABSENT]);

        let old_text = |path| old(&folders, path).text;
        assert_eq!(old_text("a.txt"), OldText::Text("both\n".into()));
        assert_eq!(old_text("new/b.txt"), OldText::Nothing);
        assert!(matches!(old_text("../secret"), OldText::Hidden(reason) if reason.contains("outside")));
        assert!(matches!(old_text("src"), OldText::Hidden(reason) if reason.contains("not a file")));
        fs::remove_dir_all(&root).unwrap();
    }
}
