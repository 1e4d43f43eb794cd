//! The files and folders of the command line, and the names that a user types in the editor.

use crate::support::local;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The maximum length in bytes of a path on Linux. Each component of a path costs a disk access.
pub(super) const MAX_PATH: usize = 4096;

/// The folders to open, and the files to show.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) files: Vec<Target>,
}

/// A file to show, and where its cursor goes. If it does not exist, it is a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The absolute path.
    pub(crate) path: PathBuf,
    /// The line and the column, from 0; `None` if the name of the file is all that was given.
    pub(crate) place: Option<(usize, usize)>,
}

impl Named {
    /// Sorts the arguments into folders and files. A file that is in none of the folders opens another folder: the
    /// working directory `cwd` if the file is below it, because agents start there, or else the file's own folder.
    /// Without arguments, the working directory is open.
    ///
    /// # Errors
    /// A message for the user about a path that can be neither a folder nor a file.
    pub(crate) fn of(arguments: &[PathBuf], cwd: &Path) -> Result<Self, String> {
        let mut named = Self::default();
        for argument in arguments {
            if argument.as_os_str().is_empty() {
                return Err(
                    "an empty name is neither a file nor a folder; the working directory is `.`".into()
                );
            }
            if argument.is_dir() {
                named.folders.push(argument.clone());
            } else {
                named.files.push(target(argument)?);
            }
        }
        let is_below = |path: &Path, folder: &Path| real(path).starts_with(real(folder));
        let parents = named.files.iter().filter_map(|file| file.path.parent());
        let parents = parents.filter(|parent| !named.folders.iter().any(|folder| is_below(parent, folder)));
        let mut opened: Vec<&Path> =
            parents.map(|parent| if is_below(parent, cwd) { cwd } else { parent }).collect();
        // A folder comes before the folders in it.
        opened.sort_by_key(|folder| real(folder));
        opened.dedup_by(|folder, above| is_below(folder, above));
        let opened: Vec<PathBuf> = opened.into_iter().map(Path::to_owned).collect();
        named.folders.extend(opened);
        if named.folders.is_empty() {
            named.folders.push(cwd.to_owned());
        }
        Ok(named)
    }
}

/// Splits `FILE`, `FILE:LINE` or `FILE:LINE:COLUMN` into the name of the file and the place there, which counts from
/// 0. The longest name that `exists` accepts wins, because names may have colons.
///
/// If no such file exists, all numbers at the end are the place, as in other editors: a mistyped `lob.rs:12` is the
/// new file `lob.rs`, and no file is created with the number in its name.
pub(crate) fn split_place(text: &str, exists: impl Fn(&str) -> bool) -> (&str, Option<(usize, usize)>) {
    let with_end = text.strip_suffix(':').unwrap_or(text);
    let number = |text: &str| text.parse::<usize>().ok()?.checked_sub(1);
    let split = |text| {
        let (before, last) = str::rsplit_once(text, ':').filter(|(before, _)| !before.is_empty())?;
        Some((before, number(last)?))
    };
    let Some((file, last)) = split(with_end).filter(|_| !exists(text)) else { return (text, None) };
    match split(file).filter(|_| !exists(file)) {
        Some((file, line)) => (file, Some((line, last))),
        None => (file, Some((last, 0))),
    }
}

/// Returns the file of an argument: `FILE`, `FILE:LINE` or `FILE:LINE:COLUMN`.
fn target(argument: &Path) -> Result<Target, String> {
    let fails = |error: std::io::Error| format!("{}: {error}", argument.display());
    let (file, place) = match (fs::metadata(argument), argument.to_str()) {
        (Err(error), Some(text)) if error.kind() == ErrorKind::NotFound => {
            let (file, place) = split_place(text, |file| Path::new(file).is_file());
            (Path::new(file), place)
        }
        // Only a missing file can be a new one: there is nothing below a file, and an access error must be solved
        // first.
        (Err(error), _) if error.kind() != ErrorKind::NotFound => return Err(fails(error)),
        _ => (argument, None),
    };
    let absolute = local::absolute(file).map_err(fails)?;
    let parent = absolute.parent().filter(|parent| parent.is_dir());
    let is_of_folder = argument.to_string_lossy().ends_with(std::path::is_separator);
    let Some(parent) = parent.filter(|_| !is_of_folder) else {
        return Err(format!("{}: there is no such folder", argument.display()));
    };
    // The folder of a link does not contain the file if the link leads elsewhere.
    let path = match local::resolved(&absolute) {
        Ok(found) if found.parent() != Some(&real(parent)) => found,
        _ => absolute,
    };
    Ok(Target { path, place })
}

fn real(path: &Path) -> PathBuf {
    local::resolved(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::temp::symlink;

    #[test]
    fn arguments_are_folders_and_files() {
        let temp = crate::support::temp::private_temp_dir();
        let root = temp.path().join("paths");
        fs::create_dir_all(root.join("p/src")).unwrap();
        fs::create_dir_all(root.join("q")).unwrap();
        for file in ["p/a.txt", "p/src/b.rs", "q/c.txt"] {
            fs::write(root.join(file), "text").unwrap();
        }
        let has_link = symlink(root.join("q/c.txt"), root.join("p/link"));
        // On Windows a name cannot have a colon.
        let has_colon = cfg!(unix) && fs::write(root.join("p/odd:7"), "text").is_ok();
        let root = local::resolved(&root).unwrap();
        type Place = Option<(usize, usize)>;
        type Expected<'a> = Result<(&'a [&'a str], &'a [(&'a str, Place)]), &'a str>;
        let cases: &[(&str, &[&str], Expected<'_>)] = &[
            ("a folder", &["p"], Ok((&["p"], &[]))),
            ("a file", &["p/a.txt"], Ok((&["p"], &[("p/a.txt", None)]))),
            ("a new file", &["p/new"], Ok((&["p"], &[("p/new", None)]))),
            ("a line", &["p/a.txt:12"], Ok((&["p"], &[("p/a.txt", Some((11, 0)))]))),
            ("a line and a column", &["p/a.txt:12:5"], Ok((&["p"], &[("p/a.txt", Some((11, 4)))]))),
            ("as a compiler writes it", &["p/a.txt:12:5:"], Ok((&["p"], &[("p/a.txt", Some((11, 4)))]))),
            ("a mistyped file", &["p/nwe:7"], Ok((&["p"], &[("p/nwe", Some((6, 0)))]))),
            ("a mistyped file and a column", &["p/nwe:7:2:"], Ok((&["p"], &[("p/nwe", Some((6, 1)))]))),
            ("a file in a given folder", &["p/src/b.rs", "p"], Ok((&["p"], &[("p/src/b.rs", None)]))),
            (
                "files in a folder and below it",
                &["p/src/b.rs", "p/a.txt"],
                Ok((&["p"], &[("p/src/b.rs", None), ("p/a.txt", None)])),
            ),
            (
                "files of two folders",
                &["p/a.txt", "q/c.txt"],
                Ok((&["p", "q"], &[("p/a.txt", None), ("q/c.txt", None)])),
            ),
            ("two files of a folder", &["p/a.txt", "p/b"], Ok((&["p"], &[("p/a.txt", None), ("p/b", None)]))),
            ("no folder", &["none/a.txt"], Err("none/a.txt: there is no such folder")),
            ("a missing folder with a slash", &["p/none/"], Err("p/none/: there is no such folder")),
            ("a file below a file", &["p/a.txt/b"], Err("p/a.txt/b: ")),
        ];
        let of_link: &[(&str, &[&str], Expected<'_>)] =
            &[("a link to another folder", &["p/link"], Ok((&["q"], &[("q/c.txt", None)])))];
        let of_colon: &[(&str, &[&str], Expected<'_>)] = &[
            ("a file with a colon", &["p/odd:7"], Ok((&["p"], &[("p/odd:7", None)]))),
            ("a line of that file", &["p/odd:7:3"], Ok((&["p"], &[("p/odd:7", Some((2, 0)))]))),
            ("a new file with a colon", &["p/new:x"], Ok((&["p"], &[("p/new:x", None)]))),
            ("no line 0", &["p/a.txt:0"], Ok((&["p"], &[("p/a.txt:0", None)]))),
        ];
        let of_link = of_link.iter().filter(|_| has_link);
        for (name, arguments, expected) in
            cases.iter().chain(of_link).chain(of_colon.iter().filter(|_| has_colon))
        {
            let arguments: Vec<PathBuf> =
                arguments.iter().map(|path| format!("{}/{path}", root.display()).into()).collect();
            match (Named::of(&arguments, &root.join("cwd")), expected) {
                (Ok(named), Ok((folders, files))) => {
                    let folders: Vec<PathBuf> = folders.iter().map(|path| root.join(path)).collect();
                    let files =
                        files.iter().map(|(path, place)| Target { path: root.join(path), place: *place });
                    assert_eq!(named, Named { folders, files: files.collect() }, "{name}");
                }
                (Err(problem), Err(expected)) => assert!(problem.contains(expected), "{name}: {problem}"),
                (found, _) => panic!("{name}: {found:?}"),
            }
        }
        let at = |cwd: &Path, paths: &[&str]| {
            let paths: Vec<PathBuf> = paths.iter().map(|path| root.join(path)).collect();
            Named::of(&paths, cwd).unwrap().folders
        };
        let (p, cwd) = (root.join("p"), Path::new("."));
        assert_eq!(at(cwd, &[]), [cwd]);
        assert_eq!(at(&p, &["p/src/b.rs", "p/a.txt"]), [&*p], "the file is below the working directory");
        assert_eq!(at(&p, &["p/src", "p/src/b.rs"]), [p.join("src")], "the file is in a given folder");
        assert_eq!(at(&p, &["p/src/b.rs", "q/c.txt"]), [p.clone(), root.join("q")]);
        assert!(Named::of(&[PathBuf::new()], cwd).unwrap_err().contains("empty name"));
    }
}
