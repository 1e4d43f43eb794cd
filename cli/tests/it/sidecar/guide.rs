//! The editors in Python that docs/first-editor.md and docs/sidecar.md show.

use crate::support::{Place, Process, skip};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

#[test]
fn editor_of_the_guide_asks_its_user() {
    let place = Place::new("sidecar-guide");
    let Some(mut editor) = editor_of(&place, "first-editor.md") else { return };
    assert!(editor.line().contains("claude --ide"));

    for (answer, status) in [("y", 0), ("n", 1), ("", 1)] {
        let new = place.write("proposal", &format!("\u{1b}[2J{answer}\n"));
        let mut agent = place.agent(&["diff", "hello.txt", &new]);
        assert!(editor.line().ends_with("hello.txt"));
        assert_eq!(editor.line(), format!("\u{fffd}[2J{answer}"), "no escape reaches the terminal");
        assert_eq!(editor.line(), "");
        editor.send_line(answer);
        assert_eq!(agent.end().0, Some(status), "{answer:?}");
        assert_eq!(
            place.read("hello.txt"),
            "\u{1b}[2Jy\n",
            "the agent writes what was accepted, and nothing else"
        );
    }

    editor.kill();
    let begin = Instant::now();
    while !place.in_lock_dir().is_empty() {
        assert!(
            begin.elapsed() < Duration::from_secs(20),
            "the sidecar of a killed editor leaves its lock file"
        );
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn asyncio_editor_of_the_guide_reads_a_long_proposal() {
    let place = Place::new("sidecar-asyncio");
    let Some(_editor) = editor_of(&place, "sidecar.md") else { return };
    let long = "line\n".repeat(200_000);
    let new = place.write("proposal", &long);
    place.published("the editor", None);
    assert_eq!(place.agent(&["diff", "hello.txt", &new]).end().0, Some(0));
    assert_eq!(place.read("hello.txt"), long);
}

/// Starts the first program in Python of a page. Returns `None`, and says so, if there is no Python.
fn editor_of(place: &Place, page: &str) -> Option<Process> {
    if Command::new("python3").arg("--version").output().is_err() {
        skip("there is no python3");
        return None;
    }
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(page)).unwrap();
    let code = page.split_once("```python\n").and_then(|(_, rest)| rest.split_once("```")).unwrap().0;
    let mut command = Command::new("python3");
    command.arg(place.write("editor.py", code)).env("PYTHONUTF8", "1").env("PYTHONUNBUFFERED", "1");
    // The editor starts `ide-mcp`, which a person has installed.
    let programs = Path::new(crate::executable()).parent().unwrap().to_owned();
    let path = env::var_os("PATH").unwrap_or_default();
    command.env("PATH", env::join_paths([programs].into_iter().chain(env::split_paths(&path))).unwrap());
    place.prepare(&mut command);
    Some(Process::spawn("editor.py", &mut command))
}
