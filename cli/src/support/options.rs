//! Parts of a command line that have the same meaning in every command.

use clap::ValueHint;
#[cfg(any(feature = "agent", feature = "bridge", feature = "doctor", feature = "tap"))]
use clap::builder::{BoolValueParser, TypedValueParser};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use ide_mcp::ide::discovery::locate::Extras;
#[cfg(any(feature = "agent", feature = "bridge", feature = "doctor", feature = "tap"))]
use ide_mcp_driver::Trust;
use ide_mcp_lockfile::{EditorSearch, from_environment, scan_for};
use std::path::PathBuf;

/// The running editor that a command is for, by its lock file.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct EditorArgs {
    /// The lock file of the editor
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "port")]
    pub(crate) lock: Option<PathBuf>,
    /// The editor with the lock file PORT.lock
    #[arg(long, global = true, value_parser = running_port, add = ArgValueCandidates::new(ports))]
    pub(crate) port: Option<u16>,
    /// Act as if started in DIR: take an editor that has it open
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
    /// Take the editor although its process does not run here
    #[arg(long, global = true)]
    pub(crate) dead_process: bool,
}

impl EditorArgs {
    /// Returns the search for the editor of an agent.
    pub(crate) fn search(&self) -> EditorSearch {
        let mut search = EditorSearch::default();
        search.lock_file.clone_from(&self.lock);
        search.port = self.port;
        search.cwd.clone_from(&self.cwd);
        search.permits_dead_process = self.dead_process;
        search
    }
}

/// Parses the port of a running editor.
///
/// # Errors
/// The allowed values.
pub(crate) fn running_port(text: &str) -> Result<u16, &'static str> {
    listening_port(text).ok().filter(|port| *port > 0).ok_or("give a number from 1 to 65535")
}

/// Parses a port to listen on; 0 is any free one.
///
/// # Errors
/// The allowed values.
pub(crate) fn listening_port(text: &str) -> Result<u16, &'static str> {
    text.parse().map_err(|_| "give a number from 0 to 65535")
}

/// Parses `--trust-port`: whether the token is sent to the ports of every user or only of ours.
#[cfg(any(feature = "agent", feature = "bridge", feature = "doctor", feature = "tap"))]
pub(crate) fn trust() -> impl TypedValueParser<Value = Trust> {
    BoolValueParser::new().map(|is_given| if is_given { Trust::EveryUser } else { Trust::OurUser })
}

/// Parses a name that agents show.
///
/// # Errors
/// The name is blank.
pub(crate) fn shown_name(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() { Err("give a name that agents can show") } else { Ok(text.into()) }
}

/// Returns the ports of the running editors for a completion, the newest editor first.
fn ports() -> Vec<CompletionCandidate> {
    // A directory that cannot be read has no ports, because a completion cannot show errors.
    let dirs = from_environment(Extras::default()).unwrap_or_default();
    let found = dirs.into_iter().flat_map(|dir| scan_for(dir.form(), dir.dir).unwrap_or_default());
    let running = found.filter(|found| found.file.is_ok() && found.pid_alive != Some(false));
    running.filter_map(|found| found.port).map(|port| CompletionCandidate::new(port.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_outside_range_is_refused() {
        let cases = [
            ("0", 0, Some(0)),
            ("0", 1, None),
            ("1", 1, Some(1)),
            ("65535", 1, Some(65535)),
            ("65536", 1, None),
            ("-1", 0, None),
            ("http", 0, None),
            ("", 0, None),
        ];
        for (text, lowest, expected) in cases {
            let port = if lowest == 0 { listening_port(text) } else { running_port(text) };
            assert_eq!(port.ok(), expected, "{text:?} from {lowest}");
            if let Err(message) = port {
                assert!(message.ends_with(&format!("{lowest} to 65535")), "{message}");
            }
        }
    }
}
