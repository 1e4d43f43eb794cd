//! The installation of plugins, and their paths. tests/lab/editors runs the editors with the installed plugins.

use crate::support::{Place, Process, skip};
use ide_mcp::ide::paths::{LocalPath, Platform};
use serde_json::{Value, json};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
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
    // The folders that an installation makes go with it, up to one with something else in it.
    let package = dir(&place).ancestors().nth(2).unwrap().to_owned();
    assert!(!package.exists() && package.parent().unwrap().exists());
    run(&place, &["nvim"]);
    fs::create_dir(package.join("opt")).unwrap();
    run(&place, &["nvim", "--remove"]);
    let left: Vec<_> = fs::read_dir(package).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["opt"]);
}

#[test]
fn folder_that_cannot_be_made_is_named() {
    let place = Place::new("plugin-nowhere");
    let file = place.write("file", "");
    // Not even root can make a folder there.
    for above in [file.as_str(), "/dev/null", "/proc"].into_iter().filter(|above| Path::new(above).exists()) {
        let (_, status, complaints) = run(&place, &["nvim", "--dir", &format!("{above}/x")]);
        let expected = format!("plugin: no folder can be made in {above}: ");
        assert!(status == Some(1) && complaints.starts_with(&expected), "{complaints}");
        assert!(!complaints.contains(".new"), "{complaints}");
    }
}

/// A full disk, or the end of the process, leaves a part of the plugin. The disk is full here for files of 4 KiB.
#[test]
fn partial_installation_does_not_block_the_next() {
    let place = Place::new("plugin-half");
    let beside = |end| dir(&place).with_file_name(format!(".ide-mcp{end}"));
    let entries = || fs::read_dir(dir(&place).parent().unwrap()).unwrap().count();
    let mut shell = Command::new("sh");
    place.prepare(shell.args([
        "-c",
        "ulimit -f 8; trap '' XFSZ; exec \"$0\" plugin nvim",
        crate::executable(),
    ]));
    let (status, text) = Process::spawn("sh", &mut shell).end();
    assert!(status == Some(1) && text.contains("File too large"), "{status:?}: {text}");
    assert_eq!(entries(), 0);
    // What a killed installation leaves.
    for end in [".new", ".old"] {
        fs::create_dir(beside(end)).unwrap();
        fs::write(beside(end).join("ide-mcp.version"), "").unwrap();
    }
    for _ in 0..2 {
        let (_, status, complaints) = run(&place, &["nvim"]);
        assert_eq!((status, complaints.as_str(), entries()), (Some(0), "", 1));
    }
}

/// The package for Emacs has a sentence for each verdict that it knows.
#[test]
fn plugin_knows_only_verdicts_of_the_doctor() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let page = fs::read_to_string(format!("{root}/docs/doctor.md")).unwrap();
    let code = fs::read_to_string(format!("{root}/adapters/editors/emacs/ide-mcp-doctor.el")).unwrap();
    let (_, code) = code.split_once("(pcase .verdict\n").unwrap();
    let (verdicts, _) = code.split_once("(_ ").unwrap();
    let verdicts: Vec<_> = verdicts.lines().filter_map(|line| line.trim().strip_prefix("(\"")).collect();
    assert!(verdicts.len() > 3, "{verdicts:?}");
    for verdict in verdicts {
        let verdict = verdict.split('"').next().unwrap();
        assert!(page.contains(&format!("\n| `{verdict}` |")), "docs/doctor.md has no verdict {verdict}");
    }
}

/// Another user who can write to a plugin can run programs as its user.
#[test]
fn modes_do_not_depend_on_the_umask() {
    for mask in ["000", "002", "077"] {
        let place = Place::new("plugin-umask");
        fs::set_permissions(place.home(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut shell = Command::new("sh");
        let line = format!("umask {mask}; exec \"$0\" plugin nvim");
        place.prepare(shell.args(["-c", &line, crate::executable()]));
        let (status, text) = Process::spawn("sh", &mut shell).end();
        assert_eq!((status, text.as_str()), (Some(0), ""), "{mask}");
        let mut left = vec![place.home().join(".local")];
        let mut files = 0;
        while let Some(path) = left.pop() {
            let mode = fs::metadata(&path).unwrap().mode() & 0o7777;
            let is_in_the_plugin = path.starts_with(dir(&place));
            if path.is_dir() {
                left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                // The folders above are not the plugin's own: the user's umask may make them private.
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
        (&own, "was not made by this command"),
        (&link, "is a link"),
        (&file, "was not made by this command"),
    ];
    for (path, reason) in rows {
        for (more, remedy) in [
            (&[][..], ": choose a new or empty folder with --dir\n"),
            (&["--remove"], ": choose the directory of the plugin with --dir\n"),
        ] {
            let arguments = [&["nvim", "--dir", path.to_str().unwrap()], more].concat();
            let (_, status, complaints) = run(&place, &arguments);
            assert!(complaints.contains(reason), "{}: {complaints}", path.display());
            assert!(complaints.ends_with(remedy), "{}: {complaints}", path.display());
            assert_eq!(status, Some(1));
        }
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    fs::create_dir_all(dir(&place)).unwrap();
    fs::write(dir(&place).join("init.lua"), "mine").unwrap();
    let (_, status, complaints) = run(&place, &["nvim"]);
    assert!(
        status == Some(1) && complaints.ends_with(": choose another --dir, or move it away\n"),
        "{complaints}"
    );
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

/// Paths as editors on Windows and elsewhere have them: with backslashes, and with slashes.
const PATHS: &[(&str, &str, Platform)] = &[
    ("a drive", "C:\\a b\\\u{fc}.txt", Platform::Windows),
    ("a drive in lower case", r"c:\w\a.txt", Platform::Windows),
    ("slashes", "c:/a b/\u{fc}.txt", Platform::Windows),
    ("both", r"C:\w/a\b.txt", Platform::Windows),
    ("characters with a meaning in a URI", r"C:\100%25 #1 [x];+&=!'()@,.txt", Platform::Windows),
    ("a character of two units", "D:\\\u{1f600}.txt", Platform::Windows),
    ("a share", r"\\server\share\a b.txt", Platform::Windows),
    ("a share with slashes", "//server/share/a b.txt", Platform::Windows),
    ("elsewhere", "/home/me/a b/\u{fc}.txt", Platform::Posix),
    ("a backslash on POSIX", r"/w/a\b", Platform::Posix),
    ("a drive on POSIX", r"/C:\w", Platform::Posix),
    ("a colon on POSIX", "/w/c:/x", Platform::Posix),
];

/// Two paths, and whether they name the same file on Windows.
const KEYS: &[(&str, &str, &str, bool)] = &[
    ("slashes", r"C:\w\a.txt", "C:/w/a.txt", true),
    ("case", r"c:\W\A.txt", r"C:\w\a.TXT", true),
    ("a share", r"\\Server\share\a", "//server/share/A", true),
    ("another drive", r"C:\w", r"D:\w", false),
    ("another name", r"C:\w\a", r"C:\w\b", false),
];

/// Runs an editor without a screen and without the settings of a user, and with `data` as XDG_DATA_HOME. Returns false
/// if the editor is not installed.
fn batch(place: &Place, editor: &str, data: &str, arguments: &[&str]) -> bool {
    if let Err(error) = Command::new(editor).arg("--version").output() {
        assert_eq!(error.kind(), ErrorKind::NotFound, "{editor}: {error}");
        skip(&format!("{editor} is not installed"));
        return false;
    }
    let mut command = Command::new("timeout");
    command.args(["60", editor]).args(arguments).current_dir(place.project());
    command.env("HOME", place.home()).env("XDG_DATA_HOME", data);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{editor}: {output:?}");
    true
}

/// The plugins' functions for paths can be tested without an editor on Windows. Each writes the same URI as the
/// library.
#[test]
fn plugins_write_uris_of_windows() {
    let place = Place::new("uris");
    let paths: Vec<&str> = PATHS.iter().map(|(_, path, _)| *path).collect();
    let pairs: Vec<&str> = KEYS.iter().flat_map(|(_, one, other, _)| [*one, *other]).collect();
    place.write("in", &json!({"paths": paths, "pairs": pairs}).to_string());
    let plugins = concat!(env!("CARGO_MANIFEST_DIR"), "/../adapters/editors");
    let nvim = r"
        local files = require('ide-mcp.files')
        local given = vim.fn.json_decode(vim.fn.readfile('in'))
        local function key(path) return files.key(path, true) end
        local out = { uris = vim.tbl_map(files.uri, given.paths), keys = vim.tbl_map(key, given.pairs) }
        out.same = files.key('/A\\b', false)
        vim.fn.writefile({ vim.fn.json_encode(out) }, 'nvim')";
    let vim = format!(
        r"vim9script
        import '{plugins}/vim/autoload/ide_mcp/strings.vim' as plugin
        const given = readfile('in')->join('')->json_decode()
        const keys = given.pairs->mapnew((_, path) => plugin.Key(path, true))
        const uris = given.paths->mapnew((_, path) => plugin.Uri(path))
        writefile([json_encode({{uris: uris, keys: keys, same: plugin.Key('/A\b', false)}})], 'vim')
        qall!"
    );
    // Emacs itself finds the buffer of a path.
    let emacs = r#"
        (let ((given (with-temp-buffer (insert-file-contents "in") (json-parse-buffer))))
          (with-temp-file "emacs"
            (insert (json-serialize
                     (list :uris (vconcat (mapcar #'ide-mcp--uri (gethash "paths" given))))))))"#;
    place.write("nvim.lua", nvim);
    place.write("test.vim", &vim);
    let (path, library) = (format!("set runtimepath+={plugins}/nvim"), format!("{plugins}/emacs"));
    let runs: [(&str, &[&str]); 3] = [
        ("nvim", &["--headless", "-u", "NONE", "-i", "NONE", "--cmd", &path, "+luafile nvim.lua", "+qall!"]),
        ("vim", &["-Nu", "NONE", "-i", "NONE", "-es", "--cmd", "set encoding=utf-8", "-S", "test.vim"]),
        ("emacs", &["-Q", "--batch", "-L", &library, "-l", "ide-mcp", "--eval", emacs]),
    ];
    for (editor, arguments) in runs {
        if !batch(&place, editor, "", arguments) {
            continue;
        }
        let out: Value = serde_json::from_str(&place.read(editor)).unwrap();
        let uris = out["uris"].as_array().unwrap();
        assert_eq!(uris.len(), PATHS.len(), "{editor}");
        for ((name, path, platform), uri) in PATHS.iter().zip(uris) {
            let expected = LocalPath::parse(path, *platform).unwrap().to_uri();
            assert_eq!(uri, &expected, "{editor}: {name}");
        }
        let Some(keys) = out.get("keys") else { continue };
        for ((name, _, _, are_one), pair) in KEYS.iter().zip(keys.as_array().unwrap().chunks(2)) {
            assert_eq!(pair[0] == pair[1], *are_one, "{editor}: {name}");
        }
        assert_eq!(out["same"], r"/A\b", "{editor}: on POSIX a different case is a different file");
    }
}

/// A project must not be able to supply the program that the plugin runs. So a relative `XDG_DATA_HOME`, which would
/// lead below the folder in which the editor was started, does not count.
#[test]
fn program_is_not_below_a_relative_folder() {
    let place = Place::new("plugin-data");
    let plugins = concat!(env!("CARGO_MANIFEST_DIR"), "/../adapters/editors");
    let vim = format!(
        "vim9script\nimport '{plugins}/vim/autoload/ide_mcp/program.vim'\nwritefile([program.path], 'vim')\nqall!"
    );
    place.write("test.vim", &vim);
    let path = format!("set runtimepath+={plugins}/nvim");
    let runs: [(&str, &str, &[&str]); 2] = [
        (
            "nvim",
            "nvim/ide-mcp/bin/ide-mcp",
            &[
                "--headless",
                "-u",
                "NONE",
                "-i",
                "NONE",
                "--cmd",
                &path,
                "+lua vim.fn.writefile({ require('ide-mcp.program').path }, 'nvim')",
                "+qall!",
            ],
        ),
        ("vim", "vim-ide-mcp/bin/ide-mcp", &["-Nu", "NONE", "-i", "NONE", "-es", "-S", "test.vim"]),
    ];
    let home = place.home();
    let home = home.display();
    for (editor, below, arguments) in runs {
        for (data, folder) in
            [("", format!("{home}/.local/share")), ("d", format!("{home}/.local/share")), ("/d", "/d".into())]
        {
            if batch(&place, editor, data, arguments) {
                assert_eq!(place.read(editor).trim_end(), format!("{folder}/{below}"), "{editor}: {data:?}");
            }
        }
    }
}
