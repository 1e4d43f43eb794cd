//! The completions in the shells themselves.

use crate::support::{COMMANDS, Place, Process, skip};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Completes the last word of the arguments as bash does, and prints the completions.
const COMPLETE: &str = r#"
source completions.bash
words=(ide-mcp "$@"); COMP_WORDS=("${words[@]}") COMP_CWORD=$# COMP_TYPE=9
complete -p ide-mcp >/dev/null && _clap_complete_ide_mcp ide-mcp "${words[$#]}" "${words[$# - 1]}"
if [ ${#COMPREPLY[@]} -gt 0 ]; then printf '%s\n' "${COMPREPLY[@]}"; fi
"#;

/// Completes the last word of the arguments, and prints the completions. Replaces functions of zsh's completion
/// system that exist only in a line editor.
const COMPLETE_IN_ZSH: &str = r#"
compdef() { : }
_describe() { local name=$3; print -rl -- ${${(P)name}%%:*} }
source ./completions.zsh
words=(ide-mcp "$@"); CURRENT=${#words}; _clap_dynamic_completer_ide_mcp
"#;

/// Completes the line of the argument as fish does, and prints the completions.
const COMPLETE_IN_FISH: &str = "source completions.fish; complete -C $argv[1] | string split -f 1 \\t";

/// The options of all commands.
const COMMON: [&str; 3] = ["--color", "--help", "--version"];

/// The options of `ide-mcp bridge`.
const BRIDGE: [&str; 5] = ["--lock", "--port", "--cwd", "--dead-process", "--trust-port"];

#[cfg(unix)]
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
        ("the first word", &[""], &[&COMMANDS[..], &["help"], &COMMON].concat()),
        ("its beginning", &["ed"], &["editor"]),
        ("an option of the program", &["--v"], &["--version"]),
        // After a single dash, an option that has a short name is completed to it, elsewhere to its long name.
        ("options of a command", &["bridge", "-"], &[&BRIDGE[..], &["--color", "-h", "-V"]].concat()),
        ("options where no other word fits", &["bridge", ""], &[&BRIDGE[..], &COMMON].concat()),
        (
            "an option after a value",
            &["editor", "--port", "1", "--no-"],
            &["--no-token", "--no-ignore", "--no-config"],
        ),
        ("choices", &["editor", "--on-diff", ""], &["ask", "accept", "reject", "hold"]),
        ("choices of a common option", &["doctor", "--color", ""], &["auto", "always", "never"]),
        ("a file", &["agent", "--lock", "my"], &["my file.lock", "my folder/"]),
        ("a directory", &["bridge", "--cwd", "my"], &["my folder/"]),
        ("the port of an editor", &["bridge", "--port", ""], &[port]),
        ("the port to listen on", &["editor", "--port", ""], &[]),
        ("a tool", &["agent", "call", "getO"], &["getOpenEditors"]),
        ("a tool after an option", &["agent", "--json", "call", "openD"], &["openDiff"]),
        ("subcommands of a command", &["agent", "c"], &["call", "calls"]),
        ("files of a subcommand", &["agent", "diff", "c"], &["completions.bash"]),
        ("files and directories of a command", &["editor", "my"], &["my file.lock", "my folder/"]),
        ("a page or a command", &["help", "s"], &["scripts", "search", "sidecar"]),
        // The unknown word is ignored.
        ("an unknown command", &["dance", "ed"], &["editor"]),
    ];
    for (name, words, expected) in rows {
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-c", COMPLETE, "bash"]).args(*words);
        place.prepare(bash.env("PATH", path()));
        let mut bash = Process::spawn("bash", &mut bash);
        let mut completed = bash.rest();
        completed.sort();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(completed, expected, "{name}");
        assert_eq!(bash.end().1, "", "{name}");
    }
}

#[cfg(unix)]
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
    // zsh itself adds the slash after a directory.
    let words = [&COMMANDS[..], &["help"], &COMMON].concat();
    let options = [&BRIDGE[..], &COMMON].concat();
    let short = [&BRIDGE[..], &["--color", "-h", "-V"]].concat();
    let rows: &[(&str, &[&str], &[&str], &[&str])] = &[
        ("the first word", &[""], &words, &words),
        ("options of a command", &["bridge", "-"], &short, &short),
        ("options where no other word fits", &["bridge", ""], &options, &options),
        ("an unknown command", &["dance", "ed"], &["editor"], &["editor"]),
        ("its beginning", &["ed"], &["editor"], &["editor"]),
        ("an option of the program", &["--v"], &["--version"], &["--version"]),
        ("choices", &["editor", "--on-diff", "a"], &["ask", "accept"], &["ask", "accept"]),
        ("a file", &["agent", "--lock", "my"], &["my.lock", "my_folder"], &["my.lock", "my_folder/"]),
        ("a directory", &["bridge", "--cwd", "my"], &["my_folder"], &["my_folder/"]),
        ("the port of an editor", &["bridge", "--port", ""], &[port], &[port]),
        ("the port to listen on", &["editor", "--port", ""], &[], &[]),
        ("a tool", &["agent", "call", "getO"], &["getOpenEditors"], &["getOpenEditors"]),
        (
            "a page or a command",
            &["help", "s"],
            &["scripts", "search", "sidecar"],
            &["scripts", "search", "sidecar"],
        ),
    ];
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
            place.prepare(command.env("PATH", path()));
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

/// Some shells are not on every machine, but all of them ask the program in the same way.
#[test]
fn program_answers_every_shell() {
    let place = Place::new("completions-answers");
    let _editor = place.editor(&[]);
    let lock = place.published("the editor", None);
    let port = lock.file_stem().unwrap().to_str().unwrap();
    let rows: &[(&[&str], &str)] = &[
        (&["bridge", "--port", ""], port),
        (&["agent", "call", "getOpenE"], "getOpenEditors"),
        (&["editor", "--dialect", "j"], "jetbrains"),
    ];
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        for (words, expected) in rows {
            let mut command = place.command("--", &[&["ide-mcp"], *words].concat());
            command.env("IDE_MCP_COMPLETE", shell).env("_CLAP_IFS", "\n");
            command.env("_CLAP_COMPLETE_INDEX", words.len().to_string());
            let mut process = Process::spawn(shell, &mut command);
            let answers = process.rest();
            let values: Vec<&str> =
                answers.iter().map(|line| line.split(['\t', ':']).next().unwrap()).collect();
            assert_eq!(values, [*expected], "{shell}: {words:?}");
            assert_eq!(process.end(), (Some(0), String::new()), "{shell}");
        }
    }
}

#[cfg(unix)]
#[test]
fn shells_accept_their_completions() {
    let place = Place::new("completions-syntax");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish", "nushell"] {
        let mut process = place.start("completions", &[shell]);
        let script = process.rest().join("\n");
        assert_eq!(process.end(), (Some(0), String::new()));
        let knows = if shell == "nushell" { "mcp-config" } else { "IDE_MCP_COMPLETE" };
        assert!(script.contains("ide-mcp") && script.contains(knows), "{shell}: {script}");
        if !["bash", "zsh", "fish"].contains(&shell) {
            continue;
        }
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
        (&[], "not provided: <bash|zsh|fish|powershell|elvish|nushell>"),
        (&["ksh"], "[possible values: bash, zsh, fish, powershell, elvish, nushell]"),
        (&["bash", "zsh"], "unexpected argument 'zsh' found"),
    ];
    for (arguments, expected) in rows {
        place.start("completions", arguments).fails(2, &[expected]);
    }
}

/// Returns the variable `PATH` with the folder of the program, which the completions call.
fn path() -> OsString {
    let folder = Path::new(crate::executable()).parent().unwrap().to_owned();
    let others = env::var_os("PATH").unwrap();
    env::join_paths([folder].into_iter().chain(env::split_paths(&others))).unwrap()
}
