//! The command line.

use lexopt::Error;
use lexopt::prelude::*;

pub(crate) const USAGE: &str = "\
Let coding agents attach to an editor that starts this process.

usage: ide-mcp sidecar

The editor writes its configuration and then commands to standard input, and
reads events from standard output, each as a line of JSON. The sidecar listens,
publishes the lock file, and keeps the deadlines of the agents. It ends at the
end of standard input, at SIGTERM and at SIGHUP; it ignores SIGINT.

  -h, --help  print this help

examples:
  ide-mcp sidecar < FILE
  docker exec -i CONTAINER ide-mcp sidecar

exit status: 0; 1 if standard output cannot be written; 2 if the configuration
or the command line is wrong, or if the sidecar cannot listen
`ide-mcp help protocol` has the configuration, the commands and the events.";

/// The command line has no values.
#[derive(Debug)]
pub(crate) struct Options;

impl Options {
    /// Parses the command line. Returns `None` if the user asked for help.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, Error> {
        match parser.next()? {
            None => Ok(Some(Self)),
            Some(Short('h') | Long("help")) => Ok(None),
            Some(other) => Err(other.unexpected()),
        }
    }
}
