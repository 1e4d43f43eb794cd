//! The command line.

use crate::support::find::Asked;
use crate::support::{Trust, parse_port};
use lexopt::prelude::*;

pub(crate) const USAGE: &str = "\
Give the tools of a running editor to any MCP client: MCP on standard input and output, the editor behind it.

usage: ide-mcp bridge [--lock FILE | --port N] [--cwd DIR] [--dead-process] [--trust-port]

  --lock FILE     the lock file of the editor
  --port N        the editor with the lock file N.lock
  --cwd DIR       look for an editor that has this directory open (default: the working directory)
  --dead-process  attach to the editor of --lock or --port although its process does not run here
  --trust-port    send the token to the port of the editor also where it belongs to another user, as in a container

Without --lock and --port the bridge finds the editor as `ide-mcp agent` does, with the same variables;
CLAUDE_CODE_IDE_HOST_OVERRIDE names the host in any case.

Start it from an MCP client, as a server over stdio:

  {\"mcpServers\":{\"editor\":{\"command\":\"ide-mcp\",\"args\":[\"bridge\",\"--cwd\",\"/home/me/project\"]}}}

Everything goes through as it is written, both ways: requests, notifications, progress and cancellations, under ids of
the bridge's own. To the editor the bridge is the client that started it, with its name and capabilities.

While the editor is away every request is answered with an error, and a notification is lost: what was true when it
was said may not be any more, and standard error says how many nobody heard, once the editor is back. For a minute,
and then whenever the client says something, the bridge tries to reach the editor again and looks for its lock file
each time. When it is back, the client hears that the tools have changed. Standard error need not be read: what finds
no room there is counted.

A client need not read at once: while 1 MiB waits for it, nothing more is taken from it; while 64 MiB do, nothing more
is taken from the editor either, which may then leave, since its pings are not answered any more.

It ends with standard input: what is still open a second later is answered as failed, and the editor gets a close
frame. So it does with SIGINT and SIGTERM. A client that is not let in is told so: what it has asked, `initialize`
first, is answered with an error that says why.

exit status: 0, also where nobody asked for a session; 1 if the input cannot be used, or the editor does not let the
client in, be it in 30 seconds or within one of the end; 2 if there is no editor, or the command line is wrong";

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) editor: Asked,
    pub(crate) trust: Trust,
}

impl Options {
    /// `None` if help was asked for.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let (mut editor, mut trust) = (Asked::default(), Trust::OurUser);
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("lock") => editor.lock = Some(parser.value()?.into()),
                Long("port") => editor.port = Some(parse_port(&parser.value()?, 1)?),
                Long("cwd") => editor.cwd = Some(parser.value()?.into()),
                Long("dead-process") => editor.dead_process = true,
                Long("trust-port") => trust = Trust::Port,
                other @ (Short(_) | Long(_) | Value(_)) => return Err(other.unexpected()),
            }
        }
        if editor.lock.is_some() && editor.port.is_some() {
            return Err("--lock and --port exclude each other".into());
        }
        Ok(Some(Self { editor, trust }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_command_line_says_what_is_wrong() {
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
