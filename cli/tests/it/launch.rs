//! The command that an editor starts beside itself, and the port and token that the editor keeps for it.

use crate::support::tmux::{self, Tmux};
use crate::support::{Editor, Place, Process};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

/// Starts a headless editor with these options and this command.
fn editor(place: &Place, options: &[&str], command: &[&str]) -> Editor {
    let arguments: Vec<&str> = ["--headless"]
        .iter()
        .chain(options)
        .chain(&["--"][..command.len().min(1)])
        .chain(command)
        .copied()
        .collect();
    Editor::at(place.start("editor", &arguments))
}

/// Runs a line in a shell in the place. Returns its output.
fn run(place: &Place, line: &str) -> String {
    let mut shell = Command::new("sh");
    place.prepare(shell.args(["-c", line]));
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn token(lock: &PathBuf) -> (String, Value) {
    let text = fs::read_to_string(lock).unwrap();
    let fields: Value = serde_json::from_str(&text).unwrap();
    (lock.file_stem().unwrap().to_str().unwrap().into(), fields["authToken"].clone())
}

#[test]
fn line_leads_the_command_to_its_editor() {
    let place = Place::new("launch");
    // Another editor in the folder: the agent finds its own by the port in its environment.
    let _other = editor(&place, &[], &[]);
    let program = crate::executable();
    let mut editor = editor(&place, &["--mcp-config"], &[program, "agent", "--json", "tools"]);
    let launch = editor.until("launch");
    assert_eq!((&launch["started"], &launch["problem"]), (&Value::Bool(false), &Value::Null), "{launch}");
    let line = launch["line"].as_str().unwrap();
    let (line, file) = line.rsplit_once(" --mcp-config ").unwrap();
    let file = file.trim_matches('\'');
    assert!(run(&place, line).contains("openDiff"), "{line}");
    assert!(editor.until("connected").is_object());

    let config: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert!(config["mcpServers"]["editor"]["url"].as_str().unwrap().ends_with("/models"), "{config}");
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    editor.send_line(r#"{"cmd":"quit"}"#);
    assert_eq!(editor.end().0, Some(0));
    assert!(!fs::exists(file).unwrap(), "the file with the token goes with its editor");

    let mut killed = self::editor(&place, &["--mcp-config"], &["true"]);
    let line = killed.until("launch")["line"].as_str().unwrap().to_owned();
    let (_, file) = line.rsplit_once(" --mcp-config ").unwrap();
    let file = file.trim_matches('\'');
    killed.kill();
    assert!(fs::exists(file).unwrap());
    let _next = self::editor(&place, &[], &[]);
    assert!(!fs::exists(file).unwrap(), "the next editor removes the file of a killed editor");
}

#[test]
fn port_and_token_come_back_with_resume() {
    let place = Place::new("resume");
    let mut first = editor(&place, &[], &["true"]);
    let run = token(&place.published("the editor", None));
    let mut agent = place.agent(&["--reconnect", "watch"]);
    first.until("connected");
    first.kill();
    // The agent finds the editor again by itself, after a kill and after an end in good order.
    for _ in 0..2 {
        let mut editor = editor(&place, &["--resume"], &[]);
        assert_eq!(token(&place.published("the editor", None)), run);
        editor.until("connected");
        editor.send_line(r#"{"cmd":"quit"}"#);
        assert_eq!(editor.end().0, Some(0));
    }
    agent.kill();
}

/// The file of the last run is judged like a lock file: the port and the token of another user's file are not used.
#[test]
fn file_of_the_last_run_must_be_ours() {
    let place = Place::new("resume-whose");
    let mut first = editor(&place, &["--resume"], &[]);
    let run = token(&place.published("the editor", None));
    first.send_line(r#"{"cmd":"quit"}"#);
    first.end();
    let dir = place.home().join(".local/state/ide-mcp");
    let file = fs::read_dir(&dir).unwrap().next().unwrap().unwrap().path();
    let text = fs::read(&file).unwrap();
    let elsewhere = place.home().join("elsewhere");
    fs::write(&elsewhere, &text).unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o600)).unwrap();
    let mode = |path: &PathBuf, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let rows: [(&str, &dyn Fn(), &str); 6] = [
        ("as it was written", &|| fs::write(&file, &text).unwrap(), ""),
        ("readable by others", &|| (fs::write(&file, &text).unwrap(), mode(&file, 0o644)).1, "other users"),
        ("a link", &|| std::os::unix::fs::symlink(&elsewhere, &file).unwrap(), "is a symbolic link"),
        (
            "a pipe",
            &|| assert!(Command::new("mkfifo").arg(&file).status().unwrap().success()),
            "is not a regular file",
        ),
        ("no run", &|| fs::write(&file, "{").unwrap(), "is not the state of a run"),
        (
            "in a folder that everybody can write to",
            &|| (fs::write(&file, &text).unwrap(), mode(&dir, 0o777)).1,
            "every user can replace",
        ),
    ];
    for (name, prepare, reason) in rows {
        let _ = fs::remove_file(&file);
        prepare();
        if file.is_file() && name != "readable by others" {
            mode(&file, 0o600);
        }
        let mut editor = editor(&place, &["--resume"], &[]);
        let is_kept = token(&place.published("the editor", None)).1 == run.1;
        assert_eq!(is_kept, reason.is_empty(), "{name}");
        editor.send_line(r#"{"cmd":"quit"}"#);
        let (status, text) = editor.end();
        assert_eq!(status, Some(0), "{name}: {text}");
        assert!(
            text.contains(reason) && (reason.is_empty() || text.contains("a new port and token")),
            "{name}: {text}"
        );
    }
    mode(&dir, 0o700);
    // The file of another user.
    if !rustix::process::geteuid().is_root() {
        return crate::support::skip("only root can give a file to another user");
    }
    fs::write(&file, &text).unwrap();
    mode(&file, 0o600);
    std::os::unix::fs::chown(&file, Some(61_234), None).unwrap();
    let mut editor = editor(&place, &["--resume"], &[]);
    assert_ne!(token(&place.published("the editor", None)).1, run.1);
    editor.send_line(r#"{"cmd":"quit"}"#);
    let text = editor.end().1;
    assert!(text.contains("belongs to user 61234") && text.contains("a new port and token"), "{text}");
}

#[test]
fn run_of_a_screen_comes_back_without_a_command() {
    if tmux::is_missing() {
        return;
    }
    let place = Place::new("resume-plain");
    let home = place.home();
    let variables = [("HOME", home.to_str().unwrap()), ("EDITOR", crate::executable())];
    let tmux = Tmux::new(&home, &place.project(), &variables);
    tmux.line("\"$EDITOR\" editor");
    tmux.wait("No file is open");
    let run = token(&place.published("the editor", None));
    // The editor of a script is not the run that the user resumes.
    let mut script = editor(&place, &[], &[]);
    script.send_line(r#"{"cmd":"quit"}"#);
    assert_eq!(script.end().0, Some(0));
    tmux.keys(&["C-q"]);
    tmux.wait("ended by Ctrl+Q");
    let _resumed = editor(&place, &["--resume"], &[]);
    assert_eq!(token(&place.published("the editor", None)), run);
}

#[test]
fn second_editor_gets_a_token_of_its_own() {
    let place = Place::new("resume-two");
    let _first = editor(&place, &["--resume"], &[]);
    let (port, first) = token(&place.published("the editor", None));
    let mut second_editor = editor(&place, &["--resume"], &[]);
    let lock = place.published("the editor", Some(&port));
    let (other, second) = token(&lock);
    assert!(port != other && first != second);
    let notice = |taken: &str, port: &str| {
        format!("port {taken} is taken: this editor has port {port}, so attach the agents again")
    };
    second_editor.send_line(r#"{"cmd":"quit"}"#);
    let (status, text) = second_editor.end();
    assert_eq!((status, text), (Some(0), format!("editor: {}\n", notice(&port, &other))));
}

#[test]
fn screen_shows_that_resumed_port_is_taken() {
    if tmux::is_missing() {
        return;
    }
    let place = Place::new("resume-screen");
    let _first = editor(&place, &["--resume"], &[]);
    let (port, _) = token(&place.published("the editor", None));
    let home = place.home();
    let variables = [("HOME", home.to_str().unwrap()), ("EDITOR", crate::executable())];
    let tmux = Tmux::new(&home, &place.project(), &variables);
    tmux.line("\"$EDITOR\" editor --resume");
    let (other, _) = token(&place.published("the editor", Some(&port)));
    tmux.wait(&format!("port {port} is taken: this editor has port {other}, so attach the agents again"));
    tmux.keys(&["C-q"]);
}

#[test]
fn command_starts_in_a_split_of_tmux() {
    if tmux::is_missing() {
        return;
    }
    let place = Place::new("split");
    let home = place.home();
    let program = crate::executable();
    let variables = [("HOME", home.to_str().unwrap()), ("EDITOR", program), ("COLORTERM", "truecolor")];
    let tmux = Tmux::new(&home, &place.project(), &variables);
    tmux.resize(120, 35);
    tmux.line("\"$EDITOR\" editor -- sh -c 'pwd; echo \"<$CLAUDE_CODE_SSE_PORT>\"; sleep 60'");
    let (port, _) = token(&place.published("the editor", None));
    // The status line of the editor has the port too, without brackets.
    let screen = tmux.wait(&format!("<{port}>"));
    // A long path takes several rows.
    let screen = screen.replace('\n', "");
    assert!(screen.contains(place.project().to_str().unwrap().rsplit('/').next().unwrap()), "{screen}");
    assert_eq!(tmux.format("#{window_panes}"), "2");
}

#[test]
fn failed_command_stays_in_its_split() {
    if tmux::is_missing() {
        return;
    }
    let place = Place::new("split-failed");
    let home = place.home();
    let variables = [("HOME", home.to_str().unwrap()), ("EDITOR", crate::executable())];
    let tmux = Tmux::new(&home, &place.project(), &variables);
    tmux.resize(120, 35);
    tmux.line("\"$EDITOR\" editor -- no-such-agent");
    tmux.wait("no-such-agent");
    tmux.wait("failed with status 127");
    assert_eq!(tmux.format("#{window_panes}"), "2");
    tmux.keys(&["Enter"]);
    let begin = std::time::Instant::now();
    while tmux.format("#{window_panes}") != "1" {
        assert!(begin.elapsed().as_secs() < 30, "the split stays");
    }
}

#[test]
fn split_takes_name_and_words_literally() {
    if tmux::is_missing() {
        return;
    }
    let place = Place::new("split-literal");
    let home = place.home();
    fs::create_dir(place.project().join("a#S b;")).unwrap();
    let variables =
        [("HOME", home.to_str().unwrap()), ("EDITOR", crate::executable()), ("COLORTERM", "truecolor")];
    let tmux = Tmux::new(&home, &place.project(), &variables);
    tmux.resize(160, 35);
    tmux.line(r#""$EDITOR" editor 'a#S b;' -- sh -c 'basename "$PWD"; echo "<$1>"; sleep 60' sh 'last;' detach-client"#);
    let screen = tmux.wait("<last;>");
    assert!(screen.contains("a#S b;"), "{screen}");
}

#[test]
fn wrong_launches_are_refused() {
    let place = Place::new("launch-refused");
    let cases: &[(&[&str], &str)] = &[
        (&["--"], "a command is missing after --"),
        (&["--", ""], "the command after -- is empty: name a program, such as claude"),
        (&["--", "", "x"], "the command after -- is empty"),
        (&["--mcp-config"], "--mcp-config gives the tools to a command: add -- claude"),
        (&["--resume", "--port", "1"], "'--resume' cannot be used with '--port <N>'"),
        (&["--resume", "--no-token"], "'--resume' cannot be used with '--no-token'"),
    ];
    for (arguments, expected) in cases {
        let mut editor: Process = place.start("editor", arguments);
        editor.fails(2, &[expected]);
    }
}
