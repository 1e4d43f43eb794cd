//! The command line.

use crate::support::parse_port;
use ide_mcp_driver::Trust;
use ide_mcp_lockfile::EditorSearch;
use lexopt::prelude::*;
use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
Connect coding agents to an editor, and record their messages.

usage: ide-mcp tap [--to PORT | --lock FILE | --cwd DIR] [--dead-process] [--trust-port] [--name NAME]
                   [--out FILE [--force]] [--max-bytes N]

  --to PORT     the editor with the lock file PORT.lock
  --lock FILE   the editor of this lock file
  --cwd DIR     the editor that has this directory open (default: the working directory)
  --dead-process take the editor of --to or --lock although its process does not run here
  --trust-port  send the token to the port of the editor even if another user owns the port, as in a container
  --name NAME   the name of the tap in agents (default: the name of the editor and \"(tap)\")
  --out FILE    write the transcript to this file (default: standard output); only you can read the file, and an
                existing file is not changed
  --force       overwrite FILE
  --max-bytes N end the transcript before it has more than N bytes (default: 268435456, which is 256 MiB)

The tap publishes a lock file of its own, with its own token and port and the folders of the editor. Agents attach to it
as to an editor: in the real client choose it with /ide, for others set CLAUDE_CODE_SSE_PORT to its port.

The tap forwards every byte, and records it before it forwards it. It changes only the head of the request to attach:
the port, the token, and the offer of compression, which it removes. The editor judges every request, and each side
receives the end of the other as if there were no tap. In the transcript stars replace every token, and minus signs
replace what an agent sends as a token and is none; everything else is complete, the contents of files too.
`ide-mcp replay FILE` feeds the transcript to the core of this library.

A transcript that has reached its maximum size ends with a complete line, and standard error reports it; the tap goes on
to forward, without recording. The default has room for two of the largest messages that an editor accepts, and `replay`
reads twice as much. If nobody reads the transcript, it ends in the same way when 16 MiB of it wait. Until then nothing
of it is lost.

The tap ends with SIGINT or SIGTERM: it removes the lock file, sends a close frame (1001) to both sides of each
connection, and writes the rest of the transcript, for at most 2 seconds. A second signal ends it at once.

exit status: 0; 1 if the transcript is incomplete, or the tap could not go on; 2 if it could not begin";

/// The default of `--max-bytes`, which the help also contains.
const MAX_BYTES: u64 = 256 << 20;

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) editor: EditorSearch,
    pub(crate) trust: Trust,
    pub(crate) name: Option<String>,
    pub(crate) out: Option<PathBuf>,
    pub(crate) force: bool,
    pub(crate) max_bytes: u64,
}

impl Options {
    /// Parses the command line; `None` if the user asked for help.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let mut options = Self {
            editor: EditorSearch::default().ignore_auto_connect(),
            trust: Trust::OurUser,
            name: None,
            out: None,
            force: false,
            max_bytes: MAX_BYTES,
        };
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("to") => {
                    let value = parser.value()?;
                    // The shared message has the name of the option in the other programs.
                    let port = parse_port(&value, 1).map_err(|problem| problem.replace("--port", "--to"));
                    options.editor.port = Some(port?);
                }
                Long("lock") => options.editor.lock_file = Some(parser.value()?.into()),
                Long("cwd") => options.editor.cwd = Some(parser.value()?.into()),
                Long("name") => options.name = Some(parser.value()?.string()?),
                Long("out") => options.out = Some(parser.value()?.into()),
                Long("dead-process") => options.editor.permits_dead_process = true,
                Long("trust-port") => options.trust = Trust::EveryUser,
                Long("force") => options.force = true,
                Long("max-bytes") => {
                    let value = parser.value()?;
                    let bytes =
                        value.to_str().and_then(|digits| digits.parse().ok()).filter(|bytes| *bytes > 0);
                    options.max_bytes = bytes.ok_or_else(|| {
                        format!(
                            "--max-bytes takes a number of bytes from 1, such as {MAX_BYTES}, not {value:?}"
                        )
                    })?;
                }
                other @ (Short(_) | Long(_) | Value(_)) => return Err(other.unexpected()),
            }
        }
        let EditorSearch { lock_file: lock, port, cwd, .. } = &options.editor;
        if [lock.is_some(), port.is_some(), cwd.is_some()].into_iter().filter(|said| *said).count() > 1 {
            return Err("--to, --lock and --cwd exclude each other".into());
        }
        if options.force && options.out.is_none() {
            return Err("--force needs --out FILE, the file to write over".into());
        }
        if options.name.as_ref().is_some_and(|name| name.trim().is_empty()) {
            return Err("--name takes a name that agents can show, not an empty one".into());
        }
        Ok(Some(options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Option<Options>, String> {
        Options::parse(lexopt::Parser::from_args(words)).map_err(|error| error.to_string())
    }

    #[test]
    fn wrong_command_line_names_its_error() {
        let cases: &[(&[&str], &str)] = &[
            (&["--to", "0"], "--to takes a number from 1 to 65535"),
            (&["--to", "1", "--cwd", "."], "exclude each other"),
            (&["--lock", "1.lock", "--to", "1"], "exclude each other"),
            (&["--force"], "--force needs --out"),
            (&["--name", " "], "--name takes a name"),
            (&["--max-bytes", "0"], "--max-bytes takes a number"),
            (&["--max-bytes", "1G"], "--max-bytes takes a number"),
            (&["x"], "unexpected argument \"x\""),
        ];
        for (words, expected) in cases {
            let message = parse(words).unwrap_err();
            assert!(message.contains(expected), "{words:?}: {message}");
        }
        assert!(parse(&["--help"]).unwrap().is_none());
        assert_eq!(parse(&[]).unwrap().unwrap().max_bytes, 268_435_456, "as the help says");
        let words = ["--to", "7", "--out", "f", "--force", "--name", "N", "--max-bytes", "9"];
        let options = parse(&words).unwrap().unwrap();
        assert_eq!(options.max_bytes, 9);
        assert_eq!((options.editor.port, options.out, options.force), (Some(7), Some("f".into()), true));
    }
}
