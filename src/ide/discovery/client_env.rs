//! The environment variables that tell a client which editor to attach to. An editor sets some of them for its
//! terminals, with [`launch_env`](crate::ide::discovery::launch_env). There is no I/O here;
//! `ide_mcp_lockfile::client_env` reads the variables.
//!
//! | variable | 2.1.332 | 1.0.51 |
//! | --- | --- | --- |
//! | `CLAUDE_CODE_SSE_PORT`, two editors have the folder open | attaches to the one on that port | attaches to none |
//! | `CLAUDE_CODE_AUTO_CONNECT_IDE=false`, with `--ide` | does not attach | attaches |
//! | `CLAUDE_CODE_IDE_HOST_OVERRIDE=127.0.0.2` | connects there, and sends that host in `Host` | |
//! | `CLAUDE_CODE_IDE_SKIP_VALID_CHECK=1`, an editor with another folder | attaches | does not attach |
//!
//! The two columns are versions of the real client. All cells except the empty one were measured (docs/protocol.md in
//! the repository). Where versions differ, we follow the newest. Of the accepted words for true and false, only `1` and
//! `false` were measured. The directory of lock files depends on other variables:
//! [`locate`](crate::ide::discovery::locate).

use super::LockFile;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

/// Whether a client attaches by itself.
pub const AUTO_CONNECT_VARIABLE: &str = "CLAUDE_CODE_AUTO_CONNECT_IDE";

/// The port of the editor. The name is older than the WebSocket transport.
pub const PORT_VARIABLE: &str = "CLAUDE_CODE_SSE_PORT";

/// The host at which the client reaches the editor.
pub const HOST_VARIABLE: &str = "CLAUDE_CODE_IDE_HOST_OVERRIDE";

/// Switches off the folder check: the rule that a folder of the lock file must contain the working directory of the
/// client.
pub const SKIP_CHECK_VARIABLE: &str = "CLAUDE_CODE_IDE_SKIP_VALID_CHECK";

/// The port of the editor, for opencode only. opencode sends no token to that port (measured with 1.18.33), so an
/// editor that requires a token refuses it.
pub const OPENCODE_PORT_VARIABLE: &str = "OPENCODE_EDITOR_SSE_PORT";

/// The port of the editor, for Kilo Code only: a fork of opencode that sends no token there either (measured with
/// 7.7.9).
pub const KILO_PORT_VARIABLE: &str = "KILO_EDITOR_SSE_PORT";

/// The name of the Linux distribution, which WSL sets.
pub const DISTRIBUTION_VARIABLE: &str = "WSL_DISTRO_NAME";

/// The host of an editor, if no variable names another one.
pub const LOOPBACK: &str = "127.0.0.1";

/// The variables of a client as they were set; `None` if not set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientEnv {
    /// [`PORT_VARIABLE`].
    pub port: Option<String>,
    /// [`OPENCODE_PORT_VARIABLE`].
    pub opencode_port: Option<String>,
    /// [`KILO_PORT_VARIABLE`].
    pub kilo_port: Option<String>,
    /// [`AUTO_CONNECT_VARIABLE`].
    pub auto_connect: Option<String>,
    /// [`HOST_VARIABLE`].
    pub host: Option<String>,
    /// [`SKIP_CHECK_VARIABLE`].
    pub skip_check: Option<String>,
    /// [`DISTRIBUTION_VARIABLE`].
    pub distribution: Option<String>,
}

impl ClientEnv {
    /// Reads each variable once with `value`, which returns `None` if it is not set.
    pub fn read(mut value: impl FnMut(&'static str) -> Option<String>) -> Self {
        Self {
            port: value(PORT_VARIABLE),
            opencode_port: value(OPENCODE_PORT_VARIABLE),
            kilo_port: value(KILO_PORT_VARIABLE),
            auto_connect: value(AUTO_CONNECT_VARIABLE),
            host: value(HOST_VARIABLE),
            skip_check: value(SKIP_CHECK_VARIABLE),
            distribution: value(DISTRIBUTION_VARIABLE),
        }
    }

    /// Returns the port in [`PORT_VARIABLE`], set by the editor that opened this terminal; `None` if it is missing or
    /// not a port.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.port.as_deref().and_then(LockFile::parse_port)
    }

    /// Returns false if [`AUTO_CONNECT_VARIABLE`] forbids the client to attach by itself. It still may attach to an
    /// editor that the person names.
    #[must_use]
    pub fn auto_connects(&self) -> bool {
        !self.auto_connect.as_deref().is_some_and(is_no)
    }

    /// Returns true if [`SKIP_CHECK_VARIABLE`] switches off the folder check.
    #[must_use]
    pub fn skips_folder_check(&self) -> bool {
        self.skip_check.as_deref().is_some_and(is_yes)
    }

    /// Returns the host at which the client reaches the editor, a name or an address without brackets; [`LOOPBACK`] by
    /// default.
    #[must_use]
    pub fn host(&self) -> &str {
        let host = self.host.as_deref().filter(|host| !host.is_empty()).unwrap_or(LOOPBACK);
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }
}

/// Returns host and port as in the `Host` field: `127.0.0.1:41111`, `[::1]:41111`.
#[must_use]
pub fn authority(host: &str, port: u16) -> String {
    let host = if host.contains(':') { Cow::Owned(format!("[{host}]")) } else { Cow::Borrowed(host) };
    format!("{host}:{port}")
}

fn is_no(value: &str) -> bool {
    ["false", "0", "no", "off"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

fn is_yes(value: &str) -> bool {
    ["true", "1", "yes", "on"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn with(name: &str, value: &str) -> ClientEnv {
        ClientEnv::read(|variable| (variable == name).then(|| value.to_string()))
    }

    #[test]
    fn variable_has_its_effect() {
        let none = ClientEnv::read(|_| None);
        assert_eq!(none, ClientEnv::default());
        assert_eq!((none.port(), none.auto_connects(), none.skips_folder_check()), (None, true, false));
        assert_eq!(none.host(), "127.0.0.1");

        for (value, port) in
            [("41111", Some(41111)), ("", None), ("0", None), ("041111", None), ("65536", None)]
        {
            assert_eq!(with("CLAUDE_CODE_SSE_PORT", value).port(), port, "{value:?}");
            assert_eq!(with("OPENCODE_EDITOR_SSE_PORT", value).port(), None, "{value:?}, of opencode");
            assert_eq!(with("KILO_EDITOR_SSE_PORT", value).port(), None, "{value:?}, of Kilo Code");
            assert_eq!(with("KILO_EDITOR_SSE_PORT", value).kilo_port.as_deref(), Some(value));
        }
        for (value, attaches) in [
            ("false", false),
            ("FALSE", false),
            ("0", false),
            ("no", false),
            ("off", false),
            ("true", true),
            ("", true),
        ] {
            assert_eq!(with("CLAUDE_CODE_AUTO_CONNECT_IDE", value).auto_connects(), attaches, "{value:?}");
        }
        for (value, skips) in
            [("1", true), ("true", true), ("Yes", true), ("on", true), ("0", false), ("", false)]
        {
            assert_eq!(
                with("CLAUDE_CODE_IDE_SKIP_VALID_CHECK", value).skips_folder_check(),
                skips,
                "{value:?}"
            );
        }
    }

    #[test]
    fn host_is_written_with_port() {
        for (value, host, written) in [
            ("", "127.0.0.1", "127.0.0.1:7"),
            ("127.0.0.2", "127.0.0.2", "127.0.0.2:7"),
            ("host.docker.internal", "host.docker.internal", "host.docker.internal:7"),
            ("::1", "::1", "[::1]:7"),
            ("[::1]", "::1", "[::1]:7"),
        ] {
            let env = with("CLAUDE_CODE_IDE_HOST_OVERRIDE", value);
            assert_eq!((env.host(), authority(env.host(), 7).as_str()), (host, written), "{value:?}");
        }
    }
}
