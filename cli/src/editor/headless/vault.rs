//! The methods of the Obsidian dialect: the files of the open folders as a vault.

use crate::editor::workspace::Workspace;
use crate::support::save::{Seen, save};
use ide_mcp::ide::tool::{DirectAnswer, DirectRequest, ListFiles, WorkspaceInfo, WriteFile};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::fs;
use std::path::{MAIN_SEPARATOR, Path};

/// The limits of a list.
#[derive(Clone, Copy, Debug)]
struct Limits {
    files: usize,
    entries: usize,
}

/// More files than a vault has; with paths of usual length, their list is a message of less than a megabyte. A pattern
/// may match few of many files, so the number of directory entries that are looked at is limited too: on a usual disk,
/// so many take less than a second.
const LIMITS: Limits = Limits { files: 10_000, entries: 100_000 };

/// Answers a request. `writes` is true if the user lets agents write, and `current` is the file with the focus.
///
/// # Errors
/// Why it failed, in the words of the protocol's description: `failed to read file: File not found`.
pub(super) fn answer(
    workspace: &mut Workspace,
    request: DirectRequest,
    writes: bool,
    current: Option<String>,
) -> Result<DirectAnswer, String> {
    match request {
        DirectRequest::ReadFile(request) => {
            let text = workspace.text(&request.path).map(DirectAnswer::Contents);
            text.map_err(|problem| format!("failed to read file: {problem}"))
        }
        DirectRequest::WriteFile(file) => {
            let done = if writes { write(workspace, &file) } else { Err(NOT_ACCEPTED.into()) };
            done.map(|()| DirectAnswer::Written).map_err(|problem| format!("failed to write file: {problem}"))
        }
        DirectRequest::ListFiles(request) => list(workspace, &request, LIMITS)
            .map(DirectAnswer::Files)
            .map_err(|problem| format!("failed to list files: {problem}")),
        DirectRequest::GetWorkspaceInfo => {
            let count = list(workspace, &ListFiles::default(), LIMITS);
            let count = count.map_err(|problem| format!("failed to count the files: {problem}"))?.len();
            let folder = workspace.folders().first();
            let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
            let path = folder.to_string_lossy();
            Ok(DirectAnswer::Workspace(WorkspaceInfo::new(name, path, count, "obsidian-vault")))
        }
        DirectRequest::GetOpenFiles => Ok(DirectAnswer::Files(workspace.labels())),
        DirectRequest::GetCurrentFile => {
            Ok(DirectAnswer::CurrentFile(workspace.label_of(current.as_deref())))
        }
        other => Err(format!("{} is not served by this editor", other.method())),
    }
}

const NOT_ACCEPTED: &str = "this editor writes only with --on-diff accept";

/// Writes a file of the vault, in an existing folder. A change that somebody else makes meanwhile is not lost.
fn write(workspace: &Workspace, WriteFile { path, content, .. }: &WriteFile) -> Result<(), String> {
    let place = workspace.folders().find_for_agent(path)?;
    if place.real.is_dir() {
        return Err(format!("{path:?} is a folder"));
    }
    let seen = Seen::now(&place.real);
    save(&place.real, content.as_bytes(), Some(&seen)).map(drop).map_err(|error| error.to_string())
}

/// Returns the files of the first folder that agents may get and that match the pattern, sorted by name, as paths in
/// that folder. Links are not followed, since they may form a circle.
fn list(workspace: &Workspace, request: &ListFiles, limits: Limits) -> Result<Vec<String>, String> {
    let folders = workspace.folders();
    let top = folders.first();
    let pattern = request.pattern.as_deref().map(|pattern| matcher(top, pattern)).transpose()?;
    let (mut found, mut waiting, mut looks) = (Vec::new(), vec![top.to_owned()], 0);
    while let Some(folder) = waiting.pop() {
        folders.look_at_ignored([folder.join("entry").as_path()]);
        // A folder that has vanished, or that the user cannot read, has no files for the agent.
        for entry in fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
            if looks == limits.entries {
                return Err(format!("the folder has more than {looks} entries"));
            }
            looks = looks.saturating_add(1);
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            if entry.file_name() == ".git" || folders.hides(&path) {
                continue;
            }
            if kind.is_dir() {
                waiting.push(path);
            } else if kind.is_file() && pattern.as_ref().is_none_or(|pattern| matches(pattern, &path)) {
                let below = path.strip_prefix(top).ok().and_then(Path::to_str);
                // A path in a vault has slashes on every system.
                let Some(below) = below.map(|below| below.replace(MAIN_SEPARATOR, "/")) else { continue };
                if found.len() == limits.files {
                    return Err(format!(
                        "there are more than {} files: use a narrower pattern",
                        limits.files
                    ));
                }
                found.push(below);
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Reads a pattern as a line of a `.gitignore`: `*.js` matches in every folder, `notes/*.md` in one.
fn matcher(top: &Path, pattern: &str) -> Result<Gitignore, String> {
    let mut rules = GitignoreBuilder::new(top);
    rules.add_line(None, pattern).map_err(|error| format!("the pattern is not valid: {error}"))?;
    rules.build().map_err(|error| format!("the pattern is not valid: {error}"))
}

fn matches(pattern: &Gitignore, path: &Path) -> bool {
    pattern.matched_path_or_any_parents(path, false).is_ignore()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::folders::Folders;

    #[test]
    fn lists_end_at_their_limits() {
        let temp = crate::support::temp::private_temp_dir();
        let root = temp.path().join("vault");
        fs::create_dir_all(root.join("sub/.git")).unwrap();
        for name in ["a.md", "sub/b.md", "sub/c.js"] {
            fs::write(root.join(name), "").unwrap();
        }
        let workspace = Workspace::new(Folders::open(std::slice::from_ref(&root)).unwrap());
        let all = ["a.md", "sub/b.md", "sub/c.js"].map(String::from).to_vec();
        let notes = ["a.md", "sub/b.md"].map(String::from).to_vec();
        // The entries are the three files and the two folders.
        let rows = [
            ("at both limits", None, 3, 5, Ok(all)),
            ("one file too many", None, 2, 5, Err("there are more than 2 files: use a narrower pattern")),
            ("one entry too many", None, 3, 4, Err("the folder has more than 4 entries")),
            ("a narrower pattern", Some("*.md"), 2, 5, Ok(notes)),
            (
                "a narrower pattern, for the same entries",
                Some("*.md"),
                2,
                4,
                Err("the folder has more than 4 entries"),
            ),
            ("an invalid pattern", Some("a[z-a].md"), 3, 5, Err("the pattern is not valid: ")),
            ("a bracket without an end", Some("a[.md"), 3, 5, Ok(Vec::new())),
        ];
        for (name, pattern, files, entries, expected) in rows {
            let request = ListFiles::new(pattern.map(String::from));
            match (list(&workspace, &request, Limits { files, entries }), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{name}"),
                (Err(problem), Err(expected)) => assert!(problem.starts_with(expected), "{name}: {problem}"),
                (other, _) => panic!("{name}: {other:?}"),
            }
        }
    }
}
