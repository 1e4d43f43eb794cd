//! The functions that read the environment or generate random numbers.

use std::env;
use std::ffi::OsStr;
use std::process::Command;

use crate::support::TempDir;
use ide_mcp::ide::discovery::locate::{Extras, HOME_VARIABLE};
use ide_mcp_lockfile::{LockDir, client_env, from_environment, new_token, system};

/// Marks a child process. A process with threads must not change its own environment.
const CHILD: &str = "IDE_MCP_LOCKFILE_TEST_CHILD";

type Variables<'a> = &'a [(&'a str, &'a str)];

#[test]
fn the_variables_of_the_process_decide() {
    if let Some(extras) = env::var_os(CHILD) {
        if extras == "opened" {
            return match LockDir::from_environment() {
                Ok(dir) => println!("found {}", dir.path().display()),
                Err(error) => println!("found {error}"),
            };
        }
        if extras == "client" {
            let client = client_env();
            println!("found {:?} {} {}", client.port(), client.auto_connects(), client.skips_folder_check());
            println!("found {} {:?}", client.host(), client.distribution);
            return println!("found {}", system() == system());
        }
        let xdg = extras == "xdg";
        match from_environment(Extras { xdg, ..Extras::default() }) {
            Ok(found) => found.iter().for_each(|candidate| println!("found {}", candidate.dir)),
            Err(error) => println!("found {error}"),
        }
        return;
    }
    let home = HOME_VARIABLE;
    let cases: [(&str, &str, Variables<'_>, &[&str]); 5] = [
        ("home", "", &[(home, "/h")], &["/h/.claude/ide"]),
        ("config dir", "", &[(home, "/h"), ("CLAUDE_CONFIG_DIR", "/c")], &["/c/ide"]),
        ("xdg not requested", "", &[(home, "/h"), ("XDG_CONFIG_HOME", "/x")], &["/h/.claude/ide"]),
        ("xdg", "xdg", &[(home, "/h"), ("XDG_CONFIG_HOME", "/x")], &["/h/.claude/ide", "/x/claude/ide"]),
        ("no variables", "", &[], &[&no_home()]),
    ];
    for (name, extras, variables, expected) in cases {
        let variables = variables.iter().map(|(name, value)| (*name, OsStr::new(*value)));
        assert_eq!(found_with(extras, variables), expected, "{name}");
    }
}

#[test]
fn first_directory_is_made_and_opened() {
    let temp = TempDir::new();
    let (home, config) = (temp.path(), temp.join("config"));
    let opened = |variables: &[(&str, &OsStr)]| found_with("opened", variables.iter().copied());
    let at_home = (HOME_VARIABLE, home.as_os_str());
    let configured = ("CLAUDE_CONFIG_DIR", config.as_os_str());
    for (variables, dir) in
        [(&[at_home][..], home.join(".claude").join("ide")), (&[at_home, configured][..], config.join("ide"))]
    {
        assert_eq!(opened(variables), [dir.to_str().unwrap()]);
        assert!(dir.is_dir());
    }
    assert_eq!(opened(&[]), [no_home()]);
}

#[test]
fn variables_of_client_are_read() {
    let found = |variables: Variables<'_>| {
        found_with("client", variables.iter().map(|(name, value)| (*name, OsStr::new(*value))))
    };
    assert_eq!(found(&[]), ["None true false", "127.0.0.1 None", "true"]);
    let all: Variables<'_> = &[
        ("CLAUDE_CODE_SSE_PORT", "7"),
        ("CLAUDE_CODE_AUTO_CONNECT_IDE", "false"),
        ("CLAUDE_CODE_IDE_HOST_OVERRIDE", "127.0.0.2"),
        ("CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "1"),
        ("WSL_DISTRO_NAME", "Ubuntu"),
    ];
    assert_eq!(found(all), ["Some(7) false true", "127.0.0.2 Some(\"Ubuntu\")", "true"]);
}

fn no_home() -> String {
    format!("{HOME_VARIABLE} is not set: set it, or set CLAUDE_CONFIG_DIR to an absolute path")
}

/// Returns the candidates that a process with these variables finds.
fn found_with<'a>(extras: &str, variables: impl Iterator<Item = (&'a str, &'a OsStr)>) -> Vec<String> {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "environment::the_variables_of_the_process_decide", "--nocapture"]);
    for variable in [
        "HOME",
        "USERPROFILE",
        "CLAUDE_CONFIG_DIR",
        "XDG_CONFIG_HOME",
        "CLAUDE_CODE_SSE_PORT",
        "CLAUDE_CODE_AUTO_CONNECT_IDE",
        "CLAUDE_CODE_IDE_HOST_OVERRIDE",
        "CLAUDE_CODE_IDE_SKIP_VALID_CHECK",
        "WSL_DISTRO_NAME",
    ] {
        child.env_remove(variable);
    }
    let output = child.envs(variables).env(CHILD, extras).output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    output.lines().filter_map(|line| line.split_once("found ")).map(|(_, found)| found.to_owned()).collect()
}

/// A variable that is not Unicode does no harm unless it is needed.
#[cfg(unix)]
#[test]
fn non_unicode_home_is_error_when_needed() {
    use std::os::unix::ffi::OsStrExt;
    let home = ("HOME", OsStr::from_bytes(b"/\xff"));
    let config_dir = ("CLAUDE_CONFIG_DIR", OsStr::new("/c"));
    assert_eq!(found_with("", [home].into_iter()), ["HOME is not Unicode: set it to a path that is"]);
    assert_eq!(found_with("", [home, config_dir].into_iter()), ["/c/ide"]);
    assert_eq!(
        found_with("xdg", [home, config_dir].into_iter()),
        ["HOME is not Unicode: set it to a path that is"]
    );
}

#[test]
fn l10_two_tokens_differ() {
    let (one, other) = (new_token().unwrap(), new_token().unwrap());
    assert_eq!(one.as_str().len(), 64);
    assert_ne!(one, other);
}
