//! The configuration file of a user, with and without a screen.

use crate::screen::Desk;
use crate::support::{Editor, Place, tmux};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

/// Writes the configuration file in the home of a place, and returns its path.
fn configure(place: &Place, text: &str) -> PathBuf {
    let folder = place.home().join(".config/ide-mcp");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("config.toml");
    fs::write(&path, text).unwrap();
    // Whatever the umask of this process is.
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    path
}

#[test]
fn person_works_with_keys_and_a_theme_of_their_own() {
    if tmux::is_missing() {
        return;
    }
    let desk = Desk::new("configured");
    let (tmux, place) = (&desk.tmux, &desk.place);
    let path = configure(
        place,
        "[editor]\ntheme = \"light\"\ntoken = false\n\n[editor.keys]\nquit = \"Alt+Q\"\naccept = [\"Z\", \"F9\"]\n\
         reject = \"-\"\nhelp = [\"F7\", \"F1\"]\nmark = \"Ctrl+Space\"\n",
    );
    place.write("a.txt", "old\n");
    place.write("new.txt", "new\n");
    tmux.line("\"$EDITOR\" editor; echo \"status $?\"");
    tmux.wait("F7 help");
    tmux.wait("○ every program may attach, by ");
    let ground = "48;2;250;250;250";
    assert!(tmux.colored().contains(ground), "the theme is light: {}", tmux.colored());

    for (verdict, key, status) in [("rejected", "-", 1), ("accepted: a.txt was written", "Z", 0)] {
        let mut agent = place.agent(&["diff", "a.txt", "new.txt"]);
        tmux.wait(" Z accept  - reject");
        // The default keys do nothing any more.
        tmux.keys(&["a", "r"]);
        tmux.wait("Alt+Q ends the editor, F7 lists keys");
        tmux.keys(&[key]);
        assert_eq!((agent.line().as_str(), agent.end().0), (verdict, Some(status)));
    }
    assert_eq!(place.read("a.txt"), "new\n");

    tmux.resize(120, 140);
    tmux.keys(&["F7"]);
    let screen = tmux.wait("was read at the start");
    assert!(screen.contains(path.to_str().unwrap()) && screen.contains("Alt+Q"), "{screen}");
    assert!(!screen.contains("Ctrl+Q"), "{screen}");
    // Wait: if two keys that begin with Esc arrive together, the terminal takes them for one.
    tmux.keys(&["Escape"]);
    tmux.wait("F7 help");
    tmux.resize(80, 24);
    tmux.keys(&["M-q"]);
    tmux.wait("editor: ended by Alt+Q");
    tmux.wait("status 0");

    // Without the file everything is as before. A fault in it ends the editor before it takes the
    // screen.
    tmux.line("clear");
    desk.start_with("--no-config");
    tmux.wait("F1 help");
    assert!(!tmux.colored().contains(ground));
    tmux.keys(&["C-q"]);
    tmux.wait("editor: ended by Ctrl+Q");
    fs::write(&path, "[editor]\nthmee = \"light\"\n").unwrap();
    tmux.line("clear; \"$EDITOR\" editor; echo \"status $?\"");
    let screen = tmux.wait("status 2").replace('\n', "");
    assert!(
        screen.contains("config.toml:2:1: unknown name `thmee` (a similar one exists: `theme`); --no-config")
    );
}

#[test]
fn fault_is_one_line_and_an_event() {
    let place = Place::new("configured-badly");
    let path = configure(&place, "[editor]\ntoken = 0\n");
    let expected = format!(
        "{}:2:9: invalid type: integer `0`, expected a boolean; --no-config starts without it",
        path.display()
    );
    let mut editor = place.start("editor", &["--headless"]);
    let event = editor.event("error");
    assert_eq!(event, json!({"event": "error", "message": expected, "status": 2}));
    assert_eq!(editor.end(), (Some(2), format!("editor: {expected}\n")));
    assert!(place.in_lock_dir().is_empty(), "nothing has begun");

    fs::write(&path, "[editor]\ntoken = false\n").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
    let command = format!("(mode 666): chmod go-w {}; --no-config starts without it", path.display());
    place.start("editor", &["--headless"]).fails(2, &["editor: other users can write to ", &command]);
    // With another file or without any, the bad file is ignored.
    let other = place.write("other.toml", "");
    assert_eq!(sent(place.editor(&["--config", &other])), "");
    assert_eq!(sent(place.editor(&["--no-config"])), "");
    place.start("editor", &["--headless", "--config", "none.toml"]).fails(2, &["none.toml: No such file"]);
}

#[test]
fn file_decides_without_a_screen_too() {
    let place = Place::new("configured-headless");
    let text =
        "[editor]\ndialect = \"snake-case\"\non-diff = \"accept\"\ntoken = false\nhide = [\"*.pem\"]\n";
    let path = configure(&place, text);
    for name in ["a.json", "key.pem"] {
        place.write(name, "{}\n");
    }
    // The arguments, whether the lock file has a token, the name of a tool, and the notice.
    let rows: &[(&str, &[&str], bool, &str, &str)] = &[
        ("the file", &[], false, "open_file", "every change is accepted, every program may attach, by "),
        ("with options", &["--dialect", "vscode", "--ask-token", "--on-diff", "ask"], true, "openFile", ""),
        (
            "with --no-ignore",
            &["--dialect", "vscode", "--no-ignore", "--ask-token", "--on-diff", "ask"],
            true,
            "openFile",
            "",
        ),
    ];
    for (name, arguments, has_token, tool, notice) in rows {
        let editor = place.editor(arguments);
        let lock: Value = serde_json::from_str(&fs::read_to_string(&editor.lock).unwrap()).unwrap();
        assert_eq!(lock.get("authToken").is_some(), *has_token, "{name}");
        let tools = place.agent(&["tools"]).rest().join("\n");
        assert!(tools.contains(tool), "{name}: {tools}");
        if *tool == "openFile" {
            let call = |file: &str| {
                let arguments = json!({"filePath": place.project().join(file)}).to_string();
                place.agent(&["call", "openFile", &arguments]).rest().join("\n")
            };
            assert!(!call("a.json").contains("may not leave the editor"), "{name}");
            assert!(call("key.pem").contains("may not leave the editor"), "{name}");
        }
        let sent = sent(editor);
        let expected =
            if notice.is_empty() { String::new() } else { format!("editor: {notice}{}\n", path.display()) };
        assert_eq!(sent, expected, "{name}");
    }
}

/// Ends an editor, and returns its standard error.
fn sent(mut editor: Editor) -> String {
    editor.send_line(r#"{"cmd":"quit"}"#);
    let (status, sent) = editor.end();
    assert_eq!(status, Some(0), "{sent}");
    sent
}
