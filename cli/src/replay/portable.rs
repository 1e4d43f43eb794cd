//! Makes recorded messages independent of their run: of the folder, other paths, and the numbers of processes, ports
//! and times.

use crate::support::difference::ANY;
use crate::support::difference::{FOLDER, FOLDER_URI};
use ide_mcp::ide::paths::{LocalPath, Platform};
use serde_json::Value;

/// The members whose values differ from run to run.
const VARIABLE: [&str; 8] =
    ["pid", "port", "sessionId", "session_id", "timestamp", "time", "mtime", "duration"];

/// A number from here on counts as a time, in milliseconds since 1970: the year 2001.
const EPOCH_MS: f64 = 1e12;

/// Knows the folder of one session.
#[derive(Debug)]
pub(crate) struct Portable {
    /// The spellings of the folder, and their placeholders in a script. The URI comes first, since it contains the path.
    folder: Vec<(String, &'static str)>,
}

impl Portable {
    /// Creates a filter for a session in this folder, which is a path or a URI.
    pub(crate) fn new(folder: Option<&str>) -> Self {
        let Some(folder) = folder else { return Self { folder: Vec::new() } };
        let parsed = LocalPath::parse(folder, platform_of(folder)).ok();
        let uri = parsed.as_ref().map(LocalPath::to_uri);
        let path = parsed.as_ref().and_then(LocalPath::to_str).unwrap_or(folder).to_owned();
        let trimmed = |text: String| text.trim_end_matches(['/', '\\']).to_owned();
        let names = [(uri.map(trimmed), FOLDER_URI), (Some(trimmed(path)), FOLDER)];
        let texts = names.into_iter().filter_map(|(text, name)| Some((text?, name)));
        Self { folder: texts.filter(|(text, _)| !text.is_empty()).collect() }
    }

    /// Returns a value to send, with the folder replaced by its placeholder.
    pub(crate) fn relativize(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.replace_folder(text).into(),
            Value::Array(all) => all.iter().map(|value| self.relativize(value)).collect(),
            Value::Object(all) => {
                all.iter().map(|(name, value)| (name.clone(), self.relativize(value))).collect()
            }
            other => other.clone(),
        }
    }

    /// Returns a value to expect: like `relativize`, with [`ANY`] for other parts that differ from run to run. JSON
    /// in a string is expected as JSON.
    pub(crate) fn generalize(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match contained(text) {
                Some(value) => self.generalize(&value),
                None => {
                    let text = self.replace_folder(text);
                    if is_absolute(&text) { ANY.into() } else { text.into() }
                }
            },
            Value::Number(number) if number.as_f64().is_some_and(|number| number >= EPOCH_MS) => ANY.into(),
            Value::Array(all) => all.iter().map(|value| self.generalize(value)).collect(),
            Value::Object(all) => {
                let member = |(name, value): (&String, &Value)| {
                    let is_variable =
                        VARIABLE.contains(&name.as_str()) && !value.is_object() && !value.is_array();
                    (name.clone(), if is_variable { ANY.into() } else { self.generalize(value) })
                };
                all.iter().map(member).collect()
            }
            other => other.clone(),
        }
    }

    /// Replaces the folder in a string by its placeholder.
    fn replace_folder(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (folder, name) in &self.folder {
            // A path of several parts always means the folder, as in `-I/home/me/project`. A path of one part may not:
            // `./app` also contains `/app`.
            let is_short = folder.matches(['/', '\\']).count() == 1;
            let mut pieces = text.split(folder.as_str());
            let mut before = pieces.next().unwrap_or_default();
            let mut done = before.to_owned();
            for after in pieces {
                // Neither `/app2` nor `./app` is in `/app`; `file:///app` is.
                let follows_name = before.ends_with(|c| c == '/' || is_of_name(c));
                let begins = !is_short || !follows_name || before.ends_with("://");
                let is_whole = begins && !after.starts_with(is_of_name);
                done.push_str(if is_whole { name } else { folder });
                done.push_str(after);
                before = if after.is_empty() { folder } else { after };
            }
            text = done;
        }
        text
    }
}

/// Returns the platform of a path or URI. The record may be from another system.
fn platform_of(folder: &str) -> Platform {
    let path = folder.strip_prefix("file://").unwrap_or(folder).trim_start_matches('/');
    let has_drive = matches!(path.as_bytes(), [letter, b':' | b'%', ..] if letter.is_ascii_alphabetic())
        || path.starts_with('\\');
    if has_drive { Platform::Windows } else { Platform::Posix }
}

/// Returns true if a name in a path can contain this character.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || "_-.%".contains(c)
}

fn contained(text: &str) -> Option<Value> {
    text.trim_start().starts_with(['{', '[']).then(|| serde_json::from_str(text).ok())?
}

/// Returns true if a string is an absolute path or a `file:` URI, on any system.
fn is_absolute(text: &str) -> bool {
    let is_drive = matches!(text.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic());
    let is_path = text.strip_prefix('/').is_some_and(|rest| rest.contains('/')) && !text.contains('\n');
    is_drive || is_path || text.starts_with("file:/") || text.starts_with(r"\\")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn variable_parts_leave_expected_values() {
        let portable = Portable::new(Some("/home/me/my project/"));
        let cases = [
            ("a path", json!("/home/me/my project/a.txt"), json!("${folder}/a.txt")),
            ("the folder", json!("/home/me/my project"), json!("${folder}")),
            ("a URI", json!("file:///home/me/my%20project/a.txt"), json!("${folder_uri}/a.txt")),
            ("inside of a string", json!("Opened /home/me/my project/a."), json!("Opened ${folder}/a.")),
            ("another folder", json!("see /home/me/my project2/a"), json!("see /home/me/my project2/a")),
            ("another path", json!("/tmp/x"), json!("${any}")),
            ("another URI", json!("file:///tmp"), json!("${any}")),
            ("a Windows path", json!(r"c:\x"), json!("${any}")),
            ("a command", json!("/compact"), json!("/compact")),
            (
                "numbers",
                json!([1, 999_999_999_999_u64, 1_700_000_000_000_u64]),
                json!([1, 999_999_999_999_u64, "${any}"]),
            ),
            (
                "members",
                json!({"pid": 7, "port": "8", "line": 9, "time": {"a": 1}}),
                json!({"pid": "${any}", "port": "${any}", "line": 9, "time": {"a": 1}}),
            ),
            (
                "JSON in a string",
                json!("{\"path\":\"/home/me/my project/a\",\"pid\":1}"),
                json!({"path": "${folder}/a", "pid": "${any}"}),
            ),
        ];
        for (name, value, expected) in cases {
            assert_eq!(portable.generalize(&value), expected, "{name}");
        }
        assert_eq!(
            portable.relativize(&json!("-I/home/me/my project/b")),
            json!("-I${folder}/b"),
            "an option"
        );
        let short = Portable::new(Some("/app"));
        let cases = [
            ("at the beginning", "/app/y", "${folder}/y"),
            ("a quoted path", "import x from '/app/y'", "import x from '${folder}/y'"),
            ("a relative path", "import x from './app/y'", "import x from './app/y'"),
            ("the parent", "../app", "../app"),
            ("the end of a word", "my/app _/app -/app %/app é/app", "my/app _/app -/app %/app é/app"),
            ("two slashes", "//app", "//app"),
            ("an address", "http://app/y", "http://app/y"),
            ("a list", "/app:/app/b", "${folder}:${folder}/b"),
            ("its name twice", "/app/app /app", "${folder}/app ${folder}"),
            ("a URI", "see file:///app/y", "see ${folder_uri}/y"),
            ("another URI", "vscode:///app/y", "vscode://${folder}/y"),
        ];
        for (name, text, expected) in cases {
            assert_eq!(short.relativize(&text.into()), expected, "{name}");
        }
        let sent = json!({"uri": "file:///home/me/my%20project/a", "other": "/tmp/x", "pid": 1, "text": "{\"a\":1}"});
        let expected = json!({"uri": "${folder_uri}/a", "other": "/tmp/x", "pid": 1, "text": "{\"a\":1}"});
        assert_eq!(portable.relativize(&sent), expected);
        assert_eq!(Portable::new(None).generalize(&json!("/a/b")), json!("${any}"));
        assert_eq!(Portable::new(Some("file:///p/q")).relativize(&json!("/p/q/r")), json!("${folder}/r"));
        let windows = Portable::new(Some(r"C:\proj"));
        assert_eq!(windows.relativize(&json!(r"C:\proj\a.txt")), json!(r"${folder}\a.txt"));
        assert_eq!(windows.relativize(&json!("file:///C:/proj/a.txt")), json!("${folder_uri}/a.txt"));
        assert_eq!(Portable::new(Some("/")).relativize(&json!("/p")), json!("/p"), "every path is in it");
    }
}
