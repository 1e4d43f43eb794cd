//! The guard of a lock file: when it looks, and what it reports.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test states what it expects, and waits for a real disk"
)]

use crate::support::TempDir;
use ide_mcp::Time;
use ide_mcp::ide::LockFileEvent;
use ide_mcp::ide::discovery::LockFile;
use ide_mcp_lockfile::{Error, Guard, GuardMode, Keep, Published, Watch};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const INTERVAL: Duration = Guard::<Published>::INTERVAL;

/// A test double for a published file: the test sets the result of a look, and the double counts the looks.
#[derive(Clone, Debug)]
pub(crate) struct Double {
    path: PathBuf,
    looks: Arc<AtomicUsize>,
    result: Arc<Mutex<Result<Watch, std::io::ErrorKind>>>,
    /// The editor names that were published.
    pub(crate) updates: Arc<Mutex<Vec<String>>>,
    pub(crate) hangs: Duration,
    /// How many updates fail.
    pub(crate) failures: usize,
}

impl Double {
    pub(crate) fn new(dir: &TempDir) -> Self {
        let result = Arc::new(Mutex::new(Ok(Watch::InPlace)));
        let (path, updates) = (dir.join("1.lock"), Arc::default());
        Self { path, looks: Arc::default(), result, updates, hangs: Duration::ZERO, failures: 0 }
    }

    pub(crate) fn set_result(&self, result: Result<Watch, std::io::ErrorKind>) {
        *self.result.lock().unwrap() = result;
    }

    fn looks(&self) -> usize {
        self.looks.load(Ordering::Relaxed)
    }
}

impl Keep for Double {
    fn path(&self) -> &Path {
        &self.path
    }

    fn look(&mut self) -> Result<Watch, Error> {
        thread::sleep(self.hangs);
        self.looks.fetch_add(1, Ordering::Relaxed);
        let failed = |kind: std::io::ErrorKind| Error::Io {
            operation: "write",
            path: self.path.clone(),
            source: kind.into(),
        };
        self.result.lock().unwrap().map_err(failed)
    }

    fn update(&mut self, file: &LockFile) -> Result<(), Error> {
        thread::sleep(self.hangs);
        self.updates.lock().unwrap().push(file.ide_name.clone());
        let Some(left) = self.failures.checked_sub(1) else { return Ok(()) };
        self.failures = left;
        Err(Error::Io {
            operation: "write",
            path: self.path.clone(),
            source: std::io::ErrorKind::StorageFull.into(),
        })
    }

    fn remove(self) -> Result<bool, Error> {
        thread::sleep(self.hangs);
        Ok(true)
    }
}

pub(crate) fn failed(event: &LockFileEvent) -> bool {
    matches!(event, LockFileEvent::Failed { error } if error.contains("1.lock"))
}

#[test]
fn guard_looks_once_in_each_interval() {
    let dir = TempDir::new();
    let double = Double::new(&dir);
    let second = Duration::from_secs(1);
    let mut guard = Guard::new(double.clone(), GuardMode::Every(second));
    let start = Time::from_millis(7);
    assert_eq!(guard.deadline(start), Some(start), "the first tick begins the interval");
    assert!(guard.tick(start).is_none() && double.looks() == 0);
    for round in 1..4_u32 {
        let due = start.saturating_add(second * round);
        assert_eq!(guard.deadline(start), Some(due));
        assert!(guard.tick(due).is_none());
        assert_eq!(double.looks(), usize::try_from(round).unwrap());
    }
}

#[test]
fn interval_is_at_least_1_ms() {
    let dir = TempDir::new();
    let double = Double::new(&dir);
    let mut guard = Guard::new(double.clone(), GuardMode::Every(Duration::ZERO));
    assert!(guard.tick(Time::ZERO).is_none());
    for millis in 1..4 {
        let due = Time::from_millis(millis);
        assert_eq!(guard.deadline(Time::ZERO), Some(due));
        assert!(guard.tick(due).is_none());
    }
    assert_eq!(double.looks(), 3);
}

#[test]
fn a_guard_that_is_off_never_looks() {
    let dir = TempDir::new();
    let double = Double::new(&dir);
    let mut guard = Guard::new(double.clone(), GuardMode::Off);
    for seconds in 0..100 {
        let now = Time::from_millis(seconds * 1000);
        assert!(guard.tick(now).is_none() && guard.deadline(now).is_none());
    }
    assert_eq!(double.looks(), 0);
}

#[test]
fn lasting_state_is_reported_once() {
    let dir = TempDir::new();
    let double = Double::new(&dir);
    let mut guard = Guard::new(double.clone(), GuardMode::Every(INTERVAL));
    let mut now = Time::ZERO;
    guard.tick(now);
    let mut next = |result| {
        double.set_result(result);
        now = now.saturating_add(INTERVAL);
        guard.tick(now)
    };
    assert_eq!(next(Ok(Watch::InPlace)), None);
    assert!(next(Err(std::io::ErrorKind::StorageFull)).is_some_and(|event| failed(&event)));
    assert_eq!(next(Err(std::io::ErrorKind::StorageFull)), None);
    assert!(next(Err(std::io::ErrorKind::PermissionDenied)).is_some_and(|event| failed(&event)));
    assert_eq!(next(Ok(Watch::Taken)), Some(LockFileEvent::Taken));
    assert_eq!(next(Ok(Watch::Taken)), None);
    assert_eq!(next(Ok(Watch::InPlace)), Some(LockFileEvent::Restored));
    assert_eq!(next(Ok(Watch::InPlace)), None);
    assert_eq!(next(Ok(Watch::Republished)), Some(LockFileEvent::Restored));
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod notified {
    use super::*;
    use crate::support::lock_file;
    use ide_mcp_lockfile::{LockDir, process_scope};
    use std::fs;
    use std::process::Command;
    use std::time::SystemTime;

    /// Takes the notifications, and returns the resulting events.
    fn events(guard: &mut Guard<impl Keep>, now: Time) -> Vec<LockFileEvent> {
        guard.notified();
        std::iter::from_fn(|| guard.tick(now)).collect()
    }

    #[test]
    fn guard_checks_once_and_then_after_changes() {
        let dir = TempDir::new();
        let double = Double::new(&dir);
        let mut guard = Guard::new(double.clone(), GuardMode::Notified);
        assert_eq!(events(&mut guard, Time::ZERO), []);
        assert_eq!((double.looks(), guard.deadline(Time::ZERO)), (1, None));
        fs::write(dir.join("2.lock"), "another").unwrap();
        fs::remove_file(dir.join("2.lock")).unwrap();
        assert_eq!(events(&mut guard, Time::from_millis(1)), []);
        assert_eq!(
            (double.looks(), guard.deadline(Time::from_millis(1))),
            (1, None),
            "another editor's file"
        );
        fs::write(dir.join("1.lock"), "ours").unwrap();
        fs::remove_file(dir.join("1.lock")).unwrap();
        double.set_result(Ok(Watch::Republished));
        assert_eq!(events(&mut guard, Time::from_millis(2)), [LockFileEvent::Lost, LockFileEvent::Restored]);
        assert_eq!((double.looks(), guard.deadline(Time::from_millis(2))), (2, None));
    }

    /// A published file whose directory somebody replaces right after the guard has seen the file in place.
    struct Replaced {
        published: Published,
        /// The changes still to come, one during each look. Each gets the directory above, and the directory.
        acts: Vec<fn(&Path, &Path)>,
    }

    impl Keep for Replaced {
        fn path(&self) -> &Path {
            self.published.path()
        }

        fn look(&mut self) -> Result<Watch, Error> {
            let seen = self.published.republish_if_missing();
            if let (Some(act), Some(ide)) = (self.acts.pop(), self.published.path().parent()) {
                act(ide.parent().unwrap(), ide);
            }
            seen
        }

        fn update(&mut self, file: &LockFile) -> Result<(), Error> {
            self.published.update(file)
        }

        fn remove(self) -> Result<bool, Error> {
            self.published.remove()
        }
    }

    /// Each change comes after the guard has seen the file in place. A directory that the guard no longer
    /// watches sends no notification, so the guard's deadline must lead to the next look.
    #[test]
    fn l06_lock_file_returns_after_changes_during_looks() {
        fn away(path: &Path) {
            let names = (0..).map(|n| path.with_file_name(format!("was-{n}")));
            fs::rename(path, names.into_iter().find(|name| !name.exists()).unwrap()).unwrap();
        }
        fn again(dir: &Path) {
            LockDir::create(dir).unwrap();
        }
        type Act = fn(&Path, &Path);
        let rows: [(&str, Act); 7] = [
            ("the file is removed", |_, ide| fs::remove_file(ide.join("1.lock")).unwrap()),
            ("the directory is removed", |_, ide| fs::remove_dir_all(ide).unwrap()),
            ("the directory is moved", |_, ide| away(ide)),
            ("the directory is removed and made again", |_, ide| {
                fs::remove_dir_all(ide).unwrap();
                again(ide);
            }),
            ("the directory is moved and made again", |_, ide| {
                away(ide);
                again(ide);
            }),
            ("the directory above is removed, and both are made again", |claude, ide| {
                fs::remove_dir_all(claude).unwrap();
                again(ide);
            }),
            ("the directory above is moved, and both are made again", |claude, ide| {
                away(claude);
                again(ide);
            }),
        ];
        for (name, act) in rows {
            for times in 1..4 {
                let dir = TempDir::new();
                let lock_dir = LockDir::create(dir.join("claude/ide")).unwrap();
                let published = lock_dir.publish(1, &lock_file("one")).unwrap();
                let path = published.path().to_owned();
                let keep = Replaced { published, acts: vec![act; times] };
                let (mut guard, mut now) = (Guard::new(keep, GuardMode::Notified), Time::ZERO);
                // Only a notification or the deadline leads to the next look. Each change needs one look, and
                // what the guard did itself needs another.
                for _ in 0..2 * (times + 1) {
                    events(&mut guard, now);
                    if let Some(due) = guard.deadline(now) {
                        assert!(due <= now.saturating_add(INTERVAL), "{name}: the next look is too late");
                        now = now.max(due);
                    }
                }
                assert_eq!(guard.keep().acts.len(), 0, "{name}, {times} times: no more looks");
                assert!(path.exists(), "{name}, {times} times: the file stays lost");
                assert_eq!((events(&mut guard, now), guard.deadline(now)), (vec![], None), "{name}");
            }
        }
    }

    #[test]
    fn only_failures_are_retried() {
        let dir = TempDir::new();
        let double = Double::new(&dir);
        double.set_result(Err(std::io::ErrorKind::StorageFull));
        let mut guard = Guard::new(double.clone(), GuardMode::Notified);
        let first = events(&mut guard, Time::ZERO);
        assert!(first.len() == 1 && failed(&first[0]), "{first:?}");
        assert_eq!(guard.deadline(Time::ZERO), Some(Time::ZERO.saturating_add(INTERVAL)));
        double.set_result(Ok(Watch::Republished));
        assert_eq!(guard.tick(Time::ZERO.saturating_add(INTERVAL)), Some(LockFileEvent::Restored));
        assert_eq!(guard.deadline(Time::ZERO.saturating_add(INTERVAL)), None);
    }

    /// A file of another editor beside a published one, `age` seconds older than it.
    fn rival(
        dir: &TempDir,
        name: &str,
        (pid, folder, scope): (u32, &str, Option<String>),
        age: i64,
    ) -> PathBuf {
        let mut file = lock_file("rival");
        (file.pid, file.workspace_folders, file.scope) = (Some(pid), vec![folder.into()], scope);
        let (path, written) = (dir.join(name), dir.join("written"));
        fs::write(&written, file.to_json()).unwrap();
        set_age(&written, age);
        fs::rename(written, &path).unwrap();
        path
    }

    fn set_age(path: &Path, age: i64) {
        let (now, by) = (SystemTime::now(), Duration::from_secs(age.unsigned_abs()));
        let time = if age < 0 { now + by } else { now - by };
        fs::File::open(path).unwrap().set_modified(time).unwrap();
    }

    fn dead() -> u32 {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    /// opencode and Kilo Code take the longest folder, then the newest file, and never look at the process.
    /// Nothing listens on ports 2 to 4.
    #[test]
    fn leftover_never_hides_living_editor() {
        let (alive, dead, scope) = (std::process::id(), dead(), process_scope());
        let foreign = Some("another run/1".to_owned());
        // The name of the case; the process, folder and scope of the other file; its age; whether it is
        // removed, whether our file gets a newer time, and whether the guard looks again by itself.
        type Row = (&'static str, (u32, &'static str, Option<String>), i64, bool, bool, bool);
        let rows: [Row; 14] = [
            ("newer, of another program", (dead, "/w/p", None), 0, false, true, false),
            ("in the future", (dead, "/w/p", None), -3600, false, true, false),
            ("older", (dead, "/w/p", None), 100, false, false, false),
            ("another spelling of the folder", (dead, "/w/./p/", None), 0, false, true, false),
            ("a folder above", (dead, "/w", None), 0, false, false, false),
            ("a folder below, of another program", (dead, "/w/p/q", None), 0, false, false, false),
            ("another folder", (dead, "/v", None), 0, false, false, false),
            ("newer, of our scope", (dead, "/w/p", scope.clone()), 0, true, false, false),
            ("older, below, of our scope", (dead, "/w/p/q", scope.clone()), 100, true, false, false),
            ("newer, of another container", (dead, "/w/p", foreign), 0, false, false, false),
            ("newer, alive", (alive, "/w/p", None), 0, false, false, true),
            ("older, alive", (alive, "/w/p", None), 100, false, false, false),
            ("below, alive, of our scope", (alive, "/w/p/q", scope), 100, false, false, true),
            ("below, alive, of another program", (alive, "/w/p/q", None), 100, false, false, false),
        ];
        for (name, file, age, removed, renewed, again) in rows {
            let dir = TempDir::new();
            let published = LockDir::open(dir.path()).unwrap().publish(1, &lock_file("one")).unwrap();
            let ours = published.path().to_owned();
            set_age(&ours, 10);
            let before = fs::metadata(&ours).unwrap().modified().unwrap();
            let mut guard = Guard::new(published, GuardMode::Notified);
            assert_eq!(
                (events(&mut guard, Time::ZERO), guard.deadline(Time::ZERO)),
                (vec![], None),
                "{name}"
            );
            let path = rival(&dir, "2.lock", file, age);
            let now = Time::from_millis(1);
            assert_eq!(events(&mut guard, now), [], "{name}");
            assert_eq!(!path.exists(), removed, "{name}: removed");
            let after = fs::metadata(&ours).unwrap().modified().unwrap();
            assert_eq!(after != before, renewed, "{name}: renewed");
            if renewed {
                assert!(after > fs::metadata(&path).unwrap().modified().unwrap(), "{name}: first");
            }
            let next = again.then(|| now.saturating_add(INTERVAL));
            assert_eq!(guard.deadline(now), next, "{name}: the next look");
            assert!(guard.remove().unwrap(), "{name}");
        }
    }

    #[test]
    fn end_of_newer_editor_is_noticed() {
        let dir = TempDir::new();
        let published = LockDir::open(dir.path()).unwrap().publish(1, &lock_file("one")).unwrap();
        let ours = published.path().to_owned();
        let mut guard = Guard::new(published, GuardMode::Notified);
        assert_eq!(events(&mut guard, Time::ZERO), []);
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let path = rival(&dir, "2.lock", (child.id(), "/w/p", None), -5);
        let newer = || {
            fs::metadata(&ours).unwrap().modified().unwrap()
                > fs::metadata(&path).unwrap().modified().unwrap()
        };
        let mut now = Time::ZERO;
        for _ in 0..3 {
            assert_eq!((events(&mut guard, now), newer()), (vec![], false), "while it lives");
            now = guard.deadline(now).unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((events(&mut guard, now), newer()), (vec![], true), "after its end");
        assert_eq!(guard.deadline(now), None);
    }

    /// To outrank a leftover, only the newer of two living editors gives its file a newer time.
    #[test]
    fn newest_living_editor_stays_newest() {
        let dir = TempDir::new();
        let lock_dir = LockDir::open(dir.path()).unwrap();
        let published = [1, 5].map(|port| lock_dir.publish(port, &lock_file("one")).unwrap());
        let paths = published.each_ref().map(|published| published.path().to_owned());
        set_age(&paths[0], 20);
        set_age(&paths[1], 10);
        let mut guards = published.map(|published| Guard::new(published, GuardMode::Notified));
        let left = rival(&dir, "2.lock", (dead(), "/w/p", None), 0);
        for guard in &mut guards {
            events(guard, Time::ZERO);
        }
        let time = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
        assert!(time(&paths[0]) < time(&left) && time(&left) < time(&paths[1]), "the newer one is first");
    }

    /// The guard restores the file before it takes the notification of the removal.
    #[test]
    fn late_notification_leaves_the_file_in_place() {
        let dir = TempDir::new();
        let published = LockDir::open(dir.path()).unwrap().publish(1, &lock_file("one")).unwrap();
        let mut guard = Guard::new(published, GuardMode::Notified);
        fs::remove_file(guard.keep().path()).unwrap();
        assert_eq!(guard.tick(Time::ZERO), Some(LockFileEvent::Restored));
        assert_eq!(events(&mut guard, Time::ZERO), [LockFileEvent::Lost, LockFileEvent::Restored]);
        assert_eq!(events(&mut guard, Time::ZERO), []);
    }

    #[test]
    fn l06_lock_file_returns_after_every_removal() {
        type Act = fn(&Path, &Path);
        let cases: [(&str, Act); 5] = [
            ("removed", |_, file| fs::remove_file(file).unwrap()),
            ("moved away", |root, file| fs::rename(file, root.join("elsewhere")).unwrap()),
            ("its directory removed", |root, _| fs::remove_dir_all(root.join("claude/ide")).unwrap()),
            ("its directory moved", |root, _| {
                fs::rename(root.join("claude/ide"), root.join("claude/was")).unwrap();
            }),
            ("the directory above moved", |root, _| {
                fs::rename(root.join("claude"), root.join("was")).unwrap();
            }),
        ];
        for (name, act) in cases {
            let dir = TempDir::new();
            let lock_dir = LockDir::create(dir.join("claude/ide")).unwrap();
            let mut guard = Guard::new(lock_dir.publish(1, &lock_file("one")).unwrap(), GuardMode::Notified);
            let path = guard.keep().path().to_owned();
            assert_eq!(events(&mut guard, Time::ZERO), [], "{name}");
            for round in 1..3 {
                let now = Time::from_millis(round * 60_000);
                act(dir.path(), &path);
                assert_eq!(
                    events(&mut guard, now),
                    [LockFileEvent::Lost, LockFileEvent::Restored],
                    "{name}, round {round}"
                );
                assert!(path.exists(), "{name}");
                // The guard's own changes cause one more look, which finds the file in place. No other look
                // follows.
                assert_eq!(events(&mut guard, now), [], "{name}");
                let later = now.saturating_add(INTERVAL);
                assert_eq!(events(&mut guard, later), [], "{name}");
                assert_eq!(guard.deadline(later), None, "{name}");
                let _ = fs::remove_dir_all(dir.join("was"));
                let _ = fs::remove_dir_all(dir.join("claude/was"));
            }
            assert!(guard.remove().unwrap(), "{name}");
            assert!(!path.exists(), "{name}");
        }
    }
}
