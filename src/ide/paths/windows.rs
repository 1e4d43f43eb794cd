//! Which window of an editor a file or an agent belongs to.

use super::LocalPath;

/// Returns the index of the window where you should show a call: the window of the file, if it has a folder around the
/// file, and otherwise the window of the agent. `windows` has the folders of each window.
///
/// A file belongs to the window with the innermost folder around it. The folders of an agent are tried in order. The
/// first one inside a folder of a window decides, by the innermost such folder; if there is none, the first one around
/// a folder of a window does, by the outermost such folder. Of equal folders, the first window wins. Without a match
/// the result is `None`.
///
/// ```
/// use ide_mcp::ide::paths::{LocalPath, Platform, closest_window};
///
/// let local = |path| LocalPath::parse(path, Platform::Posix).unwrap();
/// let windows = [vec![local("/w/app"), local("/w/lib")], vec![local("/w/app/docs")]];
/// let file = local("/w/app/docs/index.md");
/// assert_eq!(closest_window(&windows, Some(&file), &[]), Some(1));
/// // A file outside all windows, from an agent that works in the first one.
/// assert_eq!(closest_window(&windows, Some(&local("/tmp/plan.md")), &[local("/w/lib/src")]), Some(0));
/// ```
#[must_use]
pub fn closest_window<W: AsRef<[LocalPath]>>(
    windows: &[W],
    file: Option<&LocalPath>,
    agent: &[LocalPath],
) -> Option<usize> {
    let around = |path: &LocalPath| around(windows, path);
    file.and_then(around)
        .or_else(|| agent.iter().find_map(around))
        .or_else(|| agent.iter().find_map(|folder| below(windows, folder)))
}

/// Returns the window with the innermost folder around a path.
fn around<W: AsRef<[LocalPath]>>(windows: &[W], path: &LocalPath) -> Option<usize> {
    let around = folders(windows).filter(|(_, folder)| path.is_within(folder));
    // `max_by_key` would return the last of several maxima.
    around.min_by_key(|(_, folder)| core::cmp::Reverse(folder.depth())).map(|(window, _)| window)
}

/// Returns the window with the outermost folder below a folder.
fn below<W: AsRef<[LocalPath]>>(windows: &[W], folder: &LocalPath) -> Option<usize> {
    let below = folders(windows).filter(|(_, of_window)| of_window.is_within(folder));
    below.min_by_key(|(_, of_window)| of_window.depth()).map(|(window, _)| window)
}

fn folders<W: AsRef<[LocalPath]>>(windows: &[W]) -> impl Iterator<Item = (usize, &LocalPath)> {
    let with_index =
        |(window, folders)| AsRef::<[LocalPath]>::as_ref(folders).iter().map(move |folder| (window, folder));
    windows.iter().enumerate().flat_map(with_index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::paths::Platform;
    use alloc::vec::Vec;

    #[test]
    fn calls_go_to_their_windows() {
        let local = |path: &str| LocalPath::parse(path, Platform::Posix).unwrap();
        // The windows, the file, the folders of the agent, and the window that is chosen.
        let rows: &[(&str, &[&[&str]], Option<&str>, &[&str], Option<usize>)] = &[
            ("the file decides", &[&["/a"], &["/b"]], Some("/b/x"), &["/a"], Some(1)),
            ("second folder of a window", &[&["/a", "/b"], &["/c"]], Some("/b/x"), &[], Some(0)),
            ("innermost folder", &[&["/a"], &["/a/b"]], Some("/a/b/x"), &[], Some(1)),
            ("the root, and a folder in it", &[&["/"], &["/a"]], Some("/a/x"), &[], Some(1)),
            ("equal folders", &[&["/b"], &["/a"], &["/a"]], Some("/a/x"), &[], Some(1)),
            ("file outside, agent inside", &[&["/a"], &["/b"]], Some("/tmp/x"), &["/b/c"], Some(1)),
            ("no file, agent inside", &[&["/a"], &["/b"]], None, &["/b"], Some(1)),
            ("second folder of the agent", &[&["/a"], &["/b"]], None, &["/x", "/b"], Some(1)),
            (
                "a window around the agent wins over one below it",
                &[&["/a/b"], &["/c"]],
                None,
                &["/a", "/c/d"],
                Some(1),
            ),
            ("outermost folder below the agent's", &[&["/a/b/c"], &["/a/b"]], None, &["/a"], Some(1)),
            ("similar names", &[&["/ab"], &["/a"]], Some("/a/x"), &[], Some(1)),
            ("nothing fits", &[&["/a"]], Some("/b/x"), &["/c"], None),
            ("no file and no folder of the agent", &[&["/a"], &["/b"]], None, &[], None),
            ("window without folders", &[&[], &["/a"]], Some("/a/x"), &[], Some(1)),
            ("no windows", &[], Some("/a/x"), &["/a"], None),
        ];
        for (name, windows, file, agent, expected) in rows {
            let locals = |paths: &[&str]| paths.iter().map(|path| local(path)).collect::<Vec<_>>();
            let windows: Vec<_> = windows.iter().map(|folders| locals(folders)).collect();
            let file = file.map(local);
            assert_eq!(closest_window(&windows, file.as_ref(), &locals(agent)), *expected, "{name}");
        }
    }
}
