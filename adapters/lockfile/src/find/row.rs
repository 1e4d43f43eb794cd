//! One line that tells an editor from others, which often have the same name.

use std::time::Duration;

use ide_mcp::ide::kit::display_line;

use super::FoundEditor;

/// How many characters of an editor's name we show.
const MAX_NAME: usize = 40;

impl FoundEditor {
    /// Returns one line that tells this editor from others: its port, its name, its process (with its
    /// terminal, if the system knows it), and the age of its lock file. The line is short and safe to show.
    #[must_use]
    pub fn summary(&self) -> String {
        let Self { port, name, pid, modified, dead_process, .. } = self;
        let mut row = format!("port {port}: {:?}", display_line(name, MAX_NAME));
        // Two windows of one editor have the same name.
        if let Some(pid) = pid {
            row.push_str(&format!(", process {pid}"));
            // In another container, the same process id is a different process.
            if let Some(terminal) = terminal_of(*pid).filter(|_| dead_process.is_none()) {
                row.push_str(&format!(" in {terminal}"));
            }
        }
        if let Some(age) = modified.and_then(|at| at.elapsed().ok()) {
            row.push_str(&format!(", lock file written {}", ago(age)));
        }
        row
    }
}

/// Returns an age as a person would say it, such as `2 min ago`: in whole seconds, minutes or hours.
#[must_use]
pub fn ago(age: Duration) -> String {
    match age.as_secs() {
        0 => "now".into(),
        seconds @ 1..60 => format!("{seconds} s ago"),
        seconds @ 60..3600 => format!("{} min ago", seconds / 60),
        seconds => format!("{} h ago", seconds / 3600),
    }
}

/// Returns the terminal of a process as `ps` prints it, such as `pts/3`; `None` if it has none, or if the
/// system does not tell.
#[cfg(target_os = "linux")]
pub(super) fn terminal_of(pid: u32) -> Option<String> {
    terminal_in(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

#[cfg(not(target_os = "linux"))]
pub(super) const fn terminal_of(_: u32) -> Option<String> {
    None
}

/// Finds the terminal in a line of `/proc/PID/stat`, whose second field may contain spaces and parentheses.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn row_is_bounded_and_quoted() {
        // A lock file may hold a name of 60 kB.
        let long = "x".repeat(60_000);
        let rows = [
            ("plain", "E", "\"E\"".to_owned()),
            ("a quotation mark", "a\" b", r#""a\" b""#.into()),
            ("a control character", "\u{1b}[2J\n", "\"\u{fffd}[2J\u{fffd}\"".into()),
            ("a long name", &long, format!("\"{}…\"", "x".repeat(39))),
        ];
        for (name, editor, expected) in rows {
            let editor = FoundEditor {
                port: 7,
                host: String::new(),
                name: editor.into(),
                token: None,
                lock_file: PathBuf::new(),
                folders: Vec::new(),
                pid: Some(8),
                modified: None,
                // So that the terminal of process 8 is not looked up.
                dead_process: Some(8),
                is_marked: false,
            };
            let expected = format!("port 7: {expected}, process 8");
            assert_eq!(editor.summary(), expected, "{name}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn terminal_is_named_as_ps_names_it() {
        let stat = |name: &str, tty: u32| format!("7 ({name}) S 1 7 7 {tty} 7 4194304 1 0");
        let rows = [
            ("none", stat("a", 0), None),
            ("a pseudoterminal", stat("a", 136 << 8 | 3), Some("pts/3")),
            (
                "the 300th pseudoterminal",
                stat("a", (300 & 0xff) | 136 << 8 | (300 >> 8) << 20),
                Some("pts/300"),
            ),
            ("the 300th, by the second major number", stat("a", 137 << 8 | 44), Some("pts/300")),
            ("a console", stat("a", 4 << 8 | 2), Some("tty2")),
            ("a serial line", stat("a", 4 << 8 | 64), None),
            ("a hostile name", stat("a) S 1 1 1 34816 (b", 136 << 8 | 3), Some("pts/3")),
            ("not such a line", "7".into(), None),
        ];
        for (name, stat, expected) in rows {
            assert_eq!(terminal_in(&stat).as_deref(), expected, "{name}");
        }
        assert_eq!(terminal_of(u32::MAX), None);
    }
}
