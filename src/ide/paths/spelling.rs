//! How programs spell the same folder in different ways: on Windows and in its Linux distributions, in POSIX tools on
//! Windows, and on a file system that ignores case.

use super::lexical::{is_below, is_windows, normal, without_verbatim};
use super::{LocalPath, Platform, suspicion};
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use unicode_normalization::UnicodeNormalization;

/// The system where a path is used. It determines the spellings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum System<'a> {
    /// Linux, and every other system where a path has one spelling.
    Linux,
    /// macOS, whose file systems ignore case by default.
    MacOs,
    /// Windows.
    Windows,
    /// Linux on Windows (the Windows Subsystem for Linux).
    Wsl {
        /// `WSL_DISTRO_NAME`; `None` if it is not set, as in a service or under `sudo`. Then only paths on drives have
        /// a known spelling on Windows.
        distribution: Option<&'a str>,
    },
}

impl<'a> System<'a> {
    /// Returns the system this crate was compiled for. Only [`on_kernel`](Self::on_kernel) can tell WSL from Linux.
    #[must_use]
    pub const fn native() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Linux
        }
    }

    /// Returns the system of a Linux program, from the text of `/proc/version` or `/proc/sys/kernel/osrelease` (which
    /// contains `microsoft` under WSL) and from `WSL_DISTRO_NAME`, which is ignored if it cannot be part of a path.
    #[must_use]
    pub fn on_kernel(version: &str, distribution: Option<&'a str>) -> Self {
        if !version.to_ascii_lowercase().contains("microsoft") {
            return Self::Linux;
        }
        let is_name = |name: &&str| {
            !name.is_empty() && suspicion::check(share(LOCALHOST, name, &[]).as_bytes(), true).is_ok()
        };
        Self::Wsl { distribution: distribution.filter(|name| !name.contains(['/', '\\'])).filter(is_name) }
    }
}

impl From<Platform> for System<'_> {
    /// Returns Windows, or a system with POSIX paths only.
    fn from(platform: Platform) -> Self {
        match platform {
            Platform::Posix => Self::Linux,
            Platform::Windows => Self::Windows,
        }
    }
}

impl Default for System<'_> {
    /// Returns [`System::native`].
    fn default() -> Self {
        Self::native()
    }
}

/// Returns the spellings that an editor should publish for an absolute folder: the given one first, then those in the
/// table, without duplicates.
///
/// | system | folder | further spellings |
/// | --- | --- | --- |
/// | Linux, macOS | any | none |
/// | Windows | `C:\w\p` | `/mnt/c/w/p`, `/c/w/p` |
/// | Windows | `\\wsl.localhost\D\home\p` | `\\wsl$\D\home\p`, and the reverse |
/// | Windows | `\\wsl$\D\mnt\c\w` | `C:\w`, `/mnt/c/w`, `/c/w` |
/// | WSL | `/mnt/c/w/p` | `C:\w\p` |
/// | WSL, distribution D | `/home/p` | `\\wsl.localhost\D\home\p`, `\\wsl$\D\home\p` |
///
/// An editor on Windows does not publish a folder of a distribution as `/home/p`, and an editor in WSL does not publish
/// a drive as `/c/w`: in a distribution, such a path is another folder. A name that Windows does not allow has no
/// spelling there. Drives are expected below `/mnt`, where distributions mount them unless `/etc/wsl.conf` says
/// otherwise.
#[must_use]
pub fn spellings(folder: &str, system: System<'_>) -> Vec<String> {
    let mut all = vec![folder.to_string()];
    let mut add = |spelling: String| {
        if !all.contains(&spelling) {
            all.push(spelling);
        }
    };
    let Some(Location { root, names }) = Location::of(folder, system) else { return all };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match (system, &root) {
        (System::Windows, Root::Drive(letter)) => {
            if is_share(folder) {
                add(drive(letter, &names));
            }
            add(posix(&["mnt", letter], &names));
            add(posix(&[letter], &names));
        }
        (System::Windows, Root::Distribution(name)) => {
            shares(name, &names).into_iter().for_each(add);
        }
        (System::Wsl { .. }, Root::Drive(letter)) if is_allowed_on_windows(&names) => {
            add(drive(letter, &names));
        }
        (System::Wsl { .. }, Root::Distribution(name)) if is_allowed_on_windows(&names) => {
            shares(name, &names).into_iter().for_each(add);
        }
        _ => {}
    }
    all
}

/// How a folder contains a path, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::ide) enum Fit {
    /// The spelling that the real client compares.
    Exact,
    /// Another spelling of the same folder.
    Spelled,
}

/// Returns how `folder`, which an editor published, contains `path` of a client on `system`; `None` if it does not.
///
/// A letter with an accent may be one character or two (Unicode NFC and NFD). Both count as the same letter, as for the
/// real client (measured), because macOS and some archives write two where a keyboard writes one.
///
/// `of_windows` is `runningInWindows` of the lock file. If it is true, a client in WSL translates the folder.
pub(in crate::ide) fn fit(folder: &str, path: &str, system: System<'_>, of_windows: bool) -> Option<Fit> {
    let (folder, path) = (&*decomposed(folder), &*decomposed(path));
    if is_exact(folder, path, system, of_windows) {
        return Some(Fit::Exact);
    }
    let path = Location::of(path, system)?;
    let contains = |folder: Option<Location>| folder.is_some_and(|folder| folder.contains(&path, system));
    let spelled = contains(Location::of(folder, system))
        // POSIX tools on Windows write drives at the root; in a distribution that path is another folder.
        || (of_windows && matches!(system, System::Wsl { .. }) && contains(Location::of(folder, System::Windows)));
    spelled.then_some(Fit::Spelled)
}

/// Returns a path in NFD. Two paths are equal in NFD exactly if they are equal in NFC, and no character decomposes into
/// a separator.
fn decomposed(path: &str) -> Cow<'_, str> {
    if path.is_ascii() { Cow::Borrowed(path) } else { Cow::Owned(path.nfd().collect()) }
}

/// Returns `folder` as an absolute path, resolved against the working directory of the client, as the real client does
/// (measured for `.`). An empty folder, or one relative to a current drive, is returned unchanged and contains nothing.
pub(in crate::ide) fn resolved<'a>(folder: &'a str, cwd: &str, system: System<'_>) -> Cow<'a, str> {
    let windows = system == System::Windows;
    let bytes = folder.as_bytes();
    let has_root = bytes.first() == Some(&b'/') || is_windows(folder);
    let depends = windows && (bytes.first() == Some(&b'\\') || bytes.get(1) == Some(&b':'));
    if folder.is_empty() || has_root || depends {
        return Cow::Borrowed(folder);
    }
    Cow::Owned(format!("{cwd}{}{folder}", if windows { '\\' } else { '/' }))
}

fn is_exact(folder: &str, path: &str, system: System<'_>, of_windows: bool) -> bool {
    let below = |folder: &str, windows: bool| {
        let both = normal(folder.as_bytes(), windows).zip(normal(path.as_bytes(), windows));
        both.is_some_and(|(folder, path)| is_below(&path, &folder, windows))
    };
    match system {
        System::Windows => is_windows(folder) && is_windows(path) && below(folder, true),
        System::Wsl { distribution } if of_windows && is_windows(folder) => {
            let folder = match Location::of(folder, system) {
                Some(Location { root: Root::Drive(letter), names }) => posix(&["mnt", &letter], &names),
                // The distribution that the client runs in.
                Some(Location { root: Root::Distribution(name), names })
                    if distribution.is_some_and(|ours| same(&name, ours)) =>
                {
                    posix(&[], &names)
                }
                _ => return false,
            };
            below(&folder, false)
        }
        System::Linux | System::MacOs | System::Wsl { .. } => below(folder, false),
    }
}

/// Returns the path in this distribution for a Windows path; `None` if it is neither on a drive nor in this
/// distribution.
pub(super) fn in_distribution(path: &LocalPath, distribution: Option<&str>) -> Option<String> {
    let Location { root, names } = Location::of_windows(path.to_str()?)?;
    match root {
        Root::Drive(letter) => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            Some(posix(&["mnt", &letter], &names))
        }
        Root::Distribution(name) if distribution.is_some_and(|ours| same(&name, ours)) => {
            Some(posix(&[], &names))
        }
        Root::Distribution(_) | Root::Posix | Root::Share(..) => None,
    }
}

const LOCALHOST: &str = "wsl.localhost";
const DOLLAR: &str = "wsl$";

/// A directory, whatever its spelling.
#[derive(Debug, PartialEq, Eq)]
struct Location {
    root: Root,
    names: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum Root {
    /// The only root of Linux and macOS, or of a distribution whose name is not known.
    Posix,
    /// A Windows drive, in lower case.
    Drive(String),
    /// A Linux distribution on Windows.
    Distribution(String),
    /// A share of a server.
    Share(String, String),
}

impl Location {
    /// Returns the directory that an absolute path names on `system`, if any.
    fn of(path: &str, system: System<'_>) -> Option<Self> {
        let path = without_verbatim(path);
        let on_windows_side = matches!(system, System::Windows | System::Wsl { .. });
        if is_windows(&path) || (system == System::Windows && path.starts_with("//")) {
            return if on_windows_side { Self::of_windows(&path) } else { None };
        }
        let names = names(&normal(path.as_bytes(), false)?, '/');
        if let (true, Some(location)) = (on_windows_side, Self::on_mounted_drive(&names)) {
            return Some(location);
        }
        Some(match (names.as_slice(), system) {
            ([drive, rest @ ..], System::Windows) if is_letter(drive) => Self::on_drive(drive, rest),
            (_, System::Windows) => return None,
            (_, System::Wsl { distribution: Some(name) }) => {
                Self { root: Root::Distribution(name.to_string()), names }
            }
            (_, System::Wsl { distribution: None } | System::Linux | System::MacOs) => {
                Self { root: Root::Posix, names }
            }
        })
    }

    fn of_windows(path: &str) -> Option<Self> {
        let all = names(&normal(path.as_bytes(), true)?, '\\');
        let (first, rest) = all.split_first()?;
        if let Some(letter) = first.strip_suffix(':') {
            return Some(Self::on_drive(letter, rest));
        }
        let (share, rest) = rest.split_first()?;
        if first != LOCALHOST && first != DOLLAR {
            return Some(Self { root: Root::Share(first.clone(), share.clone()), names: rest.to_vec() });
        }
        Self::on_mounted_drive(rest)
            .or_else(|| Some(Self { root: Root::Distribution(share.clone()), names: rest.to_vec() }))
    }

    /// Returns a folder of a drive from its path in a distribution; `None` for every other folder.
    fn on_mounted_drive(names: &[String]) -> Option<Self> {
        match names {
            [mnt, drive, rest @ ..] if mnt == "mnt" && is_letter(drive) => Some(Self::on_drive(drive, rest)),
            _ => None,
        }
    }

    fn on_drive(letter: &str, names: &[String]) -> Self {
        Self { root: Root::Drive(letter.to_ascii_lowercase()), names: names.to_vec() }
    }

    fn contains(&self, path: &Self, system: System<'_>) -> bool {
        use Root::{Distribution, Drive, Posix, Share};
        let ignores_case = match (&self.root, &path.root) {
            (Posix, Posix) => system == System::MacOs,
            (Drive(one), Drive(other)) if one == other => true,
            (Share(server, share), Share(other, its)) if same(server, other) && same(share, its) => true,
            (Distribution(one), Distribution(other)) if same(one, other) => false,
            _ => return false,
        };
        let is_same = |(one, other): (&String, &String)| one == other || (ignores_case && same(one, other));
        path.names.len() >= self.names.len() && self.names.iter().zip(&path.names).all(is_same)
    }
}

/// Returns true if a Windows path begins with the name of a server.
fn is_share(path: &str) -> bool {
    [r"\\", "//"].iter().any(|begin| without_verbatim(path).starts_with(begin))
}

/// Returns true if a name is a drive letter.
fn is_letter(name: &str) -> bool {
    matches!(name.as_bytes(), [letter] if letter.is_ascii_alphabetic())
}

/// Returns true if two names are equal apart from case, by the Unicode rules for single characters.
fn same(one: &str, other: &str) -> bool {
    let lower = |name: &str| name.chars().flat_map(char::to_lowercase).collect::<String>();
    lower(one) == lower(other)
}

fn names(normal: &[u8], separator: char) -> Vec<String> {
    let text = String::from_utf8_lossy(normal);
    text.split(separator).filter(|name| !name.is_empty()).map(ToString::to_string).collect()
}

fn posix<S: AsRef<str>>(root: &[&str], names: &[S]) -> String {
    let names = root.iter().copied().chain(names.iter().map(AsRef::as_ref));
    let mut path = String::new();
    for name in names {
        path.push('/');
        path.push_str(name);
    }
    if path.is_empty() { "/".into() } else { path }
}

fn drive(letter: &str, names: &[&str]) -> String {
    format!(r"{}:\{}", letter.to_ascii_uppercase(), names.join(r"\"))
}

fn shares(distribution: &str, names: &[&str]) -> [String; 2] {
    [LOCALHOST, DOLLAR].map(|server| share(server, distribution, names))
}

fn share(server: &str, distribution: &str, names: &[&str]) -> String {
    names.iter().fold(format!(r"\\{server}\{distribution}"), |path, name| format!(r"{path}\{name}"))
}

fn is_allowed_on_windows(names: &[&str]) -> bool {
    !names.iter().any(|name| name.contains('\\'))
        && suspicion::check(drive("C", names).as_bytes(), true).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX: System<'_> = System::Linux;
    const MAC: System<'_> = System::MacOs;
    const WINDOWS: System<'_> = System::Windows;
    const WSL: System<'_> = System::Wsl { distribution: Some("Ubuntu") };
    const NAMELESS: System<'_> = System::Wsl { distribution: None };
    const EXACT: Option<Fit> = Some(Fit::Exact);
    const SPELLED: Option<Fit> = Some(Fit::Spelled);

    #[test]
    fn folder_has_its_spellings_on_each_system() {
        let cases: &[(&str, System<'_>, &str, &[&str])] = &[
            ("Linux", LINUX, "/home/u/p", &[]),
            ("Linux, a path that is a drive in WSL", LINUX, "/mnt/c/w", &[]),
            ("Linux, a path that is a drive for POSIX tools", LINUX, "/c/w", &[]),
            ("Linux, the root", LINUX, "/", &[]),
            ("Linux, a Windows path", LINUX, r"C:\w", &[]),
            ("macOS", MAC, "/Users/u/P", &[]),
            ("macOS, a path that is a drive in WSL", MAC, "/mnt/c/w", &[]),
            ("Windows", WINDOWS, r"C:\w\p", &["/mnt/c/w/p", "/c/w/p"]),
            ("Windows, a lower-case drive", WINDOWS, r"d:\W", &["/mnt/d/W", "/d/W"]),
            ("Windows, the root of a drive", WINDOWS, r"C:\", &["/mnt/c", "/c"]),
            ("Windows, a share", WINDOWS, r"\\server\share\p", &[]),
            (
                "Windows, a distribution",
                WINDOWS,
                r"\\wsl.localhost\Ubuntu\home\u",
                &[r"\\wsl$\Ubuntu\home\u"],
            ),
            (
                "Windows, a distribution by its old name",
                WINDOWS,
                r"\\wsl$\Ubuntu\home\u",
                &[r"\\wsl.localhost\Ubuntu\home\u"],
            ),
            (
                "Windows, a drive that a distribution mounts",
                WINDOWS,
                r"\\wsl$\Ubuntu\mnt\c\w",
                &[r"C:\w", "/mnt/c/w", "/c/w"],
            ),
            ("Windows, a relative path", WINDOWS, "w", &[]),
            ("WSL, a drive", WSL, "/mnt/c/w/p", &[r"C:\w\p"]),
            ("WSL, the root of a drive", WSL, "/mnt/d", &[r"D:\"]),
            (
                "WSL, a mount that is not a drive",
                WSL,
                "/mnt/data/p",
                &[r"\\wsl.localhost\Ubuntu\mnt\data\p", r"\\wsl$\Ubuntu\mnt\data\p"],
            ),
            (
                "WSL, a folder of the distribution",
                WSL,
                "/home/u",
                &[r"\\wsl.localhost\Ubuntu\home\u", r"\\wsl$\Ubuntu\home\u"],
            ),
            ("WSL, the root", WSL, "/", &[r"\\wsl.localhost\Ubuntu", r"\\wsl$\Ubuntu"]),
            (
                "WSL, one letter at the root",
                WSL,
                "/c/w",
                &[r"\\wsl.localhost\Ubuntu\c\w", r"\\wsl$\Ubuntu\c\w"],
            ),
            ("WSL, a backslash in a name", WSL, r"/home/a\b", &[]),
            ("WSL, a colon in a name", WSL, "/home/a:b", &[]),
            ("WSL, the name of a Windows device", WSL, "/home/nul", &[]),
            ("WSL, a colon in a name on a drive", WSL, "/mnt/c/a:b", &[]),
            ("WSL without the name of the distribution", NAMELESS, "/home/u", &[]),
            ("WSL without the name of the distribution, a drive", NAMELESS, "/mnt/c/w", &[r"C:\w"]),
        ];
        for (name, system, folder, further) in cases {
            let expected: Vec<&str> = [*folder].into_iter().chain(further.iter().copied()).collect();
            assert_eq!(spellings(folder, *system), expected, "{name}");
        }
    }

    #[test]
    fn folder_contains_path_by_system() {
        let cases: &[(System<'_>, &str, &str, Option<Fit>)] = &[
            (LINUX, "/w/p", "/w/p", EXACT),
            (LINUX, "/w/p/", "/w/p/", EXACT),
            (LINUX, "/w//p", "/w/p/a", EXACT),
            (LINUX, "/w/./p", "/w/p/a..b", EXACT),
            (LINUX, "/w/q/../p", "/w/p", EXACT),
            (LINUX, "/", "/w", EXACT),
            (LINUX, "/é", "/é/x", EXACT),
            (LINUX, "/w/p", "/w/p_evil", None),
            (LINUX, "/w/p", "/w/p/../q", None),
            (LINUX, "/w/p", "/w", None),
            (LINUX, "/w/p", "/W/p", None),
            (LINUX, "w/p", "w/p", None),
            (LINUX, "", "/w", None),
            (LINUX, "/w", "", None),
            (LINUX, "/w\\p", "/w/p", None),
            (LINUX, r"C:\w", "/mnt/c/w", None),
            (LINUX, "/c/w", "/mnt/c/w", None),
            (LINUX, r"C:\w", "/c/w", None),
            (LINUX, r"\\wsl$\Ubuntu\home\u", "/home/u", None),
            (MAC, "/Users/u", "/Users/u/p", EXACT),
            (MAC, "/users/U", "/Users/u/p", SPELLED),
            (MAC, "/É", "/é/x", SPELLED),
            (MAC, "/e\u{301}", "/é", EXACT),
            (MAC, "/users/u", "/Users/ux", None),
            (MAC, r"C:\w", "/c/w", None),
            (WINDOWS, r"C:\w", r"c:\w\p", EXACT),
            (WINDOWS, "c:/w", r"C:\w\p", EXACT),
            (WINDOWS, r"C:\", r"C:\w", EXACT),
            (WINDOWS, r"\\Server\share", r"\\server\share\p", EXACT),
            (WINDOWS, r"C:\w", r"C:\W\p", SPELLED),
            (WINDOWS, r"C:\É", r"C:\é", SPELLED),
            (WINDOWS, "/c/w", r"C:\w\p", SPELLED),
            (WINDOWS, "/C/w", r"c:\w", SPELLED),
            (WINDOWS, "/mnt/c/W", r"C:\w\p", SPELLED),
            (WINDOWS, r"\\?\C:\w", r"C:\w", SPELLED),
            (WINDOWS, r"\\?\UNC\server\share", r"\\server\share\p", SPELLED),
            (WINDOWS, r"\\server\SHARE", r"\\server\share\p", SPELLED),
            (WINDOWS, "//server/share", r"\\server\share\p", SPELLED),
            (WINDOWS, r"\\wsl$\Ubuntu\home\u", r"\\wsl.localhost\ubuntu\home\u\p", SPELLED),
            (WINDOWS, r"\\wsl.localhost\Ubuntu\home\U", r"\\wsl$\Ubuntu\home\u", None),
            (WINDOWS, r"\\wsl$\Ubuntu\home\u", r"\\wsl$\Debian\home\u", None),
            (WINDOWS, r"\\wsl$\Ubuntu\mnt\c\w", r"C:\w\p", SPELLED),
            (WINDOWS, "/home/u", r"\\wsl$\Ubuntu\home\u", None),
            (WINDOWS, r"C:\w", r"D:\w", None),
            (WINDOWS, "C:", r"C:\w", None),
            (WINDOWS, r"C:\w", r"C:\w_evil", None),
            (WINDOWS, r"\\c\w", r"C:\w", None),
            (WINDOWS, r"\\server\share", r"\\server\shared", None),
            (WINDOWS, r"\\server\share", r"\\other\share\p", None),
            (WINDOWS, "/", r"C:\w", None),
            (WSL, "/home/u", "/home/u/p", EXACT),
            (WSL, "/mnt/c/w", "/mnt/c/w/p", EXACT),
            (WSL, "/mnt/c/W", "/mnt/c/w", SPELLED),
            (WSL, r"C:\w", "/mnt/c/w/p", SPELLED),
            (WSL, r"c:\W", "/mnt/c/w/p", SPELLED),
            (WSL, r"\\wsl.localhost\Ubuntu\home\u", "/home/u/p", SPELLED),
            (WSL, r"\\wsl$\ubuntu\home\u", "/home/u/p", SPELLED),
            (WSL, r"\\wsl$\Ubuntu\home\U", "/home/u", None),
            (WSL, r"\\wsl$\Debian\home\u", "/home/u/p", None),
            (WSL, "/Home/u", "/home/u", None),
            (WSL, "/c/w", "/mnt/c/w", None),
            (WSL, r"C:\w", "/c/w", None),
            (WSL, r"D:\w", "/mnt/c/w", None),
            (WSL, r"C:\w", "/mnt/c/w-evil", None),
            (WSL, r"C:\home\u", "/home/u", None),
            (NAMELESS, r"\\wsl$\Ubuntu\home\u", "/home/u/p", None),
            (NAMELESS, r"C:\w", "/mnt/c/w/p", SPELLED),
            (NAMELESS, "/home/u", "/home/u/p", EXACT),
        ];
        for (system, folder, path, expected) in cases {
            assert_eq!(fit(folder, path, *system, false), *expected, "{path:?} in {folder:?} on {system:?}");
        }
    }

    #[test]
    fn accent_is_one_character_or_two() {
        const ONE: &str = "Caf\u{e9}";
        const TWO: &str = "Cafe\u{301}";
        let cases: &[(&str, System<'_>, String, String, Option<Fit>)] = &[
            ("Linux", LINUX, format!("/w/{TWO}"), format!("/w/{ONE}"), EXACT),
            (
                "Linux, the reverse, and a path below",
                LINUX,
                format!("/w/{ONE}"),
                format!("/w/{TWO}/src"),
                EXACT,
            ),
            ("macOS", MAC, format!("/w/{TWO}"), format!("/w/{ONE}/x"), EXACT),
            ("macOS, another case", MAC, format!("/W/{TWO}"), format!("/w/{ONE}/x"), SPELLED),
            ("Windows", WINDOWS, format!(r"C:\{TWO}"), format!(r"c:\{ONE}\p"), EXACT),
            ("WSL", WSL, format!(r"C:\{TWO}"), format!("/mnt/c/{ONE}/p"), SPELLED),
            ("the order of two marks", LINUX, "/a\u{323}\u{307}".into(), "/a\u{307}\u{323}".into(), EXACT),
            ("Hangul", LINUX, "/\u{1112}\u{1161}\u{11ab}".into(), "/\u{d55c}".into(), EXACT),
            ("no accent", LINUX, format!("/w/{TWO}"), "/w/Cafe".into(), None),
            (
                "a path that goes on after the name of the folder",
                LINUX,
                "/w/Cafe".into(),
                format!("/w/{TWO}"),
                None,
            ),
            ("a mark after a separator", LINUX, "/w/".into(), "/w/\u{301}".into(), EXACT),
            ("a ligature is not its letters", LINUX, "/w/\u{fb01}".into(), "/w/fi".into(), None),
        ];
        for (name, system, folder, path, expected) in cases {
            assert_eq!(fit(folder, path, *system, false), *expected, "{name}");
        }
    }

    /// Folders that an editor on Windows published and that a client in WSL reads.
    #[test]
    fn windows_folder_is_translated_in_wsl() {
        let cases: &[(&str, &str, Option<Fit>)] = &[
            (r"D:\p", "/mnt/d/p/src", EXACT),
            (r"d:\", "/mnt/d", EXACT),
            (r"D:\P", "/mnt/d/p", SPELLED),
            ("/d/p", "/mnt/d/p", SPELLED),
            ("/mnt/d/p", "/mnt/d/p", EXACT),
            (r"\\wsl.localhost\Ubuntu\home\u", "/home/u/p", EXACT),
            (r"\\wsl$\Ubuntu", "/home/u/p", EXACT),
            (r"\\wsl$\Debian\home\u", "/home/u/p", None),
            (r"D:\p", "/mnt/e/p", None),
            (r"D:\p", "/mnt/d/p-evil", None),
            (r"\\server\share", "/mnt/d/p", None),
            ("/data", "/mnt/data/p", None),
            ("/home", "/mnt/home/p", None),
        ];
        for (folder, path, expected) in cases {
            assert_eq!(fit(folder, path, WSL, true), *expected, "{path:?} in {folder:?}");
        }
        assert_eq!(fit(r"D:\p", "/mnt/d/p", LINUX, true), None, "the lock file was copied from elsewhere");
    }

    #[test]
    fn relative_folder_is_resolved_against_working_directory() {
        let cases: &[(System<'_>, &str, &str, Option<Fit>)] = &[
            (LINUX, ".", "/w/p", EXACT),
            (LINUX, "./", "/w/p", EXACT),
            (LINUX, "..", "/w/p", EXACT),
            (LINUX, "../p", "/w/p", EXACT),
            (LINUX, "../q", "/w/p", None),
            (LINUX, "src", "/w/p", None),
            (LINUX, "/w", "/w/p", EXACT),
            (LINUX, "", "/w/p", None),
            (LINUX, "~", "/w/p", None),
            (LINUX, "file:///w/p", "/w/p", None),
            (LINUX, ".", "/", EXACT),
            (WINDOWS, ".", r"C:\w", EXACT),
            (WINDOWS, "..", r"C:\w", EXACT),
            (WINDOWS, "C:.", r"C:\w", None),
            (WINDOWS, r"\w", r"C:\w", None),
            (WINDOWS, r"\.", r"C:\w", None),
        ];
        for (system, folder, cwd, expected) in cases {
            let folder = resolved(folder, cwd, *system);
            assert_eq!(fit(&folder, cwd, *system, false), *expected, "{folder:?} on {system:?}");
        }
    }

    #[test]
    fn microsoft_kernel_is_wsl() {
        let wsl = |distribution| System::Wsl { distribution };
        let cases: &[(&str, &str, Option<&str>, System<'_>)] = &[
            ("WSL 2", "5.15.90.1-microsoft-standard-WSL2\n", Some("Ubuntu-22.04"), wsl(Some("Ubuntu-22.04"))),
            (
                "WSL 1",
                "Linux version 4.4.0-19041-Microsoft (Microsoft@Microsoft.com)",
                Some("D"),
                wsl(Some("D")),
            ),
            ("without the variable", "5.15.90.1-microsoft-standard-WSL2", None, wsl(None)),
            ("an empty variable", "microsoft", Some(""), wsl(None)),
            ("a variable that is a path", "microsoft", Some("../x"), wsl(None)),
            ("a variable that is not allowed in a share", "microsoft", Some("a:b"), wsl(None)),
            ("a control character", "microsoft", Some("a\nb"), wsl(None)),
            ("another kernel", "6.1.0-18-amd64", Some("Ubuntu"), System::Linux),
            ("an Azure machine", "5.15.0-1041-azure", None, System::Linux),
            ("an empty version", "", None, System::Linux),
        ];
        for (name, version, distribution, expected) in cases {
            assert_eq!(System::on_kernel(version, *distribution), *expected, "{name}");
        }
        assert_eq!(System::default(), System::native());
    }

    #[test]
    fn spellings_contain_folder_on_their_own_system() {
        arbtest::arbtest(|u| {
            let system = *u.choose(&[LINUX, MAC, WINDOWS, WSL, NAMELESS])?;
            let root = *u.choose(&["/", "/mnt/c/", "/c/", "C:\\", "\\\\wsl$\\Ubuntu\\", "\\\\s\\t\\", ""])?;
            let folder = format!("{root}{}", u.arbitrary::<&str>()?);
            let of_windows = u.arbitrary()?;
            let all = spellings(&folder, system);
            assert_eq!(all.first(), Some(&folder));
            let meant = Location::of(&folder, system);
            for spelling in &all {
                // A drive at the root means something only on Windows.
                let read_by = if spelling.starts_with("/mnt/") || spelling.starts_with('\\') {
                    system
                } else {
                    WINDOWS
                };
                if all.len() > 1 && spelling != &folder {
                    assert_eq!(Location::of(spelling, read_by), meant, "{folder:?} as {spelling:?}");
                }
                let _ = fit(spelling, &folder, system, of_windows);
            }
            Ok(())
        });
    }
}
