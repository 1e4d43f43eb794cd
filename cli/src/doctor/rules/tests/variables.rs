//! The cases of the variables of the agent, of its host and of proxies.

use super::{Case, WSL, dead, file, here, lock, set};
use crate::doctor::facts::{Lock, Probe, System};

pub(super) const CASES: &[Case] = &[
    (
        "two editors elsewhere, with the folder check off",
        |f| {
            set(f, "CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "1");
            f.locks.push(lock(2, "/v"));
            file(f).pid = Some(8);
            file(f).workspace_folders = vec!["/u".into()];
        },
        &["folder-check-skipped", "several-editors"],
    ),
    (
        "one editor here and one elsewhere, with the folder check off",
        |f| {
            set(f, "CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "1");
            f.locks.push(lock(2, "/v"));
            file(f).pid = Some(8);
        },
        &["folder-check-skipped"],
    ),
    (
        "a dead process, with the folder check off",
        |f| {
            set(f, "CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "1");
            f.locks = vec![dead(1, "/w")];
        },
        &["folder-check-skipped", "lock-left-over", "no-usable-editor"],
    ),
    ("no variable", |_| {}, &[]),
    (
        "no home",
        |f| (f.directories, f.locks) = (Err("HOME is not set".into()), vec![]),
        &["variables-unusable"],
    ),
    (
        "a config directory that is not a path",
        |f| {
            (f.directories, f.locks) = (Err("CLAUDE_CONFIG_DIR is set but empty".into()), vec![]);
            set(f, "CLAUDE_CONFIG_DIR", "");
        },
        &["config-dir-unusable"],
    ),
    ("a config directory with an editor", |f| set(f, "CLAUDE_CONFIG_DIR", "/c"), &[]),
    (
        "a config directory without an editor",
        |f| {
            set(f, "CLAUDE_CONFIG_DIR", "/c");
            f.locks.clear();
        },
        &["config-dir-set", "no-lock-files"],
    ),
    (
        "a config directory with a dead editor",
        |f| {
            set(f, "CLAUDE_CONFIG_DIR", "/c");
            f.locks = vec![dead(1, "/w")];
        },
        &["config-dir-set", "lock-left-over", "no-usable-editor"],
    ),
    ("the right port", |f| set(f, "CLAUDE_CODE_SSE_PORT", "1"), &["opencode-without-token"]),
    (
        "the right port of an editor without a token",
        |f| {
            set(f, "CLAUDE_CODE_SSE_PORT", "1");
            file(f).auth_token = None;
        },
        &["lock-without-token"],
    ),
    ("a port for opencode", |f| set(f, "OPENCODE_EDITOR_SSE_PORT", "1"), &["opencode-without-token"]),
    (
        "a stale port",
        |f| set(f, "CLAUDE_CODE_SSE_PORT", "2"),
        &["port-variable-stale", "opencode-without-token"],
    ),
    (
        "the port of a dead process",
        |f| {
            set(f, "CLAUDE_CODE_SSE_PORT", "2");
            f.locks.push(Lock { pid_alive: Some(false), probe: Some(Probe::Refused), ..lock(2, "/v") });
        },
        &["port-variable-stale", "opencode-without-token", "lock-left-over", "process-published-twice"],
    ),
    ("an empty port", |f| set(f, "CLAUDE_CODE_SSE_PORT", ""), &["port-variable-invalid"]),
    ("a port in hexadecimal", |f| set(f, "CLAUDE_CODE_SSE_PORT", "0x1"), &["port-variable-invalid"]),
    ("an empty port for opencode", |f| set(f, "OPENCODE_EDITOR_SSE_PORT", ""), &[]),
    ("a port in hexadecimal for opencode", |f| set(f, "OPENCODE_EDITOR_SSE_PORT", "0x1"), &[]),
    ("integration off", |f| set(f, "ENABLE_IDE_INTEGRATION", "false"), &["integration-off"]),
    ("integration without a port", |f| set(f, "ENABLE_IDE_INTEGRATION", "t"), &["integration-without-port"]),
    (
        "integration with a port",
        |f| {
            set(f, "ENABLE_IDE_INTEGRATION", "true");
            set(f, "CLAUDE_CODE_SSE_PORT", "1");
        },
        &["opencode-without-token"],
    ),
    ("automatic attaching off", |f| set(f, "CLAUDE_CODE_AUTO_CONNECT_IDE", "False"), &["auto-connect-off"]),
    ("automatic attaching on", |f| set(f, "CLAUDE_CODE_AUTO_CONNECT_IDE", "true"), &[]),
    ("another host", |f| set(f, "CLAUDE_CODE_IDE_HOST_OVERRIDE", "172.17.0.1"), &["host-override"]),
    ("this machine", |f| set(f, "CLAUDE_CODE_IDE_HOST_OVERRIDE", "::1"), &["host-override-loopback"]),
    ("this machine by name", |f| set(f, "CLAUDE_CODE_IDE_HOST_OVERRIDE", "Localhost"), &[]),
    (
        "a host name that looks like an address",
        |f| set(f, "CLAUDE_CODE_IDE_HOST_OVERRIDE", "127.0.0.2.evil"),
        &["host-override"],
    ),
    ("an empty host", |f| set(f, "CLAUDE_CODE_IDE_HOST_OVERRIDE", ""), &[]),
    ("the folder check on", |f| set(f, "CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "0"), &[]),
    (
        "a Windows drive",
        |f| {
            f.system = WSL;
            f.here = here("/mnt/c/w", "/mnt/c/w");
            file(f).workspace_folders = vec!["C:\\w".into()];
        },
        &["wsl", "folder-in-another-spelling"],
    ),
    (
        "a Windows drive, with every spelling published",
        |f| {
            f.system = WSL;
            f.here = here("/mnt/c/w", "/mnt/c/w");
            file(f).workspace_folders = ide_mcp::ide::paths::spellings("/mnt/c/w", WSL);
        },
        &["wsl"],
    ),
    (
        "a folder of the distribution, as Windows spells it",
        |f| {
            f.system = WSL;
            file(f).workspace_folders = vec![r"\\wsl$\Ubuntu\w".into()];
        },
        &["wsl", "folder-in-another-spelling"],
    ),
    (
        "another case on macOS",
        |f| {
            f.system = System::MacOs;
            file(f).workspace_folders = vec!["/W".into()];
        },
        &["folder-in-another-spelling"],
    ),
    (
        "another case, with the folder check off",
        |f| {
            f.system = System::MacOs;
            set(f, "CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "1");
            file(f).workspace_folders = vec!["/W".into()];
        },
        &["folder-check-skipped"],
    ),
    (
        "another case on Linux",
        |f| file(f).workspace_folders = vec!["/W".into()],
        &["no-editor-for-directory"],
    ),
    ("the usual host", |f| set(f, "CLAUDE_CODE_IDE_HOST_OVERRIDE", "127.0.0.1"), &[]),
    ("a proxy", |f| set(f, "http_proxy", "http://u:p@p"), &["proxy-takes-loopback"]),
    ("an empty proxy", |f| set(f, "ALL_PROXY", ""), &[]),
    (
        "a proxy that excludes this machine",
        |f| {
            set(f, "ALL_PROXY", "p");
            set(f, "no_proxy", "a.example, 127.0.0.1");
            set(f, "NO_PROXY", "127.0.0.1");
        },
        &[],
    ),
    (
        "a proxy that excludes this machine, in no_proxy alone",
        |f| {
            set(f, "ALL_PROXY", "p");
            set(f, "no_proxy", "a.example, 127.0.0.1");
        },
        &["no-proxy-differs"],
    ),
    (
        "a proxy that excludes only other spellings",
        |f| {
            set(f, "ALL_PROXY", "p");
            set(f, "NO_PROXY", "localhost,127.0.0.11");
        },
        &["proxy-takes-loopback"],
    ),
    (
        "NO_PROXY and no_proxy that differ",
        |f| {
            set(f, "HTTP_PROXY", "p");
            set(f, "NO_PROXY", "*");
            set(f, "no_proxy", "localhost");
        },
        &["no-proxy-differs"],
    ),
    ("Linux on Windows", |f| f.system = WSL, &["wsl"]),
];
