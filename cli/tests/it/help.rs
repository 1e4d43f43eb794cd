//! The help beyond a screen: pages in a pager, manual pages, and colors.

use crate::support::terminal::terminal;
use crate::support::{Place, Process, ended, skip};
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

#[test]
fn pages_open_in_a_pager_only_at_a_terminal() {
    let place = Place::new("pager");
    let pager = place.write("my pager", "#!/bin/sh\necho \"<$1>\"\nhead -n 1\n");
    fs::set_permissions(&pager, fs::Permissions::from_mode(0o755)).unwrap();
    let quoted = format!("'{pager}' -a");
    // The name, PAGER, the terminal, and the first line.
    let rows = [
        ("the pager of the person", quoted.as_str(), "xterm", "<-a>"),
        ("a missing pager: less, more or none", "no-such-pager", "xterm", "The editor without a screen"),
        ("a terminal that shows lines", quoted.as_str(), "dumb", "The editor without a screen"),
        ("an empty one: no pager", "", "xterm", "The editor without a screen"),
        ("spaces: no pager", " ", "xterm", "The editor without a screen"),
    ];
    for (name, pager, kind, expected) in rows {
        let (mut person, program) = terminal();
        let mut command = place.command("help", &["headless"]);
        command.env("PAGER", pager).env("LESS", "FRXE");
        let side = || Stdio::from(program.try_clone().unwrap());
        command.env("TERM", kind).stdin(side()).stdout(side()).stderr(Stdio::piped());
        let child = command.env("NO_COLOR", "1").spawn().unwrap();
        drop((command, program));
        let (mut shown, mut bytes) = (String::new(), [0; 4096]);
        while let Ok(read @ 1..) = person.read(&mut bytes) {
            shown += &String::from_utf8_lossy(&bytes[..read]);
        }
        let (status, text) = ended(child);
        assert_eq!((status, text.as_str()), (Some(0), ""), "{name}");
        assert!(shown.contains(expected), "{name}: {shown}");
        assert_eq!(shown.contains("<-a>"), expected == "<-a>", "{name}: {shown}");
        assert!(!shown.contains("# The editor"), "{name}: {shown}");
    }
    let mut command = place.command("help", &["headless"]);
    let mut piped = Process::spawn("help", command.env("PAGER", &quoted));
    let lines = piped.rest();
    assert_eq!((lines[0].as_str(), piped.end()), ("The editor without a screen", (Some(0), String::new())));
    assert!(lines.len() > 60 && lines.iter().all(|line| !line.contains('\u{1b}')), "{lines:?}");
}

/// As with git and cargo, `ide-mcp agent help diff` and `ide-mcp help agent diff` print the same
/// help.
#[test]
fn commands_of_the_agent_have_help_in_both_orders() {
    let place = Place::new("help");
    for command in ["diff", "call", "help", ""] {
        let rest: &[&str] = if command.is_empty() { &[] } else { &[command] };
        let lines = |program: &str, words: &[&str]| {
            let mut process = place.start(program, &[words, rest].concat());
            let lines = process.rest();
            assert_eq!(process.end(), (Some(0), String::new()), "{program} {command}");
            lines
        };
        let help = lines("agent", &["help"]);
        assert_eq!(help, lines("help", &["agent"]), "{command}");
        assert!(
            help.iter().any(|line| line.starts_with(format!("Usage: ide-mcp agent {command}").trim())),
            "{help:?}"
        );
    }
    place.start("agent", &["help", "dance"]).fails(2, &["'ide-mcp agent' has no command 'dance'"]);
}

#[test]
fn manual_pages_of_all_commands_are_sound() {
    let place = Place::new("manual");
    // The command creates the directories.
    let dir = place.project().join("man/man1");
    assert_eq!(place.start("man", &[dir.to_str().unwrap()]).end(), (Some(0), String::new()));
    let pages: Vec<_> = fs::read_dir(&dir).unwrap().map(|page| page.unwrap().path()).collect();
    let names: Vec<_> = pages.iter().map(|page| page.file_name().unwrap().to_str().unwrap()).collect();
    for name in ["ide-mcp.1", "ide-mcp-editor.1", "ide-mcp-agent-diff.1", "ide-mcp-man.1"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        for part in [".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", ".SH EXAMPLES\n.nf", ".SH \"EXIT STATUS\""] {
            assert!(text.contains(part), "{page:?}: {part}");
        }
        match Command::new("mandoc").args(["-T", "lint", "-W", "error"]).arg(page).output() {
            Ok(lint) => assert!(lint.status.success() && lint.stdout.is_empty(), "{page:?}: {lint:?}"),
            Err(error) => skip(&format!("mandoc: {error}")),
        }
    }
}

#[test]
fn manual_pages_have_the_synopsis_of_the_help() {
    let place = Place::new("synopsis");
    let dir = place.project().to_str().unwrap().to_owned();
    assert_eq!(place.start("man", &[&dir]).end(), (Some(0), String::new()));
    let rows = [
        ("ide-mcp.1", vec!["ide-mcp [OPTIONS] <COMMAND>"]),
        ("ide-mcp-mcp-config.1", vec!["ide-mcp mcp-config [OPTIONS]"]),
        ("ide-mcp-editor.1", vec!["ide-mcp editor [OPTIONS] [PATH]... [-- <COMMAND>...]"]),
        (
            "ide-mcp-agent.1",
            vec!["ide-mcp agent [OPTIONS] <COMMAND>", "ide-mcp agent [OPTIONS] --script <FILE>"],
        ),
        ("ide-mcp-agent-diff.1", vec!["ide-mcp agent diff [OPTIONS] <PATH> <NEWFILE>"]),
    ];
    for (page, expected) in rows {
        let text = place.read(page);
        let (_, behind) = text.split_once(".SH SYNOPSIS\n").unwrap();
        let (synopsis, _) = behind.split_once(".SH ").unwrap();
        let plain =
            ["\\fB", "\\fR", "\\"].iter().fold(synopsis.to_owned(), |text, mark| text.replace(mark, ""));
        let lines: Vec<&str> = plain.lines().filter(|line| !line.starts_with('.')).collect();
        assert_eq!(lines, expected, "{page}");
        let name = expected[0].split(" [").next().unwrap().replace('-', "\\-");
        assert!(synopsis.contains(&format!("\\fB{name}\\fR")), "{page}: {synopsis}");
    }
}

/// A set of pages is written whole, or not at all.
#[test]
fn pages_that_cannot_be_written_leave_nothing() {
    let place = Place::new("half");
    let dir = place.project().join("man");
    fs::create_dir_all(dir.join("ide-mcp-tap.1")).unwrap();
    place.write("file", "");
    let shown = dir.to_str().unwrap().to_owned();
    let (file, below) = (place.project().join("file"), place.project().join("file/man1"));
    // /proc takes no new files, not even from root.
    let rows = [
        (
            "a directory instead of a page",
            shown.as_str(),
            "ide-mcp-tap.1 is a directory, and no page was written",
        ),
        ("a file", file.to_str().unwrap(), "file is not a directory"),
        ("a directory below a file", below.to_str().unwrap(), "file/man1: "),
        #[cfg(target_os = "linux")]
        ("a directory that takes no files", "/proc", "no page can be written into /proc: "),
    ];
    for (name, dir, expected) in rows {
        let text = place.start("man", &[dir]).fails(1, &[expected]);
        assert_eq!(text.lines().count(), 1, "{name}: {text}");
    }
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "no page, and no folder beside them");
    fs::remove_dir(dir.join("ide-mcp-tap.1")).unwrap();
    for round in ["into an empty directory", "over earlier pages"] {
        assert_eq!(place.start("man", &[&shown]).end(), (Some(0), String::new()), "{round}");
        let names =
            fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(names.into_iter().all(|name| name.ends_with(".1")), "{round}");
    }
}

#[test]
fn colors_follow_the_option_and_the_variables() {
    let place = Place::new("colors");
    let rows: &[(&str, &[&str], &[(&str, &str)], bool)] = &[
        ("a pipe", &["doctor", "--no-connect"], &[], false),
        ("asked for", &["doctor", "--no-connect", "--color", "always"], &[], true),
        ("asked for before the command", &["--color=always", "doctor", "--no-connect"], &[], true),
        ("forced", &["doctor", "--no-connect"], &[("CLICOLOR_FORCE", "1")], true),
        (
            "forced by a zero, which forces nothing",
            &["doctor", "--no-connect"],
            &[("CLICOLOR_FORCE", "0")],
            false,
        ),
        ("a help, forced by a zero", &["agent", "--help"], &[("CLICOLOR_FORCE", "0")], false),
        (
            "forced and refused",
            &["doctor", "--no-connect"],
            &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
            false,
        ),
        (
            "refused by the option",
            &["doctor", "--no-connect", "--color=never"],
            &[("CLICOLOR_FORCE", "1")],
            false,
        ),
        ("a help", &["agent", "--help"], &[], false),
        ("a help with colors", &["agent", "--help", "--color", "always"], &[], true),
        ("a page with colors", &["--color", "always", "help", "search"], &[], true),
        ("a page without", &["help", "search"], &[], false),
    ];
    for (name, arguments, variables, expected) in rows {
        let mut command = place.command(arguments[0], &arguments[1..]);
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").envs(variables.iter().copied());
        let mut process = Process::spawn("ide-mcp", &mut command);
        let text = process.rest().join("\n");
        process.end();
        assert_eq!(text.contains('\u{1b}'), *expected, "{name}: {text}");
    }
}
