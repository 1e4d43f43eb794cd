//! Installs the plugins for editors that are not written in Rust.
//!
//! `ide-mcp plugin --help` explains the use and the exit status.

mod editors;
mod options;

use crate::support::{FAILED, Program};
pub(crate) use options::Options;
use serde_json::json;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf, absolute};
use std::process::ExitCode;

const PROGRAM: Program = Program("plugin");

/// This file marks a directory as one that this command has made. It contains the version of the program.
const MARK: &str = "ide-mcp.version";

pub(crate) fn main(options: &Options) -> ExitCode {
    match run(options) {
        Ok(text) => PROGRAM.print(&text),
        Err(problem) => PROGRAM.end_with(options.json, FAILED, &problem),
    }
}

/// Installs or removes the plugin, and returns the text for the user.
fn run(options: &Options) -> Result<String, String> {
    let editor = options.editor;
    let dir = match &options.dir {
        Some(dir) => absolute(dir).map_err(|error| format!("{}: {error}", dir.display()))?,
        None => editor
            .dir(|name| std::env::var_os(name).map(PathBuf::from))
            .ok_or("the environment names no home directory: choose a directory with --dir")?,
    };
    let event = if options.remove { "removed" } else { "installed" };
    check(&dir).map_err(|reason| format!("{reason}: {}", other_place(options)))?;
    if options.remove {
        remove(&dir)?;
        remove_package(&dir);
    } else {
        install(&dir, editor.files)?;
    }
    if options.json {
        return Ok(json!({"event": event, "path": dir.display().to_string()}).to_string());
    }
    let dir = dir.display().to_string();
    let next = if options.remove { String::new() } else { format!("\n{}", editor.next(&dir, cfg!(windows))) };
    Ok(format!("{event}: {dir}{next}"))
}

/// Returns the advice for a directory that contains something else. If the user chose it, it may be a project, so the
/// advice must not be to move it away.
const fn other_place(options: &Options) -> &'static str {
    match options {
        Options { remove: true, .. } => "choose the directory of the plugin with --dir",
        Options { dir: Some(_), .. } => "choose a new or empty folder with --dir",
        Options { dir: None, .. } => MOVE,
    }
}

const MOVE: &str = "choose another --dir, or move it away";

/// Checks that the directory is free, or has an earlier version of the plugin.
fn check(dir: &Path) -> Result<(), String> {
    let refused = |reason| Err(format!("{} {reason}", dir.display()));
    let Ok(metadata) = dir.symlink_metadata() else { return Ok(()) };
    if metadata.is_symlink() {
        return refused("is a link, such as that to a checkout");
    }
    let is_empty = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none());
    if is_empty || dir.join(MARK).is_file() { Ok(()) } else { refused("was not made by this command") }
}

/// Writes the files into a new directory, which then takes the place of the earlier one.
fn install(dir: &Path, files: &[(&str, &str)]) -> Result<(), String> {
    // An editor loads no plugin from a hidden folder beside its plugins.
    let beside = |end| {
        let name = dir.file_name().unwrap_or_default();
        dir.with_file_name([OsStr::new("."), name, OsStr::new(end)].into_iter().collect::<OsString>())
    };
    let (new, old) = (beside(".new"), beside(".old"));
    for leftover in [&new, &old] {
        check(leftover).map_err(|reason| format!("{reason}: {MOVE}"))?;
        remove(leftover)?;
    }
    fill(&new, files)
        .and_then(|()| {
            let replaces = fs::rename(dir, &old);
            fs::rename(&new, dir).map_err(|error| {
                // Put the earlier version back. The error that matters is the first one.
                let _ = replaces.and_then(|()| fs::rename(&old, dir));
                format!("{}: {error}", dir.display())
            })
        })
        .inspect_err(|_| {
            let _ = remove(&new);
        })?;
    remove(&old)
}

/// Writes the files of a plugin into a directory, the mark first: if anything interrupts this, the next installation
/// recognizes the directory as its own.
fn fill(dir: &Path, files: &[(&str, &str)]) -> Result<(), String> {
    let version = concat!(env!("CARGO_PKG_VERSION"), "\n");
    let tags = help_tags(files);
    let index = (!tags.is_empty()).then_some(("doc/tags", tags.as_str()));
    for (path, text) in [(MARK, version)].into_iter().chain(files.iter().copied()).chain(index) {
        let path = dir.join(path);
        let parent = path.parent().unwrap_or(dir);
        make(dir, parent).map_err(|error| {
            // The user does not know this folder, which gets its final name later.
            let known = if parent == dir { dir.parent().unwrap_or(dir) } else { parent };
            format!("no folder can be made in {}: {error}", known.display())
        })?;
        write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Makes a folder of the plugin, with those above it. Nobody else may change them, whatever the umask is: the plugin
/// runs programs as its user.
fn make(plugin: &Path, folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o755);
    builder.create(folder)?;
    folder
        .ancestors()
        .take_while(|path| path.starts_with(plugin))
        .try_for_each(|path| open_to_read(path, 0o755))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
    options.open(path)?.write_all(text.as_bytes())?;
    open_to_read(path, 0o644)
}

/// Gives a file or folder of the plugin the permissions that a strict umask took away.
fn open_to_read(path: &Path, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))?;
    #[cfg(not(unix))]
    let _ = (path, mode);
    Ok(())
}

/// Returns the index of the help of Vim and Neovim: the words between asterisks.
fn help_tags(files: &[(&str, &str)]) -> String {
    let mut tags: Vec<String> = Vec::new();
    for (path, text) in files {
        let Some(name) = path.strip_prefix("doc/") else { continue };
        let words = text.split_whitespace();
        let marked = words.filter_map(|word| word.strip_prefix('*')?.strip_suffix('*'));
        tags.extend(marked.map(|tag| format!("{tag}\t{name}\t/*{tag}*\n")));
    }
    tags.sort();
    tags.concat()
}

/// Removes the folders of the package around a plugin, if nothing else is in them.
fn remove_package(plugin: &Path) {
    if plugin.ends_with("pack/ide-mcp/start/ide-mcp") {
        let mut folders = plugin.ancestors().skip(1).take(2);
        // A folder that is not empty stays, and so do those above it.
        while folders.next().is_some_and(|folder| fs::remove_dir(folder).is_ok()) {}
    }
}

fn remove(dir: &Path) -> Result<(), String> {
    match fs::remove_dir_all(dir) {
        // Nothing is there, or its parent is a file.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(())
        }
        removed => removed.map_err(|error| format!("{}: {error}", dir.display())),
    }
}
