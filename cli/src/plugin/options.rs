//! The command line.

use super::editors::{EDITORS, Editor};
use clap::ValueHint;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use std::path::PathBuf;

const AFTER_HELP: &str = "\
The plugin starts this program as `ide-mcp sidecar`. Install the plugin again
for each new version of the program. Its directory is replaced as a whole:
keep nothing of your own there.

Examples:
  ide-mcp plugin nvim
  ide-mcp plugin emacs --dir ~/lisp/ide-mcp
  ide-mcp plugin nvim --remove

Exit status: 0; 1 if the directory cannot be written, or is not that of an
earlier version of the plugin; 2 if the command line is wrong.

`ide-mcp help protocol` is for editors without a plugin.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {
    /// The editor
    #[arg(value_name = "nvim|vim|emacs", hide_possible_values = true)]
    #[arg(value_parser = PossibleValuesParser::new(EDITORS.iter().map(|editor| editor.name)).try_map(find))]
    pub(crate) editor: &'static Editor,
    /// The directory of the plugin (default: one from which the editor loads
    /// plugins at its start; for emacs ~/.emacs.d/ide-mcp)
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,
    /// Remove the plugin
    #[arg(long)]
    pub(crate) remove: bool,
    /// Print the directory as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn find(name: String) -> Result<&'static Editor, String> {
    EDITORS.iter().find(|editor| editor.name == name).ok_or(name)
}
