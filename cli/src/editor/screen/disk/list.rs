//! The contents of folders.

use crate::editor::folders::Folders;
use crate::editor::screen::model::tree::Listed;
use crate::support::local;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The maximum number of files in a list. Nobody finds a file among more.
const MAX_FILES: usize = 2000;

/// The contents of folders.
#[derive(Debug)]
pub(crate) struct Listing {
    /// When the folders were last changed.
    pub(crate) times: BTreeMap<PathBuf, Option<SystemTime>>,
    pub(crate) entries: BTreeMap<PathBuf, Vec<Listed>>,
    /// The [version](Folders::rules_version) of the rules before the listing.
    pub(crate) rules: u64,
}

/// Lists folders.
pub(crate) fn list_all(folders: &Folders, which: impl IntoIterator<Item = PathBuf>) -> Listing {
    let (mut times, mut entries, rules) = (BTreeMap::new(), BTreeMap::new(), folders.rules_version());
    for folder in which {
        // Read the time before the listing, so that a change during the listing counts as later.
        times.insert(folder.clone(), modified(&folder));
        entries.insert(folder.clone(), list(folders, &folder));
    }
    Listing { times, entries, rules }
}

/// Returns a path in a folder that the ignore files of the folder apply to.
pub(super) fn entry_of(folder: &Path) -> PathBuf {
    folder.join("entry")
}

pub(super) fn modified(folder: &Path) -> Option<SystemTime> {
    folder.metadata().and_then(|metadata| metadata.modified()).ok()
}

/// Returns the contents of a folder: folders first, by name, without `.git`.
pub(super) fn list(folders: &Folders, folder: &Path) -> Vec<Listed> {
    let note = |name: String| Listed {
        name,
        path: folder.join("\0"),
        is_folder: false,
        is_note: true,
        is_hidden: false,
    };
    folders.look_at_ignored([entry_of(folder).as_path()]);
    let inside = folder
        .to_str()
        .ok_or_else(|| "its name is not Unicode".to_owned())
        .and_then(|path| folders.find(path));
    let entries = inside.and_then(|place| fs::read_dir(&place.real).map_err(|error| error.to_string()));
    let entries = match entries {
        Ok(entries) => entries,
        Err(_) if !folder.is_dir() => return Vec::new(),
        Err(error) => return vec![note(error)],
    };
    let mut listed: Vec<Listed> = entries
        .filter_map(Result::ok)
        .take(MAX_FILES.saturating_add(1))
        .filter(|entry| entry.file_name() != ".git")
        .map(|entry| {
            let path = folder.join(entry.file_name());
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir()) || (is_link && path.is_dir());
            let hides_target = || local::resolved(&path).is_ok_and(|real| folders.hides(&real));
            let is_hidden = folders.hides(&path) || (is_link && hides_target());
            let name = entry.file_name().to_string_lossy().into_owned();
            Listed { name, path, is_folder, is_note: false, is_hidden }
        })
        .collect();
    let is_cut = listed.len() > MAX_FILES;
    listed.truncate(MAX_FILES);
    listed.sort_by(|a, b| (!a.is_folder, &a.name).cmp(&(!b.is_folder, &b.name)));
    if is_cut {
        listed.push(note(format!("more than {MAX_FILES} entries")));
    }
    listed
}
