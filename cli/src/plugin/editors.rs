//! The plugins, whose files are part of this program.

use std::path::PathBuf;

/// An editor that has a plugin.
#[derive(Debug)]
pub(crate) struct Editor {
    /// The name of its program.
    pub(crate) name: &'static str,
    /// The files of the plugin: paths in its directory, and contents.
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// The places of the data of the editor, best first: a variable, and a path below its value.
    places: &'static [(&'static str, &'static str)],
    /// The next step of the person, with the directory as `DIR`.
    pub(crate) next: &'static str,
}

/// Creates the table of the files of a plugin.
macro_rules! files {
    ($editor:literal: $($path:literal)*) => {
        &[$(($path, include_str!(concat!("../../plugins/", $editor, "/", $path)))),*]
    };
}

pub(crate) const EDITORS: &[Editor] = &[
    Editor {
        name: "nvim",
        files: files!("nvim": "doc/ide-mcp.txt" "lua/ide-mcp/diff.lua" "lua/ide-mcp/editor.lua"
            "lua/ide-mcp/health.lua" "lua/ide-mcp/init.lua" "lua/ide-mcp/nested.lua" "lua/ide-mcp/program.lua"
            "lua/ide-mcp/sidecar.lua" "plugin/ide-mcp.lua" "release.json"),
        places: &[
            ("XDG_DATA_HOME", "nvim/site/pack/ide-mcp/start/ide-mcp"),
            ("HOME", ".local/share/nvim/site/pack/ide-mcp/start/ide-mcp"),
            ("LOCALAPPDATA", "nvim-data/site/pack/ide-mcp/start/ide-mcp"),
        ],
        next: "start nvim and an agent in the same folder; `:checkhealth ide-mcp` has the state, `:help ide-mcp` the rest",
    },
    Editor {
        name: "vim",
        files: files!("vim": "autoload/ide_mcp.vim" "autoload/ide_mcp/program.vim" "doc/ide-mcp.txt" "plugin/ide_mcp.vim"
            "release.json"),
        places: &[
            ("HOME", ".vim/pack/ide-mcp/start/ide-mcp"),
            ("USERPROFILE", "vimfiles/pack/ide-mcp/start/ide-mcp"),
        ],
        next: "start vim and an agent in the same folder; `:IdeMcp status` has the state, `:help ide-mcp` the rest",
    },
    Editor {
        name: "emacs",
        files: files!("emacs": "ide-mcp.el"),
        places: &[("HOME", ".emacs.d/ide-mcp"), ("APPDATA", ".emacs.d/ide-mcp")],
        next: "write into the init file: (add-to-list 'load-path \"DIR\") (require 'ide-mcp) (ide-mcp-mode)",
    },
];

impl Editor {
    /// Returns the directory from which the editor loads the plugin, or `None` if the environment names none.
    pub(crate) fn dir(&self, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
        let dir = |(name, below): &(&str, &str)| {
            variable(name).filter(|path| path.is_absolute()).map(|path| path.join(below))
        };
        self.places.iter().find_map(dir)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test states what it expects")]

    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn table_has_every_file_of_a_plugin() {
        let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugins");
        for editor in EDITORS {
            let mut there = Vec::new();
            collect(&plugins.join(editor.name), "", &mut there);
            there.retain(|path| path != "README.md");
            there.sort();
            let table: Vec<_> = editor.files.iter().map(|(path, _)| *path).collect();
            assert_eq!(table, there, "{}", editor.name);
        }
    }

    #[test]
    fn plugins_have_the_version_of_the_program() {
        let version = env!("CARGO_PKG_VERSION");
        let rows = [
            ("nvim", "release.json", format!("{{\"version\": \"{version}\"}}\n")),
            ("vim", "release.json", format!("{{\"version\": \"{version}\"}}\n")),
            ("emacs", "ide-mcp.el", format!("\n;; Version: {version}\n")),
            ("emacs", "ide-mcp.el", format!("(:version \"{version}\" ")),
        ];
        for (name, path, line) in rows {
            let editor = EDITORS.iter().find(|editor| editor.name == name).unwrap();
            let (_, text) = editor.files.iter().find(|(file, _)| *file == path).unwrap();
            assert!(text.contains(&line), "{name}: {path} lacks {line}");
        }
    }

    fn collect(dir: &Path, below: &str, found: &mut Vec<String>) {
        for entry in fs::read_dir(dir.join(below)).unwrap().flatten() {
            let path = format!("{below}{}", entry.file_name().to_str().unwrap());
            if entry.path().is_dir() {
                collect(dir, &format!("{path}/"), found);
            } else {
                found.push(path);
            }
        }
    }

    #[test]
    fn first_absolute_place_counts() {
        let editor = EDITORS.first().unwrap();
        let rows: [(&[(&str, &str)], Option<&str>); 4] = [
            (&[("XDG_DATA_HOME", "/x"), ("HOME", "/h")], Some("/x/nvim")),
            (&[("XDG_DATA_HOME", "x"), ("HOME", "/h")], Some("/h/.local/share/nvim")),
            (&[("HOME", "")], None),
            (&[], None),
        ];
        for (environment, expected) in rows {
            let variable = |name: &str| {
                environment.iter().find(|(key, _)| *key == name).map(|(_, value)| PathBuf::from(value))
            };
            let expected = expected.map(|path| Path::new(path).join("site/pack/ide-mcp/start/ide-mcp"));
            assert_eq!(editor.dir(variable), expected, "{environment:?}");
        }
    }
}
