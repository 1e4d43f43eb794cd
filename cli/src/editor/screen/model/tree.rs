//! The list of files: the open folders, and the contents of the unfolded ones.

use super::buffer::in_sight;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Debug, Default)]
pub(crate) struct Tree {
    roots: Vec<PathBuf>,
    unfolded: BTreeSet<PathBuf>,
    pub(crate) rows: Vec<Row>,
    /// The row that keys act on.
    pub(crate) cursor: usize,
    /// The first row that is shown.
    pub(crate) top: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) path: PathBuf,
    /// The name as it is on disk, not yet safe to display.
    pub(crate) name: String,
    pub(crate) depth: usize,
    pub(crate) kind: RowKind,
    /// True if agents do not receive the file, or the files of the folder.
    pub(crate) is_hidden: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowKind {
    Folder {
        unfolded: bool,
    },
    File,
    /// A note about files that cannot be listed or are too many; the name is its text.
    Note,
}

/// An entry of a folder. They are sorted as they are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) is_folder: bool,
    pub(crate) is_note: bool,
    /// True if agents do not receive the file, or the files of the folder.
    pub(crate) is_hidden: bool,
}

impl Tree {
    /// Creates a tree. A single folder shows its contents; several folders show themselves, unfolded.
    pub(crate) fn new(roots: Vec<PathBuf>) -> Self {
        let unfolded = roots.iter().cloned().collect();
        Self { roots, unfolded, ..Self::default() }
    }

    /// Returns a path as you would type it: relative to the first folder, or whole.
    pub(crate) fn typed<'a>(&self, path: &'a Path) -> &'a Path {
        self.roots.first().and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path)
    }

    /// Returns the names of the open folders, not yet safe to display.
    pub(crate) fn title(&self) -> String {
        self.roots.iter().map(|root| name(root)).collect::<Vec<_>>().join(", ")
    }

    /// Returns the folders whose contents are shown.
    pub(crate) fn unfolded(&self) -> impl Iterator<Item = &Path> {
        self.unfolded.iter().map(PathBuf::as_path)
    }

    /// Lists the folders again. The cursor stays on its file.
    pub(crate) fn refresh(&mut self, mut list: impl FnMut(&Path) -> Vec<Listed>) {
        let at = self.current().map(|row| row.path.clone());
        let mut rows = Vec::new();
        let named = self.roots.len() > 1;
        for root in &self.roots {
            if named {
                let name = name(root);
                let unfolded = self.unfolded.contains(root);
                rows.push(Row {
                    path: root.clone(),
                    name,
                    depth: 0,
                    kind: RowKind::Folder { unfolded },
                    is_hidden: false,
                });
            }
            if !named || self.unfolded.contains(root) {
                self.fill(root, usize::from(named), &mut rows, &mut list);
            }
        }
        self.rows = rows;
        let same = at.and_then(|path| self.rows.iter().position(|row| row.path == path));
        self.cursor = same.unwrap_or(self.cursor).min(self.rows.len().saturating_sub(1));
    }

    fn fill(
        &self,
        folder: &Path,
        depth: usize,
        rows: &mut Vec<Row>,
        list: &mut impl FnMut(&Path) -> Vec<Listed>,
    ) {
        // Links may form cycles; no real folders are that deep.
        if depth > 64 {
            return;
        }
        for Listed { name, path, is_folder, is_note, is_hidden } in list(folder) {
            let unfolded = is_folder && self.unfolded.contains(&path);
            let kind = match (is_folder, is_note) {
                (true, _) => RowKind::Folder { unfolded },
                (false, true) => RowKind::Note,
                (false, false) => RowKind::File,
            };
            rows.push(Row { path: path.clone(), name, depth, kind, is_hidden });
            if unfolded {
                self.fill(&path, depth.saturating_add(1), rows, list);
            }
        }
    }

    pub(crate) fn current(&self) -> Option<&Row> {
        self.rows.get(self.cursor)
    }

    pub(crate) fn step(&mut self, by: isize) {
        self.cursor = self.cursor.saturating_add_signed(by).min(self.rows.len().saturating_sub(1));
    }

    /// Folds or unfolds a folder. Refresh the tree afterwards.
    pub(crate) fn toggle(&mut self, folder: &Path) {
        if !self.unfolded.remove(folder) {
            self.unfolded.insert(folder.to_owned());
        }
    }

    /// Folds the folder at the cursor, or goes to the folder that contains the row. Returns true if the tree must be
    /// refreshed.
    pub(crate) fn fold(&mut self) -> bool {
        let Some(row) = self.current() else { return false };
        // The kind of the row has the state of the last refresh.
        if self.unfolded.contains(&row.path) && matches!(row.kind, RowKind::Folder { .. }) {
            let path = row.path.clone();
            self.toggle(&path);
            return true;
        }
        let depth = row.depth;
        let above = self.rows.iter().take(self.cursor).rposition(|row| row.depth < depth);
        self.cursor = above.unwrap_or(self.cursor);
        false
    }

    /// Moves the cursor to a file, if the file is shown.
    pub(crate) fn point_at(&mut self, path: &Path) {
        self.cursor = self.rows.iter().position(|row| row.path == path).unwrap_or(self.cursor);
    }

    pub(crate) fn reveal(&mut self, rows: usize) {
        self.top = in_sight(self.top, self.cursor, rows, 0);
        // The rows above are shown again when there is room.
        self.top = self.top.min(self.rows.len().saturating_sub(rows));
    }
}

/// Returns the name of a folder that is open.
fn name(root: &Path) -> String {
    root.file_name().unwrap_or(root.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(folder: &Path) -> Vec<Listed> {
        let entry = |name: &str, is_folder| Listed {
            name: name.into(),
            path: folder.join(name),
            is_folder,
            is_note: false,
            is_hidden: false,
        };
        match folder.to_str().map(|path| path.replace('\\', "/")).as_deref() {
            Some("/p" | "/q") => vec![entry("src", true), entry("a", false), entry("b", false)],
            Some("/p/src") => vec![entry("deep", true), entry("x", false)],
            Some(path) if path.contains("deep") => vec![entry("deep", true)],
            _ => Vec::new(),
        }
    }

    fn shown(tree: &Tree) -> String {
        let row = |(at, row): (usize, &Row)| {
            let cursor = if at == tree.cursor { ">" } else { "" };
            format!("{}{cursor}{}", " ".repeat(row.depth), row.name)
        };
        tree.rows.iter().enumerate().map(row).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn folders_unfold_and_fold() {
        let mut tree = Tree::new(vec!["/p".into()]);
        tree.refresh(listed);
        assert_eq!(shown(&tree), ">src|a|b");
        tree.toggle(Path::new("/p/src"));
        tree.refresh(listed);
        assert_eq!(shown(&tree), ">src| deep| x|a|b");
        tree.step(2);
        assert!(!tree.fold());
        assert_eq!(shown(&tree), ">src| deep| x|a|b");
        tree.point_at(Path::new("/p/b"));
        tree.step(99);
        tree.toggle(Path::new("/p/src"));
        tree.refresh(listed);
        assert_eq!(shown(&tree), "src|a|>b", "the cursor stays on its file");
        tree.step(-99);
        assert_eq!(tree.cursor, 0);
        tree.refresh(|_| Vec::new());
        assert_eq!((shown(&tree), tree.current()), (String::new(), None));
        tree.step(1);
        assert!(!tree.fold());
    }

    #[test]
    fn several_folders_show_their_names() {
        let mut tree = Tree::new(vec!["/p".into(), "/q".into()]);
        tree.refresh(listed);
        assert_eq!(shown(&tree), ">p| src| a| b|q| src| a| b");
        assert_eq!(tree.typed(Path::new("/p/src/x")), Path::new("src/x"));
        assert_eq!(tree.typed(Path::new("/q/a")), Path::new("/q/a"), "relative paths start at the first");
        assert!(tree.fold());
        tree.refresh(listed);
        assert_eq!(shown(&tree), ">p|q| src| a| b");
    }

    #[test]
    fn cycle_of_links_ends() {
        let mut tree = Tree::new(vec!["/p".into()]);
        let mut path = PathBuf::from("/p/src");
        for _ in 0..100 {
            tree.toggle(&path);
            path.push("deep");
        }
        tree.refresh(listed);
        assert!(tree.rows.len() < 100);
    }

    #[test]
    fn list_scrolls_to_its_cursor() {
        let mut tree = Tree::new(vec!["/p".into()]);
        tree.refresh(listed);
        tree.step(2);
        tree.reveal(2);
        assert_eq!(tree.top, 1);
        tree.reveal(9);
        assert_eq!(tree.top, 0);
        tree.reveal(0);
    }
}
