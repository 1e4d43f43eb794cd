//! Quotes and shortens what others wrote, so that a message is safe to show whatever a lock file contains.

use crate::doctor::facts::{Lock, System};
use ide_mcp::ide::kit::display_line;

/// The maximum number of characters of a name or a folder.
const MOST: usize = 100;
/// How many items a finding lists. It counts the others.
const LISTED: usize = 5;

/// Returns a path in quotation marks. A backslash stays single, since Windows paths are full of them.
pub(super) fn quoted(path: &str) -> String {
    format!("{path:?}").replace(r"\\", r"\")
}

/// Returns which rights other users have to a path. Windows has access rights instead of a mode.
pub(super) fn rights(path: &str, mode: u32, system: System<'_>) -> String {
    match system {
        System::Windows if mode & 0o022 != 0 => format!("other users can write to {}", quoted(path)),
        System::Windows => format!("other users can read {}", quoted(path)),
        _ => format!("{} has mode {mode:03o}", quoted(path)),
    }
}

/// Returns the name of a user in a message.
pub(super) fn user(id: u32) -> String {
    if id == 0 { "root".into() } else { format!("user {id}") }
}

/// Returns a name or a folder of a lock file in quotation marks.
pub(crate) fn named(name: &str) -> String {
    quoted(&display_line(name, MOST))
}

/// Returns the items with a separator between them, and how many more there are.
pub(super) fn listed(items: &[String], between: &str) -> String {
    let mut shown: Vec<String> = items.iter().take(LISTED).cloned().collect();
    if let Some(more @ 1..) = items.len().checked_sub(LISTED) {
        shown.push(format!("{more} more"));
    }
    shown.join(between)
}

/// Returns the folders of a lock file.
pub(super) fn folders(folders: &[String]) -> String {
    let named: Vec<String> = folders.iter().map(|folder| named(folder)).collect();
    format!("[{}]", listed(&named, ", "))
}

/// Returns the name of this editor for a user.
pub(crate) fn editor(lock: &Lock) -> String {
    let name = lock.file.as_ref().map(|file| file.ide_name.as_str()).unwrap_or_default();
    editor_named(name, lock.port.unwrap_or_default())
}

/// Returns the name of the editor on a port for a user.
pub(crate) fn editor_named(name: &str, port: u16) -> String {
    if name.is_empty() {
        format!("the editor on port {port}")
    } else {
        format!("{} on port {port}", named(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted_and_bounded() {
        let long = "x".repeat(60_000);
        let rows = [
            ("a Windows path", quoted(r"C:\a b\1.lock"), r#""C:\a b\1.lock""#.to_owned()),
            ("a quotation mark", quoted("/h/\"x"), r#""/h/\"x""#.into()),
            ("a line feed in a name", named("a\nb"), "\"a\u{fffd}b\"".into()),
            ("a long name", named(&long), format!("\"{}…\"", "x".repeat(99))),
            ("a few folders", folders(&["/a".into(), r"C:\b".into()]), r#"["/a", "C:\b"]"#.into()),
            ("no folder", folders(&[]), "[]".into()),
            (
                "many folders",
                folders(&vec![long; 7]),
                format!("[{}2 more]", format!("\"{}…\", ", "x".repeat(99)).repeat(5)),
            ),
            ("an editor", editor_named("E\"", 7), r#""E\"" on port 7"#.into()),
            ("an editor without a name", editor_named("", 7), "the editor on port 7".into()),
        ];
        for (name, text, expected) in rows {
            assert_eq!(text, expected, "{name}");
        }
    }
}
