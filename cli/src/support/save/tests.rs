//! Watches writes step by step, lets them fail at each step, and kills them at each step.

use super::*;
use crate::support::temp::set_mode;
use arbitrary::Unstructured;
#[cfg(unix)]
use rustix::fs::{FlockOperation, flock};
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
#[cfg(unix)]
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// What happens at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// This step does a part of its work and fails; the others work.
    Fails(ErrorKind),
    /// This step does a part of its work, and no other step follows it.
    Kill,
}

/// The steps of the system, some of which fail.
#[derive(Debug, Default)]
struct Watched {
    log: Vec<&'static str>,
    /// What goes wrong at which step.
    troubles: Vec<(usize, Trouble)>,
    is_dead: bool,
    /// A folder where nothing can be created, as for a user who may not write to it.
    closed: Option<PathBuf>,
    /// A file that somebody else writes while the new text is on its way to the disk.
    meddled: Option<PathBuf>,
}

impl Watched {
    /// Lets somebody else write the file at this moment.
    fn meddle(&mut self) {
        if let Some(file) = self.meddled.take() {
            fs::write(file, "of somebody else").unwrap();
        }
    }

    /// Does the whole step. If the step has a trouble, does only `part` of it.
    fn step<T>(
        &mut self,
        name: &'static str,
        part: impl FnOnce(),
        whole: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        if self.is_dead {
            return Err(io::Error::other("killed"));
        }
        let at = self.log.len();
        self.log.push(name);
        match self.troubles.iter().find(|(step, _)| *step == at) {
            None => whole(),
            Some((_, Trouble::Fails(kind))) => {
                part();
                Err((*kind).into())
            }
            Some((_, Trouble::Kill)) => {
                part();
                self.is_dead = true;
                Err(io::Error::other("killed"))
            }
        }
    }
}

impl Steps for Watched {
    fn create(&mut self, path: &Path, is_private: bool) -> io::Result<File> {
        let is_closed = self.closed.as_deref() == path.parent();
        let create = || {
            if is_closed { Err(ErrorKind::PermissionDenied.into()) } else { System.create(path, is_private) }
        };
        self.step("create", || (), create)
    }
    fn write(&mut self, file: &mut File, text: &[u8]) -> io::Result<()> {
        let mut half = file.try_clone().unwrap();
        let part = || System.write(&mut half, &text[..text.len() / 2]).unwrap();
        self.step("write", part, || System.write(file, text))
    }
    fn cut(&mut self, file: &File, length: u64) -> io::Result<()> {
        self.step("cut", || (), || System.cut(file, length))
    }
    fn keep_attributes(&mut self, old: &File, metadata: &Metadata, new: &File) -> io::Result<()> {
        self.step("keep attributes", || (), || System.keep_attributes(old, metadata, new))
    }
    fn sync(&mut self, file: &File) -> io::Result<()> {
        self.meddle();
        self.step("sync", || (), || System.sync(file))
    }
    fn sync_folder(&mut self, folder: &Path) -> io::Result<()> {
        self.step("sync folder", || (), || System.sync_folder(folder))
    }
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.step("rename", || (), || System.rename(from, to))
    }
    fn rename_new(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.meddle();
        self.step("rename new", || (), || System.rename_new(from, to))
    }
    fn set_aside(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.meddle();
        self.step("set aside", || (), || System.set_aside(from, to))
    }
    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.meddle();
        self.step("remove", || (), || System.remove(path))
    }
}

/// The id of a process that has ended: no system gives a number as large as this.
const DEAD: u32 = i32::MAX.unsigned_abs();

/// Waits until no process holds this file. Other tests start programs, and until its `exec` a child has all of our open
/// files.
fn wait_until_free(path: &Path) {
    let is_free = (0..30_000).any(|_| {
        let is_free = !system::is_held(path);
        if !is_free {
            std::thread::sleep(Duration::from_millis(1));
        }
        is_free
    });
    assert!(is_free, "{} stays locked", path.display());
}

/// A folder with a file `f`, and a state directory.
#[derive(Debug)]
struct Room {
    /// Removes everything on drop.
    #[expect(dead_code, reason = "it is there for its drop")]
    temp: TempDir,
    folder: PathBuf,
    file: PathBuf,
    state: PathBuf,
}

impl Room {
    fn new() -> Self {
        let temp = crate::support::temp::private_temp_dir();
        let root = local::resolved(temp.path()).unwrap();
        let folder = root.join("folder");
        fs::create_dir(&folder).unwrap();
        Self { file: folder.join("f"), state: root.join("state"), folder, temp }
    }

    fn text(&self) -> Option<Vec<u8>> {
        fs::read(&self.file).ok()
    }

    fn save(&self, steps: &mut Watched, text: &[u8], seen: Option<&Seen>) -> Result<Seen, NotSaved> {
        Save { steps, state: Some(&self.state) }.save(&self.file, text, seen)
    }

    /// Returns the files that a write left behind. Renames them first, so that they count as those of a dead process.
    fn left(&self) -> Vec<Left> {
        for folder in [&self.folder, &copies(&self.state)] {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name().into_string().unwrap();
                let other = name.replace(&format!("-{}-", std::process::id()), &format!("-{DEAD}-"));
                let left = folder.join(other);
                fs::rename(entry.path(), &left).unwrap();
                wait_until_free(&left);
            }
        }
        Place::of(&self.file).unwrap().left(Some(&self.state))
    }

    /// Returns the number of files besides the file and its other name.
    fn others(&self) -> usize {
        let count = |folder: &Path| fs::read_dir(folder).map_or(0, Iterator::count);
        let known = usize::from(self.file.exists()) + usize::from(self.folder.join("other").exists());
        count(&self.folder) + count(&copies(&self.state)) - known
    }
}

#[test]
fn text_is_on_the_disk_before_its_name() {
    const IN_PLACE: &[&str] =
        &["create", "write", "sync", "rename new", "sync folder", "write", "cut", "sync", "remove"];
    const REPLACED: &[&str] = &["create", "write", "keep attributes", "sync", "rename", "sync folder"];
    let rows: [(&str, bool, &[&str]); 3] = [
        ("new", false, &["create", "write", "sync", "rename new", "sync folder"]),
        // On Windows a file keeps its DACL only if it is overwritten in place.
        ("replaced", false, if cfg!(windows) { IN_PLACE } else { REPLACED }),
        ("in place", true, IN_PLACE),
    ];
    let room = Room::new();
    for (name, has_other_name, steps) in rows {
        if has_other_name {
            fs::hard_link(&room.file, room.folder.join("other")).unwrap();
        }
        let mut watched = Watched::default();
        room.save(&mut watched, name.as_bytes(), None).unwrap();
        assert_eq!((watched.log.as_slice(), room.text()), (steps, Some(name.into())), "{name}");
    }
    let mut watched = Watched { closed: Some(room.folder.clone()), ..Watched::default() };
    fs::remove_file(room.folder.join("other")).unwrap();
    room.save(&mut watched, b"closed", None).unwrap();
    let tried: &[&str] = if cfg!(windows) { &["create"] } else { &["create", "create"] };
    assert_eq!(watched.log, [tried, IN_PLACE].concat(), "the copy is in the state directory");
    assert_eq!((room.text(), room.others()), (Some(b"closed".into()), 0));
}

/// A socket cannot be synced, so the error shows that the system was asked.
#[cfg(unix)]
#[test]
fn syncing_asks_the_system() {
    let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
    let socket = File::from(std::os::fd::OwnedFd::from(socket));
    assert!(System.sync(&socket).is_err());
    assert!(System.sync_folder(Path::new("/dev/null")).is_err());
    let room = Room::new();
    System.sync_folder(&room.folder).unwrap();
}

/// Writes once with this trouble, and checks what every write promises. Returns the number of steps.
fn check(old: Option<&[u8]>, new: &[u8], setup: &Setup, trouble: Option<(usize, Trouble)>) -> usize {
    let room = Room::new();
    if let Some(old) = old {
        fs::write(&room.file, old).unwrap();
        set_mode(&room.file, setup.mode);
        if setup.has_other_name {
            fs::hard_link(&room.file, room.folder.join("other")).unwrap();
        }
    }
    let time = fs::metadata(&room.file).and_then(|metadata| metadata.modified()).ok();
    let closed = setup.is_closed.then(|| room.folder.clone());
    let mut watched = Watched { troubles: trouble.into_iter().collect(), closed, ..Watched::default() };
    let seen = Seen::now(&room.file);
    let done = room.save(&mut watched, new, Some(&seen));
    let (about, now) = (format!("{setup:?} {trouble:?} {:?}: {done:?}", watched.log), room.text());
    let is_killed = watched.is_dead;
    let failed_at = trouble.and_then(|(step, _)| watched.log.get(step).copied());
    if !is_killed {
        // A failure leaves the old text or the new one, and reports which.
        let expected = if done.is_ok() { Some(new) } else { old };
        assert_eq!(now.as_deref(), expected, "{about}");
        assert_eq!(room.others(), usize::from(failed_at == Some("remove")), "{about}");
        if done.is_err() && time.is_some() {
            let now = fs::metadata(&room.file).unwrap();
            assert_eq!(
                now.modified().ok(),
                time,
                "the time does not tell a reader that the text is the old one: {about}"
            );
        }
    }
    let left = room.left();
    let copies: Vec<_> =
        left.iter().filter(|left| left.is_copy).map(|left| fs::read(&left.path).unwrap()).collect();
    assert!(copies.iter().all(|copy| Some(copy.as_slice()) == old), "a copy is whole: {about}");
    let is_whole = now.as_deref() == old || now.as_deref() == Some(new);
    assert!(is_whole || copies.iter().any(|copy| Some(copy.as_slice()) == old), "{about}");
    #[cfg(unix)]
    if let (Some(_), Ok(metadata)) = (old, fs::metadata(&room.file)) {
        assert_eq!(metadata.mode() & 0o7777, setup.mode, "{about}");
        assert_eq!(metadata.nlink(), if setup.has_other_name { 2 } else { 1 }, "{about}");
    }
    // The next write works, and clears all but a copy of a text that is nowhere else.
    room.save(&mut Watched::default(), b"next", None).unwrap();
    assert_eq!(room.text().as_deref(), Some(&b"next"[..]), "{about}");
    let kept: Vec<_> =
        room.left().into_iter().map(|left| (left.is_copy, fs::read(left.path).unwrap())).collect();
    let expected: Vec<_> =
        copies.into_iter().filter(|copy| now.as_ref() != Some(copy)).map(|copy| (true, copy)).collect();
    assert_eq!(kept, expected, "{about}");
    assert_eq!(room.others(), kept.len(), "{about}");
    watched.log.len()
}

#[derive(Debug, arbitrary::Arbitrary)]
struct Setup {
    has_other_name: bool,
    is_closed: bool,
    #[arbitrary(with = |u: &mut Unstructured<'_>| u.choose(&[0o644, 0o600, 0o755, 0o466]).copied())]
    mode: u32,
}

const TROUBLES: [Trouble; 3] =
    [Trouble::Fails(ErrorKind::StorageFull), Trouble::Fails(ErrorKind::PermissionDenied), Trouble::Kill];

#[test]
fn each_step_can_fail_or_be_the_last_one() {
    for old in [None, Some(&b"the old text"[..])] {
        for (has_other_name, is_closed) in [(false, false), (true, false), (false, true)] {
            if old.is_none() && (has_other_name || is_closed) {
                continue;
            }
            let setup = Setup { has_other_name, is_closed, mode: 0o640 };
            for new in [&b"new"[..], b"a new text that is longer"] {
                let steps = check(old, new, &setup, None);
                for step in 0..steps {
                    for trouble in TROUBLES {
                        check(old, new, &setup, Some((step, trouble)));
                    }
                }
            }
        }
    }
}

#[test]
fn random_writes_lose_nothing() {
    for seed in 0..200_u64 {
        // Random bytes, by splitmix64.
        let mut state = seed;
        let bytes: Vec<u8> = (0..64)
            .flat_map(|_| {
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb).to_le_bytes()
            })
            .collect();
        let mut u = Unstructured::new(&bytes);
        let mut setup: Setup = u.arbitrary().unwrap();
        let mut text = || vec![u.arbitrary::<u8>().unwrap(); u.int_in_range(0..=100_000).unwrap()];
        let (old, new) = (Some(text()).filter(|old| old.len() % 4 != 0), text());
        let trouble = (u.int_in_range(0..=14).unwrap(), *u.choose(&TROUBLES).unwrap());
        // Only root can write into a file that its owner may not write.
        #[cfg(unix)]
        if !rustix::process::geteuid().is_root() {
            setup.mode |= 0o200;
        }
        if old.is_none() {
            (setup.has_other_name, setup.is_closed) = (false, false);
        }
        check(old.as_deref(), &new, &setup, Some(trouble));
    }
}

#[test]
fn change_in_the_meantime_refuses() {
    let room = Room::new();
    let seen = [Seen::ABSENT, Seen::ABSENT.with_text(b"a"), Seen::ABSENT.with_text(b"b")];
    for (now, changes) in [
        (None, [None, Some(Change::Removed), Some(Change::Removed)]),
        (Some("a"), [Some(Change::Created), None, Some(Change::Changed)]),
    ] {
        for (seen, change) in seen.iter().zip(changes) {
            let _ = fs::remove_file(&room.file);
            now.iter().for_each(|now| fs::write(&room.file, now).unwrap());
            match (room.save(&mut Watched::default(), b"new", Some(seen)), change) {
                (Ok(_), None) => assert_eq!(room.text().as_deref(), Some(&b"new"[..])),
                (Err(NotSaved::Changed(found)), Some(change)) if found == change => {
                    assert_eq!(room.text().as_deref(), now.map(str::as_bytes));
                }
                (done, _) => panic!("{now:?} {seen:?}: {done:?}"),
            }
            let seen = room.save(&mut Watched::default(), b"new", None).unwrap();
            assert_eq!(Seen::now(&room.file), seen, "save returns what the file contains now");
        }
    }
    assert!(Seen::now(&room.file).is_text(b"new"));
    fs::remove_dir_all(&room.folder).unwrap();
    for (seen, is_change) in [(Seen::ABSENT, false), (seen[1], true)] {
        let gone = room.save(&mut Watched::default(), b"new", Some(&seen)).unwrap_err();
        assert_eq!(matches!(gone, NotSaved::Changed(Change::Removed)), is_change, "with its folder: {gone}");
    }
}

#[test]
fn change_during_the_write_is_kept() {
    for (old, has_other_name) in [(None, false), (Some("old"), false), (Some("old"), true)] {
        let room = Room::new();
        old.iter().for_each(|old| fs::write(&room.file, old).unwrap());
        if has_other_name {
            fs::hard_link(&room.file, room.folder.join("other")).unwrap();
        }
        let mut steps = Watched { meddled: Some(room.file.clone()), ..Watched::default() };
        let done = room.save(&mut steps, b"new", None);
        assert!(matches!(done, Err(NotSaved::Changed(_))), "{old:?} {has_other_name}: {done:?}");
        assert_eq!((room.text().as_deref(), room.others()), (Some(&b"of somebody else"[..]), 0));
    }
}

#[test]
fn file_is_removed_as_it_was_seen() {
    let seen = Seen::ABSENT.with_text(b"seen");
    let steps =
        |room: &Room, steps: &mut Watched| Save { steps, state: Some(&room.state) }.remove(&room.file, &seen);
    let room = Room::new();
    let gone = steps(&room, &mut Watched::default()).unwrap_err();
    assert!(matches!(gone, NotSaved::Changed(Change::Removed)), "{gone:?}");
    fs::write(&room.file, "seen").unwrap();
    set_mode(&room.file, 0o400);
    steps(&room, &mut Watched::default()).unwrap();
    assert_eq!((room.text(), room.others()), (None, 0));
    fs::write(&room.file, "other").unwrap();
    let refused = steps(&room, &mut Watched::default()).unwrap_err();
    assert!(matches!(refused, NotSaved::Changed(Change::Changed)), "{refused:?}");
    assert_eq!((room.text().as_deref(), room.others()), (Some(&b"other"[..]), 0));
    // Somebody writes it at the last moment.
    fs::write(&room.file, "seen").unwrap();
    let mut watched = Watched { meddled: Some(room.file.clone()), ..Watched::default() };
    let refused = steps(&room, &mut watched).unwrap_err();
    assert!(matches!(refused, NotSaved::Changed(Change::Changed)), "{refused:?}");
    assert_eq!((room.text().as_deref(), room.others()), (Some(&b"of somebody else"[..]), 0));
    // A pipe or a link in its place does not count, whatever it leads to.
    #[cfg(unix)]
    {
        fs::write(room.folder.join("other"), "seen").unwrap();
        fs::remove_file(&room.file).unwrap();
        std::os::unix::fs::symlink("other", &room.file).unwrap();
        assert!(steps(&room, &mut Watched::default()).is_err());
        assert!(fs::symlink_metadata(&room.file).unwrap().is_symlink());
        fs::remove_file(&room.file).unwrap();
        assert!(Command::new("mkfifo").arg(&room.file).status().unwrap().success());
        assert!(steps(&room, &mut Watched::default()).is_err());
    }
}

/// Whatever fails, and wherever the process is killed, a text other than the one that was seen is not lost.
#[test]
fn removal_that_fails_loses_nothing() {
    for text in ["seen", "other"] {
        for step in 0..4 {
            for trouble in TROUBLES {
                let room = Room::new();
                fs::write(&room.file, text).unwrap();
                let mut watched = Watched { troubles: vec![(step, trouble)], ..Watched::default() };
                let seen = Seen::ABSENT.with_text(b"seen");
                let done = Save { steps: &mut watched, state: None }.remove(&room.file, &seen);
                let about = format!("{text} {step} {trouble:?} {:?}: {done:?}", watched.log);
                let left = room.left();
                assert!(left.iter().all(|left| left.is_copy), "the next write keeps it: {about}");
                let mut texts: Vec<Vec<u8>> =
                    left.iter().map(|left| fs::read(&left.path).unwrap()).chain(room.text()).collect();
                match &done {
                    Ok(()) => assert_eq!((text, texts.pop()), ("seen", None), "{about}"),
                    Err(NotSaved::Aside { copy, .. }) => assert_eq!(copy.parent(), Some(&*room.folder)),
                    Err(_) if watched.is_dead => {}
                    Err(_) => assert!(room.text().is_some(), "{about}"),
                }
                assert_eq!(texts, vec![text.as_bytes().to_vec(); usize::from(done.is_err())], "{about}");
            }
        }
    }
}

#[test]
fn text_that_cannot_be_kept_is_not_overwritten() {
    let room = Room::new();
    fs::write(&room.file, "old").unwrap();
    fs::hard_link(&room.file, room.folder.join("other")).unwrap();
    let mut steps = Watched { closed: Some(room.folder.clone()), ..Watched::default() };
    let refused = Save { steps: &mut steps, state: None }.save(&room.file, b"new", None).unwrap_err();
    let why = if cfg!(windows) { "a new file would not have its access list" } else { "it has other names" };
    let expected = format!(
        "it can only be overwritten in place ({why}), and no copy of its text can be kept in case this fails: \
         permission denied"
    );
    assert_eq!(refused.to_string(), expected);
    assert_eq!((room.text(), room.others()), (Some(b"old".into()), 0));
    // After two failures the copy stays, and the error names it.
    let troubles = [5, 6].map(|step| (step, Trouble::Fails(ErrorKind::StorageFull))).into();
    let mut steps = Watched { troubles, ..Watched::default() };
    let damaged = Save { steps: &mut steps, state: None }.save(&room.file, b"new text", None).unwrap_err();
    let NotSaved::Damaged { copy, .. } = &damaged else { panic!("{damaged:?}") };
    assert_eq!(fs::read(copy).unwrap(), b"old");
    assert!(damaged.to_string().ends_with(&format!("its text is in {}", copy.display())), "{damaged}");
}

#[cfg(unix)]
#[test]
fn attributes_stay() {
    let room = Room::new();
    fs::write(&room.file, "old").unwrap();
    fs::set_permissions(&room.file, Permissions::from_mode(0o640)).unwrap();
    // Only root can give a file to any group.
    let _ = chown(&room.file, None, Some(54_321));
    // A default ACL of the folder, which gives user 1234 all rights to new files.
    const LIST: &[u8] =
        b"\x02\0\0\0\x01\0\x07\0\xff\xff\xff\xff\x02\0\x07\0\xd2\x04\0\0\x04\0\x05\0\xff\xff\xff\xff\
        \x10\0\x07\0\xff\xff\xff\xff\x20\0\0\0\xff\xff\xff\xff";
    #[cfg(target_os = "linux")]
    let has_attributes = {
        use rustix::fs::{XattrFlags, setxattr};
        let set = |path, name, value| setxattr(path, name, value, XattrFlags::empty()).is_ok();
        set(&room.file, "user.note", b"kept") && set(&room.folder, "system.posix_acl_default", LIST)
    };
    let group = fs::metadata(&room.file).unwrap().gid();
    let inode = fs::metadata(&room.file).unwrap().ino();
    room.save(&mut Watched::default(), b"new", None).unwrap();
    let metadata = fs::metadata(&room.file).unwrap();
    assert_eq!((metadata.gid(), metadata.mode() & 0o777), (group, 0o640));
    assert_ne!(metadata.ino(), inode, "it was replaced");
    #[cfg(target_os = "linux")]
    if has_attributes {
        let mut value = [0; 8];
        let length = rustix::fs::getxattr(&room.file, "user.note", &mut value).unwrap();
        assert_eq!(&value[..length], b"kept");
        let mut list = [0; 64];
        assert!(
            rustix::fs::getxattr(&room.file, "system.posix_acl_access", &mut list).is_err(),
            "no new rights"
        );
        rustix::fs::removexattr(&room.folder, "system.posix_acl_default").unwrap();
    }
    let file = System.create(&room.folder.join("g"), true).unwrap();
    assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600, "while it is written");
    save_new(&room.folder.join("h"), b"h", &Permissions::from_mode(0o750)).unwrap();
    assert_eq!(fs::metadata(room.folder.join("h")).unwrap().mode() & 0o777, 0o750);
    assert!(matches!(
        save_new(&room.folder.join("h"), b"i", &Permissions::from_mode(0o750)),
        Err(NotSaved::Changed(Change::Created))
    ));
    assert_eq!(fs::read(room.folder.join("h")).unwrap(), b"h");
}

#[cfg(unix)]
#[test]
fn files_of_others_stay() {
    let room = Room::new();
    fs::write(&room.file, "old").unwrap();
    fs::hard_link(&room.file, room.folder.join("other")).unwrap();
    let us = std::process::id();
    let names = [
        // Our own process and process 1 are running. The copy is from an earlier process that had our id.
        format!(".f.ide-mcp-{us}-7~"),
        format!(".f.ide-mcp-{us}-0.old~"),
        ".f.ide-mcp-1-0~".into(),
        // Backups of Emacs, for the files `.f` and `.f.NUMBER`.
        format!(".f.~{DEAD}~"),
        format!(".f.{DEAD}.2~"),
        format!(".f.{DEAD}.~2~"),
        format!(".f.ide-mcp-{DEAD}~"),
    ];
    names.iter().for_each(|name| fs::write(room.folder.join(name), "of another write").unwrap());
    // A write in another container, whose process ids mean nothing here.
    let held = [format!(".f.ide-mcp-{DEAD}-8~"), format!(".f.ide-mcp-{DEAD}-9.old~")];
    let hold = |name: &String| {
        fs::write(room.folder.join(name), "old").unwrap();
        let file = File::open(room.folder.join(name)).unwrap();
        flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        file
    };
    let holds: Vec<File> = held.iter().map(hold).collect();
    room.save(&mut Watched::default(), b"new", None).unwrap();
    for name in names {
        assert_eq!(fs::read_to_string(room.folder.join(&name)).unwrap(), "of another write", "{name}");
    }
    assert!(held.iter().all(|name| room.folder.join(name).exists()), "another container writes");
    drop(holds);
    held.iter().for_each(|name| wait_until_free(&room.folder.join(name)));
    fs::write(&room.file, "old").unwrap();
    room.save(&mut Watched::default(), b"new", None).unwrap();
    assert!(!held.iter().any(|name| room.folder.join(name).exists()), "its write has ended");
    let (file, path) =
        Save { steps: &mut System, state: None }.create_beside(&room.folder, "f", true).unwrap();
    assert!(system::is_held(&path), "as our own writes do");
    drop(file);
    fs::remove_file(path).unwrap();
    assert_eq!(room.text().as_deref(), Some(&b"new"[..]));
    // Only root can give a file to another user.
    fs::remove_file(room.folder.join("other")).unwrap();
    if chown(&room.file, Some(61_234), None).is_ok() {
        room.save(&mut Watched::default(), b"newer", None).unwrap();
        assert_eq!((fs::metadata(&room.file).unwrap().uid(), room.text()), (61_234, Some(b"newer".into())));
    }
}

/// A write that is going on holds its file open.
#[cfg(windows)]
#[test]
fn files_of_others_stay() {
    let room = Room::new();
    fs::write(&room.file, "old").unwrap();
    let us = std::process::id();
    let others = [format!(".f.ide-mcp-{us}~"), ".f.~1~".to_owned(), ".f.1.2~".to_owned()];
    let ours = [format!(".f.ide-mcp-{us}-7~"), ".f.ide-mcp-1-0~".into(), format!(".f.ide-mcp-{us}-8.old~")];
    for name in others.iter().chain(&ours) {
        fs::write(room.folder.join(name), "old").unwrap();
    }
    let holds: Vec<File> = ours.iter().map(|name| File::open(room.folder.join(name)).unwrap()).collect();
    room.save(&mut Watched::default(), b"new", None).unwrap();
    assert!(ours.iter().all(|name| room.folder.join(name).exists()), "another process writes");
    drop(holds);
    fs::write(&room.file, "old").unwrap();
    room.save(&mut Watched::default(), b"newer", None).unwrap();
    assert!(!ours.iter().any(|name| room.folder.join(name).exists()), "its write has ended");
    assert!(others.iter().all(|name| room.folder.join(name).exists()), "these have no name of ours");
    let (file, path) =
        Save { steps: &mut System, state: None }.create_beside(&room.folder, "f", true).unwrap();
    assert!(system::is_held(&path), "as our own writes do");
    drop(file);
    assert!(!system::is_held(&path));
}

/// An overwritten file keeps what a new one would not have: its streams, its attributes, and all else.
#[cfg(windows)]
#[test]
fn written_file_is_the_same_file() {
    let room = Room::new();
    fs::write(&room.file, "old").unwrap();
    fs::hard_link(&room.file, room.folder.join("other")).unwrap();
    room.save(&mut Watched::default(), b"a longer text", None).unwrap();
    assert_eq!(fs::read(room.folder.join("other")).unwrap(), b"a longer text");
    // A user who may not write a file cannot replace it either.
    let mut permissions = fs::metadata(&room.file).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&room.file, permissions.clone()).unwrap();
    // Under Wine, root can write it anyway.
    if fs::OpenOptions::new().write(true).open(&room.file).is_err() {
        let refused = room.save(&mut Watched::default(), b"x", None).unwrap_err();
        assert!(
            matches!(&refused, NotSaved::Io(error) if error.kind() == ErrorKind::PermissionDenied),
            "{refused:?}"
        );
        assert_eq!((room.text(), room.others()), (Some(b"a longer text".to_vec()), 0));
    }
    #[allow(clippy::permissions_set_readonly_false, reason = "on Windows this only clears the attribute")]
    permissions.set_readonly(false);
    fs::set_permissions(&room.file, permissions).unwrap();
}

#[cfg(unix)]
#[test]
fn unusual_names_are_written() {
    let room = Room::new();
    let long = "ü".repeat(127);
    let odd: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"odd\xff");
    for name in [OsStr::new(&long), odd, OsStr::new("a.1.0~"), OsStr::new(".")] {
        let path = room.folder.join(name);
        for text in ["old", "new"] {
            match save(&path, text.as_bytes(), None) {
                Ok(_) => assert_eq!(fs::read_to_string(&path).unwrap(), text, "{name:?}"),
                Err(error) => assert!(name == "." && error.to_string().contains("directory"), "{error}"),
            }
        }
    }
    assert_eq!(fs::read_dir(&room.folder).unwrap().count(), 3);
    let loops = room.folder.join("loop");
    std::os::unix::fs::symlink("loop", &loops).unwrap();
    assert!(save(&loops, b"x", None).is_err());
    let fifo = room.folder.join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    assert_eq!(save(&fifo, b"x", None).unwrap_err().to_string(), "it is not a file");
}

/// A later release of this program, built with another version of Rust, must find what this one has left behind.
#[test]
fn name_of_what_is_left_behind_never_changes() {
    let long = "ü".repeat(127);
    // Long and odd names become the first 16 digits of what `sha1sum` prints.
    for (name, expected) in [(OsStr::new("a.txt"), "a.txt"), (OsStr::new(&long), "c4a0da3adaab2db8")] {
        assert_eq!(spelling(name), expected, "{name:?}");
    }
    #[cfg(unix)]
    assert_eq!(spelling(std::os::unix::ffi::OsStrExt::from_bytes(b"odd\xff")), "0b933aad4e7766f1");
    let place = Place {
        real: "/project/f/a.txt".into(),
        folder: "/project/f".into(),
        name: spelling(OsStr::new("a.txt")),
    };
    assert_eq!(place.name_elsewhere(), "c07619fc0ec4100d.a.txt");
    let longest = Place { name: "n".repeat(MAX_NAME), ..place };
    let beside = format!(".{}.ide-mcp-{}-{ATTEMPTS}~", longest.name_elsewhere(), u32::MAX);
    assert!(copy_name(Path::new(&beside)).as_os_str().len() <= 255, "{beside}");
}

#[test]
fn state_directory_follows_the_environment() {
    // An absolute path of this system, on which the rules of both are checked.
    let root = if cfg!(windows) { "C:" } else { "" };
    type Row<'a> = (bool, &'a [(&'a str, &'a str)], Option<&'a str>);
    let rows: &[Row<'_>] = &[
        (false, &[("XDG_STATE_HOME", "/x"), ("HOME", "/h")], Some("/x")),
        (false, &[("XDG_STATE_HOME", "relative"), ("HOME", "/h")], Some("/h/.local/state")),
        (false, &[("HOME", "/h"), ("LOCALAPPDATA", "/l")], Some("/h/.local/state")),
        (false, &[("HOME", "")], None),
        (false, &[], None),
        (true, &[("LOCALAPPDATA", "/l"), ("HOME", "/h"), ("XDG_STATE_HOME", "/x")], Some("/l")),
        (true, &[("LOCALAPPDATA", "relative"), ("HOME", "/h")], None),
        (true, &[("HOME", "/h")], None),
    ];
    for (is_windows, variables, expected) in rows {
        let value =
            |value: &str| if value.starts_with('/') { format!("{root}{value}") } else { value.into() };
        let found = state_dir_in(
            |name| variables.iter().find(|(known, _)| *known == name).map(|(_, found)| value(found).into()),
            *is_windows,
        );
        assert_eq!(found, expected.map(|path| value(path).into()), "{is_windows} {variables:?}");
    }
}
