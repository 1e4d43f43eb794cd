//! Broken set-ups, each with its findings.

use super::fake::{Behaves, fake};
use super::setup::{Setup, mode};
use crate::support::dead;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, SystemTime};

/// The name, a function that breaks the set-up, the ids of exactly the findings, and the exit status.
pub(crate) type Case = (&'static str, fn(&mut Setup), &'static [&'static str], i32);

pub(crate) const CASES: &[Case] = &[
    ("nothing", |s| drop(s.editor(Behaves::Well)), &[], 0),
    ("no directory", |s| fs::remove_dir(s.place.lock_dir()).unwrap(), &["directory-missing"], 1),
    ("no lock file", |_| {}, &["no-lock-files"], 1),
    (
        "a directory readable by others",
        |s| {
            s.editor(Behaves::Well);
            mode(&s.place.lock_dir(), 0o755);
        },
        &["directory-readable-by-others"],
        1,
    ),
    (
        "a directory readable by others in a private one",
        |s| {
            s.editor(Behaves::Well);
            mode(&s.place.lock_dir(), 0o755);
            mode(s.place.lock_dir().parent().unwrap(), 0o700);
        },
        &[],
        0,
    ),
    (
        "a directory writable by others",
        |s| {
            s.editor(Behaves::Well);
            mode(&s.place.lock_dir(), 0o777);
        },
        &["directory-writable-by-others"],
        1,
    ),
    (
        "a file instead of the directory",
        |s| {
            fs::remove_dir(s.place.lock_dir()).unwrap();
            fs::write(s.place.lock_dir(), "").unwrap();
        },
        &["directory-not-a-directory"],
        2,
    ),
    (
        "a file instead of the parent directory",
        |s| {
            fs::remove_dir_all(s.place.lock_dir().parent().unwrap()).unwrap();
            fs::write(s.place.lock_dir().parent().unwrap(), "").unwrap();
        },
        &["directory-not-a-directory"],
        2,
    ),
    (
        "a dangling link instead of the directory",
        |s| {
            fs::remove_dir(s.place.lock_dir()).unwrap();
            symlink("nowhere", s.place.lock_dir()).unwrap();
        },
        &["directory-not-a-directory"],
        2,
    ),
    (
        "a parent directory writable by all",
        |s| {
            s.editor(Behaves::Well);
            mode(s.place.lock_dir().parent().unwrap(), 0o777);
        },
        &["parent-writable-by-all"],
        1,
    ),
    (
        "a parent directory writable by a group",
        |s| {
            s.editor(Behaves::Well);
            mode(s.place.lock_dir().parent().unwrap(), 0o770);
        },
        &["parent-writable-by-group"],
        0,
    ),
    ("a home that is not a path", |s| s.editor_and(&[("HOME", "home")]), &["variables-unusable"], 2),
    ("an empty variable", |s| s.editor_and(&[("CLAUDE_CONFIG_DIR", "")]), &["config-dir-unusable"], 2),
    (
        "a variable that is not a path",
        |s| s.editor_and(&[("CLAUDE_CONFIG_DIR", "ide")]),
        &["config-dir-unusable"],
        2,
    ),
    (
        "a lock file readable by others in a private directory",
        |s| mode(&s.editor(Behaves::Well), 0o644),
        &[],
        0,
    ),
    (
        "a lock file readable by others",
        |s| {
            mode(&s.editor(Behaves::Well), 0o644);
            mode(&s.place.lock_dir(), 0o711);
        },
        &["lock-readable-by-others", "directory-readable-by-others"],
        1,
    ),
    (
        "half a lock file",
        |s| drop(s.put(s.place.closed_port(), "{\"pid\":1,")),
        &["lock-unparsable", "no-usable-editor"],
        1,
    ),
    (
        "half a lock file beside a running editor",
        |s| {
            s.publish(fake(Behaves::Well), &s.lock());
            s.put(s.place.closed_port(), "{\"pid\":1,");
        },
        &["lock-unparsable-beside-editor"],
        1,
    ),
    (
        "an empty lock file",
        |s| drop(s.put(s.place.closed_port(), "")),
        &["lock-unparsable", "no-usable-editor"],
        1,
    ),
    (
        "bytes that are not text",
        |s| {
            fs::write(s.put(s.place.closed_port(), ""), b"\xff\xfe").unwrap();
        },
        &["lock-unparsable", "no-usable-editor"],
        1,
    ),
    (
        "a lock file in the legacy form",
        |s| drop(s.put(s.place.closed_port(), "/w\n/v\n")),
        &["lock-legacy", "no-editor-for-directory"],
        1,
    ),
    (
        "a link instead of a lock file, and nothing else",
        |s| {
            let target = s.place.project().join("target");
            fs::write(&target, s.lock().to_string()).unwrap();
            symlink(target, s.place.lock_dir().join("41111.lock")).unwrap();
        },
        &["lock-is-a-link"],
        1,
    ),
    (
        "a link instead of a lock file",
        |s| {
            let target = s.place.project().join("target");
            fs::write(&target, s.lock().to_string()).unwrap();
            symlink(target, s.place.lock_dir().join("41111.lock")).unwrap();
            s.editor(Behaves::Well);
        },
        &["lock-is-a-link"],
        1,
    ),
    (
        "a pipe instead of a lock file",
        |s| {
            let path = s.place.lock_dir().join("41111.lock");
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
            s.editor(Behaves::Well);
        },
        &["lock-not-a-file"],
        1,
    ),
    (
        "a directory instead of a lock file",
        |s| {
            fs::create_dir(s.place.lock_dir().join("41111.lock")).unwrap();
            s.editor(Behaves::Well);
        },
        &["lock-not-a-file"],
        1,
    ),
    (
        "a name without a port",
        |s| {
            fs::write(s.place.lock_dir().join("editor.lock"), "{}").unwrap();
            s.editor(Behaves::Well);
        },
        &["lock-misnamed"],
        0,
    ),
    (
        "a dead process",
        |s| {
            let lock = s.lock_with(&json!({"pid": dead()}));
            s.publish(s.place.closed_port(), &lock);
        },
        &["lock-left-over", "no-usable-editor"],
        1,
    ),
    (
        "a dead process beside a running editor",
        |s| {
            let lock = s.lock_with(&json!({"pid": dead()}));
            s.publish(s.place.closed_port(), &lock);
            s.editor(Behaves::Well);
        },
        &["lock-left-over"],
        1,
    ),
    (
        "an editor whose process id is not found",
        |s| drop(s.editor_with(&json!({"pid": dead()}))),
        &["lock-process-unseen", "no-usable-editor"],
        1,
    ),
    (
        "an editor whose process id is not found, beside another",
        |s| {
            s.editor_with(&json!({"pid": dead()}));
            s.editor(Behaves::Well);
        },
        &["lock-process-unseen"],
        1,
    ),
    (
        "a dead process without a name, beside a running editor",
        |s| {
            let lock = s.lock_with(&json!({"pid": dead(), "ideName": ""}));
            s.publish(s.place.closed_port(), &lock);
            s.editor(Behaves::Well);
        },
        &["lock-without-editor"],
        1,
    ),
    (
        "a web server on the port of a dead process, beside a running editor",
        |s| {
            let port = fake(Behaves::Says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"));
            s.publish(port, &s.lock_with(&json!({"pid": dead()})));
            s.editor(Behaves::Well);
        },
        &["lock-without-editor"],
        1,
    ),
    (
        "a newer dead process beside a running editor",
        |s| {
            s.editor(Behaves::Well);
            let left = s.publish(s.place.closed_port(), &s.lock_with(&json!({"pid": dead()})));
            let later = SystemTime::now() + Duration::from_secs(1);
            fs::File::open(left).unwrap().set_modified(later).unwrap();
        },
        &["leftover-hides-editor", "lock-left-over"],
        1,
    ),
    ("no process id", |s| drop(s.editor_with(&json!({"pid": null}))), &["lock-without-process"], 0),
    (
        "an editor on Windows",
        |s| drop(s.editor_with(&json!({"runningInWindows": true}))),
        &["lock-of-windows-elsewhere"],
        1,
    ),
    (
        "no token",
        |s| {
            let lock = s.lock_with(&json!({"authToken": null}));
            s.publish(fake(Behaves::WithoutToken), &lock);
        },
        &["lock-without-token", "accepts-with-origin"],
        1,
    ),
    ("a closed port", |s| drop(s.publish(s.place.closed_port(), &s.lock())), &["port-refuses"], 1),
    (
        "a closed port, and no process id",
        |s| {
            let lock = s.lock_with(&json!({"pid": null}));
            s.publish(s.place.closed_port(), &lock);
        },
        &["lock-without-process", "port-refuses-process-unknown"],
        1,
    ),
    ("a silent port", |s| drop(s.editor(Behaves::NotAtAll)), &["port-silent"], 1),
    (
        "a web server",
        |s| drop(s.editor(Behaves::Says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"))),
        &["not-an-editor"],
        1,
    ),
    ("a mail server", |s| drop(s.editor(Behaves::Says("220 mail.example ESMTP\r\n"))), &["not-an-editor"], 1),
    ("a server that hangs up", |s| drop(s.editor(Behaves::Says(""))), &["not-an-editor"], 1),
    ("a wrong token", |s| drop(s.editor_with(&json!({"authToken": "QZQZ-another"}))), &["token-refused"], 1),
    ("a wrong token, the JetBrains way", |s| drop(s.editor(Behaves::Closes)), &["token-refused"], 1),
    ("an editor that is full", |s| drop(s.editor(Behaves::Status(503))), &["editor-full"], 1),
    ("an editor that declines", |s| drop(s.editor(Behaves::Status(400))), &["editor-declines"], 1),
    ("no sub-protocol", |s| drop(s.editor(Behaves::WithoutSubprotocol)), &["subprotocol-missing"], 1),
    ("an unknown protocol version", |s| drop(s.editor(Behaves::UnknownVersion)), &["session-fails"], 1),
    (
        "an editor that asks for no token",
        |s| drop(s.editor(Behaves::WithoutToken)),
        &["accepts-without-token", "accepts-with-origin"],
        1,
    ),
    (
        "an editor that accepts web pages",
        |s| drop(s.editor(Behaves::WithOrigin)),
        &["accepts-with-origin"],
        1,
    ),
    (
        "another folder",
        |s| drop(s.editor_with(&json!({"workspaceFolders": ["/elsewhere"]}))),
        &["no-editor-for-directory"],
        1,
    ),
    (
        "no folder",
        |s| drop(s.editor_with(&json!({"workspaceFolders": []}))),
        &["editor-without-folders", "no-editor-for-directory"],
        1,
    ),
    (
        "the agent came through a link",
        |s| {
            s.editor(Behaves::Well);
            let link = s.place.lock_dir().parent().unwrap().join("link");
            symlink(s.place.project(), &link).unwrap();
            s.cwd = link;
        },
        &["folder-matches-only-physically"],
        0,
    ),
    (
        "the editor came through a link",
        |s| {
            let link = s.place.lock_dir().parent().unwrap().join("link");
            symlink(s.place.project(), &link).unwrap();
            s.editor_with(&json!({"workspaceFolders": [link]}));
            s.cwd = link;
        },
        &["folder-matches-only-logically"],
        1,
    ),
    (
        "a stale port",
        |s| s.editor_and(&[("CLAUDE_CODE_SSE_PORT", "1")]),
        &["port-variable-stale", "opencode-without-token"],
        1,
    ),
    (
        "a port that is not a number",
        |s| s.editor_and(&[("CLAUDE_CODE_SSE_PORT", "none")]),
        &["port-variable-invalid"],
        1,
    ),
    (
        "integration that is off",
        |s| s.editor_and(&[("ENABLE_IDE_INTEGRATION", "false")]),
        &["integration-off"],
        0,
    ),
    (
        "integration without a port",
        |s| s.editor_and(&[("ENABLE_IDE_INTEGRATION", "true")]),
        &["integration-without-port"],
        0,
    ),
    (
        "the port of the right editor",
        |s| {
            let path = s.editor(Behaves::Well);
            s.set("CLAUDE_CODE_SSE_PORT", path.file_stem().unwrap().to_str().unwrap());
        },
        &["opencode-without-token"],
        0,
    ),
    (
        "the port of an editor of another folder",
        |s| {
            let path = s.editor_with(&json!({"workspaceFolders": ["/elsewhere"]}));
            s.set("CLAUDE_CODE_SSE_PORT", path.file_stem().unwrap().to_str().unwrap());
        },
        &["port-variable-only-elsewhere", "opencode-without-token"],
        1,
    ),
    (
        "a proxy",
        |s| s.editor_and(&[("http_proxy", "http://user:QZQZ@127.0.0.1:1")]),
        &["proxy-takes-loopback"],
        1,
    ),
    (
        "half a no_proxy",
        |s| {
            s.editor_and(&[
                ("ALL_PROXY", "http://127.0.0.1:1"),
                ("no_proxy", "127.0.0.1"),
                ("NO_PROXY", "localhost"),
            ])
        },
        &["no-proxy-differs"],
        1,
    ),
    (
        "a whole no_proxy",
        |s| {
            s.editor_and(&[
                ("ALL_PROXY", "http://127.0.0.1:1"),
                ("no_proxy", "localhost,127.0.0.1"),
                ("NO_PROXY", "localhost,127.0.0.1"),
            ])
        },
        &[],
        0,
    ),
    (
        "one no_proxy of two",
        |s| s.editor_and(&[("ALL_PROXY", "http://127.0.0.1:1"), ("NO_PROXY", "localhost,127.0.0.1")]),
        &["no-proxy-differs"],
        1,
    ),
    (
        "another host",
        // Every system connects to itself at this address, which is not a loopback address.
        |s| s.editor_and(&[("CLAUDE_CODE_IDE_HOST_OVERRIDE", "0.0.0.0")]),
        &["host-override"],
        1,
    ),
    // Other systems do not accept connections on this address by default.
    #[cfg(target_os = "linux")]
    (
        "another address of this machine",
        |s| s.editor_and(&[("CLAUDE_CODE_IDE_HOST_OVERRIDE", "127.0.0.2")]),
        &["host-override-loopback", "port-refuses"],
        1,
    ),
    (
        "no transport",
        |s| {
            let mut lock = s.lock();
            lock.as_object_mut().unwrap().remove("transport");
            s.publish(fake(Behaves::Well), &lock);
        },
        &["lock-without-transport", "no-usable-editor"],
        1,
    ),
    (
        "a process id as a string",
        |s| drop(s.editor_with(&json!({"pid": std::process::id().to_string()}))),
        &[],
        0,
    ),
    ("the folder of the agent", |s| drop(s.editor_with(&json!({"workspaceFolders": ["."]}))), &[], 0),
    (
        "an agent whose attaching is switched off",
        |s| s.editor_and(&[("CLAUDE_CODE_AUTO_CONNECT_IDE", "false")]),
        &["auto-connect-off"],
        1,
    ),
    (
        "a folder that is not checked",
        |s| s.editor_and(&[("CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "1")]),
        &["folder-check-skipped"],
        0,
    ),
    (
        "another folder, unchecked",
        |s| {
            s.editor_with(&json!({"workspaceFolders": ["/elsewhere"]}));
            s.set("CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "1");
        },
        &["folder-check-skipped"],
        0,
    ),
    (
        "an editor that is not probed",
        |s| {
            s.editor(Behaves::Well);
            s.arguments.push("--no-connect");
        },
        &["not-probed"],
        0,
    ),
    (
        "two editors, and the port of one",
        |s| {
            s.editor(Behaves::Well);
            let path = s.editor_with(&json!({"pid": std::os::unix::process::parent_id()}));
            s.set("CLAUDE_CODE_SSE_PORT", path.file_stem().unwrap().to_str().unwrap());
        },
        &["several-editors-one-named", "opencode-without-token"],
        0,
    ),
    (
        "the port of an editor elsewhere",
        |s| {
            s.editor(Behaves::Well);
            let parent = std::os::unix::process::parent_id();
            let path = s.editor_with(&json!({"pid": parent, "workspaceFolders": ["/elsewhere"]}));
            s.set("CLAUDE_CODE_SSE_PORT", path.file_stem().unwrap().to_str().unwrap());
        },
        &["port-variable-elsewhere", "opencode-without-token"],
        1,
    ),
    (
        "two editors",
        |s| {
            s.editor(Behaves::Well);
            s.editor_with(&json!({"pid": std::os::unix::process::parent_id()}));
        },
        &["several-editors"],
        1,
    ),
    (
        "two windows of one editor",
        |s| {
            s.editor(Behaves::Well);
            s.editor_with(&json!({"workspaceFolders": ["/elsewhere"]}));
        },
        &["process-published-twice"],
        0,
    ),
    (
        "another directory than the editor's",
        |s| {
            s.editor(Behaves::Well);
            let dir = s.place.project().join("config/ide");
            fs::create_dir_all(&dir).unwrap();
            mode(&dir, 0o700);
            s.set("CLAUDE_CONFIG_DIR", dir.parent().unwrap().to_str().unwrap());
        },
        &["config-dir-set", "locks-where-nobody-looks", "no-lock-files"],
        1,
    ),
    (
        "two lock files of one port",
        |s| {
            let port = fake(Behaves::Well);
            let dir = s.place.project().join("config/ide");
            fs::create_dir_all(&dir).unwrap();
            mode(&dir, 0o700);
            Setup::put_in(&dir, port, &s.lock().to_string());
            s.set("CLAUDE_CONFIG_DIR", dir.parent().unwrap().to_str().unwrap());
            s.put(port, &json!({"authToken": "QZQZ-old"}).to_string());
        },
        &["port-published-twice-differently"],
        1,
    ),
];
