//! Checks what an agent names before the editor learns of it.
//!
//! An agent with the right token can send any text, and an editor that opens a path may run a program or
//! hang: `/ssh:host:/x` connects to a host, a FIFO blocks, a line feed ends a command. So every path is
//! checked here first. If it fails, the call fails with the reason, and the editor gets no event.
//!
//! ```text
//!  as written ──▶ LocalPath ──▶ on this machine? ──▶ a plain file, or nothing yet? ──▶ the event
//!                     └──────────────┴───────────────────┴──▶ the call fails
//! ```
//!
//! The last step needs a disk, which [`Editor`](crate::Editor) does not have.

use crate::old_text::{self, OldText, Use};
use ide_mcp::ide::kit::display_line;
use ide_mcp::ide::paths::{LocalPath, PathClass, Platform, Suspicion, classify};

/// The maximum number of characters that an event has of a peer's name: more than any client needs, and few
/// enough for a question or a status line.
const MAX_NAME: usize = 64;

/// The maximum number of characters that an event has of a peer's message: two lines of a terminal.
const MAX_MESSAGE: usize = 200;

/// Checks the paths that agents name, for an editor with these folders.
#[derive(Debug)]
pub(crate) struct Gate {
    folders: Vec<LocalPath>,
    /// True if the files that agents name are on a disk that we can look at.
    has_disk: bool,
}

impl Gate {
    pub(crate) const fn new() -> Self {
        Self { folders: Vec::new(), has_disk: false }
    }

    /// Looks at the disk from now on.
    #[cfg(feature = "listen")]
    pub(crate) const fn look_at_disk(&mut self) {
        self.has_disk = true;
    }

    pub(crate) fn set_folders(&mut self, folders: &[String]) {
        let parsed = folders.iter().map(|folder| LocalPath::parse(folder, Platform::native()));
        self.folders = parsed.filter_map(Result::ok).collect();
    }

    /// Returns the path of a file that an agent has named, and its text, which is read only when it is asked
    /// for (`None` without a file or without a disk). The error says why the editor must not get the path.
    pub(crate) fn judge(&self, written: &str, purpose: Use) -> Result<(String, Option<OldText>), String> {
        let path = parse(written).map_err(|why| why.to_string())?;
        let text = path.to_str().ok_or("the path is not Unicode")?;
        self.check_local(text)?;
        let old = if self.has_disk { old_text::look(text, purpose)? } else { None };
        Ok((text.into(), old))
    }

    /// Refuses a path that leads an editor to another machine or to a program. This comes before anything
    /// looks at the path, because looking is what does the harm.
    fn check_local(&self, path: &str) -> Result<(), &'static str> {
        if cfg!(windows) {
            // Windows would send a proof of the person's password to the server of a share.
            let is_share = path.starts_with(r"\\");
            return if is_share && !self.is_named_inside(path) {
                Err("the path is on another machine, and in none of the open folders")
            } else {
                Ok(())
            };
        }
        // TRAMP and ange-ftp of Emacs react to `/method:host:`, `/user@host:` and `/host:` at the beginning
        // only. No system has a colon in the name of a top folder.
        let top = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        if top.contains(':') { Err("the path looks like a file on another machine") } else { Ok(()) }
    }

    /// Returns true if a path is in none of the folders. With a disk, links are resolved on both sides.
    pub(crate) fn is_outside(&self, path: &str) -> bool {
        #[cfg(feature = "listen")]
        if self.has_disk {
            let class = ide_mcp_lockfile::classify(path, &self.folders);
            return !matches!(class, Ok(PathClass::Inside(_)));
        }
        !self.is_named_inside(path)
    }

    fn is_named_inside(&self, path: &str) -> bool {
        matches!(classify(path, &self.folders, Platform::native()), PathClass::Inside(_))
    }

    /// Returns the name by which a person tells this file from others: its path below the open folder, or the
    /// whole path if it is in none. With several folders, the folder's name comes first. One line of at most
    /// 64 characters; a longer path loses its beginning, because its end names the file.
    pub(crate) fn label(&self, path: &str) -> String {
        let shown = self.below_its_folder(path).unwrap_or(path);
        let Some(more) = shown.chars().count().checked_sub(MAX_NAME).filter(|more| *more > 0) else {
            return name(shown);
        };
        let end: String = core::iter::once('…').chain(shown.chars().skip(more.saturating_add(1))).collect();
        name(&end)
    }

    /// Returns the part of a path below its folder; if there are several folders, with the folder's name.
    fn below_its_folder<'a>(&self, path: &'a str) -> Option<&'a str> {
        let PathClass::Inside(local) = classify(path, &self.folders, Platform::native()) else { return None };
        let inside = self
            .folders
            .iter()
            .filter(|folder| local.is_within(folder))
            .map(|folder| folder.as_bytes().len());
        let folder = path.get(..inside.max()?)?.trim_end_matches(is_separator);
        let start = if self.folders.len() > 1 { folder.rfind(is_separator)? } else { folder.len() };
        path.get(start..).map(|end| end.trim_start_matches(is_separator)).filter(|end| !end.is_empty())
    }
}

const fn is_separator(character: char) -> bool {
    character == '/' || cfg!(windows) && character == '\\'
}

/// Parses a path or a `file:` URI. The real client does not encode its URIs (measured), so if `#`, `?` or `%`
/// makes one invalid, it is taken as it is written.
fn parse(written: &str) -> Result<LocalPath, Suspicion> {
    let parsed = LocalPath::parse(written, Platform::native());
    let Err(why @ (Suspicion::QueryOrFragment | Suspicion::BadEscape)) = parsed else { return parsed };
    let path = written.strip_prefix("file://").ok_or(why)?;
    // On Windows a drive may follow the third slash (`file:///C:/a`): then no slash belongs to the path.
    let drive = path.trim_start_matches('/');
    let has_drive = cfg!(windows) && drive.get(1..2) == Some(":");
    LocalPath::parse(if has_drive { drive } else { path }, Platform::native())
}

/// Shortens the name that a peer gave to itself or to a tab, for a person: one line, at most 64 characters,
/// and no quotation mark, so that an editor can quote it.
pub(crate) fn name(text: &str) -> String {
    display_line(text, MAX_NAME).replace('"', "'")
}

/// Shortens a message that may quote a peer, for a person: one line, at most 200 characters.
pub(crate) fn message(text: &str) -> String {
    display_line(text, MAX_MESSAGE).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_one_line_of_a_bounded_length() {
        let rows = [
            ("a typical one", "closed with 1000".into(), "closed with 1000".to_owned()),
            ("control characters", "a\nb\u{1b}".into(), "a\u{fffd}b\u{fffd}".into()),
            ("200 characters", "m".repeat(200), "m".repeat(200)),
            ("201 characters", "m".repeat(201), format!("{}…", "m".repeat(199))),
        ];
        for (name, given, expected) in rows {
            assert_eq!(message(&given), expected, "{name}");
        }
    }
}
