//! The command line.

use crate::support::EditorArgs;
use clap::ValueHint;
use std::path::PathBuf;

const AFTER_HELP: &str = "\
The command prints the path of the file, and the line that starts the agent
with it. The file contains the token of the editor: do not commit it. With
--bridge the file has no token.

Examples:
  ide-mcp mcp-config
  claude --ide --mcp-config \"$(ide-mcp mcp-config | head -n 1)\"
  ide-mcp mcp-config --bridge --out .mcp.json

Exit status: 0; 1 if the file cannot be written, or if the editor is not built
with ide-mcp; 2 if there is no editor, or the command line is wrong.

`ide-mcp help models` explains the tools for models, and `ide-mcp help search`
the search for the editor.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) editor: EditorArgs,
    /// Let the agent start `ide-mcp bridge`, for editors that are not built
    /// with ide-mcp
    #[arg(long)]
    pub(crate) bridge: bool,
    /// The name of the server, which is part of the names of its tools:
    /// mcp__NAME__tool
    #[arg(long, default_value = "editor", value_parser = server_name)]
    pub(crate) name: String,
    /// The file to write (default: PORT.mcp.json beside PORT.lock; with
    /// --bridge: bridge.mcp.json there)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite an existing FILE
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Print the path and the line as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Returns `name` if it can be a part of the name of a tool.
fn server_name(name: &str) -> Result<String, &'static str> {
    let is_fit = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    match name {
        "ide" => Err("ide is the agent's own name for the connection of --ide"),
        fit if !fit.is_empty() && fit.chars().all(is_fit) => Ok(fit.into()),
        _ => Err("give letters, digits, _ and -"),
    }
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
            (&["--name", "ide"], "for the connection of --ide"),
            (&["--name", ""], "for '--name <NAME>'"),
            (&["--name", "my editor"], "'my editor' for '--name <NAME>': give letters"),
            (&["--force"], "required arguments were not provided: --out <FILE>"),
            (&["x"], "unexpected argument 'x' found"),
        ];
        for (words, expected) in cases {
            let message = parsed::<Options>(words).unwrap_err();
            assert!(message.contains(expected), "{words:?}: {message}");
        }
    }

    #[test]
    fn command_line_is_parsed() {
        let options = parsed::<Options>(&["--port", "7", "--name", "my-Editor_2"]).unwrap();
        assert_eq!(
            (options.editor.port, options.name.as_str(), options.bridge),
            (Some(7), "my-Editor_2", false)
        );
    }
}
