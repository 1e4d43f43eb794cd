#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test states what it expects")]

//! The style of the help of all commands, and the messages about a wrong command line.

use super::*;
use crate::topics::TOPICS;

/// Each help text fits on a screen of this size.
const MAX_LINES: usize = 40;
const MAX_COLUMNS: usize = 80;

/// The pages that are links to pages of the repository.
const PAGES_OF_THE_REPOSITORY: &[&str] = &["findings", "records", "protocol"];

#[test]
fn command_line_is_sound() {
    let all = command();
    all.clone().debug_assert();
    let names: Vec<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
    assert_eq!(names, NAMES.into_iter().chain(["help"]).collect::<Vec<_>>());
    for command in all.get_subcommands() {
        let prints_json = command.get_arguments().any(|argument| argument.get_id() == "json");
        assert_ne!(prints_json, WITHOUT_RESULTS.contains(&command.get_name()), "{}", command.get_name());
    }
}

#[test]
fn help_follows_the_style() {
    let mut checked = 0;
    for (name, help) in all() {
        let faults = faults(&name, &help);
        assert!(faults.is_empty(), "{name}: {faults:?}\n{help}");
        checked += 1;
    }
    assert!(checked > 20, "{checked} were checked");
}

#[test]
fn faults_of_style_are_found() {
    let good = "Do\n\nUsage: ide-mcp some\n\n  -h, --help  help\n\nExamples:\n  ide-mcp some --a\n\n\
                Exit status: 0.\n\n`ide-mcp help some` explains it.";
    assert_eq!(faults("ide-mcp some", good), [""; 0]);
    let long = good.replace("help\n\n", &format!("help\n\n{}", "more\n".repeat(MAX_LINES - 11)));
    let rows = [
        ("a line too many", long, "41 lines"),
        ("a wide line", good.replace("Do", &"o".repeat(MAX_COLUMNS + 1)), "81 columns"),
        ("two sentences", good.replace("Do", "Do. Or do not"), "first line"),
        ("no usage", good.replace("Usage: ide-mcp some", ""), "Usage:"),
        ("no options", good.replace("  -h, --help  help", ""), "  -"),
        ("no examples", good.replace("Examples:", ""), "Examples:"),
        ("no exit status", good.replace("Exit status:", ""), "Exit status:"),
        (
            "examples after the exit status",
            format!("{good}\nExamples:").replacen("Examples:", "", 1),
            "  ide-mcp",
        ),
        ("no page", good.replace("`ide-mcp help some` explains it.", ""), "names no page"),
        ("a page that is not in the package", good.replace("Do", "Do docs/tap.md"), "names no page"),
        ("a page that does not exist", good.replace("help some`", "help sum`"), "invalid value 'sum'"),
    ];
    for (name, text, expected) in rows {
        let faults = faults("ide-mcp some", &text);
        assert!(faults.iter().any(|fault| fault.contains(expected)), "{name}: {faults:?}");
    }
}

#[test]
fn pages_fit_a_terminal() {
    let (_, help) = all().next().unwrap();
    for topic in TOPICS {
        assert!(topic.text.starts_with("# "), "{}", topic.name);
        assert!(help.contains(topic.name), "the help names {}", topic.name);
        let printed = page::rendered(topic.text, None, false);
        assert!(!printed.contains(".md)") && !printed.contains("](#"), "{}", topic.name);
        assert!(
            !printed.contains("```") && !printed.contains("\n#") && !printed.contains("|\n"),
            "{}",
            topic.name
        );
        assert!(printed.len() > topic.text.len() / 2, "{}", topic.name);
        // A page of the repository has wide blocks of code.
        if PAGES_OF_THE_REPOSITORY.contains(&topic.name) {
            continue;
        }
        let wide: Vec<&str> = printed.lines().filter(|line| columns(line) > MAX_COLUMNS).collect();
        assert!(wide.is_empty(), "{}: {wide:?}", topic.name);
    }
}

#[test]
fn same_option_takes_the_same_value_in_each_command() {
    let mut all: Vec<(String, String, String)> = Vec::new();
    for command in command().get_subcommands() {
        for option in command.get_arguments().filter(|option| option.get_long().is_some()) {
            let value = option.get_value_names().map(|names| names.concat()).unwrap_or_default();
            all.push((command.get_name().into(), option.get_long().unwrap().into(), value));
        }
    }
    for (name, long, value) in &all {
        for (other, _, same) in all.iter().filter(|(_, other, _)| other == long) {
            // The editor listens on a port that is free; the other commands take that of a running editor.
            let is_free = |command: &str| *long == "port" && command == "editor";
            assert!(value == same || is_free(name) != is_free(other), "{long} of {name} and of {other}");
        }
    }
}

#[test]
fn unknown_command_error_names_the_remedy() {
    let rows: &[(&str, &[&str], &str)] = &[
        (
            "a misspelled command",
            &["edtor"],
            "unrecognized subcommand 'edtor' (some similar subcommands exist: 'editor', 'doctor')",
        ),
        (
            "a letter too many",
            &["demoo"],
            "unrecognized subcommand 'demoo' (some similar subcommands exist: 'demo', 'doctor')",
        ),
        ("help for a misspelled command", &["help", "edtor"], "a similar value exists: 'editor'"),
        ("a misspelled page", &["help", "headles"], "a similar value exists: 'headless'"),
        ("a page as a command", &["headless"], "unrecognized subcommand 'headless'"),
        ("another word", &["dance"], "unrecognized subcommand 'dance'"),
        (
            "no command",
            &[],
            "'ide-mcp' requires a subcommand but one was not provided [subcommands: demo, editor, agent, ",
        ),
    ];
    for (name, words, expected) in rows {
        let message = refused(words).unwrap();
        assert!(message.contains(expected) && !message.contains('\n'), "{name}: {message}");
    }
    for words in
        [&["help", "help"][..], &["help", "headless"], &["help", "agent"], &["help", "agent", "call"]]
    {
        assert_eq!(refused(words), None, "{words:?}");
    }
    let without =
        clap::Command::new("ide-mcp").subcommand_required(true).subcommand(clap::Command::new("agent"));
    let message = message(&without.try_get_matches_from(["ide-mcp", "tap"]).unwrap_err());
    assert!(message.starts_with("this program is built without tap: `cargo install "), "{message}");
}

#[test]
fn wrong_option_error_names_the_remedy() {
    let rows: &[(&str, &[&str], &str)] = &[
        (
            "a misspelled option",
            &["editor", "--prot", "1"],
            "unexpected argument '--prot' found (a similar argument exists: '--port')",
        ),
        ("an unknown option", &["tap", "--frobnicate"], "unexpected argument '--frobnicate' found"),
        ("an unknown letter", &["tap", "-x"], "unexpected argument '-x' found"),
        (
            "a missing file",
            &["tap", "--lock"],
            "a value is required for '--lock <FILE>' but none was supplied",
        ),
        ("a missing directory", &["tap", "--json", "--cwd"], "a value is required for '--cwd <DIR>'"),
        ("a missing number", &["editor", "--port"], "a value is required for '--port <N>'"),
        ("a missing choice", &["replay", "--side"], "[possible values: editor, agent]"),
        (
            "a value too many",
            &["tap", "--json=yes"],
            "unexpected value 'yes' for '--json' found; no more were expected",
        ),
        ("a word too many", &["tap", "x"], "unexpected argument 'x' found"),
        (
            "an unknown value of --color",
            &["--color", "red", "tap"],
            "'red' for '--color <WHEN>' [possible values: auto, always, never]",
        ),
    ];
    for (name, words, expected) in rows {
        let message = refused(words).unwrap();
        assert!(message.contains(expected) && !message.contains('\n'), "{name}: {message}");
    }
}

#[test]
fn global_options_may_stand_anywhere() {
    for words in [["--json", "--color", "never", "tap"], ["tap", "--json", "--color", "never"]] {
        let cli = parse(&line(&words)).unwrap();
        assert!(cli.json && cli.color == ColorChoice::Never, "{words:?}");
        let Command::Tap(Named(options)) = cli.command else { panic!("{words:?}") };
        assert!(options.json, "{words:?}");
    }
    let rows: &[(&str, Option<&str>, ColorChoice)] = &[
        ("ide-mcp --color always tap -h", Some("tap"), ColorChoice::Always),
        ("ide-mcp tap --color=never -h", Some("tap"), ColorChoice::Never),
        ("ide-mcp --json help dance", Some("help"), ColorChoice::Auto),
        ("ide-mcp dance tap --color", None, ColorChoice::Auto),
    ];
    for (line, name, color) in rows {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        assert_eq!((named(&words), color_of(&words)), (*name, *color), "{line}");
    }
}

/// Returns the message about a wrong command line.
fn refused(words: &[&str]) -> Option<String> {
    parse(&line(words)).err().map(|error| message(&error))
}

fn line(words: &[&str]) -> Vec<OsString> {
    ["ide-mcp"].iter().chain(words).map(OsString::from).collect()
}

/// Returns the help of the program and of each command, by the words that start it.
fn all() -> impl Iterator<Item = (String, String)> {
    fn below(command: &clap::Command, helps: &mut Vec<(String, String)>) {
        let name = command.get_bin_name().unwrap_or_default().to_owned();
        helps.push((name, command.clone().render_help().to_string()));
        command.get_subcommands().for_each(|command| below(command, helps));
    }
    let (mut all, mut helps) = (command(), Vec::new());
    all.build();
    below(&all, &mut helps);
    helps.into_iter()
}

/// Returns where a help text deviates from the style.
fn faults(name: &str, help: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let lines: Vec<&str> = help.trim_end().lines().collect();
    if lines.len() > MAX_LINES {
        faults.push(format!("{} lines", lines.len()));
    }
    faults.extend(
        lines.iter().map(|line| columns(line)).filter(|n| *n > MAX_COLUMNS).map(|n| format!("{n} columns")),
    );
    let first = lines[0];
    if first.ends_with('.') || first.contains(". ") {
        faults.push(format!("the first line is not a phrase: {first}"));
    }
    let usage = format!("Usage: {name}");
    let mut rest = lines.iter();
    for section in [usage.as_str(), "  -", "Examples:", "  ide-mcp", "Exit status: 0"] {
        let is_there =
            |line: &&&str| line.trim_start().starts_with(section.trim_start()) && line.len() >= section.len();
        if rest.find(is_there).is_none() {
            faults.push(format!("no {section:?} at its place"));
        }
    }
    // An installed program has no other pages.
    let end = help.rsplit_once("Exit status:").map_or("", |(_, end)| end);
    let pages: Vec<&str> =
        end.split("`ide-mcp help").skip(1).map(|after| after.split('`').next().unwrap().trim()).collect();
    if pages.is_empty() || help.contains("docs/") {
        faults.push(format!("the end names no page of the program: {end}"));
    }
    for page in pages.into_iter().filter(|page| !matches!(*page, "" | "COMMAND" | "PAGE" | "some")) {
        faults.extend(refused(&["help", page]));
    }
    faults
}

fn columns(line: &str) -> usize {
    line.chars().count()
}
