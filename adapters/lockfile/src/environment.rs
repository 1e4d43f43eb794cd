//! The only module that reads the environment or draws randomness. It connects the system with the
//! pure functions of [`ide_mcp::ide`].

use std::env;
use std::ffi::OsString;

use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::ide::discovery::client_env::ClientEnv;
use ide_mcp::ide::discovery::launch_env::{self, LaunchEnv};
use ide_mcp::ide::discovery::locate::{
    Environment, Extras, HOME_VARIABLE, LocateError, LockDirCandidate, locate,
};

use crate::Error;

/// Returns the candidate directories by the variables of this process, in the order of [`locate`];
/// never empty. An editor needs the first:
/// [`LockDir::from_environment`](crate::LockDir::from_environment).
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
    locate(&environment, extras).map_err(|error| match (error, home.as_ref().err()) {
        (LocateError::NoHome, Some(_)) => Error::VariableNotUnicode { variable: HOME_VARIABLE },
        (error, _) => Error::Locate(error),
    })
}

/// Reads the environment variables that decide which editor a client attaches to. Invalid Unicode is
/// replaced by U+FFFD, so that the value can be shown and matches no known value.
#[must_use]
pub fn client_env() -> ClientEnv {
    ClientEnv::read(|name| env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
}

/// Returns the changes to the environment of this process for a child that attaches to the editor on `port`, as
/// [`launch_env`](launch_env::launch_env) of the core does. Variables that are not Unicode are none of those that
/// matter.
#[must_use]
pub fn launch_env(port: Option<u16>) -> LaunchEnv {
    let inherited: Vec<(String, String)> = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    launch_env::launch_env(port, inherited.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

/// Generates a token from the randomness of the system.
///
/// # Errors
/// [`Error::Entropy`]. The function does not fall back to a weaker source.
pub fn new_token() -> Result<AuthToken, Error> {
    AuthToken::generate(getrandom::fill).map_err(Error::entropy)
}

fn variable(name: &'static str) -> Result<Option<String>, Error> {
    let value = env::var_os(name).map(OsString::into_string).transpose();
    value.map_err(|_| Error::VariableNotUnicode { variable: name })
}
