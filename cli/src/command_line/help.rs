//! `help`: the help of a command, or a page about a whole topic.

use super::{NAMES, command, page, pager};
use crate::support::{FAILED, NOT_BEGUN, Program, columns, has_colors};
use crate::topics::TOPICS;
use clap::builder::{PossibleValuesParser, StyledStr, Styles};
use std::io::Write as _;
use std::process::ExitCode;

const AFTER_HELP: &str = "\
At a terminal, the program in PAGER shows a page, or else `less`. An empty PAGER
means no pager.

Examples:
  ide-mcp help agent
  ide-mcp help headless

Exit status: 0; 1 if standard output cannot be written; 2 if there is no such
command or page.

`ide-mcp help` lists the commands.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {
    /// The command or the page
    #[arg(value_parser = PossibleValuesParser::new(names()))]
    name: Option<String>,
    /// Its subcommand, such as diff
    command: Option<String>,
}

const PROGRAM: Program = Program("help");

/// The headings in our help texts that clap does not know.
const HEADINGS: [&str; 2] = ["\nExamples:", "\nExit status:"];

fn names() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter().chain(["help"]).chain(TOPICS.iter().map(|topic| topic.name))
}

pub(super) fn main(options: &Options) -> Result<ExitCode, String> {
    let words: Vec<&str> = options.name.iter().chain(&options.command).map(String::as_str).collect();
    let topic = TOPICS.iter().find(|topic| words == [topic.name]);
    match (topic, words.as_slice()) {
        (Some(topic), _) => {
            let text = page::rendered(topic.text, columns::of_stdout(), has_colors());
            Ok(PROGRAM.printed(pager::show(&text), 0, FAILED))
        }
        (None, [] | ["help"]) => Ok(print(&command().render_help())),
        (None, path) => print_help(path),
    }
}

/// Prints the help of the command with these names. The error is a name that is not a command.
pub(crate) fn print_help(path: &[impl AsRef<str>]) -> Result<ExitCode, String> {
    let mut all = command();
    all.build();
    let mut found = &mut all;
    for name in path.iter().map(AsRef::as_ref) {
        let problem = format!("'{}' has no command '{name}'", found.get_bin_name().unwrap_or_default());
        found = found.find_subcommand_mut(name).ok_or(problem)?;
    }
    Ok(print(&found.render_help()))
}

/// Prints the help of a command.
pub(super) fn print(help: &StyledStr) -> ExitCode {
    let mut out = anstream::stdout();
    PROGRAM.printed(out.write_all(styled(help).as_bytes()).and_then(|()| out.flush()), 0, FAILED)
}

/// Prints the help to standard error, for a command line without a command.
pub(super) fn complain(help: &StyledStr) -> ExitCode {
    // If nobody can read it, the exit status still says that it failed.
    let _ = anstream::stderr().write_all(styled(help).as_bytes());
    ExitCode::from(NOT_BEGUN)
}

/// Returns a help text with styles for our own headings too.
fn styled(help: &StyledStr) -> String {
    let styles = Styles::styled();
    let header = styles.get_header();
    HEADINGS.iter().fold(help.ansi().to_string(), |text, heading| {
        text.replace(heading, &format!("\n{header}{}{header:#}", heading.trim_start()))
    })
}
