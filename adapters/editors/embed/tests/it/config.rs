//! The configuration: every error names the member.

use crate::support::{TOKEN, config};
use ide_mcp_embed::Editor;

#[test]
fn wrong_configuration_names_its_member() {
    let base = format!(r#""folders":["/w"],"port":1,"token":"{TOKEN}""#);
    let with = |more: &str| format!(r#"{{"name":"E",{base}{more}}}"#);
    let rows = [
        ("invalid JSON", "{".into(), "it is not an object: EOF"),
        ("a list", "[]".into(), "it is not an object: invalid type"),
        ("no name", format!("{{{base}}}"), "`name` is missing: it must be a string"),
        ("a number as name", format!(r#"{{"name":1,{base}}}"#), "`name` must be a string"),
        ("no folders", r#"{"name":"E"}"#.into(), "`folders` is missing: it must be a list of strings"),
        ("a name twice", with(r#","name":"F""#), "`name` is given twice"),
        (
            "an unknown member",
            with(r#","color":1"#),
            "`color` is not a member of configuration, which has protocol",
        ),
        (
            "a later protocol",
            with(r#","protocol":2"#),
            concat!("update ide-mcp ", env!("CARGO_PKG_VERSION"), ": `protocol` is 2, and ide-mcp has 1"),
        ),
        (
            "an earlier protocol",
            with(r#","protocol":0"#),
            "update the plugin of the editor: `protocol` is 0, and ide-mcp has 1",
        ),
        (
            "an unknown tool",
            with(r#","tools":["dance"]"#),
            "`tools` has \"dance\", which is not one of the tools",
        ),
        ("an unknown dialect", with(r#","dialect":"x""#), "`dialect` must be `vscode`, `jetbrains`"),
        ("an unknown filter", with(r#","filter":true"#), "`filter` must be `secrets` or `none`"),
        (
            "a pid that is too large",
            with(r#","pid":4294967296"#),
            "`pid` must be a number from 0 to 4294967295",
        ),
        (
            "an object in a list",
            with(r#","own":[{"name":"a"},{}]"#),
            "`own[1].name` is missing: it must be a string",
        ),
        (
            "a schema that is not an object",
            with(r#","own":[{"name":"a","schema":"x"}]"#),
            "`own[0].schema` must be a JSON object",
        ),
        (
            "an object in a nested list",
            with(r#","prompts":[{"name":"p","arguments":[{"name":1}]}]"#),
            "`prompts[0].arguments[0].name` must be a string",
        ),
        (
            "an unknown member of an object in a list",
            with(r#","resources":[{"uri":"u","text":""}]"#),
            "`resources[0].text` is not a member of resource",
        ),
        ("a number in a list of objects", with(r#","own":[1]"#), "`own` must be a list of objects"),
        ("a directory for the lock file", with(r#","lock_dir":"/x""#), "leave `lock_dir` out"),
        ("the lock file of an earlier run", with(r#","resume":"/x""#), "leave `resume` out"),
        ("no port", format!(r#"{{"name":"E","folders":[],"token":"{TOKEN}"}}"#), "`port` is missing"),
        ("no token", r#"{"name":"E","folders":[],"port":1}"#.into(), "`token` is missing"),
    ];
    for (name, config, expected) in rows {
        let message = Editor::new(&config).unwrap_err().to_string();
        assert!(message.contains(expected), "{name}: {message}");
        assert!(message.starts_with("the configuration cannot be used: "), "{name}: {message}");
    }
    assert!(Editor::new(&config("")).is_ok());
}

#[test]
fn short_token_is_refused() {
    let with =
        |token: &str| Editor::new(&format!(r#"{{"name":"E","folders":[],"port":1,"token":"{token}"}}"#));
    assert!(with(&"t".repeat(16)).is_ok());
    let message = with(&"t".repeat(15)).unwrap_err().to_string();
    assert!(message.contains("`token` has 15 bytes: it needs at least 16"), "{message}");
    assert!(with(&" ".repeat(16)).unwrap_err().to_string().contains("`token` cannot be used"));
}

#[test]
fn lock_file_has_the_configuration() {
    let mut editor = Editor::new(&config(r#","pid":55"#)).unwrap();
    let read = |editor: &Editor| ide_mcp::ide::discovery::LockFile::parse(&editor.lock_file()).unwrap();
    let file = read(&editor);
    assert_eq!((file.pid, file.ide_name.as_str()), (Some(55), "E"));
    assert_eq!(file.auth_token.unwrap().as_str(), TOKEN);
    editor.command(ide_mcp::Time::ZERO, 1, r#"{"cmd":"folders","folders":["/v"]}"#).unwrap();
    assert_eq!(read(&editor).workspace_folders, ["/v"]);
}
