//! No output of the doctor contains a token, and its report says enough for a bug report.

use super::fake::{Behaves, TOKEN, fake};
use super::setup::{Setup, mode};
use crate::support::terminal::terminal;
use crate::support::{dead, quoted};
use serde_json::json;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::process::Stdio;

/// The beginning of all tokens and passwords of this test.
const MARK: &str = "QZQZ";

/// Puts secrets in all places that the doctor reads.
fn planted() -> Setup {
    let mut s = Setup::new();
    let dir = s.place.project().join(TOKEN);
    fs::create_dir_all(dir.join("ide")).unwrap();
    mode(&dir.join("ide"), 0o700);
    s.cwd.clone_from(&dir);
    s.set("CLAUDE_CONFIG_DIR", dir.to_str().unwrap());
    let locks = dir.join("ide");
    let named = |changes| s.lock_with(&changes).to_string();
    let folders = [dir.canonicalize().unwrap().to_str().unwrap().to_owned(), format!("/x/{TOKEN}")];
    Setup::put_in(
        &locks,
        fake(Behaves::Well),
        &named(json!({"ideName": format!("a {TOKEN}"), "workspaceFolders": folders})),
    );
    Setup::put_in(&locks, fake(Behaves::Closes), &named(json!({"authToken": "QZQZ-'q\"u\\ote`|"})));
    Setup::put_in(&locks, s.place.closed_port(), &named(json!({"ideName": "QZQZ-'q\"u\\ote`|"})));
    Setup::put_in(&locks, s.place.closed_port(), &named(json!({"ideName": "QZQZ-api-key"})));
    Setup::put_in(&locks, s.place.closed_port(), &named(json!({"transport": TOKEN, "pid": dead()})));
    Setup::put_in(&locks, s.place.closed_port(), &named(json!({"pid": dead(), "ideName": TOKEN})));
    Setup::put_in(&locks, s.place.closed_port(), "{\"authToken\":\"QZQZ-half\",\"pid\":\"QZQZ-half");
    Setup::put_in(&locks, s.place.closed_port(), &named(json!({"pid": ["QZQZ-typed"]})));
    Setup::put_in(&locks, s.place.closed_port(), &named(json!({"authToken": "QZQZ and a space"})));
    Setup::put_in(&locks, s.place.closed_port(), "QZQZ-legacy\n");
    mode(&Setup::put_in(&locks, s.place.closed_port(), &named(json!({"authToken": "QZQZ-closed"}))), 0);
    mode(&Setup::put_in(&locks, s.place.closed_port(), &named(json!({"authToken": "QZQZ-open"}))), 0o644);
    fs::write(locks.join(format!("{TOKEN}.lock")), TOKEN).unwrap();
    symlink(s.place.project().join(TOKEN), locks.join("1.lock")).unwrap();
    // The default directory is not read by the agent.
    s.editor_with(&json!({"ideName": TOKEN}));
    for (name, value) in [
        ("CLAUDE_CODE_SSE_PORT", "QZQZ-port"),
        ("OPENCODE_EDITOR_SSE_PORT", "QZQZ-opencode"),
        ("ENABLE_IDE_INTEGRATION", "QZQZ-integration"),
        ("CLAUDE_CODE_AUTO_CONNECT_IDE", "QZQZ-connect"),
        ("CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "QZQZ-check"),
        ("WSL_DISTRO_NAME", "QZQZ-distribution"),
        ("http_proxy", "http://user:QZQZ-password@127.0.0.1:1"),
        ("no_proxy", "QZQZ-host"),
        ("ANTHROPIC_API_KEY", "QZQZ-api-key"),
    ] {
        s.set(name, value);
    }
    s
}

#[test]
fn no_output_contains_a_secret() {
    let mut setup = planted();
    let formats: [&[&str]; 7] = [
        &[],
        &["--verbose"],
        &["--json"],
        &["--report"],
        &["--no-connect", "--json"],
        &["--remove-leftovers", "--verbose"],
        &["--watch", "--json"],
    ];
    for format in formats {
        let mut doctor = setup.doctor(format);
        let mut printed = Vec::new();
        if format.contains(&"--watch") {
            printed.extend(doctor.until_line(|line| line.contains("\"verdict\"")));
            mode(&setup.cwd.join("ide"), 0o755);
            printed.extend(doctor.until_line(|line| line.contains("\"verdict\"")));
            doctor.terminate();
        }
        printed.extend(doctor.rest());
        let (_, complaint) = doctor.end();
        let all = format!("{}\n{complaint}", printed.join("\n"));
        assert!(!all.contains(MARK), "{format:?}: {all}");
        assert!(all.contains("[token]"), "{format:?}: {all}");
    }
    // The host of the variable is shown, because the token is sent there, unless it contains a
    // password.
    setup.set("CLAUDE_CODE_IDE_HOST_OVERRIDE", format!("user:QZQZ-password@{TOKEN}"));
    for format in [&["--verbose"][..], &["--report"]] {
        let all = setup.doctor(format).rest().join("\n");
        assert!(!all.contains(MARK) && all.contains("CLAUDE_CODE_IDE_HOST_OVERRIDE"), "{format:?}: {all}");
    }
}

#[test]
fn name_of_author_is_no_secret() {
    let mut setup = Setup::new();
    mode(&setup.place.lock_dir(), 0o755);
    let home = setup.place.home();
    let name = home.ancestors().find_map(|dir| dir.file_name()?.to_str().filter(|name| name.len() >= 8));
    setup.set("GIT_AUTHOR_NAME", name.unwrap());
    let all = setup.doctor(&[]).rest().join("\n");
    let command = format!("chmod 700 {}", quoted(setup.place.lock_dir().to_str().unwrap()));
    assert!(all.contains(&command) && !all.contains("[token]"), "{all}");
}

/// Puts a program with the name of the client on the search path.
fn put_client(setup: &mut Setup, script: &str) {
    let bin = setup.place.home().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("claude"), format!("#!/bin/sh\n{script}\n")).unwrap();
    mode(&bin.join("claude"), 0o755);
    setup.set("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
}

#[test]
fn report_is_enough_for_others() {
    let mut setup = Setup::new();
    put_client(&mut setup, "echo \"1.2.3 (Claude Code)\"; pwd");
    let project = setup.place.home().join("project");
    fs::create_dir(&project).unwrap();
    setup.cwd.clone_from(&project);
    setup.set("CLAUDE_CODE_SSE_PORT", "1");
    let folder = project.canonicalize().unwrap();
    let lock = setup.editor_with(&json!({"workspaceFolders": [folder], "ideName": "a|b`c"}));
    let mut doctor = setup.doctor(&["--report"]);
    let text = doctor.rest().join("\n");
    assert_eq!(doctor.end().0, Some(1), "{text}");
    let port = lock.file_stem().unwrap().to_str().unwrap();
    let process = std::process::id();
    let version = env!("CARGO_PKG_VERSION");
    for part in [
        format!("`An agent started in ~/project attaches to \"a¦b'c\" on port {port}: 1 warning.`\n"),
        format!("\n- `ide-mcp`: `{version}`\n- `claude`: `1.2.3 (Claude Code)`\n- system: `"),
        "\n| `CLAUDE_CODE_SSE_PORT` | `\"1\"` |\n".into(),
        "\n| warning | `port-variable-stale` | `CLAUDE_CODE_SSE_PORT is 1, ".into(),
        format!(
            "\n| `~/.claude/ide/{port}.lock` | `\"a¦b'c\"` | {process}, runs | `\"ws\"` | `[\"~/project\"]` | yes, 600 | attaches |"
        ),
    ] {
        assert!(text.contains(&part), "{part:?} is not in {text}");
    }
    assert!(!text.contains(setup.place.home().to_str().unwrap()), "{text}");
}

#[test]
fn slow_version_shows_progress() {
    let mut setup = Setup::new();
    put_client(&mut setup, "exec sleep 6");
    let (mut person, program) = terminal();
    let mut command = setup.command(&["--report", "--no-connect"]);
    let mut doctor = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(program).spawn().unwrap();
    drop(command);
    let (mut shown, mut bytes) = (String::new(), [0; 1024]);
    while !shown.contains("doctor: asking claude for its version, for at most 5 s …") {
        let read = person.read(&mut bytes).unwrap();
        shown += &String::from_utf8_lossy(&bytes[..read]);
    }
    doctor.kill().unwrap();
    doctor.wait().unwrap();
}
