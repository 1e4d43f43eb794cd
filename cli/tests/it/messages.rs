//! The messages and exit statuses of the programs for a wrong command line and a missing editor.

use crate::support::{COMMANDS, Place, Process, dead, rewrite};
use ide_mcp_lockfile::pid_alive;
use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;

#[test]
fn wrong_command_line_is_status_2() {
    let place = Place::new("usage");
    place.write("file", "");
    place.write("lock", "{}");
    place.write("token", r#"{"authToken":"t"}"#);
    // A subcommand has its own help, with its own arguments.
    let below = |arguments: &[&str]| {
        let name = arguments.iter().find(|word| ["tools", "call", "diff"].contains(word));
        name.map_or_else(String::new, |name| format!(" {name}"))
    };
    let see = |program, arguments| format!("; see `ide-mcp {program}{} --help`\n", below(arguments));
    let cases: &[(&str, &[&str], &str)] = &[
        (
            "editor",
            &["--prot", "1"],
            "unexpected argument '--prot' found (a similar argument exists: '--port')",
        ),
        ("editor", &["--port"], "a value is required for '--port <N>'"),
        ("tap", &["--loc", "x"], "unexpected argument '--loc' found (a similar argument exists: '--lock')"),
        (
            "editor",
            &["--port", "http"],
            "invalid value 'http' for '--port <N>': give a number from 0 to 65535",
        ),
        (
            "editor",
            &["--port", "65536"],
            "invalid value '65536' for '--port <N>': give a number from 0 to 65535",
        ),
        ("editor", &["--name", ""], "for '--name <NAME>'"),
        (
            "editor",
            &["--on-diff", "maybe"],
            "'maybe' for '--on-diff <WHAT>' [possible values: ask, accept, reject, hold]",
        ),
        ("editor", &["--token", "x"], "--token"),
        ("editor", &["--token-of", "missing"], "'missing' for '--token-of <FILE>': "),
        ("editor", &["--token-of", "file"], "'file' for '--token-of <FILE>': the lock file is empty"),
        ("editor", &["--token-of", "lock"], "'lock' for '--token-of <FILE>': the lock file has no token"),
        (
            "agent",
            &[],
            "'ide-mcp agent' requires a subcommand but one was not provided [subcommands: tools, ",
        ),
        ("agent", &["dance"], "unrecognized subcommand 'dance'"),
        ("agent", &["tools", "x"], "unexpected argument 'x' found"),
        ("agent", &["call"], "required arguments were not provided: <TOOL>"),
        ("agent", &["call", "openDiff", "{}"], "not arguments of openDiff"),
        ("agent", &["diff", "file"], "required arguments were not provided: <NEWFILE>"),
        (
            "agent",
            &["--port", "0", "tools"],
            "invalid value '0' for '--port <PORT>': give a number from 1 to 65535",
        ),
        (
            "agent",
            &["--port", "1", "--lock", "1.lock", "tools"],
            "'--port <PORT>' cannot be used with '--lock <FILE>'",
        ),
        (
            "editor",
            &["--token-of", "token", "--no-token"],
            "'--token-of <FILE>' cannot be used with '--no-token'",
        ),
        ("doctor", &["x"], "unexpected argument 'x' found"),
        ("tap", &["--port", "0"], "invalid value '0' for '--port <PORT>': give a number from 1 to 65535"),
        ("replay", &[], "required arguments were not provided: <FILE>"),
        ("bridge", &["x"], "unexpected argument 'x' found"),
        ("mcp-config", &["--force"], "required arguments were not provided: --out <FILE>"),
    ];
    for (program, arguments, expected) in cases {
        let (status, output) = place.start(program, arguments).end();
        assert_eq!(status, Some(2), "{program} {arguments:?}: {output}");
        assert!(
            output.contains(expected) && output.ends_with(&see(*program, arguments)),
            "{program} {arguments:?}: {output}"
        );
        assert_eq!(output.lines().count(), 1, "{program} {arguments:?}: {output}");
    }
}

#[test]
fn wrong_command_line_with_json_is_a_line() {
    let place = Place::new("usage-json");
    let cases: &[(&str, &[&str], bool)] = &[
        ("agent", &["--json", "bogus"], true),
        ("doctor", &["--json", "--bogus"], true),
        ("doctor", &["--bogus", "--json"], true),
        ("tap", &["--json", "--max-bytes", "0"], true),
        ("doctor", &["--bogus"], false),
        // The standard output of the bridge is for the messages of the editor.
        ("bridge", &["--json"], false),
        ("completions", &["bash", "--json"], false),
    ];
    for (program, arguments, is_printed) in cases {
        let mut process = place.start(program, arguments);
        let (status, output) = process.end();
        let message = output.strip_prefix(&format!("{program}: ")).unwrap().trim_end();
        let expected = is_printed.then(|| json!({"event": "error", "message": message, "status": 2}));
        assert_eq!(status, Some(2), "{program} {arguments:?}: {output}");
        assert_eq!(process.rest_of_json(), Vec::from_iter(expected), "{program} {arguments:?}");
    }
}

#[test]
fn help_explains_the_exit_status() {
    let place = Place::new("help");
    for (program, arguments) in
        COMMANDS.iter().flat_map(|name| [(*name, [*name, "--help"]), (*name, ["help", *name])])
    {
        let mut process = place.start(arguments[0], &arguments[1..]);
        assert_eq!(process.end(), (Some(0), String::new()));
        let text = process.rest().join(" ");
        let parts = [format!("Usage: ide-mcp {program}"), " Exit status: 0".into(), "; 2 if ".into()];
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
}

#[test]
fn the_program_names_its_commands() {
    let place = Place::new("commands");
    for arguments in [["--help"], ["-h"], ["help"]] {
        let mut process = place.start(arguments[0], &[]);
        assert_eq!(process.end(), (Some(0), String::new()));
        let text = process.rest().join("\n");
        assert!(COMMANDS.iter().all(|name| text.contains(&format!("\n  {name} "))), "{text}");
    }
    let version = concat!("ide-mcp ", env!("CARGO_PKG_VERSION"));
    for arguments in
        [&["--version"][..], &["-V"], &["agent", "--version"], &["agent", "tools", "-V"], &["man", "-V"]]
    {
        assert_eq!(place.start(arguments[0], &arguments[1..]).rest(), [version], "{arguments:?}");
    }
    let named = "demo, editor, agent, doctor, tap, replay, bridge, mcp-config, sidecar, plugin, completions, man, help";
    let cases: &[(&str, &[&str], &str)] = &[
        ("another command", &["dance"], "unrecognized subcommand 'dance'; "),
        (
            "help for another command",
            &["help", "dance"],
            "invalid value 'dance' for '[NAME]' [possible values: ",
        ),
        (
            "a misspelled command",
            &["edtor"],
            "unrecognized subcommand 'edtor' (some similar subcommands exist: 'editor', 'doctor'); ",
        ),
        ("another option", &["--verbose"], "unexpected argument '--verbose' found"),
        ("help with an option", &["help", "-v"], "unexpected argument '-v' found"),
    ];
    for (name, arguments, expected) in cases {
        let (status, output) = place.start(arguments[0], &arguments[1..]).end();
        assert!(status == Some(2) && output.contains(expected), "{name}: {status:?} {output}");
        assert!(
            output.starts_with("ide-mcp: ") && output.ends_with("; see `ide-mcp --help`\n"),
            "{name}: {output}"
        );
        assert!(!expected.ends_with(": ") || output.contains(named), "{name}: {output}");
    }
    let mut alone = Process::spawn("ide-mcp", &mut std::process::Command::new(crate::executable()));
    assert!(alone.rest().is_empty(), "a program could not read the help");
    alone.fails(2, &["Usage: ide-mcp [OPTIONS] <COMMAND>", "  agent ", "Exit status:"]);
    let mut with_option =
        Process::spawn("ide-mcp", std::process::Command::new(crate::executable()).arg("--json"));
    with_option.fails(2, &["'ide-mcp' requires a subcommand but one was not provided", named]);
}

#[test]
fn failed_start_of_editor_is_status_2() {
    let place = Place::new("begin");
    place.write("file", "");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let in_use = format!("port {port} is in use: ");
    let cases: &[(&[&str], &str)] = &[
        (&["--port", &port], &in_use),
        (&[""], "an empty name is neither a file nor a folder"),
        (&["none/file"], "none/file: there is no such folder"),
        (&["missing"], "missing is not a folder; without a screen"),
        (&["file"], "file is not a folder; without a screen"),
    ];
    for (arguments, expected) in cases {
        let mut editor = place.start("editor", arguments);
        let event: Value = serde_json::from_str(&editor.line()).unwrap();
        assert_eq!((&event["event"], &event["status"]), (&json!("error"), &json!(2)), "{arguments:?}");
        let (status, output) = editor.end();
        assert!(status == Some(2) && output.contains(expected), "{arguments:?}: {status:?} {output}");
        assert!(event["message"].as_str().unwrap().contains(expected), "{arguments:?}: {event}");
    }
    assert!(!place.lock_dir().exists());
}

#[test]
fn agent_without_editor_is_status_2() {
    let place = Place::new("none");
    let (pid, port) = (dead(), place.closed_port());
    let publish = |port, pid| place.publish(port, &json!({"pid": pid})).to_str().unwrap().to_owned();
    let gone = publish(port, pid);
    let living = publish(place.closed_port(), std::process::id());
    let misnamed = place.write("editor.lock", "{}");
    let port = port.to_string();
    let not_running = format!("process {pid} of {gone} does not run here");
    let not_listening = format!("its process {pid} does not run: start the editor again, or remove {gone}");
    let cases: &[(&str, &[&str], &str)] = &[
        ("a missing lock file", &["--lock", "41111.lock"], "there is no lock file 41111.lock"),
        ("a missing one, misnamed", &["--lock", "nothing"], "there is no lock file nothing"),
        ("no name at all", &["--lock", "/"], "there is no lock file /"),
        (
            "a misnamed lock file",
            &["--lock", &misnamed],
            "editor.lock is not named after a port, such as 41111.lock",
        ),
        ("the port of a dead process", &["--port", &port], &not_running),
        ("the lock file of a dead process", &["--lock", &gone], &not_running),
        ("a dead process on purpose", &["--dead-process", "--port", &port], &not_listening),
        ("a process that does not listen", &["--lock", &living], "does not answer on port"),
        ("a missing directory", &["--cwd", "missing"], "--cwd: there is no directory \"missing\""),
        (
            "a directory that is a file",
            &["--cwd", "editor.lock"],
            "--cwd: there is no directory \"editor.lock\"",
        ),
    ];
    // Not every system tells that a process has ended.
    let is_reported = |name: &str| !name.contains("dead process") || pid_alive(std::process::id()).is_some();
    for (name, arguments, expected) in cases.iter().filter(|(name, ..)| is_reported(name)) {
        let (status, output) = place.agent(&[*arguments, &["tools"]].concat()).end();
        assert!(status == Some(2) && output.contains(expected), "{name}: {status:?} {output}");
    }
    let mut command = place.command("agent", &["--cwd", "/", "tools"]);
    let mut agent = Process::spawn("agent", command.env("CLAUDE_CODE_SSE_PORT", "41111x"));
    agent.fails(2, &["\"41111x\", which is not a port: unset it"]);
}

/// Only on Linux can a process start in a directory that was removed.
#[cfg(target_os = "linux")]
#[test]
fn removed_working_directory_has_a_remedy() {
    let place = Place::new("gone");
    for arguments in [&["doctor"][..], &["agent", "tools"], &["mcp-config"], &["editor", "--headless"]] {
        let mut shell = std::process::Command::new("sh");
        place.prepare(&mut shell);
        shell.args(["-c", "mkdir gone; cd gone; rmdir ../gone; exec \"$0\" \"$@\"", crate::executable()]);
        let (status, output) = Process::spawn("sh", shell.args(arguments)).end();
        assert_eq!(status, Some(2), "{arguments:?}: {output}");
        assert!(
            output.contains(
                "cannot be used (No such file or directory (os error 2)): change to one that exists"
            ),
            "{arguments:?}: {output}"
        );
    }
}

#[test]
fn wrong_token_error_names_lock_file() {
    let place = Place::new("token");
    let editor = place.editor(&[]);
    rewrite(&editor.lock, &json!({"authToken": "another"}));
    let whose = format!("{} is not the lock file of this editor", editor.lock.display());
    place.agent(&["tools"]).fails(1, &[&whose]);
}

#[test]
fn impossible_diff_is_refused_by_the_agent() {
    let place = Place::new("refused");
    place.write("a.txt", "same\n");
    place.write("same.txt", "same\n");
    place.write("new.txt", "new\n");
    fs::write(place.project().join("bytes"), [0xff]).unwrap();
    let cases: &[(&str, [&str; 2], i32, &str)] = &[
        ("a directory", [".", "new.txt"], 1, "is a directory"),
        ("a missing folder", ["sub/b.txt", "new.txt"], 1, "there is no directory"),
        ("a file instead of its folder", ["a.txt/b.txt", "new.txt"], 1, "there is no directory"),
        ("a missing proposal", ["a.txt", "missing"], 1, "missing: "),
        ("a proposal that is not UTF-8", ["a.txt", "bytes"], 1, "bytes is not UTF-8"),
        ("no editor", ["b.txt", "new.txt"], 2, "no editor found"),
    ];
    let device: &[(&str, [&str; 2], i32, &str)] =
        &[("no file", ["/dev/null", "new.txt"], 1, "is not a file")];
    for (name, [path, new], status, expected) in cases.iter().chain(device.iter().filter(|_| cfg!(unix))) {
        let (ended, output) = place.agent(&["diff", path, new]).end();
        assert!(ended == Some(*status) && output.contains(expected), "{name}: {ended:?} {output}");
    }
    let mut agent = place.agent(&["diff", "a.txt", "same.txt"]);
    assert_eq!(agent.end(), (Some(0), String::new()));
    assert_eq!(agent.rest(), ["nothing to propose: a.txt has these contents already"]);
}
