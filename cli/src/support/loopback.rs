//! Connects to an editor, and tells the user about the owner of its port.

use ide_mcp_driver::{ConnectError, Trust};
use ide_mcp_lockfile::Unknown;
use std::fmt::Display;
use std::net::TcpStream;
use std::sync::Once;
use std::time::Duration;

use crate::support::complain;

/// Connects to this port of this host if the server there is trusted, and sends nothing. Reports the first server whose
/// owner is unknown on standard error.
///
/// # Errors
/// The errors of [`ide_mcp_blocking::connect_checked`].
pub(crate) fn connect_checked(
    program: &'static str,
    host: &str,
    port: u16,
    timeout: Duration,
    trust: Trust,
) -> Result<TcpStream, ConnectError> {
    let (stream, unknown) = ide_mcp_blocking::connect_checked(host, port, timeout, trust)?;
    if let Some(unknown) = unknown {
        report_unknown(program, stream.peer_addr()?, unknown);
    }
    Ok(stream)
}

/// Reports the first server whose owner is unknown on standard error. On a system that never reports owners, only the
/// doctor says so.
pub(crate) fn report_unknown(program: &'static str, peer: impl Display, unknown: Unknown) {
    if unknown == Unknown::Unsupported {
        return;
    }
    static REPORTED: Once = Once::new();
    REPORTED.call_once(|| {
        complain(
            program,
            &format!("the user who owns {peer} is unknown, and the token is sent there: {unknown}"),
        );
    });
}

/// Returns the text of the error, with the option that helps.
pub(crate) fn not_connected(error: &ConnectError) -> String {
    match error {
        ConnectError::NotTrusted(error) => format!(
            "{error}; if the editor runs in a container, --trust-port sends the token to whoever owns the port"
        ),
        error => error.to_string(),
    }
}
