//! The command line, which has no values.

pub(crate) const ABOUT: &str = "Let coding agents attach to an editor that starts this process";

pub(crate) const AFTER_HELP: &str = "\
The editor writes its configuration and then commands to standard input, and
reads events from standard output, each as a line of JSON. The sidecar listens,
publishes the lock file, and keeps the deadlines of the agents. It ends at the
end of standard input, at SIGTERM and at SIGHUP; it ignores SIGINT.

Examples:
  ide-mcp sidecar < FILE
  docker exec -i CONTAINER ide-mcp sidecar

Exit status: 0; 1 if standard output cannot be written; 2 if the configuration
or the command line is wrong, or if the sidecar cannot listen.

`ide-mcp help protocol` has the configuration, the commands and the events.";

/// Returns the help of a program that has only this command.
#[cfg(not(feature = "clap"))]
pub(crate) fn help() -> String {
    let options = "Options:\n  -h, --help     Print help\n  -V, --version  Print version";
    // The last line names a page, which this program does not have.
    let rest = AFTER_HELP.rsplit_once("\n\n").map_or(AFTER_HELP, |(rest, _)| rest);
    format!("{ABOUT}\n\nUsage: ide-mcp sidecar\n\n{options}\n\n{rest}")
}

/// The command line for clap.
#[cfg(feature = "clap")]
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {}
