//! The search for a program in PATH.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Returns the first file of a search path with one of these names. A relative directory is skipped: a command runs in
/// a project, whose programs it does not trust.
pub(crate) fn on_path(path: &OsStr, names: &[&str]) -> Option<PathBuf> {
    let dirs = env::split_paths(path).filter(|dir| dir.is_absolute());
    let mut programs = dirs.flat_map(|dir| names.iter().map(move |name| dir.join(name)));
    programs.find(|program| program.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn program_is_found_in_absolute_directories() {
        let temp = crate::support::temp::private_temp_dir();
        let [a, b, c] = ["a", "b", "c"].map(|name| temp.path().join(name));
        [&a, &b, &c].into_iter().for_each(|dir| std::fs::create_dir(dir).unwrap());
        std::fs::create_dir(a.join("claude")).unwrap();
        ["claude", "claude.cmd"].into_iter().for_each(|name| std::fs::write(b.join(name), "").unwrap());
        ["claude.exe", "claude.cmd"].into_iter().for_each(|name| std::fs::write(c.join(name), "").unwrap());
        let (unix, windows): (&[&str], &[&str]) = (&["claude"], &["claude.exe", "claude.cmd"]);
        // The tests run in the folder of the package.
        let (here, nothing) = (Path::new("."), Path::new(""));
        let cases: [(&str, &[&Path], &[&str], Option<PathBuf>); 6] = [
            ("a directory is not a program", &[&a], unix, None),
            ("the second directory", &[&a, &b], unix, Some(b.join("claude"))),
            ("a relative directory", &[here, nothing], &["Cargo.toml"], None),
            ("Windows has other names", &[&a, &c], unix, None),
            ("the program of npm", &[&b, &c], windows, Some(b.join("claude.cmd"))),
            ("the native program comes first", &[&c], windows, Some(c.join("claude.exe"))),
        ];
        for (name, dirs, names, expected) in cases {
            assert_eq!(on_path(&env::join_paths(dirs).unwrap(), names), expected, "{name}");
        }
    }
}
