//! The completions of a command line for a shell.
//!
//! bash, zsh, fish, PowerShell and Elvish ask the program itself while a user types, so they know the ports of the
//! editors that run at that moment. Nushell gets a script of all names, because no dynamic one exists for it.

use crate::command_line::{COMPLETE, command};
use crate::support::{FAILED, Program};
use clap_complete::env::Shells;
use clap_complete_nushell::Nushell;
use std::io::{self, Write as _};
use std::process::ExitCode;

const AFTER_HELP: &str = "\
Create the directory of the file first. The shell reads it when it starts;
for zsh, the directory has to be in fpath before compinit runs. All completions
except those for nushell call `ide-mcp`, so it has to be in PATH.

Examples:
  ide-mcp completions bash > ~/.local/share/bash-completion/completions/ide-mcp
  ide-mcp completions zsh > ~/.zfunc/_ide-mcp
  ide-mcp completions fish > ~/.config/fish/completions/ide-mcp.fish
  ide-mcp completions powershell >> $PROFILE

Exit status: 0; 1 if standard output cannot be written; 2 if the command line
is wrong.

`ide-mcp help` lists the commands.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {
    /// The shell
    #[arg(value_name = "bash|zsh|fish|powershell|elvish|nushell", hide_possible_values = true)]
    #[arg(value_parser = ["bash", "zsh", "fish", "powershell", "elvish", "nushell"])]
    shell: String,
}

const PROGRAM: Program = Program("completions");
const NAME: &str = "ide-mcp";

pub(crate) fn main(options: &Options) -> ExitCode {
    let mut script = Vec::new();
    let written = match options.shell.as_str() {
        "nushell" => {
            clap_complete::generate(Nushell, &mut command(), NAME, &mut script);
            Ok(())
        }
        shell => asking(shell, &mut script),
    };
    PROGRAM.printed(written.and_then(|()| io::stdout().write_all(&script)), 0, FAILED)
}

/// Writes the script that asks the program.
fn asking(shell: &str, script: &mut Vec<u8>) -> io::Result<()> {
    let shells = Shells::builtins();
    let completer = shells.completer(shell).ok_or(io::ErrorKind::Unsupported)?;
    completer.write_registration(COMPLETE, NAME, NAME, NAME, script)?;
    if shell == "bash" {
        // Otherwise bash inserts a name with spaces as several words.
        let named = String::from_utf8_lossy(script)
            .replace("complete -o nospace", "complete -o filenames -o nospace");
        *script = named.into_bytes();
    }
    Ok(())
}
