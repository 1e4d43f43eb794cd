//! The command line.

use crate::support::trust;
use clap::{ArgAction, ValueHint};
use ide_mcp_driver::Trust;
use std::path::PathBuf;

const AFTER_HELP: &str = "\
The doctor reads the same environment variables as the agent, so run it in the
agent's terminal. It attaches for a moment to each editor with a lock file. An
editor that accepts only one agent can drop that agent, which then comes back
by itself.

Examples:
  ide-mcp doctor
  ide-mcp doctor --watch --cwd ~/project
  ide-mcp doctor --json --no-connect | grep '\"status\":\"problem\"'
  ide-mcp doctor --report > report.md

Exit status: 0 without a problem or a warning; 1 with one; 2 if something could
not be inspected, or the command line is wrong.

`ide-mcp help findings` explains all findings and the lines of JSON.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {
    /// The directory of the agent (default: the current one)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
    /// Also show the checks that found nothing wrong
    #[arg(long, short)]
    verbose: bool,
    /// Print a line of JSON for each finding and for the verdict
    #[arg(long, conflicts_with_all = ["verbose", "report"])]
    json: bool,
    /// Print Markdown for a bug report, without tokens
    #[arg(long, conflicts_with = "verbose")]
    report: bool,
    /// Look every second, and print what changes; Ctrl+C ends it
    #[arg(long, conflicts_with = "report")]
    pub(crate) watch: bool,
    /// Only read variables and files; do not attach to editors
    #[arg(long)]
    no_connect: bool,
    /// Attach even if another user owns the port, for example because it is
    /// forwarded into a container
    #[arg(long = "trust-port", action = ArgAction::SetTrue, value_parser = trust())]
    trust: Trust,
    /// First remove the lock files of editors whose process is dead and whose
    /// port refuses; close their directory to other users. The doctor changes
    /// nothing else
    #[arg(long)]
    pub(crate) remove_leftovers: bool,
}

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text {
        /// True if the findings without a fault are shown.
        verbose: bool,
    },
    Json,
    Markdown,
}

impl Options {
    /// Refuses what clap does not see: `--json` can stand before the command, and the option that conflicts with it
    /// after the command.
    pub(crate) fn check(&self) -> Result<(), String> {
        match [("--verbose", self.verbose), ("--report", self.report)].iter().find(|(_, given)| *given) {
            Some((other, _)) if self.json => {
                Err(format!("the argument '--json' cannot be used with '{other}'"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the ports that the doctor connects to, if any.
    pub(crate) fn connects(&self) -> Option<Trust> {
        (!self.no_connect).then_some(self.trust)
    }

    pub(crate) const fn format(&self) -> Format {
        match (self.json, self.report) {
            (true, _) => Format::Json,
            (false, true) => Format::Markdown,
            (false, false) => Format::Text { verbose: self.verbose },
        }
    }
}
