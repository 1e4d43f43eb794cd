//! The command line.

use crate::support::parse_port;
use ide_mcp_driver::Trust;
use ide_mcp_lockfile::EditorSearch;
use lexopt::prelude::*;

pub(crate) const USAGE: &str = "\
Give the tools of a running editor to any MCP client: MCP on standard input and output, connected to the editor.

usage: ide-mcp bridge [--lock FILE | --port N] [--cwd DIR] [--dead-process] [--trust-port]

  --lock FILE     the lock file of the editor
  --port N        the editor with the lock file N.lock
  --cwd DIR       choose an editor that has this directory open (default: the working directory)
  --dead-process  attach to the editor of --lock or --port although its process does not run here
  --trust-port    send the token to the port of the editor even if another user owns the port, as in a container

Without --lock and --port the bridge finds the editor as `ide-mcp agent` does, with the same variables;
CLAUDE_CODE_IDE_HOST_OVERRIDE names the host in any case.

Start it from an MCP client, as a server over stdio:

  {\"mcpServers\":{\"editor\":{\"command\":\"ide-mcp\",\"args\":[\"bridge\",\"--cwd\",\"/home/me/project\"]}}}

The bridge forwards everything unchanged in both directions: requests, notifications, progress and cancellations, under
ids of its own. It attaches to the editor with the name and capabilities of the client that started it.

While the editor is away, the bridge answers every request with an error and drops notifications, since they may be out
of date later; when the editor is back, standard error has the number of dropped ones. For a minute, and after that
whenever the client sends something, the bridge tries to reach the editor again and looks for its lock file each time.
When the editor is back, the client gets a notification that the tools have changed. Nobody has to read standard error:
the bridge counts the messages that find no room there.

A client does not have to read at once: while 1 MiB of output waits for it, the bridge takes nothing more from it; while
64 MiB wait, the bridge takes nothing more from the editor either. The editor may then close the connection, since its
pings are not answered any more.

The bridge ends with standard input: after a second it answers open requests with an error, and sends the editor a close
frame. SIGINT and SIGTERM have the same effect. If the editor does not admit the client, the bridge answers the requests
of the client, `initialize` first, with an error that has the reason.

exit status: 0, also if nobody asked for a session; 1 if the input cannot be used, or if the editor does not admit the
client, within 30 seconds or within one second of the end; 2 if there is no editor, or the command line is wrong";

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) editor: EditorSearch,
    pub(crate) trust: Trust,
}

impl Options {
    /// Parses the command line; `None` if the user asked for help.
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
