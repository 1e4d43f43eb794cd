//! The command line.

use crate::support::parse_port;
use ide_mcp_lockfile::EditorSearch;
use lexopt::prelude::*;
use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
Write the file by which an agent gives the tools of an editor to its model.

usage: ide-mcp mcp-config [OPTION…]

The command prints the path of the file, and the line that starts the agent
with it. The file has the token of the editor: do not commit it. A file of
--bridge has no token.

  --lock FILE     the lock file of the editor
  --port PORT     the editor with the lock file PORT.lock
  --cwd DIR       an editor that has this directory open (default: the working
                  directory)
  --dead-process  choose the editor although its process does not run here
  --bridge        let the agent start `ide-mcp bridge`, for editors that are not
                  built with ide-mcp
  --name NAME     the name of the server, which is part of the names of its
                  tools: mcp__NAME__tool (default: editor)
  --out FILE      the file to write (default: PORT.mcp.json beside PORT.lock;
                  with --bridge: bridge.mcp.json there)
  --force         write over an existing FILE
  --json          print the path and the line as JSON
  -h, --help      print this help

examples:
  ide-mcp mcp-config
  claude --ide --mcp-config \"$(ide-mcp mcp-config | head -n 1)\"
  ide-mcp mcp-config --bridge --out .mcp.json

exit status: 0; 1 if the file cannot be written, or if the editor is not built
with ide-mcp; 2 if there is no editor, or the command line is wrong
`ide-mcp help models` and `ide-mcp help search` have the rest.";

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) asked: EditorSearch,
    pub(crate) bridge: bool,
    pub(crate) name: String,
    pub(crate) out: Option<PathBuf>,
    /// True if an existing file of `out` is replaced.
    pub(crate) force: bool,
    pub(crate) json: bool,
}

impl Options {
    /// Parses the command line. Returns `None` if the user asked for help.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let mut options = Self {
            // The command attaches to nothing.
            asked: EditorSearch::default().ignore_auto_connect(),
            bridge: false,
            name: "editor".into(),
            out: None,
            force: false,
            json: false,
        };
        let asked = &mut options.asked;
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("lock") => asked.lock_file = Some(parser.value()?.into()),
                Long("port") => asked.port = Some(parse_port(&parser.value()?, 1)?),
                Long("cwd") => asked.cwd = Some(parser.value()?.into()),
                Long("dead-process") => asked.permits_dead_process = true,
                Long("bridge") => options.bridge = true,
                Long("name") => options.name = server_name(parser.value()?.string()?)?,
                Long("out") => options.out = Some(parser.value()?.into()),
                Long("force") => options.force = true,
                Long("json") => options.json = true,
                other @ (Short(_) | Long(_) | Value(_)) => return Err(other.unexpected()),
            }
        }
        if options.asked.lock_file.is_some() && options.asked.port.is_some() {
            return Err("--lock and --port exclude each other".into());
        }
        if options.force && options.out.is_none() {
            return Err("--force goes with --out FILE, the file to write over".into());
        }
        Ok(Some(options))
    }
}

/// Returns `name` if it can be a part of the name of a tool.
fn server_name(name: String) -> Result<String, String> {
    let is_fit = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    match name.as_str() {
        "ide" => Err("--name: the agent has the name ide for the connection of --ide".into()),
        fit if !fit.is_empty() && fit.chars().all(is_fit) => Ok(name),
        _ => Err(format!("--name takes letters, digits, _ and -, not {name:?}")),
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
            (&["--name", "ide"], "for the connection of --ide"),
            (&["--name", ""], "--name takes letters"),
            (&["--name", "my editor"], "not \"my editor\""),
            (&["--force"], "--force goes with --out FILE, the file to write over"),
            (&["x"], "unexpected argument \"x\""),
        ];
        for (words, expected) in cases {
            let message = parse(words).unwrap_err().to_string();
            assert!(message.contains(expected), "{words:?}: {message}");
        }
    }

    #[test]
    fn command_line_is_parsed() {
        let parse = |words: &[&str]| Options::parse(lexopt::Parser::from_args(words));
        assert!(parse(&["-h"]).unwrap().is_none());
        let options = parse(&["--port", "7", "--name", "my-Editor_2"]).unwrap().unwrap();
        assert_eq!(
            (options.asked.port, options.name.as_str(), options.bridge),
            (Some(7), "my-Editor_2", false)
        );
    }
}
