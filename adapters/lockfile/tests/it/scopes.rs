//! Two editors in pid namespaces of their own share a home, as in two containers.
//!
//! The test with namespaces needs root and `unshare`, and is skipped without them. The test with leftover
//! lock files needs neither.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test states what it expects, and its helper talks to it"
)]

use crate::support::{TempDir, names, skip};
use ide_mcp::ide::discovery::LockFile;
use ide_mcp_lockfile::{LockDir, new_token, process_scope};
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::{env, fs};

/// Publishes in the directory that `IDE_MCP_TEST_DIR` names, and runs until its input ends. The tests
/// below start this helper as a process.
#[test]
#[ignore = "a helper of the other tests"]
fn helper() {
    let Some(dir) = env::var_os("IDE_MCP_TEST_DIR") else { return };
    let port = env::var("IDE_MCP_TEST_PORT").unwrap().parse().unwrap();
    let file = LockFile::new(std::process::id(), vec!["/w".into()], "editor", new_token().unwrap());
    let published = LockDir::create(dir).unwrap().publish(port, &file).unwrap();
    println!("\npublished by {}", std::process::id());
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    if line == "leave the file\n" {
        std::mem::forget(published);
    }
}

/// Starts an editor in a process of its own, after `others` other processes, so that no other editor has the
/// same process id.
fn editor(before: &[&str], others: u32, dir: &Path, port: u16) -> Editor {
    let script =
        format!("i=0; while [ $i -lt {others} ]; do /bin/true; i=$((i+1)); done; \"$0\" \"$@\"; exit $?");
    let test = env::current_exe().unwrap();
    let words = before.iter().map(|word| word.as_ref()).chain(["sh", "-c", &script].map(AsRef::as_ref));
    let words: Vec<&std::ffi::OsStr> = words
        .chain([test.as_os_str()])
        .chain(["--exact", "scopes::helper", "--ignored", "--nocapture"].map(AsRef::as_ref))
        .collect();
    let mut child = Command::new(words[0])
        .args(&words[1..])
        .env("IDE_MCP_TEST_DIR", dir)
        .env("IDE_MCP_TEST_PORT", port.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let output: Vec<String> =
        lines.by_ref().map(Result::unwrap).take_while(|line| !line.starts_with("published by")).collect();
    assert!(fs::exists(dir.join(format!("{port}.lock"))).unwrap(), "{output:?}");
    Editor { child, lines }
}

struct Editor {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

fn end(Editor { mut child, lines }: Editor, word: &str) {
    child.stdin.take().unwrap().write_all(word.as_bytes()).unwrap();
    let output: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success(), "{output:?}");
}

#[test]
fn l17_containers_with_shared_home_keep_lock_files() {
    let namespace = ["unshare", "--pid", "--fork"];
    let probe = Command::new(namespace[0]).args(&namespace[1..]).arg("true").stderr(Stdio::null()).status();
    if !probe.is_ok_and(|status| status.success()) {
        skip("only root can make a pid namespace");
        return;
    }
    let temp = TempDir::new();
    let dir = temp.join("ide");
    // Nothing listens on these ports, and each process id is unknown in the other namespace and here.
    let one = editor(&namespace, 0, &dir, 1);
    let two = editor(&namespace, 50, &dir, 2);
    let file = LockFile::new(std::process::id(), vec!["/w".into()], "editor", new_token().unwrap());
    let here = LockDir::open(&dir).unwrap().publish(3, &file).unwrap();
    assert_eq!(names(&dir), ["1.lock", "2.lock", "3.lock"]);
    end(one, "remove it\n");
    end(two, "remove it\n");
    assert_eq!(names(&dir), ["3.lock"]);
    drop(here);
}

#[test]
fn l06_l17_leftover_of_own_scope_is_removed() {
    assert!(process_scope().is_some());
    let temp = TempDir::new();
    let dir = temp.join("ide");
    end(editor(&["env"], 0, &dir, 1), "leave the file\n");
    let marked = fs::read_to_string(dir.join("1.lock")).unwrap();
    let scope = process_scope().unwrap();
    let rows = [
        ("2.lock", marked.replace(&scope, "another run/1"), "of another scope"),
        ("3.lock", marked.replace("\"editor\"", "\"\""), "without a name"),
        ("4.lock", marked.replace(&format!(",\"ideMcpScope\":\"{scope}\""), ""), "without a mark"),
    ];
    for (name, text, case) in &rows {
        assert_ne!(*text, marked, "{case}");
        fs::write(dir.join(name), text).unwrap();
    }
    fs::write(dir.join("6.lock"), marked.replace("\"editor\"", "\"another\"")).unwrap();
    let file = LockFile::new(std::process::id(), vec!["/w".into()], "editor", new_token().unwrap());
    let published = LockDir::open(&dir).unwrap().publish(5, &file).unwrap();
    assert_eq!(
        names(&dir),
        ["2.lock", "3.lock", "4.lock", "5.lock"],
        "only what is surely left over has gone"
    );
    drop(published);
}
