//! The command line.

use ide_mcp_driver::Trust;
use lexopt::prelude::*;
use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
Explain why an agent does not attach to an editor, and what to do.

usage: ide-mcp doctor [OPTION…]

  --cwd DIR           the directory of the agent (default: the current one)
  -v, --verbose       show also the checks that found no fault
  --json              print a line of JSON for each finding and for the verdict
  --report            print Markdown for a report of a bug, without tokens
  --watch             look every second, and print what changes; Ctrl+C ends it
  --no-connect        read variables and files, and attach to no editor
  --trust-port        attach even if another user owns the port, for example
                      because it is forwarded into a container
  --remove-leftovers  first remove the lock files of editors whose process is
                      dead and whose port refuses; close their directory to
                      other users. The doctor changes nothing else
  -h, --help          print this help

The doctor reads the variables of the agent, so run it in the same terminal. It
attaches for a moment to each editor with a lock file. An editor that accepts
only one agent can drop that agent, which then comes back by itself.

examples:
  ide-mcp doctor
  ide-mcp doctor --watch --cwd ~/project
  ide-mcp doctor --json --no-connect | grep '\"status\":\"problem\"'
  ide-mcp doctor --report > report.md

exit status: 0 without a problem or a warning; 1 with one; 2 if something could
not be inspected, or the command line is wrong
`ide-mcp help findings` has all findings, and the members of the JSON.";

#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) format: Format,
    pub(crate) watch: bool,
    pub(crate) no_connect: bool,
    pub(crate) trust: Trust,
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

impl Default for Format {
    fn default() -> Self {
        Self::Text { verbose: false }
    }
}

impl Options {
    /// Returns the ports that the doctor connects to, if any.
    pub(crate) fn connects(&self) -> Option<Trust> {
        (!self.no_connect).then_some(self.trust)
    }

    /// Parses the command line. Returns `None` if the user asked for help.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let mut options = Self::default();
        let mut formats: Vec<(&str, Format)> = Vec::new();
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("cwd") => options.cwd = Some(parser.value()?.into()),
                Short('v') | Long("verbose") => formats.push(("--verbose", Format::Text { verbose: true })),
                Long("json") => formats.push(("--json", Format::Json)),
                Long("report") => formats.push(("--report", Format::Markdown)),
                Long("watch") => options.watch = true,
                Long("no-connect") => options.no_connect = true,
                Long("trust-port") => options.trust = Trust::EveryUser,
                Long("remove-leftovers") => options.remove_leftovers = true,
                other @ (Short(_) | Long(_) | Value(_)) => return Err(other.unexpected()),
            }
        }
        formats.dedup();
        match formats.as_slice() {
            [] => {}
            [(_, format)] => options.format = *format,
            [(first, _), (second, _), ..] => {
                return Err(format!("{first} and {second} exclude each other").into());
            }
        }
        if options.watch && options.format == Format::Markdown {
            return Err("--watch and --report exclude each other".into());
        }
        Ok(Some(options))
    }
}
