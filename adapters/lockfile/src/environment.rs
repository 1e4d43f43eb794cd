//! Reads the environment and generates tokens, for the pure functions of [`ide_mcp::ide`].

use std::ffi::OsString;
use std::path::Path;
use std::{env, fs};

use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::ide::discovery::client_env::ClientEnv;
use ide_mcp::ide::discovery::launch_env::{self, LaunchEnv};
use ide_mcp::ide::discovery::locate::{
    Environment, Extras, HOME_VARIABLE, LocateError, LockDirCandidate, locate,
};
use ide_mcp::ide::paths::System;

use crate::{Error, system};

/// Returns the directories that may hold lock files, according to the variables of this process, in the order
/// of [`locate`]; never empty. An editor needs only the first one:
/// [`LockDir::from_environment`](crate::LockDir::from_environment).
///
/// In WSL, the directories of the Windows users come next
/// ([`WindowsHome`](ide_mcp::ide::discovery::locate::Source::WindowsHome)), if they exist and can be seen. We
/// look below `/mnt/c/Users` only, where WSL mounts the drive C: unless `/etc/wsl.conf` says otherwise. The
/// directories that all Windows users share are left out, because anybody could put a lock file there.
///
/// # Errors
/// [`Error::Locate`], and [`Error::VariableNotUnicode`] for a variable that is needed.
pub fn from_environment(extras: Extras) -> Result<Vec<LockDirCandidate>, Error> {
    let config_dir = variable("CLAUDE_CONFIG_DIR")?;
    let home = variable(HOME_VARIABLE);
    let xdg = if extras.xdg { variable("XDG_CONFIG_HOME")? } else { None };
    let environment = Environment {
        claude_config_dir: config_dir.as_deref(),
        home: home.as_ref().ok().and_then(Option::as_deref),
        xdg_config_home: xdg.as_deref(),
    };
    let located = locate(&environment, extras).map_err(|error| match (error, home.as_ref().err()) {
        (LocateError::NoHome, Some(_)) => Error::VariableNotUnicode { variable: HOME_VARIABLE },
        (error, _) => Error::Locate(error),
    });
    let mut dirs = located?;
    if matches!(system(), System::Wsl { .. }) {
        add_windows_homes(&mut dirs, Path::new("/mnt/c/Users"));
    }
    Ok(dirs)
}

/// Adds the existing lock file directories of the homes in `users`, sorted by user name, each once.
fn add_windows_homes(dirs: &mut Vec<LockDirCandidate>, users: &Path) {
    const SHARED: [&str; 4] = ["All Users", "Default", "Default User", "Public"];
    let Ok(entries) = fs::read_dir(users) else { return };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_shared = |name: &String| SHARED.iter().any(|shared| name.eq_ignore_ascii_case(shared));
    let mut names: Vec<String> = names.filter(|name| !is_shared(name)).collect();
    names.sort_unstable();
    for name in names {
        let Some(home) = users.join(name).to_str().map(LockDirCandidate::on_windows) else { continue };
        let Ok(real) = fs::canonicalize(&home.dir) else { continue };
        // Some people link their home in Linux to their home in Windows, or the other way round.
        let is_known =
            |known: &LockDirCandidate| fs::canonicalize(&known.dir).is_ok_and(|known| known == real);
        if real.is_dir() && !dirs.iter().any(is_known) {
            dirs.push(home);
        }
    }
}

/// Reads the environment variables that decide which editor a client attaches to. Invalid Unicode becomes
/// U+FFFD, so that you can show the value; such a value never equals one that has a meaning.
#[must_use]
pub fn client_env() -> ClientEnv {
    ClientEnv::read(|name| env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
}

/// Returns what to change in our environment for a child that should attach to the editor on `port`, as
/// [`launch_env`](launch_env::launch_env) of the core does. Invalid Unicode in a value becomes U+FFFD.
#[must_use]
pub fn launch_env(port: Option<u16>) -> LaunchEnv {
    launch_env_from(port, env::vars_os())
}

fn launch_env_from(port: Option<u16>, variables: impl Iterator<Item = (OsString, OsString)>) -> LaunchEnv {
    let inherited: Vec<(String, String)> = variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
        .collect();
    launch_env::launch_env(port, inherited.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

/// Generates a token from the system's random numbers.
///
/// # Errors
/// [`Error::Entropy`]. There is no weaker source to fall back to.
pub fn new_token() -> Result<AuthToken, Error> {
    AuthToken::generate(getrandom::fill).map_err(Error::entropy)
}

fn variable(name: &'static str) -> Result<Option<String>, Error> {
    let value = env::var_os(name).map(OsString::into_string).transpose();
    value.map_err(|_| Error::VariableNotUnicode { variable: name })
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test states what it expects")]

    use super::*;
    use crate::temp_dir::TempDir;
    use std::os::unix::fs::symlink;

    #[test]
    fn value_that_is_not_unicode_is_not_ignored() {
        use std::os::unix::ffi::OsStringExt;

        let variables = [("NO_PROXY", b"h\xff".to_vec()), ("CLAUDE_CODE_SSE_PORT", b"\xff".to_vec())];
        let variables = variables.map(|(name, value)| (OsString::from(name), OsString::from_vec(value)));
        let removed = launch_env_from(None, variables.clone().into_iter()).remove;
        assert_eq!(removed, ["CLAUDE_CODE_SSE_PORT"]);
        let set = launch_env_from(Some(1), variables.into_iter()).set;
        assert!(set.contains(&("NO_PROXY".into(), "h\u{fffd},localhost,127.0.0.1,::1".into())), "{set:?}");
    }

    #[test]
    fn windows_homes_come_after_our_own() {
        let temp = TempDir::new();
        let dir = |name: &str| temp.join(name).join(".claude/ide").to_str().unwrap().to_owned();
        for name in ["own", "bob", "Ann", "Public", "default", "All Users"] {
            fs::create_dir_all(dir(&format!("Users/{name}"))).unwrap();
        }
        fs::create_dir_all(temp.join("Users/without")).unwrap();
        fs::create_dir_all(temp.join("Users/file/.claude")).unwrap();
        fs::write(dir("Users/file"), "").unwrap();
        fs::write(temp.join("Users/desktop.ini"), "").unwrap();
        // Our own home is a link to a Windows home.
        symlink(temp.join("Users/own"), temp.join("home")).unwrap();
        let mut own = LockDirCandidate::on_windows(temp.join("home").to_str().unwrap());
        own.source = ide_mcp::ide::discovery::locate::Source::Home;
        let mut dirs = vec![own.clone()];
        add_windows_homes(&mut dirs, &temp.join("Users"));
        let found: Vec<&str> = dirs.iter().map(|candidate| candidate.dir.as_str()).collect();
        assert_eq!(found, [dir("home"), dir("Users/Ann"), dir("Users/bob")]);
        let mut without = vec![own.clone()];
        add_windows_homes(&mut without, &temp.join("no such directory"));
        assert_eq!(without, [own]);
    }
}
