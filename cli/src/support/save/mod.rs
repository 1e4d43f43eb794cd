//! The only code that writes a user's files, for `ide-mcp agent diff` and for the editor. Whatever fails, and whenever
//! the process is killed, either the old text or the new one is whole on the disk.
//!
//! ```text
//!   beside it: create ▶ write ▶ attributes ▶ sync ▶ rename ▶ sync the folder
//!      │ the file has other names or another owner, its attributes cannot be kept, nothing can be created
//!      │ beside it, or it cannot be renamed over
//!      ▼
//!   in place:  copy of the old text, synced ▶ write ▶ cut to length ▶ sync ▶ remove the copy
//!                 │ cannot be kept               │ fails
//!                 ▼                              ▼
//!              refused                        the old text is written back; if that fails too, the copy stays
//! ```
//!
//! The copy lies beside the file, or in the state directory if nothing can be created there. A write that is killed
//! leaves `.NAME.ide-mcp-PID-N~` behind, which the next write of that file removes, or the copy
//! `.NAME.ide-mcp-PID-N.old~`, which stays until the user has looked at it: [`cut_short`] finds it. A running write
//! holds a lock on such a file: its process id is not enough, because a process in a container looks dead from outside.

mod steps;
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;
#[cfg(test)]
mod tests;

use crate::support::local;
use sha1::{Digest as _, Sha1};
use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File, FileTimes, Metadata, Permissions};
use std::io::{self, ErrorKind, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use steps::{Steps, System};
pub(crate) use system::create_private;

/// The maximum number of names that are tried; a process leaves fewer files behind.
const ATTEMPTS: u8 = 100;
/// The maximum length in bytes of a name that the file beside it repeats: together with the rest, that name is shorter
/// than 255 bytes, the limit of most file systems.
const MAX_NAME: usize = 200;
/// Part of the name of every file that a write can leave behind. Other programs use names such as `.NAME.1.2~`.
const MARK: &str = ".ide-mcp-";
/// The maximum number of symbolic links that lead to a file, as on Linux.
const MAX_LINKS: u8 = 40;

/// What a file contained when somebody decided about its new text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// `None` if there was no file.
    stamp: Option<Stamp>,
    /// The hash of the text; `None` if it was not read. Attributes alone do not show every change: a program can set
    /// them, and two writes can fall into one tick of the clock.
    text: Option<[u8; 20]>,
}

impl Seen {
    /// There is no file.
    pub(crate) const ABSENT: Self = Self { stamp: None, text: None };

    /// Returns what a file contains now.
    pub(crate) fn now(path: &Path) -> Self {
        let seen = Self::unread(path);
        fs::read(path).map_or(seen, |text| seen.with_text(&text))
    }

    /// Returns the attributes of a file that is about to be read: a write during the read then counts as later.
    pub(crate) fn unread(path: &Path) -> Self {
        let stamp = fs::metadata(path).ok().map(|metadata| system::stamp(&metadata));
        Self { stamp, ..Self::ABSENT }
    }

    /// Adds the text that was read.
    pub(crate) fn with_text(self, text: &[u8]) -> Self {
        Self { stamp: Some(self.stamp.unwrap_or_default()), text: Some(Sha1::digest(text).into()) }
    }

    pub(crate) const fn is_absent(&self) -> bool {
        self.stamp.is_none()
    }

    /// Returns true if the file had this text.
    pub(crate) fn is_text(&self, text: &[u8]) -> bool {
        self.text.is_some_and(|hash| hash == *Sha1::digest(text))
    }

    /// Returns true if both times the file was read and had the same text.
    pub(crate) fn has_text_of(&self, other: &Self) -> bool {
        self.text.is_some() && self.text == other.text
    }

    /// Returns true if the attributes are the same in both, so that only a read can show a change.
    pub(crate) fn has_attributes_of(&self, other: &Self) -> bool {
        self.stamp == other.stamp
    }

    /// Forgets the attributes, so that the file is read again: they have not shown a change.
    pub(crate) fn doubt(&mut self) {
        self.stamp = self.stamp.map(|_| Stamp::default());
    }
}

/// The attributes of a file that show whether another program has written or replaced it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stamp([i64; 4], [u64; 3]);

/// What somebody else did to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Created,
    Changed,
    Removed,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Created => "was created",
            Self::Changed => "has changed",
            Self::Removed => "was removed",
        })
    }
}

/// Why a file was not written.
#[derive(Debug)]
pub(crate) enum NotSaved {
    /// Somebody else has changed it, so it was left alone.
    Changed(Change),
    /// The system refused. The file is as it was.
    Io(io::Error),
    /// It could only have been overwritten, and its old text could not be kept. It is as it was.
    NoCopy {
        /// Why it could not be replaced.
        why: String,
        error: io::Error,
    },
    /// It was not removed because somebody else has changed it, and it could not get its name back.
    Aside {
        error: io::Error,
        /// Where it is now.
        copy: PathBuf,
    },
    /// It was overwritten in part, and could not be restored.
    Damaged {
        error: io::Error,
        /// The file with the old text.
        copy: PathBuf,
    },
}

impl fmt::Display for NotSaved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(change) => write!(f, "it {change} in the meantime"),
            Self::Io(error) => error.fmt(f),
            Self::NoCopy { why, error } => write!(
                f,
                "it can only be overwritten in place ({why}), and no copy of its text can be kept in case this fails: {error}"
            ),
            Self::Aside { error, copy } => {
                let copy = copy.display();
                write!(
                    f,
                    "it has changed in the meantime, and is now {copy}, since it could not be put back: {error}"
                )
            }
            Self::Damaged { error, copy } => {
                let copy = copy.display();
                write!(f, "{error}. It is damaged and could not be restored: its text is in {copy}")
            }
        }
    }
}

impl From<io::Error> for NotSaved {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Writes a file. Symbolic links are followed, and stay. Refuses if the file is not as it was `seen`; with `None` it
/// overwrites whatever is there. Returns what the file contains then.
pub(crate) fn save(path: &Path, text: &[u8], seen: Option<&Seen>) -> Result<Seen, NotSaved> {
    Save { steps: &mut System, state: state_dir().as_deref() }.save(path, text, seen)
}

/// Creates a file with these permissions. Nobody whom they keep out can read it, not even for a moment.
pub(crate) fn save_new(path: &Path, text: &[u8], permissions: &Permissions) -> Result<(), NotSaved> {
    create(path, text, Access::Like(permissions))
}

fn create(path: &Path, text: &[u8], access: Access<'_>) -> Result<(), NotSaved> {
    Save { steps: &mut System, state: None }.create(&Place::of(path)?, text, access).map(drop)
}

/// Removes a file, unless it is not as it was `seen`. A symbolic link is not followed, and stays.
pub(crate) fn remove(path: &Path, seen: &Seen) -> Result<(), NotSaved> {
    Save { steps: &mut System, state: None }.remove(path, seen)
}

/// Keeps a text that is nowhere else, in a file that only this user can read: `PATH.accepted`, or `PATH.accepted.1` and
/// so on if that name is taken. If no file can be created there, it goes to the state directory. Returns its path.
pub(crate) fn keep(path: &Path, text: &[u8]) -> Result<PathBuf, NotSaved> {
    let elsewhere = || {
        let folder = copies(&state_dir().ok_or_else(|| io::Error::from(ErrorKind::NotFound))?);
        create_private(&folder)?;
        keep_as(&folder.join(format!("{}.accepted", spelling(path.file_name().unwrap_or_default()))), text)
    };
    let mut beside = path.as_os_str().to_owned();
    beside.push(".accepted");
    // The first error is about the place that the user knows.
    keep_as(Path::new(&beside), text).or_else(|error| elsewhere().map_err(|_: NotSaved| error))
}

/// Keeps a text under the first name that is free: this one, or with `.1` and so on.
fn keep_as(path: &Path, text: &[u8]) -> Result<PathBuf, NotSaved> {
    for attempt in 0..ATTEMPTS {
        let mut name = path.as_os_str().to_owned();
        if attempt > 0 {
            name.push(format!(".{attempt}"));
        }
        let path = PathBuf::from(name);
        // A symbolic link takes the name too, wherever it leads.
        if fs::symlink_metadata(&path).is_ok() {
            continue;
        }
        match create(&path, text, Access::Private) {
            Err(NotSaved::Changed(_)) => {}
            done => return done.map(|()| path),
        }
    }
    Err(NotSaved::Changed(Change::Created))
}

/// Returns the copies of old texts of this file that killed writes have left behind.
pub(crate) fn cut_short(path: &Path) -> Vec<PathBuf> {
    let left = Place::of(path).map(|place| place.left(state_dir().as_deref()));
    left.unwrap_or_default().into_iter().filter(|left| left.is_copy).map(|left| left.path).collect()
}

/// Returns the note about such a copy. The copy comes first, because a status line can cut the end.
pub(crate) fn note(copy: impl fmt::Display, path: impl fmt::Display) -> String {
    format!("{copy} may have the text of {path} before a write that was cut short: compare and remove it")
}

/// Why there is no directory for the state of programs.
pub(crate) const NO_STATE_DIR: &str =
    if cfg!(windows) { "LOCALAPPDATA is not set" } else { "neither XDG_STATE_HOME nor HOME is set" };

/// Returns the directory for the state of programs, or `None` if the environment has none.
pub(crate) fn state_dir() -> Option<PathBuf> {
    state_dir_in(|name| env::var_os(name).map(Into::into), cfg!(windows))
}

fn state_dir_in(variable: impl Fn(&str) -> Option<PathBuf>, is_windows: bool) -> Option<PathBuf> {
    let named = |name| variable(name).filter(|path| path.is_absolute());
    if is_windows {
        return named("LOCALAPPDATA");
    }
    named("XDG_STATE_HOME").or_else(|| Some(named("HOME")?.join(".local/state")))
}

/// A file, with all symbolic links resolved.
#[derive(Debug)]
struct Place {
    real: PathBuf,
    folder: PathBuf,
    /// The name of the file as it appears in the names of the files beside it.
    name: String,
}

/// A file that a killed write has left behind.
#[derive(Debug)]
struct Left {
    path: PathBuf,
    /// True for the copy of an old text, false for a part of a new one.
    is_copy: bool,
}

impl Place {
    /// Follows symbolic links, also to a file that does not exist yet.
    fn of(path: &Path) -> io::Result<Self> {
        let mut path = std::path::absolute(path)?;
        for _ in 0..MAX_LINKS {
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { break };
            let folder = local::resolved(folder)?;
            let real = folder.join(name);
            match fs::read_link(&real) {
                Ok(target) => path = folder.join(target),
                Err(_) => return Ok(Self { name: spelling(name), real, folder }),
            }
        }
        // A directory such as `..`, or a loop of links: if the system has an error for it, return that.
        fs::metadata(&path)?;
        Err(ErrorKind::IsADirectory.into())
    }

    /// Returns the name in the state directory, where the files of all folders lie together: it begins with a hash of
    /// the folder.
    fn name_elsewhere(&self) -> String {
        format!("{}.{}", fixed_hash(self.folder.as_os_str().as_encoded_bytes()), self.name)
    }

    /// Finds the files that killed writes of this file have left behind, beside it and in the state directory.
    fn left(&self, state: Option<&Path>) -> Vec<Left> {
        let elsewhere = state.map(|state| (copies(state), self.name_elsewhere()));
        let folders = [(self.folder.clone(), self.name.clone())].into_iter().chain(elsewhere);
        folders.flat_map(|(folder, name)| left_in(&folder, &name)).collect()
    }
}

/// Returns the names that a write tries for a file beside the one with this name.
fn names_in(folder: &Path, name: &str) -> impl Iterator<Item = PathBuf> {
    let pid = std::process::id();
    (0..ATTEMPTS).map(move |attempt| folder.join(format!(".{name}{MARK}{pid}-{attempt}~")))
}

fn left_in(folder: &Path, name: &str) -> Vec<Left> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let left = entries.filter_map(|entry| {
        let found = entry.file_name();
        let rest =
            found.to_str()?.strip_prefix('.')?.strip_prefix(name)?.strip_prefix(MARK)?.strip_suffix('~')?;
        let (rest, is_copy) = rest.strip_suffix(".old").map_or((rest, false), |rest| (rest, true));
        let (pid, attempt) = rest.split_once('-')?;
        let (pid, _) = (pid.parse().ok()?, attempt.parse::<u8>().ok()?);
        let metadata = entry.metadata().ok()?;
        let is_left = metadata.is_file() && system::is_left(&entry.path(), &metadata, pid);
        is_left.then(|| Left { path: entry.path(), is_copy })
    });
    left.collect()
}

/// Returns the final name of a copy that is first written under this name.
fn copy_name(beside: &Path) -> PathBuf {
    let name = beside.file_name().unwrap_or_default().to_string_lossy();
    beside.with_file_name(format!("{}.old~", name.trim_end_matches('~')))
}

/// Returns the directory below the state directory for copies that cannot lie beside their file.
fn copies(state: &Path) -> PathBuf {
    state.join("ide-mcp")
}

/// Returns a name as it appears in the names of the files beside it: the name itself, or its hash if it is too long or
/// not Unicode.
fn spelling(name: &OsStr) -> String {
    match name.to_str().filter(|name| name.len() <= MAX_NAME) {
        Some(name) => name.to_owned(),
        None => fixed_hash(name.as_encoded_bytes()),
    }
}

/// Returns a hash for the name of a file that a later release must find again: the first 16 digits of SHA-1. The hash
/// of the standard library may change with the next release of Rust.
pub(crate) fn fixed_hash(bytes: &[u8]) -> String {
    let digest = Sha1::digest(bytes);
    let hash = digest.iter().take(8).fold(0_u64, |hash, byte| hash << 8 | u64::from(*byte));
    format!("{hash:016x}")
}

/// The old file.
#[derive(Debug)]
struct Old {
    file: File,
    metadata: Metadata,
    /// False if the file may be written but not read.
    is_readable: bool,
}

impl Old {
    /// Opens a file for writing, so that a user who may not write a file cannot replace it either.
    fn open(real: &Path) -> io::Result<Option<Self>> {
        let open = |reads| system::at_once().read(reads).write(true).open(real);
        let opened = open(true).map(|file| (file, true)).or_else(|error| match error.kind() {
            ErrorKind::PermissionDenied => open(false).map(|file| (file, false)),
            _ => Err(error),
        });
        let (file, is_readable) = match opened {
            Ok(opened) => opened,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a file"));
        }
        Ok(Some(Self { file, metadata, is_readable }))
    }

    /// Reads the text.
    fn text(&mut self) -> io::Result<Vec<u8>> {
        if !self.is_readable {
            return Err(ErrorKind::PermissionDenied.into());
        }
        self.file.rewind()?;
        let mut text = Vec::new();
        self.file.read_to_end(&mut text)?;
        Ok(text)
    }

    /// Returns how this differs from what was seen.
    fn change_since(&mut self, seen: &Seen) -> Option<Change> {
        let is_same = match seen {
            Seen { stamp: None, .. } => return Some(Change::Created),
            Seen { text: Some(_), .. } => self.text().is_ok_and(|now| seen.is_text(&now)),
            Seen { stamp, text: None } => *stamp == Some(system::stamp(&self.metadata)),
        };
        (!is_same).then_some(Change::Changed)
    }

    /// Refuses if another file has this path by now, or if this one was written since it was opened.
    fn check(&self, real: &Path) -> Result<(), NotSaved> {
        match fs::symlink_metadata(real) {
            Ok(now) if system::stamp(&now) == system::stamp(&self.metadata) => Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(NotSaved::Changed(Change::Removed)),
            Ok(_) | Err(_) => Err(NotSaved::Changed(Change::Changed)),
        }
    }
}

/// Returns what a file contains after this text was written to it.
fn written_to(file: &File, text: &[u8]) -> Seen {
    let stamp = file.metadata().ok().map(|metadata| system::stamp(&metadata));
    Seen { stamp, ..Seen::ABSENT }.with_text(text)
}

/// Who may read a new file.
enum Access<'a> {
    /// Whoever may read the other new files of this user.
    Usual,
    /// This user alone.
    Private,
    /// Those whom these permissions allow, and nobody else, not even for a moment.
    Like(&'a Permissions),
}

/// Why a file was not replaced.
enum NotReplaced {
    /// It must be overwritten in place, and this is why.
    InPlace(String),
    Failed(NotSaved),
}

impl<E: Into<NotSaved>> From<E> for NotReplaced {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// A write, in steps that a test can watch.
struct Save<'a, S> {
    steps: &'a mut S,
    /// The state directory.
    state: Option<&'a Path>,
}

impl<S: Steps> Save<'_, S> {
    fn save(&mut self, path: &Path, text: &[u8], seen: Option<&Seen>) -> Result<Seen, NotSaved> {
        let was_there = seen.is_some_and(|seen| !seen.is_absent());
        let place = Place::of(path).map_err(|error| match error.kind() {
            // Its folder is gone too.
            ErrorKind::NotFound if was_there => NotSaved::Changed(Change::Removed),
            _ => error.into(),
        })?;
        let mut old = Old::open(&place.real)?;
        let changed = match (&mut old, seen) {
            (Some(old), Some(seen)) => old.change_since(seen),
            (None, _) if was_there => Some(Change::Removed),
            (_, None) | (None, Some(_)) => None,
        };
        if let Some(change) = changed {
            return Err(NotSaved::Changed(change));
        }
        self.clear(&place, old.as_mut());
        let Some(mut old) = old else { return self.create(&place, text, Access::Usual) };
        match self.replace(&place, &old, text) {
            Ok(seen) => Ok(seen),
            Err(NotReplaced::Failed(error)) => Err(error),
            Err(NotReplaced::InPlace(why)) => self.overwrite(&place, &mut old, text, why),
        }
    }

    /// Renames the file before it is compared, so that what somebody writes under the old name from then on is not
    /// lost.
    fn remove(&mut self, path: &Path, seen: &Seen) -> Result<(), NotSaved> {
        let folder = path.parent().unwrap_or(path);
        let name = spelling(path.file_name().unwrap_or_default());
        // The file gets the name of a copy, so that the next write keeps it if this process is killed.
        let mut names = names_in(folder, &name).map(|name| copy_name(&name));
        let aside = loop {
            let aside = names.next().ok_or_else(|| io::Error::from(ErrorKind::AlreadyExists))?;
            match self.steps.set_aside(path, &aside) {
                Ok(()) => break aside,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return Err(NotSaved::Changed(Change::Removed));
                }
                Err(error) => return Err(error.into()),
            }
        };
        let is_file = fs::symlink_metadata(&aside).is_ok_and(|metadata| metadata.is_file());
        let removed = if is_file && Seen::now(&aside).has_text_of(seen) {
            self.steps.remove(&aside).map_err(NotSaved::Io)
        } else {
            Err(NotSaved::Changed(Change::Changed))
        };
        if removed.is_err() {
            let put_back = self.steps.rename_new(&aside, path);
            put_back.map_err(|error| NotSaved::Aside { error, copy: aside })?;
        }
        self.sync_folder(folder);
        removed
    }

    /// Removes what killed writes of this file have left behind: parts of new texts, and copies of the text that
    /// the file still has.
    fn clear(&mut self, place: &Place, mut old: Option<&mut Old>) {
        for Left { path, is_copy } in place.left(self.state) {
            let mut is_in_the_file = || {
                let old = old.as_mut()?;
                // Anybody can have put a file of this name there, of any size, so only one of the right length is read.
                let has_length = fs::metadata(&path).ok()?.len() == old.metadata.len();
                Some(has_length && fs::read(&path).ok()? == old.text().ok()?)
            };
            if !is_copy || is_in_the_file() == Some(true) {
                let _ = self.steps.remove(&path);
            }
        }
    }

    /// Creates the file, unless somebody else has created it in the meantime.
    fn create(&mut self, place: &Place, text: &[u8], access: Access<'_>) -> Result<Seen, NotSaved> {
        let is_private = !matches!(access, Access::Usual);
        let (mut file, beside) = self.create_beside(&place.folder, &place.name, is_private)?;
        let written = self.steps.write(&mut file, text).and_then(|()| {
            if let Access::Like(permissions) = access {
                file.set_permissions(permissions.clone())?;
            }
            self.steps.sync(&file)?;
            self.steps.rename_new(&beside, &place.real)
        });
        match written {
            Ok(()) => {
                self.sync_folder(&place.folder);
                Ok(written_to(&file, text))
            }
            Err(error) => {
                let _ = self.steps.remove(&beside);
                Err(match error.kind() {
                    ErrorKind::AlreadyExists => NotSaved::Changed(Change::Created),
                    _ => error.into(),
                })
            }
        }
    }

    /// Puts a new file in the place of the old one.
    fn replace(&mut self, place: &Place, old: &Old, text: &[u8]) -> Result<Seen, NotReplaced> {
        let in_place = |why: &str, error: io::Error| NotReplaced::InPlace(format!("{why}: {error}"));
        if let Some(why) = system::not_replaceable(&old.metadata) {
            return Err(NotReplaced::InPlace(why.into()));
        }
        let (mut file, beside) = self
            .create_beside(&place.folder, &place.name, true)
            .map_err(|error| in_place("no file can be created beside it", error))?;
        let mut fill = || {
            self.steps.write(&mut file, text)?;
            let kept = self.steps.keep_attributes(&old.file, &old.metadata, &file);
            kept.map_err(|error| in_place("its attributes cannot be kept", error))?;
            self.steps.sync(&file)?;
            old.check(&place.real)?;
            let renamed = self.steps.rename(&beside, &place.real);
            renamed.map_err(|error| in_place("it cannot be renamed over", error))
        };
        match fill() {
            Ok(()) => {
                self.sync_folder(&place.folder);
                Ok(written_to(&file, text))
            }
            Err(error) => {
                let _ = self.steps.remove(&beside);
                Err(error)
            }
        }
    }

    /// Writes the new text over the old one, after a copy of the old one is on the disk. Cuts the file last: until then
    /// the disk has room to write the old text back.
    fn overwrite(
        &mut self,
        place: &Place,
        old: &mut Old,
        text: &[u8],
        why: String,
    ) -> Result<Seen, NotSaved> {
        let copied = old.text().and_then(|before| Ok((self.copy(place, &before)?, before)));
        let ((_held, copy), before) = copied.map_err(|error| NotSaved::NoCopy { why, error })?;
        let written = match old.check(&place.real) {
            Ok(()) => self.fill(&mut old.file, text).map_err(NotSaved::Io),
            changed => changed,
        };
        if let Err(NotSaved::Io(error)) = written {
            if self.fill(&mut old.file, &before).is_err() {
                return Err(NotSaved::Damaged { error, copy });
            }
            // The old text is back, so its time is set back too: then nobody needs to read it again.
            let times = old.metadata.modified().map(|modified| FileTimes::new().set_modified(modified));
            let _ = times.and_then(|times| old.file.set_times(times));
            let _ = self.steps.remove(&copy);
            return Err(error.into());
        }
        let _ = self.steps.remove(&copy);
        written.map(|()| written_to(&old.file, text))
    }

    /// Writes a copy of the old text, beside the file or in the state directory. The copy is held until the returned
    /// file is closed.
    fn copy(&mut self, place: &Place, text: &[u8]) -> io::Result<(File, PathBuf)> {
        self.copy_into(&place.folder, &place.name, text).or_else(|error| {
            let folder = copies(self.state.ok_or(error)?);
            create_private(&folder)?;
            self.copy_into(&folder, &place.name_elsewhere(), text)
        })
    }

    fn copy_into(&mut self, folder: &Path, name: &str, text: &[u8]) -> io::Result<(File, PathBuf)> {
        let (mut file, beside) = self.create_beside(folder, name, true)?;
        let copy = copy_name(&beside);
        let written = self.steps.write(&mut file, text).and_then(|()| {
            self.steps.sync(&file)?;
            // A copy gets its final name only once it is whole.
            self.steps.rename_new(&beside, &copy)
        });
        match written {
            Ok(()) => {
                self.sync_folder(folder);
                Ok((file, copy))
            }
            Err(error) => {
                let _ = self.steps.remove(&beside);
                Err(error)
            }
        }
    }

    fn fill(&mut self, file: &mut File, text: &[u8]) -> io::Result<()> {
        file.rewind()?;
        self.steps.write(file, text)?;
        self.steps.cut(file, u64::try_from(text.len()).unwrap_or(u64::MAX))?;
        self.steps.sync(file)
    }

    /// Creates a file in this folder, under a name for which there is neither a file nor a copy: a crash can leave
    /// either behind, and a later process can have the same id.
    fn create_beside(&mut self, folder: &Path, name: &str, is_private: bool) -> io::Result<(File, PathBuf)> {
        for path in names_in(folder, name) {
            if copy_name(&path).exists() {
                continue;
            }
            match self.steps.create(&path, is_private) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => {
                    let file = made?;
                    system::hold(&file);
                    return Ok((file, path));
                }
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Makes a rename survive a power cut, if the file system can sync a folder.
    fn sync_folder(&mut self, folder: &Path) {
        let _ = self.steps.sync_folder(folder);
    }
}
