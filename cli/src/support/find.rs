//! Finds the editor for a command. The errors name the options that help; if several editors fit, the user at a
//! terminal can choose.

use ide_mcp::ide::kit::display_line;
use ide_mcp_lockfile::{EditorSearch, FoundEditor, NoEditor, NoEditorReason, WorkingDir};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

/// Added to an error that there is no editor: whoever reads it has this one, because it is part of this program.
pub(crate) const OWN_EDITOR: &str = "or run `ide-mcp editor`";

/// The maximum number of editors in a list: a user who has more of them in one folder names the port.
const MAX_LISTED: usize = 20;

/// The maximum number of characters that are repeated of an answer that we do not understand.
const MAX_ANSWER: usize = 40;

/// Finds the editor by its lock file, without connecting to it.
///
/// # Errors
/// The reason, in several lines for the user.
pub(crate) fn editor(search: &EditorSearch) -> Result<FoundEditor, String> {
    search.find().map_err(with_options)
}

/// Lets the user at a terminal choose if several editors fit, and returns the search for the chosen one. Otherwise
/// returns the search unchanged, even if it finds no editor.
///
/// # Errors
/// The error of [`editor`], if the user chooses none.
pub(crate) fn chosen(program: &str, mut search: EditorSearch) -> Result<EditorSearch, String> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal() && is_in_foreground()) {
        return Ok(search);
    }
    let none = match search.find() {
        Err(none) if matches!(none.reason, NoEditorReason::SeveralFit { .. }) => none,
        _ => return Ok(search),
    };
    match choose(program, &none.accepted) {
        Some(editor) => search.lock_file = Some(editor.lock_file.clone()),
        None => return Err(with_options(none)),
    }
    Ok(search)
}

/// Returns true if this program is in the foreground: the system stops a program in the background that reads the
/// terminal. Without job control it is always true.
#[cfg(unix)]
pub(crate) fn is_in_foreground() -> bool {
    rustix::termios::tcgetpgrp(io::stdin()).map_or(true, |group| group == rustix::process::getpgrp())
}

/// Windows has no job control.
#[cfg(not(unix))]
pub(crate) const fn is_in_foreground() -> bool {
    true
}

/// Asks for one of these editors. Returns `None` at the end of the input.
fn choose<'a>(program: &str, editors: &'a [FoundEditor]) -> Option<&'a FoundEditor> {
    let ports: Vec<u16> = editors.iter().map(|editor| editor.port).collect();
    let mut text = format!("{program}: several editors have this folder open:\n");
    for (number, editor) in (1..).zip(editors.iter().take(MAX_LISTED)) {
        text.push_str(&format!("  {number:>2}  {}\n", editor.summary()));
    }
    if let Some(more @ 1..) = editors.len().checked_sub(MAX_LISTED) {
        text.push_str(&format!("      … and {more} more\n"));
    }
    loop {
        text.push_str(&format!("{program}: which one? Type its number; Ctrl+C ends: "));
        let mut err = io::stderr().lock();
        err.write_all(text.as_bytes()).and_then(|()| err.flush()).ok()?;
        text.clear();
        let mut line = String::new();
        if io::stdin().read_line(&mut line).ok()? == 0 {
            let _ = writeln!(err);
            return None;
        }
        if let Some(index) = picked(&line, &ports) {
            return editors.get(index);
        }
        text = format!(
            "{program}: {:?} is neither a number of the list nor a port\n",
            display_line(line.trim(), MAX_ANSWER)
        );
    }
}

/// Returns the index of the editor that a line names: by its number in the list, or by its port.
fn picked(line: &str, ports: &[u16]) -> Option<usize> {
    let number: u16 = line.trim().parse().ok()?;
    let by_number = usize::from(number).checked_sub(1).filter(|index| *index < ports.len().min(MAX_LISTED));
    by_number.or_else(|| ports.iter().position(|port| *port == number))
}

/// Resolves the directory of `--cwd`, or the working directory.
///
/// # Errors
/// The errors of [`WorkingDir::of`], which name the option.
pub(crate) fn working_dir(cwd: Option<&Path>) -> io::Result<WorkingDir> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("--cwd: {error}"));
    WorkingDir::of(cwd).map_err(|error| if cwd.is_some() { named(error) } else { error })
}

/// Returns the text of the error, with the options that help.
pub(crate) fn with_options(none: Box<NoEditor>) -> String {
    use NoEditorReason::{AutoConnectOff, DeadProcess, NoFile, NoFileForPort, NoneFits, SeveralFit};
    let reason = &none.reason;
    let mut text = none.to_string();
    let mut add = |line: &str| {
        text.push_str("\n  ");
        text.push_str(line);
    };
    match reason {
        NoEditorReason::WorkingDir(error) => return format!("--cwd: {error}"),
        SeveralFit { .. } | AutoConnectOff { .. } => add("choose an editor with --port PORT"),
        NoneFits { .. } if !none.refused.is_empty() => {
            add("use --cwd DIR for an editor that has another directory open");
            add(OWN_EDITOR);
        }
        // If there are no lock files, the library's error already names it.
        NoneFits { .. } => {}
        NoFile { .. } => add("use the lock file of a running editor, or run `ide-mcp editor`"),
        NoFileForPort { .. } => add("use the port of a running editor, or run `ide-mcp editor`"),
        DeadProcess { .. } => {
            add("--dead-process attaches to it anyway");
            add(OWN_EDITOR);
        }
        _ => {}
    }
    if matches!(reason, NoneFits { .. } | NoFileForPort { .. } | DeadProcess { .. }) {
        add("`ide-mcp doctor` finds out why, and what to do");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editor_is_picked_by_number_or_port() {
        let many: Vec<u16> = (0..25).map(|nth| 40_000 + nth).collect();
        let rows = [
            ("the first", "1\n", &many[..2], Some(0)),
            ("the last", " 2 \n", &many[..2], Some(1)),
            ("none", "0\n", &many[..2], None),
            ("one too many", "3\n", &many[..2], None),
            ("a port", "40001\n", &many[..2], Some(1)),
            ("another port", "40002\n", &many[..2], None),
            ("a word", "x\n", &many[..2], None),
            ("nothing", "\n", &many[..2], None),
            ("the last in the list", "20\n", &many, Some(19)),
            ("the number of an editor that the list leaves out", "21\n", &many, None),
            ("the port of an editor that the list leaves out", "40024\n", &many, Some(24)),
        ];
        for (name, line, ports, expected) in rows {
            assert_eq!(picked(line, ports), expected, "{name}");
        }
    }
}
