//! The command line.

use crate::support::{EditorArgs, trust};
use clap::ArgAction;
use ide_mcp_driver::Trust;

const AFTER_HELP: &str = "\
An MCP client starts the bridge, which forwards all messages unchanged in both
directions. While the editor is away, the bridge answers requests with errors.

Examples:
  ide-mcp bridge --cwd ~/project
  ide-mcp bridge --port 41111
  in a client: {\"mcpServers\":{\"editor\":{\"command\":\"ide-mcp\",\"args\":[\"bridge\"]}}}

Exit status: 0; 1 if the input cannot be used, or if the editor does not admit
the client; 2 if there is no editor, or the command line is wrong.

`ide-mcp help models` explains the tools for models, and `ide-mcp help search`
the search for the editor.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) editor: EditorArgs,
    /// Send the token even if another user owns the port
    #[arg(long = "trust-port", action = ArgAction::SetTrue, value_parser = trust())]
    pub(crate) trust: Trust,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::parsed;

    #[test]
    fn wrong_command_line_names_its_error() {
        let cases: &[(&[&str], &str)] = &[
            (&["--port", "0"], "'--port <PORT>': give a number from 1"),
            (&["--port", "1", "--lock", "1.lock"], "'--port <PORT>' cannot be used with '--lock <FILE>'"),
            (&["x"], "unexpected argument 'x' found"),
        ];
        for (words, expected) in cases {
            let message = parsed::<Options>(words).unwrap_err();
            assert!(message.contains(expected), "{words:?}: {message}");
        }
        assert_eq!(parsed::<Options>(&["--port", "7"]).unwrap().editor.port, Some(7));
    }
}
