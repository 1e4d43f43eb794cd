#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test states what it expects")]

//! The style of the help of all commands, and its agreement with their parsers.

use crate::support::Help;
use crate::topics::{TOPICS, without_links};
use crate::{COMMANDS, PROGRAM, no_command, parse};
use lexopt::Parser;
use std::ffi::OsStr;

/// The help has room on a screen of this size.
const MAX_LINES: usize = 40;
const MAX_COLUMNS: usize = 80;

/// The pages that are links to pages of the repository.
const PAGES_OF_THE_REPOSITORY: &[&str] = &["findings", "records", "protocol"];

/// The sources of the command lines, by the names of the commands.
const SOURCES: &[(&str, &str)] = &[
    ("ide-mcp", include_str!("main.rs")),
    ("editor", include_str!("editor/options.rs")),
    ("agent", include_str!("agent/options.rs")),
    ("doctor", include_str!("doctor/options.rs")),
    ("tap", include_str!("tap/options.rs")),
    ("replay", include_str!("replay/options.rs")),
    ("bridge", include_str!("bridge/options.rs")),
    ("mcp-config", include_str!("mcp_config/options.rs")),
    ("sidecar", include_str!("sidecar/options.rs")),
    ("plugin", include_str!("plugin/options.rs")),
    ("completions", include_str!("completions/mod.rs")),
];

#[test]
fn help_follows_the_style() {
    let mut checked = 0;
    for (name, help) in all() {
        let faults = faults(name, help.0);
        assert!(faults.is_empty(), "{name}: {faults:?}\n{}", help.0);
        checked += 1;
    }
    assert!(checked > 0, "no help was checked");
}

#[test]
fn faults_of_style_are_found() {
    let good = "Do.\n\nusage: ide-mcp some\n\n  -h, --help  help\n\nexamples:\n  ide-mcp some --a\n\n\
                exit status: 0\n`ide-mcp help some` has the rest.";
    assert_eq!(faults("some", good), [""; 0]);
    let long = good.replace("help\n\n", &format!("help\n\n{}", "more\n".repeat(MAX_LINES - 10)));
    let rows = [
        ("a line too many", long, "41 lines"),
        ("a wide line", good.replace("Do.", &format!("{}.", "o".repeat(MAX_COLUMNS))), "81 columns"),
        ("two sentences", good.replace("Do.", "Do. Or do not."), "first line"),
        ("no usage", good.replace("usage: ide-mcp some", ""), "usage:"),
        ("no options", good.replace("  -h, --help  help", ""), "  -"),
        ("no examples", good.replace("examples:", ""), "examples:"),
        ("no exit status", good.replace("exit status:", ""), "exit status:"),
        (
            "examples behind the exit status",
            format!("{good}\nexamples:").replacen("examples:", "", 1),
            "examples:",
        ),
        ("no page", good.replace("\n`ide-mcp help some` has", "\nhas"), "last line"),
        ("a page that no package has", good.replace("Do.", "Do docs/tap.md."), "last line"),
        ("no page of this name", good.replace("help some` has", "help sum` has"), "there is no command"),
    ];
    for (name, text, expected) in rows {
        let faults = faults("some", &text);
        assert!(faults.iter().any(|fault| fault.contains(expected)), "{name}: {faults:?}");
    }
}

#[test]
fn pages_fit_a_terminal() {
    let help = PROGRAM.help().0;
    for topic in TOPICS {
        assert!(topic.text.starts_with("# "), "{}", topic.name);
        assert!(help.contains(topic.name), "the help names {}", topic.name);
        // A page of the repository has tables.
        if PAGES_OF_THE_REPOSITORY.contains(&topic.name) {
            continue;
        }
        let wide: Vec<&str> = topic.text.lines().filter(|line| columns(line) > MAX_COLUMNS).collect();
        assert!(wide.is_empty(), "{}: {wide:?}", topic.name);
    }
}

#[test]
fn printed_pages_have_no_links_to_files() {
    let rows = [
        ("a page", "see [the page](../a/b.md) and [that](c.md#d)", "see the page and that"),
        ("a place on the page", "- [Filters](#filters)\n", "- Filters\n"),
        ("an address", "see [the site](https://a.example/)", "see [the site](https://a.example/)"),
        ("brackets", "`[::1]` (loopback), [a], x[1](2", "`[::1]` (loopback), [a], x[1](2"),
        ("code", "[a](b)\n```sh\n[a](b)\n```\n[a](b)", "a\n```sh\n[a](b)\n```\na"),
    ];
    for (name, text, expected) in rows {
        assert_eq!(without_links(text), expected, "{name}");
    }
    for topic in TOPICS {
        let printed = topic.printed();
        assert!(!printed.contains(".md)") && !printed.contains("](#"), "{}", topic.name);
        assert!(printed.len() > topic.text.len() / 2, "{}", topic.name);
    }
}

#[test]
fn documented_options_are_the_accepted_ones() {
    for (name, help) in all() {
        let source = SOURCES.iter().find(|(of, _)| *of == name).map_or("", |(_, source)| source);
        let code = source.split("\nmod tests {").next().unwrap();
        let mut accepted: Vec<String> = texts_behind(code, "Long(").map(|long| format!("--{long}")).collect();
        accepted.extend(texts_behind(code, "Short(").map(|short| format!("-{short}")));
        let documented: Vec<&str> = help.options().flat_map(|option| option.names).collect();
        assert!(
            accepted.iter().any(|option| option == "--help"),
            "{name}: the source was read: {accepted:?}"
        );
        for option in &accepted {
            assert!(documented.contains(&option.as_str()), "{name} accepts {option}: {documented:?}");
        }
        for option in documented {
            assert!(
                accepted.iter().any(|known| known == option),
                "{name} has no option {option}: {accepted:?}"
            );
        }
    }
}

#[test]
fn equal_options_have_equal_values() {
    let all: Vec<_> =
        all().flat_map(|(name, help)| help.options().map(move |option| (name, option))).collect();
    for (name, option) in &all {
        let long = option.names.last().unwrap();
        for (other, same) in all.iter().filter(|(_, other)| other.names.last() == Some(long)) {
            // The editor listens on a port that is free; the other commands take that of a running editor.
            let is_free = |command: &str| *long == "--port" && command == "editor";
            let is_equal = option.value == same.value || is_free(name) != is_free(other);
            assert!(is_equal, "{long} of {name} and of {other}");
        }
    }
}

#[test]
fn wrong_name_of_command_names_the_remedy() {
    let rows: &[(&str, &[&str], &str)] = &[
        ("a misspelled command", &["edtor"], r#"there is no command "edtor" (did you mean editor?)"#),
        ("help for it", &["help", "edtor"], r#"there is no command "edtor" (did you mean editor?)"#),
        (
            "a misspelled page",
            &["help", "headles"],
            "there is no command \"headles\" (did you mean headless?)",
        ),
        ("a page as a command", &["headless"], "there is no command \"headless\": editor, agent, "),
        ("another word", &["dance"], "there is no command \"dance\": editor, agent, "),
        ("no command", &[], "a command is missing: editor, agent, "),
    ];
    for (name, words, expected) in rows {
        let message = parse(Parser::from_args(*words)).err().unwrap().to_string();
        assert!(message.starts_with(expected), "{name}: {message}");
    }
    for words in [["help", "help"], ["help", "headless"], ["help", "agent"]] {
        assert!(parse(Parser::from_args(words)).is_ok(), "{words:?}");
    }
    let message = no_command(OsStr::new("tap"), &[]);
    assert!(message.starts_with("this program is built without tap: `cargo install "), "{message}");
}

/// Returns the help of the program and of each command.
fn all() -> impl Iterator<Item = (&'static str, Help)> {
    let commands = COMMANDS.iter().map(|command| command.program);
    [&PROGRAM].into_iter().chain(commands).map(|program| (program.name(), program.help()))
}

/// Returns the deviations of a help from the style.
fn faults(name: &str, help: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let lines: Vec<&str> = help.lines().collect();
    if lines.len() > MAX_LINES {
        faults.push(format!("{} lines", lines.len()));
    }
    faults.extend(
        lines.iter().map(|line| columns(line)).filter(|n| *n > MAX_COLUMNS).map(|n| format!("{n} columns")),
    );
    let (first, last) = (lines[0], lines[lines.len() - 1]);
    if !first.ends_with('.') || first.matches(". ").count() > 0 || !lines[1].is_empty() {
        faults.push(format!("the first line is no sentence: {first}"));
    }
    let program = if name == "ide-mcp" { String::new() } else { format!(" {name}") };
    let usage = format!("usage: ide-mcp{program}");
    let mut rest = lines.iter();
    for section in [usage.as_str(), "  -", "examples:", "  ide-mcp", "exit status: 0"] {
        if !rest.any(|line| line.starts_with(section)) {
            faults.push(format!("no {section:?} at its place"));
        }
    }
    // An installed program has no other pages.
    let pages: Vec<&str> =
        last.split("`ide-mcp help").skip(1).map(|behind| behind.split('`').next().unwrap().trim()).collect();
    if pages.is_empty() || help.contains("docs/") {
        faults.push(format!("the last line names no page of the program: {last}"));
    }
    for page in pages.into_iter().filter(|page| !matches!(*page, "" | "COMMAND" | "some")) {
        faults.extend(parse(Parser::from_args(["help", page])).err().map(|error| error.to_string()));
    }
    faults
}

fn columns(line: &str) -> usize {
    line.chars().count()
}

/// Returns the texts and characters in quotes behind each `call`, also those of `Long("a" | "b")`.
fn texts_behind<'a>(code: &'a str, call: &'static str) -> impl Iterator<Item = &'a str> {
    let arguments = code.split(call).skip(1).filter_map(|behind| behind.split(')').next());
    arguments.flat_map(|argument| argument.split(['"', '\'']).skip(1).step_by(2))
}
