//! The guard of a lock file on a thread: its requests, and a disk that hangs.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test states what it expects, and waits for a real disk"
)]

use crate::guard::{Double, failed};
use crate::support::{TempDir, lock_file};
use ide_mcp::ide::LockFileEvent;
use ide_mcp_lockfile::{GuardMode, GuardThread, LockDir};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use std::{fs, thread};

#[test]
fn thread_restores_updates_and_removes_the_file() {
    let dir = TempDir::new();
    let published = LockDir::open(dir.path()).unwrap().publish(1, &lock_file("one")).unwrap();
    let (sender, events) = mpsc::channel();
    let mode = if cfg!(any(target_os = "linux", target_os = "android")) {
        GuardMode::Notified
    } else {
        GuardMode::Every(Duration::from_millis(100))
    };
    let guard = GuardThread::spawn(published, mode, move |event| sender.send(event).unwrap()).unwrap();
    let path = guard.path().to_owned();
    // The guard may look for the first time before or after this removal.
    fs::remove_file(&path).unwrap();
    let restored = || loop {
        if events.recv_timeout(Duration::from_secs(10)).unwrap() == LockFileEvent::Restored {
            return;
        }
    };
    restored();
    let mut other = lock_file("one");
    other.ide_name = "another name".into();
    guard.update(&other);
    let begin = Instant::now();
    while !fs::read_to_string(&path).unwrap().contains("another name") {
        assert!(begin.elapsed() < Duration::from_secs(10));
        // The pause between two reads of the file.
        thread::sleep(Duration::from_millis(1));
    }
    assert!(guard.remove().unwrap());
    assert!(!path.exists());
}

/// On this disk every call hangs for 3 s.
#[test]
fn hanging_disk_delays_only_the_guard_thread() {
    let dir = TempDir::new();
    let mut double = Double::new(&dir);
    double.hangs = Duration::from_secs(3);
    double.set_result(Err(std::io::ErrorKind::StorageFull));
    let (sender, events) = mpsc::channel();
    let guard =
        GuardThread::spawn(double, GuardMode::Notified, move |event| drop(sender.send(event))).unwrap();
    let update_often = || {
        let begin = Instant::now();
        for _ in 0..1_000 {
            guard.update(&lock_file("one"));
        }
        assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    };
    update_often();
    // With notifications the guard looks at once, otherwise after the interval.
    let event = events.recv_timeout(Duration::from_secs(10)).unwrap();
    assert!(failed(&event), "a file that cannot be restored is reported within 10 s: {event:?}");
    // The thread hangs in an update.
    update_often();
    // `remove` gives up before the disk answers; otherwise it would succeed.
    let removed = guard.remove();
    assert!(removed.is_err_and(|error| error.to_string().contains("1.lock")));
}

#[test]
fn panic_of_the_callback_removes_the_file_and_is_reported() {
    let dir = TempDir::new();
    let published = LockDir::open(dir.path()).unwrap().publish(1, &lock_file("one")).unwrap();
    let (sender, events) = mpsc::channel();
    let on_event = move |event| {
        sender.send(event).unwrap();
        std::panic::resume_unwind(Box::new("the callback panics"));
    };
    let guard = GuardThread::spawn(published, GuardMode::Every(Duration::from_millis(20)), on_event).unwrap();
    let path = guard.path().to_owned();
    fs::remove_file(&path).unwrap();
    assert_eq!(events.recv_timeout(Duration::from_secs(10)), Ok(LockFileEvent::Restored));
    let error = guard.remove().unwrap_err().to_string();
    assert!(error.contains("1.lock") && error.contains("panicked"), "{error}");
    assert!(!path.exists());
}

#[test]
fn busy_disk_gets_only_the_latest_update() {
    let dir = TempDir::new();
    let mut double = Double::new(&dir);
    double.hangs = Duration::from_millis(200);
    let updates = Arc::clone(&double.updates);
    let guard = GuardThread::spawn(double, GuardMode::Off, |_| {}).unwrap();
    for name in 0..200 {
        let mut file = lock_file("one");
        file.ide_name = name.to_string();
        guard.update(&file);
    }
    let begin = Instant::now();
    while updates.lock().unwrap().last().is_none_or(|name| name != "199") {
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", updates.lock().unwrap());
        // The pause between two looks at the updates.
        thread::sleep(Duration::from_millis(1));
    }
    // On a busy machine the thread may get a turn in between.
    assert!(updates.lock().unwrap().len() < 20, "{:?}", updates.lock().unwrap());
    assert!(guard.remove().unwrap());
}

/// A program may hold the file longer than publishing waits: the new folders are published all the same.
#[test]
fn failed_update_is_tried_again() {
    let dir = TempDir::new();
    let mut double = Double::new(&dir);
    double.failures = 2;
    let updates = Arc::clone(&double.updates);
    let (sender, events) = mpsc::channel();
    let guard = GuardThread::spawn(double, GuardMode::Off, move |event| drop(sender.send(event))).unwrap();
    let next = || events.recv_timeout(Duration::from_secs(30)).unwrap();
    let update = |name: &str| {
        let mut file = lock_file("one");
        file.ide_name = name.into();
        guard.update(&file);
    };
    update("first");
    assert!(failed(&next()));
    let begin = Instant::now();
    update("second");
    // The second update fails in the same way, which is reported only once.
    assert_eq!(next(), LockFileEvent::Restored);
    assert!(
        begin.elapsed() >= Duration::from_secs(4),
        "a failing update must not become a busy loop: {:?}",
        begin.elapsed()
    );
    assert_eq!(*updates.lock().unwrap(), ["first", "second", "second"]);
    assert!(guard.remove().unwrap());
    assert!(events.try_recv().is_err());
}
