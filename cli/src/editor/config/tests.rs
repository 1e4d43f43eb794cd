//! Configuration files of all kinds: what is read from good ones, and the messages about bad ones.

use super::*;
use crate::editor::options::OnDiff;
use crate::editor::screen::bindings::{BINDINGS, Binding, SECTIONS, name};
use crate::editor::screen::keys::Key;
use crate::editor::screen::model::act::{Action, Context};
use crate::editor::screen::view::palette::{Shade, ThemeName};
use ide_mcp::ide::Dialect;

/// Parses a file, and returns the place and the text of its fault.
fn fault(text: &str) -> Option<String> {
    let (at, message) = Config::parse(text).err()?;
    let (line, column) = place(text, at);
    Some(format!("{line}:{column}: {message}"))
}

#[test]
fn fault_has_its_place_and_the_remedy() {
    let rows = [
        ("not TOML", "[editor]\ndialect = ", "2:11: string values must be quoted, expected literal string"),
        ("a name twice", "[editor]\ntoken = true\ntoken = true\n", "3:1: duplicate key"),
        ("an unknown section", "[edtor]\n", "1:2: unknown name `edtor` (a similar one exists: `editor`)"),
        (
            "an unknown setting",
            "[editor]\nignroe = false\n",
            "2:1: unknown name `ignroe` (a similar one exists: `ignore`)",
        ),
        (
            "a setting of a later version",
            "[editor]\nspellcheck = 1\n",
            "2:1: unknown name `spellcheck`, expected one of `dialect`, `on-diff`, `token`, `ignore`, `hide`, \
             `theme`, `colors`, `keys`",
        ),
        (
            "a setting outside of its section",
            "theme = \"light\"\n",
            "1:1: unknown name `theme`, expected `editor`",
        ),
        (
            "a value of another type",
            "[editor]\ntoken = \"no\"\n",
            "2:9: invalid type: string \"no\", expected a boolean",
        ),
        (
            "a misspelled dialect",
            "[editor]\ndialect = \"vs-code\"\n",
            "2:11: unknown name `vs-code` (a similar one exists: `vscode`)",
        ),
        (
            "an unknown dialect",
            "[editor]\ndialect = \"emacs\"\n",
            "2:11: unknown name `emacs`, expected one of `vscode`, `jetbrains`, `snake-case`, `obsidian`",
        ),
        (
            "an unknown verdict",
            "[editor]\non-diff = \"yes\"\n",
            "2:11: unknown name `yes`, expected one of `ask`, `accept`, `reject`, `hold`",
        ),
        (
            "a misspelled theme after wide characters",
            "[editor] # \u{6f22}\n  theme = \"drak\"\n",
            "2:11: unknown name `drak` (a similar one exists: `dark`)",
        ),
        (
            "a misspelled color",
            "[editor.colors]\ngruond = \"#000000\"\n",
            "2:1: unknown name `gruond` (a similar one exists: `ground`)",
        ),
        (
            "a color in words",
            "[editor.colors]\nground = \"black\"\n",
            "2:10: \"black\" is not a color: write \"#rrggbb\" or \"default\"",
        ),
        (
            "a sign among the digits",
            "[editor]\ncolors = { ground = \"#+00000\" }\n",
            "2:21: \"#+00000\" is not a color: write \"#rrggbb\" or \"default\"",
        ),
        (
            "a misspelled action",
            "[editor.keys]\naccpet = \"A\"\n",
            "2:1: unknown action `accpet` (a similar one exists: `accept`)",
        ),
        (
            "an unknown action",
            "[editor.keys]\nfrobnicate = \"A\"\n",
            "2:1: unknown action `frobnicate`: `ide-mcp help config` lists those of this version",
        ),
        (
            "a number for a key",
            "[editor.keys]\naccept = 9\n",
            "2:10: invalid type: integer `9`, expected a key such as \"Ctrl+S\", or a list of keys",
        ),
        (
            "an unknown modifier",
            "[editor.keys]\naccept = \"Hyper+A\"\n",
            "2:10: \"Hyper\" in \"Hyper+A\" is neither Ctrl, Alt nor Shift",
        ),
        (
            "an unknown key in a list",
            "[editor.keys]\naccept = [\n  \"A\",\n  \"nokey\",\n]\n",
            "2:10: \"nokey\" is not a key: write a character, F1 to F12, or a name such as Esc, Enter or PgDn",
        ),
        (
            "a key that no terminal sends",
            "[editor.keys]\nsave = \"Ctrl+M\"\n",
            "2:8: no terminal sends \"Ctrl+M\": it sends Enter",
        ),
        (
            "a key of another action",
            "[editor.keys]\naccept = \"r\"\n",
            "2:10: r is the key for `accept` and for `reject` at the same time: give one of them another key",
        ),
        (
            "the same key for two actions of the file",
            "[editor.keys]\nreject = \"Z\"\nsave = \"Alt+S\"\nsave-as = []\naccept = \"Z\"\n",
            "5:10: Z is the key for `accept` and for `reject` at the same time: give one of them another key",
        ),
        (
            "a key that closes pages",
            "[editor.keys]\npause = \"F4\"\n",
            "2:9: F4 is the key for `close-page` and for `pause` at the same time: give one of them another key",
        ),
        (
            "a letter where text is typed",
            "[editor.keys]\nquit = [\"Ctrl+Q\", \"q\"]\n",
            "2:8: q types or moves in a text, so `quit` needs another key: one with Ctrl or Alt, or F1 to F12",
        ),
        (
            "an arrow where text is typed",
            "[editor.keys]\nsave = \"Ctrl+Left\"\n",
            "2:8: Ctrl+Left types or moves in a text, so `save` needs another key: one with Ctrl or Alt, or F1 to \
             F12",
        ),
        (
            "no key to quit",
            "[editor.keys]\nquit = []\n",
            "2:8: `quit` needs a key: without one, you cannot get out",
        ),
        ("an empty pattern", "[editor]\nhide = [\"*.pem\", \"\"]\n", "2:8: an empty pattern names no file"),
        (
            "a pattern that hides nothing",
            "[editor]\nhide = [\"./a.txt\"]\n",
            "2:8: \"./a.txt\" names no file in a .gitignore: write the path in its folder, without ./ and ../",
        ),
        (
            "another pattern that hides nothing",
            "[editor]\nhide = [\"../p/a.txt\"]\n",
            "2:8: \"../p/a.txt\" names no file in a .gitignore: write the path in its folder, without ./ and ../",
        ),
        (
            "a pattern of two lines",
            "[editor]\nhide = [\"a\\nb\"]\n",
            "2:8: \"a\\nb\" has a control character, which no line of a .gitignore has",
        ),
        (
            "a comment as a pattern",
            "[editor]\nhide = [\"#x\"]\n",
            "2:8: \"#x\" is a comment in a .gitignore: write \\# for a name that begins with #",
        ),
        (
            "an invalid pattern",
            "[editor]\nhide = [\"a{b\"]\n",
            "2:8: \"a{b\" is not a line of a .gitignore: error parsing glob 'a{b': unclosed alternate group; missing \
             '}' (maybe escape '{' with '[{]'?)",
        ),
    ];
    for (name, text, expected) in rows {
        assert_eq!(fault(text).as_deref(), Some(expected), "{name}");
    }
    // All of it is one line, whatever a name has.
    let message = fault("[editor]\n\"a\\nb\" = 1\n").unwrap();
    assert!(!message.contains('\n'), "{message}");
}

#[test]
fn good_files_are_read() {
    assert_eq!(fault(""), None);
    assert_eq!(fault("\u{feff}# nothing\r\n"), None, "a byte order mark, as editors on Windows write it");
    let text = "\
        [editor]\n\
        dialect = \"obsidian\"\n\
        on-diff = \"hold\"\n\
        token = false\n\
        ignore = false\n\
        hide = [\"*.pem\"]\n\
        theme = \"light\"\n\
        colors.ground = \"default\"\n\
        colors.text = \"#010203\"\n\
        keys.quit = \"Ctrl+X\"\n\
        keys.cut = []\n\
        keys.help = [\"F2\", \"F1\"]\n\
        keys.switch-pane = [\"Ctrl+E\"]\n";
    let config = Config::parse(text).unwrap();
    let editor = &config.editor;
    assert_eq!((editor.dialect, editor.on_diff), (Some(Dialect::Obsidian), Some(OnDiff::Hold)));
    assert_eq!((editor.token, editor.ignore, editor.hide.len()), (Some(false), Some(false), 1));
    let theme = config.theme();
    assert_eq!((theme.rgb(Shade::Ground), theme.rgb(Shade::Text)), (None, Some(0x01_02_03)));
    assert_eq!(theme.rgb(Shade::Bright), Theme::of(ThemeName::Light, |_| None).rgb(Shade::Bright));
    let action = |context, key| config.keys.action(context, Key::try_from(String::from(key)).unwrap());
    let rows = [
        (Context::Text, "Ctrl+X", Some(Action::Quit)),
        (Context::Text, "Ctrl+Q", None),
        (Context::Text, "F2", Some(Action::Help)),
        (Context::Text, "F1", Some(Action::Help)),
        (Context::Page, "F1", Some(Action::ClosePage)),
        (Context::Text, "Ctrl+_", None),
        (Context::Files, "Ctrl+E", Some(Action::SwitchPane)),
    ];
    for (context, key, expected) in rows {
        assert_eq!(action(context, key), expected, "{key}");
    }
    assert_eq!(
        (config.keys.key(Action::Quit, true), config.keys.key(Action::Cut, true)),
        ("^X".into(), "no key".into())
    );
}

#[test]
fn place_of_the_file_follows_the_environment() {
    let root = |path: &str| if cfg!(windows) { format!("C:{path}") } else { path.into() };
    let rows: &[(&str, &[(&str, &str)], bool, Option<&str>)] = &[
        ("nothing", &[], false, None),
        ("a home", &[("HOME", "/h")], false, Some("/h/.config/ide-mcp/config.toml")),
        ("a variable", &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")], false, Some("/x/ide-mcp/config.toml")),
        (
            "an empty variable",
            &[("HOME", "/h"), ("XDG_CONFIG_HOME", "")],
            false,
            Some("/h/.config/ide-mcp/config.toml"),
        ),
        (
            "a relative path in the variable",
            &[("HOME", "/h"), ("XDG_CONFIG_HOME", "x")],
            false,
            Some("/h/.config/ide-mcp/config.toml"),
        ),
        ("Windows", &[("HOME", "/h"), ("APPDATA", "/a")], true, Some("/a/ide-mcp/config.toml")),
        ("Windows without APPDATA", &[("HOME", "/h")], true, None),
    ];
    for (name, variables, is_windows, expected) in rows {
        let variable = |wanted: &str| {
            let found = variables.iter().find(|(name, _)| *name == wanted)?;
            Some(PathBuf::from(if found.1.starts_with('/') { root(found.1) } else { found.1.into() }))
        };
        assert_eq!(path(variable, *is_windows), expected.map(|path| PathBuf::from(root(path))), "{name}");
    }
}

#[test]
fn file_is_read_up_to_64_kib() {
    let temp = crate::support::temp::private_temp_dir();
    let path = temp.path().join("config.toml");
    let write = |length: usize, text: &str| {
        fs::write(&path, text.to_owned() + &" ".repeat(length - text.len())).unwrap();
        // Whatever the umask of this process is.
        crate::support::temp::set_mode(&path, 0o600);
    };
    write(64 * 1024, "[editor]\ntoken = false\n");
    let config = Config::read(Some(&path)).unwrap();
    assert_eq!(config.editor.token, Some(false));
    assert_eq!(config.source, Some(Source { path: path.clone(), is_read: true }));
    write(64 * 1024 + 1, "[editor]\ntoken = false\n");
    let shown = path.display();
    let faults = |expected: String| assert_eq!(Config::read(Some(&path)).unwrap_err(), expected);
    let without = "--no-config starts without it";
    faults(format!("{shown} is larger than 64 KiB; {without}"));
    fs::write(&path, b"# \xff").unwrap();
    faults(format!("{shown} is not UTF-8; {without}"));
    fs::write(&path, "[editor]\n\"a\\u001b\" = 1").unwrap();
    assert!(!Config::read(Some(&path)).unwrap_err().contains('\u{1b}'));
    fs::write(&path, "[editor]\n\ntheme = 1\n").unwrap();
    faults(format!("{shown}:3:9: expected a name in quotes; {without}"));
    fs::remove_file(&path).unwrap();
    let missing = Config::read(Some(&path)).unwrap_err();
    assert!(missing.starts_with(&format!("{shown}: ")), "a named file has to exist: {missing}");
    fs::create_dir(&path).unwrap();
    faults(format!("{shown} is not a file; {without}"));
}

#[cfg(unix)]
#[test]
fn file_that_others_can_write_is_refused() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
    let temp = crate::support::temp::private_temp_dir();
    let (dir, link) = (temp.path().join("dir"), temp.path().join("link.toml"));
    fs::create_dir(&dir).unwrap();
    let path = dir.join("config.toml");
    fs::write(&path, "").unwrap();
    symlink(&path, &link).unwrap();
    let shown = path.display().to_string();
    let owner = fs::metadata(&path).unwrap();
    let of_group = Some("(mode 664): chmod go-w ").filter(|_| owner.gid() != owner.uid());
    let rows = [
        ("private", 0o755, 0o600, None),
        ("readable", 0o755, 0o644, None),
        ("of the group of the test", 0o755, 0o664, of_group),
        ("of everybody", 0o755, 0o646, Some("(mode 646): chmod go-w ")),
        ("in a folder of a group", 0o775, 0o644, None),
        ("in a folder of everybody", 0o777, 0o644, Some("every user can replace ")),
        ("in a folder like /tmp", 0o1777, 0o644, None),
    ];
    let message = Config::read(Some(Path::new("/dev/null"))).unwrap_err();
    assert_eq!(message, "/dev/null is not a file; --no-config starts without it");
    for (name, folder, mode, expected) in rows {
        fs::set_permissions(&dir, fs::Permissions::from_mode(folder)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        for named in [&path, &link] {
            match (Config::read(Some(named)), expected) {
                (Ok(_), None) => {}
                (Err(message), Some(expected)) => {
                    assert!(message.contains(expected), "{name}: {message}");
                    assert!(message.contains(&shown) || message.contains("link.toml"), "{name}: {message}");
                }
                (other, _) => panic!("{name}: {other:?}"),
            }
        }
    }
    // Only root can give the file to a group that it is not in.
    if owner.uid() == 0 {
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
        chown(&path, None, Some(12_345)).unwrap();
        let message = Config::read(Some(&path)).unwrap_err();
        assert!(message.contains("(mode 664): chmod go-w "), "{message}");
    }
}

/// Returns the part of the page about the colors, and the one that has everything.
fn parts_of_page() -> [String; 2] {
    use std::fmt::Write as _;
    let mut colors = "| color | dark | light |\n| --- | --- | --- |\n".to_owned();
    let [dark, light] = [ThemeName::Dark, ThemeName::Light].map(|name| Theme::of(name, |_| None));
    for (name, shade) in shades() {
        let [dark, light] = [dark, light].map(|theme| theme.rgb(shade).unwrap());
        writeln!(colors, "| `{name}` | `#{dark:06x}` | `#{light:06x}` |").unwrap();
    }
    let mut all = "\
[editor]
# The names and message shapes: vscode, jetbrains, snake-case or obsidian
dialect = \"vscode\"
# With a change: ask, accept, reject or hold it
on-diff = \"ask\"
# Ask for the token; false is --no-token, and accepts every program
token = true
# Hide from agents what .gitignore and its like name; false is --no-ignore
ignore = true
# Hide also these files, as lines of a .gitignore
hide = []
# dark, light or auto
theme = \"dark\"

[editor.colors]

[editor.keys]
"
    .to_owned();
    let mut listed = Vec::new();
    for (title, within) in SECTIONS {
        let of = |binding: &&Binding| binding.within == *within && !listed.contains(&binding.action);
        let bindings: Vec<&Binding> = BINDINGS.iter().filter(of).collect();
        if !bindings.is_empty() {
            writeln!(all, "# {title}:").unwrap();
        }
        for binding in bindings {
            listed.push(binding.action);
            let keys: Vec<String> =
                binding.keys.iter().map(|key| format!("{:?}", name(*key, false))).collect();
            let line = format!("{} = [{}]", binding.action.name().unwrap(), keys.join(", "));
            let room = 76_usize.saturating_sub(line.len() + 4);
            if binding.help.len() <= room {
                writeln!(all, "{line}  # {}", binding.help).unwrap();
            } else {
                writeln!(all, "# {}\n{line}", binding.help).unwrap();
            }
        }
    }
    let indent = |line: &str| if line.is_empty() { "\n".into() } else { format!("    {line}\n") };
    [colors, all.lines().map(indent).collect()]
}

/// Returns all shades by their names.
fn shades() -> Vec<(String, Shade)> {
    let error = toml::from_str::<Editor>("colors.x = \"\"").unwrap_err();
    let names = error.message().split('`').skip(3).step_by(2);
    let shade = |name: &str| {
        let editor: Editor = toml::from_str(&format!("colors.{name} = \"default\"")).unwrap();
        (name.to_owned(), *editor.colors.keys().next().unwrap())
    };
    names.map(shade).collect()
}

#[test]
fn page_has_everything_with_its_default() {
    let page = include_str!("../../../docs/config.md");
    let [colors, all] = parts_of_page();
    assert!(page.contains(&colors), "the page lacks:\n{colors}");
    assert!(page.contains(&all), "the page lacks:\n{all}");
    // Every block of the page is a file, and the last one changes nothing.
    let mut blocks = vec![String::new()];
    for line in page.lines() {
        match line.strip_prefix("    ") {
            Some(code) => blocks.last_mut().unwrap().push_str(&format!("{code}\n")),
            None if line.is_empty() => blocks.last_mut().unwrap().push('\n'),
            None => blocks.push(String::new()),
        }
    }
    let files: Vec<_> =
        blocks.iter().map(|block| block.trim()).filter(|text| text.starts_with('[')).collect();
    let [example, all] = files[..] else { panic!("{files:#?}") };
    assert_eq!(fault(example), None);
    let Config { editor, keys, .. } = Config::parse(all).unwrap();
    assert_eq!((editor.dialect, editor.on_diff), (Some(Dialect::VsCode), Some(OnDiff::Ask)));
    assert_eq!((editor.token, editor.ignore), (Some(true), Some(true)));
    assert!(editor.hide.is_empty() && editor.colors.is_empty() && editor.theme == ThemeName::default());
    for binding in BINDINGS {
        assert_eq!(keys.keys(binding), binding.keys, "{binding:?}");
    }
}
