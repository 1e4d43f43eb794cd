//! Reads any text as a lock file, and as a path in the arguments of a tool: other programs write both.

use ide_mcp::ide::discovery::matching::{AgentContext, Candidate, choose};
use ide_mcp::ide::discovery::{AuthToken, LockFile, LockForm, Transport};
use ide_mcp::ide::kit::{display_safe, is_display_unsafe};
use ide_mcp::ide::paths::{LocalPath, PathClass, Platform, System, classify, spellings};
use ide_mcp::rpc::from_json;
use std::time::Duration;

/// Checks that a lock file keeps its contents when written and read again, that no error shows part of the text, and
/// that a client that chooses among the files judges each of them once.
pub fn lockfile(data: &[u8]) {
    // The first line is the name of the file.
    let text = String::from_utf8_lossy(data);
    let (name, text) = text.split_once('\n').unwrap_or(("1.lock", &text));
    let mut listed = Vec::new();
    for form in [LockForm::Lock, LockForm::Project] {
        let port = form.port_of(name);
        if let Some(port) = port {
            let token = AuthToken::from_text("t").expect("a token");
            let any = LockFile::new(1, Vec::new(), "", token);
            assert_eq!(
                form.file_name(port, &any),
                name,
                "the file name of a port does not depend on its content"
            );
        }
        let port = port.unwrap_or(1);
        let file = form.parse(name, text);
        match &file {
            Ok(file) => read_again(form, port, file),
            Err(error) => hides(&format!("{error} {error:?}"), text),
        }
        listed.push(Candidate { port, file, pid_alive: None, modified: None });
    }
    if let Some(port) = port_of(text) {
        if let Ok(file) = LockForm::Project.parse(&format!("{port}.json"), text) {
            read_again(LockForm::Project, port, &file);
        }
    }
    let newer = Candidate { modified: Some(Duration::from_secs(1)), ..listed[0].clone() };
    listed.push(newer);
    let systems = [
        System::Linux,
        System::MacOs,
        System::Windows,
        System::Wsl { distribution: None },
        System::Wsl { distribution: Some("D") },
    ];
    for (port, system) in [None, Some(1)].into_iter().flat_map(|port| systems.map(|system| (port, system))) {
        let place = AgentContext { cwd: "/w/p", canonical: Some(name), port, any_folder: false, system };
        let matching = choose(&listed, &place);
        assert_eq!(matching.accepted.len() + matching.refused.len(), listed.len());
        for refused in matching.refused {
            assert!(!display_safe(&refused.reason.to_string()).contains(is_display_unsafe));
        }
    }
}

/// Returns the port that the text of a project names.
fn port_of(text: &str) -> Option<u16> {
    let port = from_json::<serde_json::Value>(text).ok()?.get("port")?.as_u64()?;
    port.try_into().ok()
}

fn read_again(form: LockForm, port: u16, file: &LockFile) {
    if file.auth_token.is_some() {
        // A path can contain the characters of the token, so we compare with the same file and another token.
        let mut other = file.clone();
        other.auth_token = AuthToken::from_text("another").ok();
        assert_eq!(format!("{file:?}"), format!("{other:?}"), "a token is shown");
    }
    // Escaping can make the text longer than the limit.
    let Ok(text) = form.write(port, file) else { return };
    assert_eq!(form.parse(&form.file_name(port, file), &text).as_ref(), Ok(file));
    // The legacy form contains only the folders.
    if file.transport == Transport::Sse && !file.workspace_folders.is_empty() {
        let list = file.workspace_folders.join("\n");
        if let Ok(again) = LockFile::parse(&list) {
            assert_eq!(again.transport == Transport::Sse, !list.trim_start().starts_with(['{', '[']));
        }
    }
}

/// Checks that an error names the fault but not the value, because a lock file contains a token.
fn hides(error: &str, text: &str) {
    let word =
        text.split(|c: char| !c.is_ascii_alphanumeric()).max_by_key(|word| word.len()).unwrap_or_default();
    let ours = [
        "pid",
        "workspaceFolders",
        "ideName",
        "transport",
        "runningInWindows",
        "authToken",
        "port",
        "projectPath",
    ];
    if word.len() > 16 && !ours.contains(&word) {
        assert!(!error.contains(word), "{error} shows {word}");
    }
}

/// Checks that an accepted path has a single form, without `.` and `..`, that its URI is read as the same path, and
/// that a path inside a folder begins with the path of the folder.
pub fn paths(data: &[u8]) {
    let given = String::from_utf8_lossy(data);
    for platform in [Platform::Posix, Platform::Windows] {
        let parsed = LocalPath::parse(&given, platform);
        let folders: Vec<LocalPath> = ["/w/p", "C:\\w\\p", "\\\\server\\share"]
            .iter()
            .filter_map(|folder| LocalPath::parse(folder, platform).ok())
            .collect();
        match classify(&given, &folders, platform) {
            PathClass::Suspicious(why) => {
                assert_eq!(parsed.as_ref(), Err(&why));
                assert!(!why.to_string().is_empty());
            }
            PathClass::Inside(path) => {
                assert_eq!(parsed.as_ref(), Ok(&path));
                assert!(folders.iter().any(|folder| path.as_bytes().starts_with(folder.as_bytes())));
            }
            PathClass::Outside(path) => assert_eq!(parsed.as_ref(), Ok(&path)),
            other => panic!("{other:?}"),
        }
        let Ok(path) = parsed else { continue };
        let separator = if platform == Platform::Windows { b'\\' } else { b'/' };
        let names = path.as_bytes().split(|byte| *byte == separator);
        assert!(names.into_iter().all(|name| name != b".." && name != b"."), "{path:?}");
        assert!(!path.as_bytes().iter().any(u8::is_ascii_control), "{path:?}");
        assert!(path.as_bytes().len() <= 4096);
        if let (Platform::Windows, Some(text)) = (platform, path.to_str()) {
            // One drive, or a server and its share; after it no stream, device or pattern.
            let drive = text.get(1..3) == Some(":\\");
            let share =
                text.strip_prefix("\\\\").is_some_and(|rest| rest.contains('\\') && !rest.starts_with(".\\"));
            assert!(drive || share, "{path:?}");
            let names = if drive { text.get(3..) } else { text.get(2..) }.unwrap_or_default();
            assert!(!names.contains([':', '?', '*', '|', '<', '>', '"', '/']), "{path:?}");
            assert!(!names.split('\\').any(|name| name.ends_with(['.', ' '])), "{path:?}");
        }
        assert_eq!(LocalPath::from_bytes(path.as_bytes(), platform).as_ref(), Ok(&path));
        assert_eq!(LocalPath::parse(&path.to_uri(), platform).as_ref(), Ok(&path));
        assert!(path.is_within(&path));
        if let Some(posix) = path.to_posix_form() {
            assert_eq!(LocalPath::from_bytes(posix.as_bytes(), platform).as_ref(), Ok(&path), "{posix}");
        }
    }
    // WSL judges a Windows path as Windows does, and a POSIX path as POSIX does.
    let on = |platform: Platform| LocalPath::parse(&given, platform);
    if let Ok(path) = LocalPath::parse(&given, System::Wsl { distribution: Some("D") }) {
        assert_eq!(LocalPath::from_bytes(path.as_bytes(), Platform::Posix).as_ref(), Ok(&path));
        assert!(on(Platform::Posix).as_ref() == Ok(&path) || on(Platform::Windows).is_ok(), "{path:?}");
    }
    for system in [System::Linux, System::MacOs, System::Windows, System::Wsl { distribution: Some("D") }] {
        let all = spellings(&given, system);
        assert_eq!(all.first().map(String::as_str), Some(&*given));
        assert!(all.len() == 1 || !matches!(system, System::Linux | System::MacOs), "{all:?}");
    }
    let safe = display_safe(&given);
    assert!(!safe.contains(is_display_unsafe) && safe.chars().count() == given.chars().count());
}
