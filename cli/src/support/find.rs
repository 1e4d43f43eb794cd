//! The search for the editor, with the options of the programs in its errors, and with the choice of a person among
//! several editors.

use ide_mcp::ide::kit::display_line;
use ide_mcp_lockfile::{EditorSearch, FoundEditor, NoEditor, NoEditorReason, WorkingDir, ago};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

/// The editor that everybody has who reads that there is none.
pub(crate) const OWN_EDITOR: &str = "or run `ide-mcp editor`";

/// The maximum number of editors in a list: a person who has more of them in one folder names the port.
const MAX_LISTED: usize = 20;

/// The maximum number of characters of a name in a list.
const MAX_NAME: usize = 40;

/// Finds the editor by its lock file, without connecting to it.
///
/// # Errors
/// The reason for a person, in several lines.
pub(crate) fn editor(search: &EditorSearch) -> Result<FoundEditor, String> {
    search.find().map_err(with_options)
}

/// Lets the person at a terminal choose if several editors fit, and returns the search for the chosen one. Every other
/// search is returned unchanged, also if it finds nothing.
///
/// # Errors
/// The error of [`editor`], if the person chooses none.
pub(crate) fn chosen(program: &str, mut search: EditorSearch) -> Result<EditorSearch, String> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal() && is_in_foreground()) {
        return Ok(search);
    }
    let none = match search.find() {
        Err(none) if matches!(none.reason, NoEditorReason::SeveralFit { .. }) => none,
        _ => return Ok(search),
    };
    match ask(program, &none.accepted) {
        Some(editor) => search.lock_file = Some(editor.lock_file.clone()),
        None => return Err(with_options(none)),
    }
    Ok(search)
}

/// Returns true if the system lets this program read the terminal: it stops a program in the background that does.
/// Without job control it always does.
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
fn ask<'a>(program: &str, editors: &'a [FoundEditor]) -> Option<&'a FoundEditor> {
    let ports: Vec<u16> = editors.iter().map(|editor| editor.port).collect();
    let mut said = format!("{program}: several editors have this folder open:\n");
    for (number, row) in (1..).zip(listed(editors)) {
        // The last row can say how many have none.
        let number = if number > editors.len().min(MAX_LISTED) { String::new() } else { number.to_string() };
        said.push_str(&format!("  {number:>2}  {row}\n"));
    }
    loop {
        said.push_str(&format!("{program}: which one? Type its number; Ctrl+C ends: "));
        let mut err = io::stderr().lock();
        err.write_all(said.as_bytes()).and_then(|()| err.flush()).ok()?;
        said.clear();
        let mut line = String::new();
        if io::stdin().read_line(&mut line).ok()? == 0 {
            let _ = writeln!(err);
            return None;
        }
        if let Some(index) = picked(&line, &ports) {
            return editors.get(index);
        }
        said = format!(
            "{program}: \"{}\" is neither a number of the list nor a port\n",
            display_line(line.trim(), MAX_NAME)
        );
    }
}

/// Returns the index of the editor that a line names: by its number in the list, or by its port.
fn picked(line: &str, ports: &[u16]) -> Option<usize> {
    let number: u16 = line.trim().parse().ok()?;
    let by_number = usize::from(number).checked_sub(1).filter(|index| *index < ports.len().min(MAX_LISTED));
    by_number.or_else(|| ports.iter().position(|port| *port == number))
}

/// Returns a row for each of these editors, by which a person can tell them apart, and one for those without a row.
fn listed(editors: &[FoundEditor]) -> Vec<String> {
    let mut rows: Vec<String> = editors.iter().take(MAX_LISTED).map(told_apart).collect();
    if let Some(more @ 1..) = editors.len().checked_sub(MAX_LISTED) {
        rows.push(format!("… and {more} more"));
    }
    rows
}

fn told_apart(editor: &FoundEditor) -> String {
    let FoundEditor { port, name, pid, modified, .. } = editor;
    let mut row = format!("port {port}: \"{}\"", display_line(name, MAX_NAME));
    if let Some(pid) = pid {
        row.push_str(&format!(", process {pid}"));
        // A process of another container has its number in another list.
        if let Some(terminal) = terminal_of(*pid).filter(|_| editor.dead_process.is_none()) {
            row.push_str(&format!(" in {terminal}"));
        }
    }
    if let Some(age) = modified.and_then(|at| at.elapsed().ok()) {
        row.push_str(&format!(", lock file written {}", ago(age)));
    }
    row
}

/// Returns the terminal of a process, such as `pts/3`, as `tty` names it there; `None` if it has none, or if the system
/// does not tell.
#[cfg(target_os = "linux")]
fn terminal_of(pid: u32) -> Option<String> {
    terminal_in(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

#[cfg(not(target_os = "linux"))]
const fn terminal_of(_: u32) -> Option<String> {
    None
}

/// Returns the terminal in a line of `/proc/PID/stat`, whose second member can have spaces and parentheses.
#[cfg(target_os = "linux")]
fn terminal_in(stat: &str) -> Option<String> {
    let (_, behind) = stat.rsplit_once(')')?;
    let device: u32 = behind.split_whitespace().nth(4)?.parse().ok()?;
    let (major, minor) = ((device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xf_ff00));
    match major {
        4 if minor < 64 => Some(format!("tty{minor}")),
        136..=143 => {
            Some(format!("pts/{}", minor.saturating_add(major.saturating_sub(136).saturating_mul(256))))
        }
        _ => None,
    }
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
pub(crate) fn with_options(mut none: Box<NoEditor>) -> String {
    use NoEditorReason::{AutoConnectOff, DeadProcess, NoFile, NoFileForPort, NoneFits, SeveralFit};
    // The list of this program also has the terminal of each editor, and is bounded.
    let accepted = std::mem::take(&mut none.accepted);
    let reason = &none.reason;
    let mut text = none.to_string();
    let mut add = |line: &str| {
        text.push_str("\n  ");
        text.push_str(line);
    };
    listed(&accepted).iter().for_each(|row| add(row));
    match reason {
        NoEditorReason::WorkingDir(error) => return format!("--cwd: {error}"),
        SeveralFit { .. } | AutoConnectOff { .. } => add("choose an editor with --port PORT"),
        NoneFits { .. } if !none.refused.is_empty() => {
            add("use --cwd DIR for an editor that has another directory open");
            add(OWN_EDITOR);
        }
        // The library names it where there are no lock files.
        NoneFits { .. } => {}
        NoFile { .. } => add(OWN_EDITOR),
        NoFileForPort { .. } => add("use the port of a running editor, or run `ide-mcp editor`"),
        DeadProcess { .. } => {
            add("--dead-process permits it");
            add(OWN_EDITOR);
        }
        _ => {}
    }
    if matches!(reason, NoneFits { .. } | NoFileForPort { .. } | DeadProcess { .. }) {
        add("`ide-mcp doctor` finds the reason and the remedy");
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
            ("one that the list leaves out", "21\n", &many, None),
            ("the port of such a one", "40024\n", &many, Some(24)),
        ];
        for (name, line, ports, expected) in rows {
            assert_eq!(picked(line, ports), expected, "{name}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn terminal_is_named_as_tty_names_it() {
        let stat = |name: &str, tty: u32| format!("7 ({name}) S 1 7 7 {tty} 7 4194304 1 0");
        let rows = [
            ("none", stat("a", 0), None),
            ("a pseudoterminal", stat("a", 136 << 8 | 3), Some("pts/3")),
            ("the 300th", stat("a", (300 & 0xff) | 136 << 8 | (300 >> 8) << 20), Some("pts/300")),
            ("of the old numbers", stat("a", 137 << 8 | 44), Some("pts/300")),
            ("a console", stat("a", 4 << 8 | 2), Some("tty2")),
            ("a serial line", stat("a", 4 << 8 | 64), None),
            ("a hostile name", stat("a) S 1 1 1 34816 (b", 136 << 8 | 3), Some("pts/3")),
            ("no line of this kind", "7".into(), None),
        ];
        for (name, stat, expected) in rows {
            assert_eq!(terminal_in(&stat).as_deref(), expected, "{name}");
        }
        assert_eq!(terminal_of(u32::MAX), None);
    }
}
