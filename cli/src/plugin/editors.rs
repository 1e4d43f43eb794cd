//! The plugins, whose files are part of this program.

use std::path::PathBuf;

/// An editor that has a plugin.
#[derive(Debug)]
pub(crate) struct Editor {
    /// The name of its program.
    pub(crate) name: &'static str,
    /// The files of the plugin: paths in its directory, and contents.
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// Where the editor keeps its data, best first: a variable, and a path below its value.
    places: &'static [(&'static str, &'static str)],
    /// The same on Windows, as the documentation of the editor says.
    on_windows: &'static [(&'static str, &'static str)],
    /// What the user must do next, with the directory as `DIR`.
    next: &'static str,
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
        files: files!("nvim": "doc/ide-mcp.txt" "lua/ide-mcp/commands.lua" "lua/ide-mcp/diff.lua"
            "lua/ide-mcp/editor.lua" "lua/ide-mcp/events.lua" "lua/ide-mcp/files.lua" "lua/ide-mcp/health.lua"
            "lua/ide-mcp/init.lua" "lua/ide-mcp/inline.lua" "lua/ide-mcp/log.lua" "lua/ide-mcp/messages.lua"
            "lua/ide-mcp/model_tools.lua" "lua/ide-mcp/options.lua" "lua/ide-mcp/program.lua"
            "lua/ide-mcp/proposals.lua" "lua/ide-mcp/providers.lua" "lua/ide-mcp/sidecar.lua" "lua/ide-mcp/split.lua"
            "lua/ide-mcp/terminal.lua" "lua/ide-mcp/text.lua" "lua/ide-mcp/too_deep.lua" "lua/ide-mcp/trees.lua"
            "lua/ide-mcp/turns.lua" "lua/ide-mcp/types.lua" "lua/ide-mcp/windows.lua"
            "lua/lualine/components/ide_mcp.lua" "plugin/ide-mcp.lua" "release.json"),
        places: &[
            ("XDG_DATA_HOME", "nvim/site/pack/ide-mcp/start/ide-mcp"),
            ("HOME", ".local/share/nvim/site/pack/ide-mcp/start/ide-mcp"),
        ],
        on_windows: &[
            ("XDG_DATA_HOME", "nvim-data/site/pack/ide-mcp/start/ide-mcp"),
            ("LOCALAPPDATA", "nvim-data/site/pack/ide-mcp/start/ide-mcp"),
        ],
        next: "restart nvim, open a file, and type\n    :IdeMcp toggle           to start the agent beside it\n    \
               :checkhealth ide-mcp     to find out what is wrong\n    :help ide-mcp            for the rest",
    },
    Editor {
        name: "vim",
        files: files!("vim": "autoload/ide_mcp.vim" "autoload/ide_mcp/agents.vim"
            "autoload/ide_mcp/context.vim" "autoload/ide_mcp/doctor.vim" "autoload/ide_mcp/events.vim"
            "autoload/ide_mcp/files.vim" "autoload/ide_mcp/inline.vim" "autoload/ide_mcp/layout.vim"
            "autoload/ide_mcp/log.vim" "autoload/ide_mcp/options.vim" "autoload/ide_mcp/program.vim"
            "autoload/ide_mcp/proposals.vim" "autoload/ide_mcp/sidecar.vim" "autoload/ide_mcp/sides.vim"
            "autoload/ide_mcp/strings.vim" "autoload/ide_mcp/terminal.vim" "autoload/ide_mcp/tmux.vim"
            "autoload/ide_mcp/tools.vim" "autoload/ide_mcp/trees.vim" "autoload/ide_mcp/turns.vim"
            "autoload/ide_mcp/ui.vim" "autoload/ide_mcp/view.vim" "doc/ide-mcp.txt" "plugin/ide_mcp.vim"
            "release.json"),
        places: &[("HOME", ".vim/pack/ide-mcp/start/ide-mcp")],
        on_windows: &[
            ("HOME", "vimfiles/pack/ide-mcp/start/ide-mcp"),
            ("USERPROFILE", "vimfiles/pack/ide-mcp/start/ide-mcp"),
        ],
        next: "restart vim, open a file, and type\n    :IdeMcp toggle      to start the agent beside it\n    \
               :IdeMcp doctor      to find out what is wrong\n    :help ide-mcp       for the rest",
    },
    Editor {
        name: "emacs",
        files: files!("emacs": "ide-mcp-agents.el" "ide-mcp-context.el" "ide-mcp-doctor.el" "ide-mcp-files.el"
            "ide-mcp-guard.el" "ide-mcp-hooks.el" "ide-mcp-hunks.el" "ide-mcp-layout.el" "ide-mcp-log.el"
            "ide-mcp-mention.el" "ide-mcp-menu.el" "ide-mcp-program.el" "ide-mcp-proposal.el" "ide-mcp-terminal.el"
            "ide-mcp-tools.el" "ide-mcp-view.el" "ide-mcp-wire.el" "ide-mcp.el"),
        places: &[("HOME", ".emacs.d/ide-mcp")],
        on_windows: &[("HOME", ".emacs.d/ide-mcp"), ("APPDATA", ".emacs.d/ide-mcp")],
        next: "add to your init file\n    (add-to-list 'load-path \"DIR\")\n    (require 'ide-mcp)\n    (ide-mcp-mode)\n\
               and restart emacs: M-x ide-mcp-toggle starts the agent beside your file",
    },
];

impl Editor {
    /// Returns the directory that the editor loads the plugin from, or `None` if the environment names none.
    pub(crate) fn dir(&self, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
        let dir = |(name, below): &(&str, &str)| {
            let place = variable(name).filter(|path| path.is_absolute())?;
            // With the separators of the system.
            Some(place.join(below).components().collect())
        };
        if cfg!(windows) { self.on_windows } else { self.places }.iter().find_map(dir)
    }

    /// Returns what the user must do next. Emacs reads a backslash in a string as an escape, and accepts slashes on
    /// every system.
    pub(crate) fn next(&self, dir: &str, is_windows: bool) -> String {
        let dir = if is_windows { dir.replace('\\', "/") } else { dir.replace('\\', r"\\") };
        self.next.replace("DIR", &dir.replace('"', "\\\""))
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
            ("emacs", "ide-mcp-program.el", format!("(:version \"{version}\" ")),
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
        type Row = (&'static str, &'static [(&'static str, &'static str)], Option<&'static str>);
        let elsewhere: &[Row] = &[
            ("nvim", &[("XDG_DATA_HOME", "/x"), ("HOME", "/h")], Some("/x/nvim/site")),
            ("nvim", &[("XDG_DATA_HOME", "x"), ("HOME", "/h")], Some("/h/.local/share/nvim/site")),
            ("nvim", &[("HOME", "")], None),
            ("nvim", &[], None),
            ("vim", &[("HOME", "/h"), ("USERPROFILE", "/u")], Some("/h/.vim")),
            ("emacs", &[("HOME", "/h"), ("APPDATA", "/a")], Some("/h/.emacs.d/ide-mcp")),
        ];
        let on_windows: &[Row] = &[
            ("nvim", &[("XDG_DATA_HOME", r"C:\x"), ("LOCALAPPDATA", r"C:\l")], Some(r"C:\x\nvim-data\site")),
            ("nvim", &[("HOME", r"C:\h"), ("LOCALAPPDATA", r"C:\l")], Some(r"C:\l\nvim-data\site")),
            ("nvim", &[("HOME", r"C:\h")], None),
            ("vim", &[("USERPROFILE", r"C:\u")], Some(r"C:\u\vimfiles")),
            ("vim", &[("HOME", r"C:\h"), ("USERPROFILE", r"C:\u")], Some(r"C:\h\vimfiles")),
            ("emacs", &[("HOME", "h"), ("APPDATA", r"C:\a")], Some(r"C:\a\.emacs.d\ide-mcp")),
        ];
        for (editor, environment, expected) in if cfg!(windows) { on_windows } else { elsewhere } {
            let variable = |name: &str| {
                environment.iter().find(|(key, _)| *key == name).map(|(_, value)| PathBuf::from(value))
            };
            let below = if *editor == "emacs" { "" } else { "pack/ide-mcp/start/ide-mcp" };
            let expected = expected.map(|path| Path::new(path).join(below));
            let editor = EDITORS.iter().find(|known| known.name == *editor).unwrap();
            let dir = editor.dir(variable);
            assert_eq!(dir, expected, "{environment:?}");
            let shown = dir.map(|dir| dir.display().to_string()).unwrap_or_default();
            assert!(!shown.contains(if cfg!(windows) { '/' } else { '\\' }), "{shown}");
        }
    }

    #[test]
    fn next_step_has_a_lisp_string() {
        let rows = [
            ("/h/a b", false, "/h/a b"),
            ("/h/a\\b\"", false, r#"/h/a\\b\""#),
            (r"C:\Users\me\.emacs.d", true, "C:/Users/me/.emacs.d"),
        ];
        let emacs = EDITORS.last().unwrap();
        for (dir, is_windows, text) in rows {
            let next = emacs.next(dir, is_windows);
            assert!(next.contains(&format!("(add-to-list 'load-path \"{text}\")")), "{next}");
        }
    }
}
