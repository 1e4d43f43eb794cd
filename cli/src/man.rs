//! The manual pages of all commands, for `man`.

use crate::command_line::command;
use crate::support::Program;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};

const AFTER_HELP: &str = "\
Each command has a page, such as ide-mcp-editor.1. The directory is created if
it does not exist.

Examples:
  ide-mcp man ~/.local/share/man/man1
  ide-mcp man . && man ./ide-mcp-agent.1

Exit status: 0; 1 if a page cannot be written; 2 if the command line is wrong.

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
    let mut pages = Vec::new();
    let written = render(&all, &mut pages).map_err(|error| error.to_string());
    Program("man").done(written.and_then(|()| write(&pages, &options.dir)))
}

/// Writes all pages into a temporary folder in `dir` first, and then moves each to its place, so that a full disk
/// changes no page that is already there.
fn write(pages: &[(String, Vec<u8>)], dir: &Path) -> Result<(), String> {
    let shown = dir.display();
    if fs::metadata(dir).is_ok_and(|found| !found.is_dir()) {
        return Err(format!("{shown} is not a directory: name one for the pages"));
    }
    fs::create_dir_all(dir).map_err(|error| format!("cannot create the directory {shown}: {error}"))?;
    if let Some((name, _)) = pages.iter().find(|(name, _)| dir.join(name).is_dir()) {
        return Err(format!("{} is a directory, and no page was written", dir.join(name).display()));
    }
    let aside = dir.join(format!(".ide-mcp-man-{}", process::id()));
    let written = fs::create_dir(&aside)
        .and_then(|()| pages.iter().try_for_each(|(name, page)| fs::write(aside.join(name), page)));
    let moved =
        written.map_err(|error| format!("no page can be written into {shown}: {error}")).and_then(|()| {
            let mut moves = pages.iter().map(|(name, _)| fs::rename(aside.join(name), dir.join(name)));
            moves.try_for_each(|moved| moved.map_err(|error| format!("{shown}: {error}")))
        });
    // By now it is empty, or has only pages that could not be moved.
    let _ = fs::remove_dir_all(&aside);
    moved
}

/// Adds the page of a command under its file name, and the pages of its subcommands.
fn render(command: &clap::Command, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    let man = Man::new(command.clone());
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_uppercase();
    // A page has no date, so that two builds of the same version have equal pages.
    let mut page =
        format!(".TH {name} 1 \"\" \"ide-mcp {}\" ide-mcp\n", env!("CARGO_PKG_VERSION")).into_bytes();
    man.render_name_section(&mut page)?;
    synopsis(command, &mut page)?;
    let after_help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (described, others): (Vec<&str>, Vec<&str>) =
        after_help.split("\n\n").partition(|part| heading(part).is_none());
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
    pages.push((man.get_filename(), page));
    command.get_subcommands().try_for_each(|command| render(command, pages))
}

/// Writes the synopsis as it is in the help. That of clap_mangen leaves out COMMAND and the values of options.
fn synopsis(command: &clap::Command, page: &mut Vec<u8>) -> io::Result<()> {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage:").unwrap_or(&usage);
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    for (nth, line) in usage.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
        if nth > 0 {
            roff.control("br", []);
        }
        let words = [" [", " <", " -"].iter().filter_map(|begin| line.find(begin)).min();
        let (name, arguments) = line.split_at_checked(words.unwrap_or(line.len())).unwrap_or((line, ""));
        roff.text([bold(name), roman(arguments)]);
    }
    roff.to_writer(page)
}

/// Splits the heading off a part of the help; `None` if the part has none of these headings. The last part, which names
/// pages, gets a heading only here.
fn heading(part: &str) -> Option<(&str, &str)> {
    if part.starts_with("`ide-mcp help") {
        return Some(("See also", part));
    }
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
