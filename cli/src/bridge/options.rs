//! The command line.

use crate::support::parse_port;
use ide_mcp_driver::Trust;
use ide_mcp_lockfile::EditorSearch;
use lexopt::prelude::*;

pub(crate) const USAGE: &str = "\
Give the tools of a running editor to any MCP client, over pipes.

usage: ide-mcp bridge [OPTION…]

An MCP client starts the bridge, which forwards all messages unchanged in both
directions. While the editor is away, it answers requests with an error.

  --lock FILE     the lock file of the editor
  --port PORT     the editor with the lock file PORT.lock
  --cwd DIR       an editor that has this directory open (default: the working
                  directory)
  --dead-process  attach although the process of the editor does not run here
  --trust-port    send the token even if another user owns the port
  -h, --help      print this help

examples:
  ide-mcp bridge --cwd ~/project
  ide-mcp bridge --port 41111
  in a client: {\"mcpServers\":{\"editor\":{\"command\":\"ide-mcp\",\"args\":[\"bridge\"]}}}

exit status: 0; 1 if the input cannot be used, or if the editor does not admit
the client; 2 if there is no editor, or the command line is wrong
`ide-mcp help models` and `ide-mcp help search` have the rest.";

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) editor: EditorSearch,
    pub(crate) trust: Trust,
}

impl Options {
    /// Parses the command line. Returns `None` if the user asked for help.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let (mut editor, mut trust) = (EditorSearch::default(), Trust::OurUser);
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("lock") => editor.lock_file = Some(parser.value()?.into()),
                Long("port") => editor.port = Some(parse_port(&parser.value()?, 1)?),
                Long("cwd") => editor.cwd = Some(parser.value()?.into()),
                Long("dead-process") => editor.permits_dead_process = true,
                Long("trust-port") => trust = Trust::EveryUser,
                other @ (Short(_) | Long(_) | Value(_)) => return Err(other.unexpected()),
            }
        }
        if editor.lock_file.is_some() && editor.port.is_some() {
            return Err("--lock and --port exclude each other".into());
        }
        Ok(Some(Self { editor, trust }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_command_line_names_its_error() {
        let parse = |words: &[&str]| Options::parse(lexopt::Parser::from_args(words));
        let cases: &[(&[&str], &str)] = &[
            (&["--port", "0"], "--port takes a number from 1"),
            (&["--port", "1", "--lock", "1.lock"], "exclude each other"),
            (&["x"], "unexpected argument \"x\""),
        ];
        for (words, expected) in cases {
            let message = parse(words).unwrap_err().to_string();
            assert!(message.contains(expected), "{words:?}: {message}");
        }
        assert!(parse(&["-h"]).unwrap().is_none());
        assert_eq!(parse(&["--port", "7"]).unwrap().unwrap().editor.port, Some(7));
    }
}
