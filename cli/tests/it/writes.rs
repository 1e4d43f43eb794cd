//! The files of a user, as `agent diff` writes them: on a full disk, at a kill, under a change by the user, and with
//! other names, links and modes. `src/support/save` has the same tests for each step of a write.

use crate::support::{Editor, Place, Process, dead, skip};
use serde_json::json;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::process::Command;
use std::time::{Duration, Instant};

const ACCEPT: &str = r#"{"cmd":"answer","verdict":"accept"}"#;

/// Proposes `new.txt` for a file, and returns the agent that waits for the verdict.
fn propose(place: &Place, editor: &mut Editor, arguments: &[&str]) -> Process {
    place.write("new.txt", "new\n");
    let agent = place.agent(&[&["diff"], arguments].concat());
    editor.until("diff");
    agent
}

/// Returns the names in the project that a write has left behind.
fn left(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(place.project()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with('~')).collect()
}

#[test]
fn change_since_the_proposal_is_kept() {
    let place = Place::new("writes-changed");
    let mut editor = place.editor(&[]);
    let rows = [
        ("changed", Some("old\n"), Some("mine\n"), "has changed since it was proposed"),
        ("as long as before", Some("old\n"), Some("mad\n"), "has changed since it was proposed"),
        ("created", None, Some("mine\n"), "was created since it was proposed"),
        ("removed", Some("old\n"), None, "was removed since it was proposed"),
    ];
    let put = |text: Option<&str>| match text {
        Some(text) => drop(place.write("c.txt", text)),
        None => drop(fs::remove_file(place.project().join("c.txt"))),
    };
    let get = || fs::read_to_string(place.project().join("c.txt")).ok();
    for (name, before, meanwhile, reason) in rows {
        for flags in [&[][..], &["--json"], &["--force"]] {
            put(before);
            let mut agent = propose(&place, &mut editor, &[&["c.txt", "new.txt"], flags].concat());
            put(meanwhile);
            editor.send_line(ACCEPT);
            let text = agent.rest();
            if flags == ["--force"] {
                assert_eq!(agent.end(), (Some(0), String::new()), "{name}");
                assert_eq!(
                    (text, get().as_deref()),
                    (vec!["accepted: c.txt was written".into()], Some("new\n"))
                );
                continue;
            }
            let refused = agent.fails(1, &["c.txt was not written: it ", reason, "--force"]);
            assert_eq!(get().as_deref(), meanwhile, "{name}: {refused}");
            if flags == ["--json"] {
                let event: serde_json::Value = serde_json::from_str(&text.concat()).unwrap();
                assert_eq!((&event["event"], &event["status"]), (&json!("error"), &json!(1)));
                assert!(event["message"].as_str().unwrap().contains(reason), "{event}");
            } else {
                assert_eq!(text, [""; 0], "{name}");
            }
        }
    }
    // A program that wrote the same text has changed nothing.
    put(Some("old\n"));
    let mut agent = propose(&place, &mut editor, &["c.txt", "new.txt"]);
    fs::remove_file(place.project().join("c.txt")).unwrap();
    put(Some("old\n"));
    editor.send_line(ACCEPT);
    assert_eq!((agent.end(), get().as_deref()), ((Some(0), String::new()), Some("new\n")));
    place.agent(&["--force", "tools"]).fails(2, &["--force goes with diff"]);
}

/// The user at the editor can refuse some hunks, or edit the text.
#[test]
fn verdict_says_what_was_written() {
    let place = Place::new("writes-words");
    let mut editor = place.editor(&[]);
    let lines = |changed: &[usize]| -> String {
        (0..9)
            .map(|nth| if changed.contains(&nth) { format!("new {nth}\n") } else { format!("{nth}\n") })
            .collect()
    };
    let edited = lines(&[0, 4, 8]).replace("new 4", "mine");
    let rows = [
        ("as proposed", None, "accepted: c.txt was written", json!([3, 3, false])),
        (
            "a hunk refused",
            Some(lines(&[0, 8])),
            "accepted with your changes (2 of 3 hunks): c.txt was written",
            json!([3, 2, false]),
        ),
        (
            "a hunk edited",
            Some(edited),
            "accepted as you edited it (2 of 3 hunks as proposed): c.txt was written",
            json!([3, 2, true]),
        ),
    ];
    for (name, contents, words, made) in rows {
        for json in [false, true] {
            place.write("c.txt", &lines(&[]));
            place.write("new.txt", &lines(&[0, 4, 8]));
            let flags: &[&str] = if json { &["--json"] } else { &[] };
            let mut agent = place.agent(&[&["diff", "c.txt", "new.txt"], flags].concat());
            editor.until("diff");
            let mut answer = json!({"cmd": "answer", "verdict": "accept"});
            if let Some(contents) = &contents {
                answer["contents"] = contents.as_str().into();
            }
            editor.send_line(&answer.to_string());
            let text = agent.rest().concat();
            if json {
                let text: serde_json::Value = serde_json::from_str(&text).unwrap();
                assert_eq!(json!([text["hunks"], text["kept"], text["edited"]]), made, "{name}");
                assert_eq!((&text["verdict"], &text["path"]), (&json!("accepted"), &json!("c.txt")));
            } else {
                assert_eq!(text, words, "{name}");
            }
            assert_eq!(agent.end(), (Some(0), String::new()), "{name}");
            assert_eq!(place.read("c.txt"), contents.clone().unwrap_or_else(|| lines(&[0, 4, 8])), "{name}");
        }
    }
}

/// A user may have edited the proposal before accepting it. If that text cannot be written, it is kept.
#[test]
fn accepted_text_is_kept_when_it_is_not_written() {
    let place = Place::new("writes-accepted");
    let mut editor = place.editor(&[]);
    let answer = |text: &str| json!({"cmd": "answer", "verdict": "accept", "contents": text}).to_string();
    let kept = ["new.txt.accepted", "new.txt.accepted.1", "new.txt.accepted.2"];
    for (at, name) in kept.iter().enumerate() {
        place.write("c.txt", "old\n");
        let mut agent = propose(&place, &mut editor, &["c.txt", "new.txt"]);
        place.write("c.txt", "changed\n");
        editor.send_line(&answer(&format!("edited {at}\n")));
        assert_eq!(agent.rest(), [""; 0]);
        let text = agent.fails(1, &["has changed since it was proposed"]);
        assert!(text.ends_with(&format!("; the accepted text is in {name}\n")), "{text}");
        assert_eq!(place.read("c.txt"), "changed\n");
        for (at, name) in kept[..=at].iter().enumerate() {
            assert_eq!(place.read(name), format!("edited {at}\n"), "every one is kept");
            assert_eq!(fs::metadata(place.project().join(name)).unwrap().mode() & 0o777, 0o600);
        }
    }
    // A text that was accepted as proposed need not be kept again: NEWFILE has it.
    let mut agent = propose(&place, &mut editor, &["c.txt", "new.txt"]);
    place.write("c.txt", "again\n");
    editor.send_line(ACCEPT);
    assert!(!agent.fails(1, &["has changed since it was proposed"]).contains("accepted text"));
    assert!(!place.project().join("new.txt.accepted.3").exists());
}

/// If no file can be created beside NEWFILE, the text is kept in the state directory, and if nothing can be written,
/// it is printed. Here the name of NEWFILE is so long that no ending can be added.
#[test]
fn accepted_text_is_kept_wherever_it_can_be() {
    let place = Place::new("writes-kept");
    let mut editor = place.editor(&[]);
    let answer = json!({"cmd": "answer", "verdict": "accept", "contents": "edited\n\x1b"}).to_string();
    let new = "n".repeat(250);
    let state = place.home().join(".local/state");
    let mut refuse = |flags: &[&str]| {
        place.write(&new, "new\n");
        place.write("c.txt", "old\n");
        let mut agent = place.agent(&[&["diff", "c.txt", new.as_str()], flags].concat());
        editor.until("diff");
        place.write("c.txt", "changed\n");
        editor.send_line(&answer);
        let printed = agent.rest();
        (printed, agent.fails(1, &["has changed since it was proposed"]))
    };
    let folder = state.join("ide-mcp");
    for name in ["accepted", "accepted.1"] {
        let (printed, text) = refuse(&[]);
        let (_, path) = text.trim_end().split_once("; the accepted text is in ").unwrap();
        assert_eq!((printed, fs::read_to_string(path).unwrap().as_str()), (vec![], "edited\n\x1b"));
        let path = std::path::Path::new(path);
        assert!(path.starts_with(&folder) && path.to_str().unwrap().ends_with(name), "{text}");
        assert_eq!(fs::metadata(path).unwrap().mode() & 0o777, 0o600);
    }
    assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    fs::remove_dir_all(&state).unwrap();
    fs::write(&state, "no folder").unwrap();
    let (printed, text) = refuse(&[]);
    assert_eq!(printed, ["edited", "\x1b"], "a program that reads the text gets it unchanged");
    assert!(
        text.contains("; the accepted text could not be kept (") && text.contains("it is on standard output")
    );
    let (printed, text) = refuse(&["--json"]);
    let event: serde_json::Value = serde_json::from_str(&printed.concat()).unwrap();
    assert_eq!((&event["event"], &event["status"]), (&json!("error"), &json!(1)));
    assert_eq!(event["accepted"], "edited\n\x1b");
    assert_eq!(text, format!("agent: {}\n", event["message"].as_str().unwrap()));
    assert!(text.contains("member `accepted`"), "{text}");
}

#[test]
fn names_links_and_modes_stay() {
    let place = Place::new("writes-names");
    let mut editor = place.editor(&[]);
    let path = |name: &str| place.project().join(name);
    place.write("real.txt", "old\n");
    fs::set_permissions(path("real.txt"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.txt", path("link.txt")).unwrap();
    symlink("later.txt", path("dangling.txt")).unwrap();
    place.write("one.txt", "old\n");
    fs::hard_link(path("one.txt"), path("two.txt")).unwrap();
    for (name, holds) in [("link.txt", "real.txt"), ("dangling.txt", "later.txt"), ("one.txt", "two.txt")] {
        let mut agent = propose(&place, &mut editor, &[name, "new.txt"]);
        editor.send_line(ACCEPT);
        assert_eq!(agent.end(), (Some(0), String::new()), "{name}");
        assert_eq!((place.read(name).as_str(), place.read(holds).as_str()), ("new\n", "new\n"), "{name}");
    }
    for link in ["link.txt", "dangling.txt"] {
        assert!(fs::symlink_metadata(path(link)).unwrap().is_symlink(), "{link}");
    }
    assert_eq!(fs::metadata(path("real.txt")).unwrap().mode() & 0o777, 0o640);
    assert_eq!(fs::metadata(path("one.txt")).unwrap().nlink(), 2);
    assert_eq!(left(&place), [""; 0]);
}

/// A write in place that is killed leaves a copy of the text before it. The next proposal names this copy.
#[test]
fn copy_of_a_killed_write_is_named() {
    let place = Place::new("writes-copy");
    let mut editor = place.editor(&[]);
    place.write("a.txt", "half");
    let (copy, part) = (format!(".a.txt.ide-mcp-{}-0.old~", dead()), format!(".a.txt.ide-mcp-{}-1~", dead()));
    place.write(&copy, "whole\n");
    place.write(&part, "a part");
    let mut agent = propose(&place, &mut editor, &["a.txt", "new.txt"]);
    editor.send_line(ACCEPT);
    let (status, text) = agent.end();
    let path = place.project().canonicalize().unwrap().join(&copy);
    let note = "may have the text of a.txt before a write that was cut short: compare and remove it";
    assert_eq!((status, text), (Some(0), format!("agent: {} {note}\n", path.display())));
    assert_eq!((place.read("a.txt").as_str(), place.read(&copy).as_str()), ("new\n", "whole\n"));
    assert_eq!(left(&place), [copy]);
}

/// Runs `script` in a shell with a small file system of its own at `$HOME/disk`, and returns its output; `None` if
/// this machine does not let a test mount one.
fn on_a_small_disk(place: &Place, script: &str) -> Option<String> {
    let mount =
        "mkdir -p \"$HOME/disk\" && mount -t tmpfs -o size=128k tmpfs \"$HOME/disk\" && cd \"$HOME/disk\"";
    let run = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
        place.prepare(&mut command);
        command.output()
    };
    match run(mount) {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            skip(&String::from_utf8_lossy(&output.stderr).replace('\n', " "));
            return None;
        }
        Err(error) => {
            skip(&format!("unshare cannot be started: {error}"));
            return None;
        }
    }
    let output = run(&format!("{mount} && {{ {script}\n}} 2>&1")).unwrap();
    Some(String::from_utf8(output.stdout).unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_keeps_the_old_text() {
    let place = Place::new("writes-full");
    let _editor = place.editor(&["--on-diff", "accept"]);
    place.write("new.txt", &"n".repeat(60_000));
    let program = crate::executable();
    // A disk of 128 KiB with a file of 40,000 bytes in it and one page free, as `df` counts it.
    let script = format!(
        "head -c 40000 /dev/zero | tr '\\0' o > f.txt; $LINK
         head -c 77824 /dev/zero > rest; echo free $(df --output=avail . | tail -1)
         '{program}' agent --cwd \"{project}\" diff \"$HOME/disk/f.txt\" new.txt; echo status $?
         echo text $(tr -d o < f.txt | wc -c) $(wc -c < f.txt); ls -A",
        project = place.project().display(),
    );
    for (link, files) in [("", "f.txt rest"), ("ln f.txt g.txt", "f.txt g.txt rest")] {
        let Some(text) = on_a_small_disk(&place, &script.replace("$LINK", link)) else { return };
        assert!(
            text.contains("free 12\n") || text.contains("free 8\n") || text.contains("free 4\n"),
            "{text}"
        );
        assert!(text.contains("status 1\n") && text.contains("f.txt was not written: "), "{link}: {text}");
        assert!(text.contains("No space left on device"), "{link}: {text}");
        assert!(text.contains("text 0 40000\n"), "{link}: the old text is whole: {text}");
        assert!(text.trim_end().replace('\n', " ").ends_with(files), "{link}: nothing is left: {text}");
    }
}

/// Kills the agent once the file that it writes beside `f.txt` has this many bytes, or `f.txt` itself has another
/// size.
fn kill_at(place: &Place, agent: &mut Process, bytes: u64) {
    let begin = Instant::now();
    let size = |name: &str| fs::metadata(place.project().join(name)).map_or(0, |file| file.len());
    let (whole, beside) = (size("f.txt"), || left(place).iter().map(|name| size(name)).max());
    while beside().is_none_or(|size| size < bytes) && size("f.txt") == whole {
        assert!(begin.elapsed() < Duration::from_secs(30), "nothing is written");
        if agent.has_ended() {
            return;
        }
    }
    agent.kill();
}

#[cfg(target_os = "linux")]
#[test]
fn killed_write_loses_nothing() {
    const SIZE: usize = 4 * 1024 * 1024;
    let place = Place::new("writes-killed");
    let _editor = place.editor(&["--on-diff", "accept"]);
    let (old, new) = ("o".repeat(SIZE), "n".repeat(SIZE));
    place.write("new.txt", &new);
    let path = |name: &str| place.project().join(name);
    for has_other_name in [false, true] {
        for part in 0..8_u64 {
            place.write("f.txt", &old);
            if has_other_name {
                let _ = fs::hard_link(path("f.txt"), path("g.txt"));
            }
            let mut agent = place.agent(&["diff", "f.txt", "new.txt"]);
            kill_at(&place, &mut agent, part * u64::try_from(SIZE).unwrap() / 8);
            let text = place.read("f.txt");
            let copies: Vec<String> = left(&place).iter().map(|name| place.read(name)).collect();
            let is_safe = text == old || text == new || (has_other_name && copies.contains(&old));
            assert!(is_safe, "{has_other_name} {part}: {} bytes, {} copies", text.len(), copies.len());
        }
        // The next write works, and removes what is surely of no use.
        let mut agent = place.agent(&["diff", "--force", "f.txt", "new.txt"]);
        assert_eq!(agent.end().0, Some(0));
        assert_eq!(place.read("f.txt"), new);
        let copies: Vec<String> = left(&place).iter().map(|name| place.read(name)).collect();
        assert!(copies.iter().all(|copy| has_other_name && *copy == old), "{} copies", copies.len());
    }
}
