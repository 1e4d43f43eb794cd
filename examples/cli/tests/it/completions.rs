//! The completions in the shells themselves.

use crate::support::{Place, Process};
use std::fs;
use std::process::Command;

/// Completes the last word of the arguments as bash does, and prints the completions.
const COMPLETE: &str = r#"
source completions.bash
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
complete -p ide-mcp >/dev/null && _ide_mcp
if [ ${#COMPREPLY[@]} -gt 0 ]; then printf '%s\n' "${COMPREPLY[@]}"; fi
"#;

#[test]
fn bash_completes_words_and_values() {
    let place = Place::new("completions");
    let script = place.start("completions", &["bash"]).rest().join("\n");
    place.write("completions.bash", &script);
    place.write("my file.lock", "");
    fs::create_dir(place.project().join("my folder")).unwrap();
    let _editor = place.editor(&[]);
    let lock = place.published("the editor", None);
    let port = lock.file_stem().unwrap().to_str().unwrap();
    let commands = [
        "editor",
        "agent",
        "doctor",
        "tap",
        "replay",
        "bridge",
        "mcp-config",
        "sidecar",
        "plugin",
        "completions",
        "help",
    ];
    let bridge = ["--lock", "--port", "--cwd", "--dead-process", "--trust-port", "-h", "--help"];
    let rows: &[(&str, &[&str], &[&str])] = &[
        ("the first word", &[""], &commands),
        ("its beginning", &["ed"], &["editor"]),
        ("an option of the program", &["--v"], &["--version"]),
        ("options of a command", &["bridge", "-"], &bridge),
        ("options in place of other words", &["bridge", ""], &bridge),
        ("an option behind a value", &["editor", "--port", "1", "--no-"], &["--no-token", "--no-ignore"]),
        ("choices", &["editor", "--on-diff", ""], &["ask", "accept", "reject", "hold"]),
        ("a file", &["agent", "--lock", "my"], &["my file.lock", "my folder"]),
        ("a directory", &["bridge", "--cwd", "my"], &["my folder"]),
        ("the port of an editor", &["bridge", "--port", ""], &[port]),
        ("the port to listen on", &["editor", "--port", ""], &[]),
        ("a tool", &["agent", "call", "getO"], &["getOpenEditors"]),
        ("a tool after an option", &["agent", "--json", "call", "openD"], &["openDiff"]),
        ("commands and files of a command", &["agent", "c"], &["call", "calls", "completions.bash"]),
        ("files and directories of a command", &["editor", "my"], &["my file.lock", "my folder"]),
        ("a page or a command", &["help", "s"], &["scripts", "search", "sidecar"]),
        ("an unknown command", &["dance", ""], &[]),
    ];
    for (name, words, expected) in rows {
        let mut bash = Command::new("bash");
        // The completions call the program for the ports, by the first word of the line.
        bash.args(["--norc", "-c", COMPLETE, "bash", crate::executable()]).args(*words);
        place.house(&mut bash);
        let mut bash = Process::spawn("bash", &mut bash);
        let mut completed = bash.rest();
        completed.sort();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(completed, expected, "{name}");
        assert_eq!(bash.end().1, "", "{name}");
    }
}

#[test]
fn shells_accept_their_completions() {
    let place = Place::new("completions-syntax");
    for shell in ["bash", "zsh", "fish"] {
        let mut process = place.start("completions", &[shell]);
        let script = process.rest().join("\n");
        assert_eq!(process.end(), (Some(0), String::new()));
        assert!(script.starts_with('#') && script.contains("mcp-config"), "{shell}: {script}");
        let file = place.write(shell, &script);
        // Only bash is on every machine.
        match Command::new(shell).args(["-n", &file]).output() {
            Ok(output) => assert!(output.status.success() && output.stderr.is_empty(), "{shell}: {output:?}"),
            Err(error) => assert!(shell != "bash", "bash is missing: {error}"),
        }
    }
    let rows: &[(&[&str], &str)] = &[
        (&[], "a shell is missing: bash, zsh or fish; see "),
        (&["ksh"], "the shells are bash, zsh and fish"),
        (&["bash", "zsh"], "unexpected argument \"zsh\""),
    ];
    for (arguments, expected) in rows {
        place.start("completions", arguments).fails(2, &[expected]);
    }
}
