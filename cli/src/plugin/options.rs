//! The command line.

use super::editors::{EDITORS, Editor};
use crate::support::did_you_mean;
use lexopt::prelude::*;
use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
Install the plugin by which agents attach to an editor.

usage: ide-mcp plugin EDITOR [OPTION…]

EDITOR is nvim, vim or emacs. The plugin starts this program as `ide-mcp
sidecar`. Install the plugin again for each new version of the program.

  --dir DIR   the directory of the plugin (default: one from which the editor
              loads plugins at its start; for emacs ~/.emacs.d/ide-mcp)
  --remove    remove the plugin
  --json      print the directory as JSON
  -h, --help  print this help

examples:
  ide-mcp plugin nvim
  ide-mcp plugin emacs --dir ~/lisp/ide-mcp
  ide-mcp plugin nvim --remove

exit status: 0; 1 if the directory cannot be written, or is not that of an
earlier version of the plugin; 2 if the command line is wrong
`ide-mcp help protocol` is for editors without a plugin.";

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) editor: &'static Editor,
    pub(crate) dir: Option<PathBuf>,
    /// True if the plugin is removed.
    pub(crate) remove: bool,
    pub(crate) json: bool,
}

impl Options {
    /// Parses the command line. Returns `None` if the user asked for help.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let (mut editor, mut dir, mut remove, mut json) = (None, None, false, false);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("dir") => dir = Some(parser.value()?.into()),
                Long("remove") => remove = true,
                Long("json") => json = true,
                Short('h') | Long("help") => return Ok(None),
                Value(name) if editor.is_none() => editor = Some(find(&name.string()?)?),
                other => return Err(other.unexpected()),
            }
        }
        let editor =
            editor.ok_or_else(|| format!("the name of an editor is missing: {}", names().join(", ")))?;
        Ok(Some(Self { editor, dir, remove, json }))
    }
}

fn find(name: &str) -> Result<&'static Editor, String> {
    EDITORS.iter().find(|editor| editor.name == name).ok_or_else(|| {
        format!(
            "there is no plugin for {name:?}{}: the editors are {}",
            did_you_mean(name, names()),
            names().join(", ")
        )
    })
}

fn names() -> Vec<&'static str> {
    EDITORS.iter().map(|editor| editor.name).collect()
}
