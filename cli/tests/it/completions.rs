//! The completions in the shells themselves.

use crate::support::{Place, Process, skip};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Completes the last word of the arguments as bash does, and prints the completions.
const COMPLETE: &str = r#"
source completions.bash
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
complete -p ide-mcp >/dev/null && _ide_mcp
if [ ${#COMPREPLY[@]} -gt 0 ]; then printf '%s\n' "${COMPREPLY[@]}"; fi
"#;

/// Completes the last word of the arguments with the functions of zsh's completion system replaced, of which
/// only a line editor has the real ones, and prints the completions.
const COMPLETE_IN_ZSH: &str = r#"
compdef() { : }
compadd() { shift; for word in "$@"; do if [[ $word == "${words[CURRENT]}"* ]]; then print -r -- $word; fi; done }
_files() { print -r -- files $* }
source ./completions.zsh
words=(ide-mcp "$@"); CURRENT=${#words}; _ide_mcp
"#;

/// Completes the line of the argument as fish does, and prints the completions.
const COMPLETE_IN_FISH: &str = "source completions.fish; complete -C $argv[1] | string split -f 1 \\t";

const COMMANDS: [&str; 11] = [
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

/// The options of `ide-mcp bridge`.
const BRIDGE: [&str; 7] = ["--lock", "--port", "--cwd", "--dead-process", "--trust-port", "-h", "--help"];

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
    let rows: &[(&str, &[&str], &[&str])] = &[
        ("the first word", &[""], &COMMANDS),
        ("its beginning", &["ed"], &["editor"]),
        ("an option of the program", &["--v"], &["--version"]),
        ("options of a command", &["bridge", "-"], &BRIDGE),
        ("options in place of other words", &["bridge", ""], &BRIDGE),
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
fn zsh_and_fish_complete_words_and_values() {
    let place = Place::new("completions-others");
    for shell in ["zsh", "fish"] {
        let script = place.start("completions", &[shell]).rest().join("\n");
        place.write(&format!("completions.{shell}"), &script);
    }
    place.write("my.lock", "");
    fs::create_dir(place.project().join("my_folder")).unwrap();
    let _editor = place.editor(&[]);
    let lock = place.published("the editor", None);
    let port = lock.file_stem().unwrap().to_str().unwrap();
    // `_files` of zsh and the matches of fish.
    let (any, folder): (&[&str], &[&str]) = (&["my.lock", "my_folder/"], &["my_folder/"]);
    let rows: &[(&str, &[&str], &[&str], &[&str])] = &[
        ("the first word", &[""], &COMMANDS, &COMMANDS),
        ("its beginning", &["ed"], &["editor"], &["editor"]),
        ("an option of the program", &["--v"], &["--version"], &["--version"]),
        ("options of a command", &["bridge", "-"], &BRIDGE, &BRIDGE),
        ("options in place of other words", &["bridge", ""], &BRIDGE, &[]),
        ("choices", &["editor", "--on-diff", "a"], &["ask", "accept"], &["ask", "accept"]),
        ("a file", &["agent", "--lock", "my"], &["files"], any),
        ("a directory", &["bridge", "--cwd", "my"], &["files -/"], folder),
        ("the port of an editor", &["bridge", "--port", ""], &[port], &[port]),
        ("the port to listen on", &["editor", "--port", ""], &[], &[]),
        ("a tool", &["agent", "call", "getO"], &["getOpenEditors"], &["getOpenEditors"]),
        (
            "a page or a command",
            &["help", "s"],
            &["scripts", "search", "sidecar"],
            &["scripts", "search", "sidecar"],
        ),
        ("an unknown command", &["dance", ""], &[], &[]),
    ];
    // The completions call the program for the ports.
    let folder = Path::new(crate::executable()).parent().unwrap();
    let path = env::join_paths(
        [folder.to_owned()].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap())),
    );
    let path = path.unwrap();
    for shell in ["zsh", "fish"] {
        if let Err(error) = Command::new(shell).arg("--version").output() {
            skip(&format!("{shell}: {error}"));
            continue;
        }
        for (name, words, in_zsh, in_fish) in rows {
            let mut command = Command::new(shell);
            let expected = if shell == "zsh" {
                command.args(["-f", "-c", COMPLETE_IN_ZSH, "zsh"]).args(*words);
                in_zsh
            } else {
                let line = format!("ide-mcp {}", words.join(" "));
                command.args(["--no-config", "-c", COMPLETE_IN_FISH, &line]);
                in_fish
            };
            place.house(command.env("PATH", &path));
            let mut process = Process::spawn(shell, &mut command);
            let mut completed = process.rest();
            completed.sort();
            let mut expected = expected.to_vec();
            expected.sort_unstable();
            assert_eq!(completed, expected, "{shell}: {name}");
            assert_eq!(process.end().1, "", "{shell}: {name}");
        }
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
            Err(error) => {
                assert!(shell != "bash", "bash is missing: {error}");
                skip(&format!("{shell}: {error}"));
            }
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
