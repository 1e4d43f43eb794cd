//! The manual pages of all commands, for `man`.

use crate::command_line::command;
use crate::support::Program;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const AFTER_HELP: &str = "\
Each command has a page, such as ide-mcp-editor.1. The directory has to exist.

Examples:
  ide-mcp man ~/.local/share/man/man1
  ide-mcp man . && man ./ide-mcp-agent.1

Exit status: 0; 1 if a page cannot be written; 2 if the command line is wrong
`ide-mcp help COMMAND` has the same text without a file.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {
    /// The directory of the pages
    #[arg(value_hint = clap::ValueHint::DirPath)]
    dir: PathBuf,
}

pub(crate) fn main(options: &Options) -> ExitCode {
    let mut all = command();
    all.build();
    let written = write(&all, &options.dir);
    Program("man").done(written.map_err(|error| format!("{}: {error}", options.dir.display())))
}

/// Writes the page of a command, and those of its commands.
fn write(command: &clap::Command, dir: &Path) -> io::Result<()> {
    let man = Man::new(command.clone());
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_uppercase();
    // A page has no date: two builds of one version have equal pages.
    let mut page =
        format!(".TH {name} 1 \"\" \"ide-mcp {}\" ide-mcp\n", env!("CARGO_PKG_VERSION")).into_bytes();
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    let behind = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (described, others): (Vec<&str>, Vec<&str>) =
        behind.split("\n\n").partition(|part| heading(part).is_none());
    if !described.is_empty() {
        section("Description", &described.join("\n"), &mut page)?;
    }
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    for (name, text) in others.into_iter().filter_map(heading) {
        section(name, text, &mut page)?;
    }
    fs::write(dir.join(man.get_filename()), page)?;
    command.get_subcommands().try_for_each(|command| write(command, dir))
}

/// Splits a part of a help that has a heading.
fn heading(part: &str) -> Option<(&str, &str)> {
    part.split_once(':').filter(|(name, _)| matches!(*name, "Examples" | "Exit status"))
}

/// Writes a section: indented lines as they are, and the others as running text.
fn section(name: &str, text: &str, page: &mut Vec<u8>) -> io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", [name.to_uppercase().as_str()]);
    for line in text.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("  ") {
            Some(example) => roff.control("nf", []).text([roman(example)]).control("fi", []),
            None if line.starts_with('`') => roff.control("PP", []).text([roman(line)]),
            None => roff.text([roman(line.trim())]),
        };
    }
    roff.to_writer(page)
}
