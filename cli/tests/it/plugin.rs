//! The installation of plugins. tests/lab/editors runs the editors with the installed plugins.

use crate::support::{Place, Process};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;

fn dir(place: &Place) -> PathBuf {
    place.home().join(".local/share/nvim/site/pack/ide-mcp/start/ide-mcp")
}

/// Runs the command, and returns its output, its exit status, and its complaints.
fn run(place: &Place, arguments: &[&str]) -> (String, Option<i32>, String) {
    let mut command = place.start("plugin", arguments);
    let output = command.rest().join("\n");
    let (status, complaints) = command.end();
    (output, status, complaints)
}

#[test]
fn plugin_is_installed_replaced_and_removed() {
    let place = Place::new("plugin");
    for _ in 0..2 {
        let (output, status, complaints) = run(&place, &["nvim"]);
        assert_eq!((status, complaints.as_str()), (Some(0), ""));
        assert!(output.starts_with(&format!("installed: {}\n", dir(&place).display())), "{output}");
        let tags = fs::read_to_string(dir(&place).join("doc/tags")).unwrap();
        assert!(tags.contains("ide-mcp-options\tide-mcp.txt\t/*ide-mcp-options*\n"), "{tags}");
        assert!(dir(&place).join("lua/ide-mcp/init.lua").is_file());
        // The file of an earlier version, which the next one does not have.
        assert!(!dir(&place).join("lua/earlier.lua").exists());
        fs::write(dir(&place).join("lua/earlier.lua"), "").unwrap();
    }
    for _ in 0..2 {
        let (output, status, _) = run(&place, &["nvim", "--remove", "--json"]);
        let event: Value = serde_json::from_str(&output).unwrap();
        assert_eq!((event, status), (json!({"event": "removed", "path": dir(&place)}), Some(0)));
        assert!(!dir(&place).exists());
    }
}

/// Whoever can write a plugin runs programs as its person.
#[test]
fn modes_do_not_depend_on_the_umask() {
    for mask in ["000", "002", "077"] {
        let place = Place::new("plugin-umask");
        fs::set_permissions(place.home(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut shell = Command::new("sh");
        let line = format!("umask {mask}; exec \"$0\" plugin nvim");
        place.house(shell.args(["-c", &line, crate::executable()]));
        let (status, said) = Process::spawn("sh", &mut shell).end();
        assert_eq!((status, said.as_str()), (Some(0), ""), "{mask}");
        let mut left = vec![place.home().join(".local")];
        let mut files = 0;
        while let Some(path) = left.pop() {
            let mode = fs::metadata(&path).unwrap().mode() & 0o7777;
            let is_in_the_plugin = path.starts_with(dir(&place));
            if path.is_dir() {
                left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                // The folders above are not the plugin's own: the person's mask can close them.
                let expected = if mask == "077" && !is_in_the_plugin { 0o700 } else { 0o755 };
                assert_eq!(mode, expected, "{mask}: {}", path.display());
            } else {
                files += 1;
                assert_eq!(mode, 0o644, "{mask}: {}", path.display());
            }
        }
        assert!(files > 5, "{mask}: {files}");
    }
}

#[test]
fn directory_of_others_is_kept() {
    let place = Place::new("plugin-refused");
    let own = place.project();
    fs::write(own.join("init.lua"), "mine").unwrap();
    let link = place.home().join("link");
    symlink(&own, &link).unwrap();
    let file = own.join("init.lua");
    let rows = [
        (&own, "is not a plugin of this command"),
        (&link, "is a link"),
        (&file, "is not a plugin of this command"),
    ];
    for (path, reason) in rows {
        for more in [&[][..], &["--remove"]] {
            let arguments = [&["nvim", "--dir", path.to_str().unwrap()], more].concat();
            let (_, status, complaints) = run(&place, &arguments);
            assert!(complaints.contains(reason), "{}: {complaints}", path.display());
            assert_eq!(status, Some(1));
        }
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn unknown_editor_is_named() {
    let place = Place::new("plugin-unknown");
    for (arguments, reason) in [
        (
            &["nvm"][..],
            "invalid value 'nvm' for '<nvim|vim|emacs>' [possible values: nvim, vim, emacs] (a similar value exists: 'nvim')",
        ),
        (&[], "required arguments were not provided: <nvim|vim|emacs>"),
        (&["nvim", "emacs"], "unexpected argument"),
    ] {
        let (_, status, complaints) = run(&place, arguments);
        assert!(complaints.contains(reason), "{complaints}");
        assert_eq!(status, Some(2));
    }
}
