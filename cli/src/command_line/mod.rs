//! The command line of the program: the commands by their names, the options that all of them have, and what is
//! printed about a wrong one.

mod help;
mod page;
mod pager;

#[cfg(feature = "agent")]
pub(crate) use help::print_help;

use crate::support::{NOT_BEGUN, Program, choose_colors, settle};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, ColorChoice, CommandFactory as _, FromArgMatches, Parser, Subcommand, ValueEnum as _};
use clap_complete::CompleteEnv;
use std::cell::Cell;
use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

/// The completions of a shell set this variable when they run the program.
pub(crate) const COMPLETE: &str = "IDE_MCP_COMPLETE";

/// All commands but `help`, in the order of the help, also those that this program is built without.
const NAMES: [&str; 12] = [
    "demo",
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
    "man",
];

/// The commands that have no results to print as JSON.
const WITHOUT_RESULTS: [&str; 6] = ["bridge", "completions", "demo", "help", "man", "sidecar"];

const AFTER_HELP: &str = "\
With --json, a command that has results prints them as lines of JSON.

Examples:
  ide-mcp demo
  ide-mcp editor
  ide-mcp agent tools
  ide-mcp doctor

Exit status: 0; 1 if a command fails; 2 if it cannot begin, or the command line
is wrong.

`ide-mcp help COMMAND` has the options and the exit status of a command, and
`ide-mcp help PAGE` one of the pages config, headless, scripts, search, models,
findings, records and protocol.";

/// Attach coding agents to editors, and examine how they attach
#[derive(Debug, Parser)]
#[command(name = "ide-mcp", bin_name = "ide-mcp", version, propagate_version = true, after_help = AFTER_HELP)]
#[command(disable_help_subcommand = true, args_override_self = true, arg_required_else_help = false)]
#[command(max_term_width = 80)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Show colors: auto, always or never
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", display_order = 1000)]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    color: ColorChoice,
    // A command that has results explains the option itself.
    #[arg(long, global = true, hide = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[cfg(feature = "demo")]
    /// Try it in a minute: an editor and a scripted agent, side by side
    Demo(Named<crate::demo::Options>),
    #[cfg(feature = "editor")]
    /// An editor that coding agents attach to, with or without a screen
    Editor(Named<crate::editor::Options>),
    #[cfg(feature = "agent")]
    /// Attach to a running editor as a coding agent does
    Agent(Named<crate::agent::Options>),
    #[cfg(feature = "doctor")]
    /// Explain why an agent does not attach to an editor, and what to do
    Doctor(Named<crate::doctor::Options>),
    #[cfg(feature = "tap")]
    /// Show and record the messages between coding agents and an editor
    Tap(Named<crate::tap::Options>),
    #[cfg(feature = "replay")]
    /// Compare a record of tap with the library, or make it a test
    Replay(Named<crate::replay::Options>),
    #[cfg(feature = "bridge")]
    /// Give the tools of a running editor to any MCP client, over pipes
    Bridge(Named<crate::bridge::Options>),
    #[cfg(feature = "mcp-config")]
    /// Write the file that gives the tools of an editor to a model
    McpConfig(Named<crate::mcp_config::Options>),
    #[cfg(feature = "sidecar")]
    #[command(about = crate::sidecar::ABOUT)]
    Sidecar(Named<crate::sidecar::Options>),
    #[cfg(feature = "plugin")]
    /// Install the plugin that lets agents attach to an editor
    Plugin(Named<crate::plugin::Options>),
    #[cfg(feature = "completions")]
    /// Print the completions of these commands for a shell
    Completions(Named<crate::completions::Options>),
    #[cfg(feature = "man")]
    /// Write the manual pages of all commands
    Man(Named<crate::man::Options>),
    /// Print the help of a command, or a page
    Help(Named<help::Options>),
}

impl Command {
    /// Runs the command. The error is a mistake in the command line that clap does not detect.
    fn run(self) -> Result<ExitCode, String> {
        match self {
            #[cfg(feature = "demo")]
            Self::Demo(Named(options)) => Ok(crate::demo::main(&options)),
            #[cfg(feature = "editor")]
            Self::Editor(Named(options)) => crate::editor::main(&options),
            #[cfg(feature = "agent")]
            Self::Agent(Named(options)) => crate::agent::main(&options),
            #[cfg(feature = "doctor")]
            Self::Doctor(Named(options)) => crate::doctor::main(&options),
            #[cfg(feature = "tap")]
            Self::Tap(Named(options)) => crate::tap::main(options),
            #[cfg(feature = "replay")]
            Self::Replay(Named(options)) => crate::replay::main(&options),
            #[cfg(feature = "bridge")]
            Self::Bridge(Named(options)) => Ok(crate::bridge::main(&options)),
            #[cfg(feature = "mcp-config")]
            Self::McpConfig(Named(options)) => Ok(crate::mcp_config::main(&options)),
            #[cfg(feature = "sidecar")]
            Self::Sidecar(_) => Ok(crate::sidecar::main()),
            #[cfg(feature = "plugin")]
            Self::Plugin(Named(options)) => Ok(crate::plugin::main(&options)),
            #[cfg(feature = "completions")]
            Self::Completions(Named(options)) => Ok(crate::completions::main(&options)),
            #[cfg(feature = "man")]
            Self::Man(Named(options)) => Ok(crate::man::main(&options)),
            Self::Help(Named(options)) => help::main(&options),
        }
    }
}

/// The options of a command. clap gets them only if they can matter: to build those of all commands would take longer
/// than the rest of each start.
#[derive(Debug)]
struct Named<O>(O);

thread_local! {
    /// The only command whose options clap gets; `None` for all of them.
    static ONLY: Cell<Option<&'static str>> = const { Cell::new(None) };
}

impl<O: Args> Args for Named<O> {
    fn augment_args(command: clap::Command) -> clap::Command {
        let is_needed = ONLY.get().is_none_or(|name| name == command.get_name());
        if is_needed { O::augment_args(command) } else { command }
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl<O: FromArgMatches> FromArgMatches for Named<O> {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        O::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

/// Parses the words of the whole command line.
fn parse(words: &[OsString]) -> Result<Cli, clap::Error> {
    ONLY.set(Some(named(words).unwrap_or_default()));
    let parsed = Cli::try_parse_from(words);
    ONLY.set(None);
    // The message about a wrong line can need the options of the other commands.
    let again = if parsed.as_ref().is_err_and(|error| error.exit_code() != 0) {
        Cli::try_parse_from(words)
    } else {
        parsed
    };
    again.map_err(with_best_first)
}

/// Puts the best suggestion first, which clap has last.
fn with_best_first(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::Strings(names)) = error.get(ContextKind::SuggestedSubcommand) {
        let names = names.iter().rev().cloned().collect();
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(names));
    }
    error
}

/// Returns the command line for clap.
pub(crate) fn command() -> clap::Command {
    Cli::command()
}

/// Runs the program. At its end it waits up to a second until all complaints are written.
pub(crate) fn main() -> ExitCode {
    CompleteEnv::with_factory(command).var(COMPLETE).completer("ide-mcp").complete();
    let words: Vec<OsString> = env::args_os().collect();
    let status = match parse(&words) {
        Ok(cli) => {
            show_colors(cli.color);
            run(cli, &words)
        }
        Err(error) => {
            show_colors(color_of(&words));
            match error.kind() {
                // Somebody who types only the name wants to see the commands. A script gets an error status, and
                // nothing on standard output.
                _ if words.len() <= 1 => help::complain(&command().render_help()),
                ErrorKind::DisplayHelp => help::print(&error.render()),
                ErrorKind::DisplayVersion => {
                    Program("ide-mcp").print(concat!("ide-mcp ", env!("CARGO_PKG_VERSION")))
                }
                _ => refuse(&words, &message(&error)),
            }
        }
    };
    settle();
    status
}

fn run(cli: Cli, words: &[OsString]) -> ExitCode {
    let without = named(words).filter(|name| WITHOUT_RESULTS.contains(name));
    let done = match without.filter(|_| cli.json) {
        Some(name) => Err(format!("--json prints the results of a command, and {name} has none")),
        None => cli.command.run(),
    };
    done.unwrap_or_else(|problem| refuse(words, &problem))
}

/// Complains about a wrong command line in one line, with `--json` also in a line of JSON, and ends with
/// [`NOT_BEGUN`].
fn refuse(words: &[OsString], problem: &str) -> ExitCode {
    let name = named(words).filter(|name| *name != "help");
    // The standard output of the bridge is for the messages of the editor.
    let json =
        words.iter().any(|word| word == "--json") && name.is_none_or(|name| !WITHOUT_RESULTS.contains(&name));
    let see: String =
        name.into_iter().chain(named_below(words, name)).map(|name| format!(" {name}")).collect();
    Program(name.unwrap_or("ide-mcp")).end_with(
        json,
        NOT_BEGUN,
        &format!("{problem}; see `ide-mcp{see} --help`"),
    )
}

/// Returns the command that these words name, even if they are wrong.
fn named(words: &[OsString]) -> Option<&'static str> {
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        if word == "--color" {
            words.next();
        } else if !word.as_encoded_bytes().starts_with(b"-") {
            return NAMES.into_iter().chain(["help"]).find(|name| word == name);
        }
    }
    None
}

/// Returns the word after the name of a command that names one of its subcommands, such as `diff` of `agent`.
fn named_below<'a>(words: &'a [OsString], name: Option<&str>) -> Option<&'a str> {
    let all = command();
    let above = all.find_subcommand(name?)?;
    let after = words.iter().filter_map(|word| word.to_str()).skip_while(|word| Some(*word) != name).skip(1);
    after.into_iter().find(|word| above.find_subcommand(word).is_some())
}

/// Returns the value of `--color` on a command line that is wrong or asks for help.
fn color_of(words: &[OsString]) -> ColorChoice {
    let words = words.iter().map_while(|word| word.to_str());
    let values = words.clone().zip(words.skip(1).chain([""])).filter_map(|(word, next)| {
        let value = word.strip_prefix("--color")?;
        if value.is_empty() { Some(next) } else { value.strip_prefix('=') }
    });
    values.filter_map(|value| ColorChoice::from_str(value, false).ok()).last().unwrap_or_default()
}

fn show_colors(choice: ColorChoice) {
    choose_colors(match choice {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    });
}

/// Returns the message of clap in one line with the remedy, without the usage and the reference to the help.
fn message(error: &clap::Error) -> String {
    if let Some(name) = left_out(error) {
        return format!(
            "this program is built without {name}: `cargo install --path cli` in a checkout builds all commands"
        );
    }
    let text = error.render().to_string();
    let parts = text.split("\n\n").map(str::trim);
    let kept = parts.filter(|part| !part.starts_with("Usage: ") && !part.starts_with("For more information"));
    let lines = kept.flat_map(str::lines).map(|line| match line.trim().strip_prefix("tip: ") {
        Some(tip) => format!("({tip})"),
        None => line.trim().into(),
    });
    let line = lines.collect::<Vec<String>>().join(" ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}

/// Returns the name of a known command that is not part of this program, if that is the error.
fn left_out(error: &clap::Error) -> Option<&'static str> {
    match error.get(ContextKind::InvalidSubcommand)? {
        ContextValue::String(word) => NAMES.into_iter().find(|name| name == word),
        _ => None,
    }
}

/// Parses the words of one command. The error is the message for the user.
#[cfg(test)]
pub(crate) fn parsed<O: Args>(words: &[&str]) -> Result<O, String> {
    let command = clap::Command::new("some").args_override_self(true).disable_help_subcommand(true);
    let command = O::augment_args(command);
    let matches = command.try_get_matches_from(["some"].iter().chain(words));
    let parsed = matches.and_then(|matches| O::from_arg_matches(&matches));
    parsed.map_err(|error| message(&with_best_first(error)))
}

#[cfg(all(test, feature = "default"))]
mod tests;
