//! The modes of files and directories under the most permissive umask. The umask belongs to the process, so
//! this test is a program of its own.

#![cfg(unix)]

#[path = "it/support/mod.rs"]
mod support;

use ide_mcp_lockfile::{LockDir, write_private};
use rustix::fs::Mode;
use support::{TempDir, lock_file, mode};

#[test]
fn l01_modes_do_not_depend_on_the_umask() {
    let temp = TempDir::new();
    rustix::process::umask(Mode::empty());
    let dir = LockDir::create(temp.join("config/ide")).unwrap();
    let mut published = dir.publish(1, &lock_file("one")).unwrap();
    assert_eq!(mode(&temp.join("config")), 0o700);
    assert_eq!(mode(&temp.join("config/ide")), 0o700);
    assert_eq!(mode(published.path()), 0o600);
    published.update(&lock_file("two")).unwrap();
    assert_eq!(mode(published.path()), 0o600);
    let config = temp.join("config/ide/1.mcp.json");
    write_private(&config, "{}").unwrap();
    assert_eq!(mode(&config), 0o600);
}
