//! The environment of a terminal or a client that your editor starts. There is no I/O here: you pass the inherited
//! variables, and get those to set and to remove.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::client_env::{KILO_PORT_VARIABLE, OPENCODE_PORT_VARIABLE, PORT_VARIABLE};

/// Returns what to change in the environment of a process that your editor starts. `port` is where the editor listens,
/// if it does.
///
/// With a port, the child connects to this editor without a folder check and without a proxy, because the real client
/// sends even loopback connections to a proxy. `no_proxy` and `NO_PROXY` get the same value, because on Windows they
/// are one variable, and elsewhere we do not know which of them the client reads. The value has the entries of both,
/// then whichever of `localhost`, `127.0.0.1` and `::1` are missing.
///
/// Without a port, the variables of another editor are removed: yours inherits them if it was started in that editor's
/// terminal, and the child would connect to the other editor, or wait for a port that was closed long ago.
///
/// Start opencode and Kilo Code with `launch_env(None, …)`: if a variable names a port, they connect there without a
/// token, and the editor always refuses them; otherwise they read the lock files and their tokens (measured with
/// 1.18.33 and 7.7.9). [`OPENCODE_PORT_VARIABLE`] and [`KILO_PORT_VARIABLE`] are always removed.
pub fn launch_env<'a>(
    port: Option<u16>,
    inherited: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> LaunchEnv {
    let mut excluded = Vec::new();
    let mut remove = Vec::new();
    for (name, value) in inherited {
        if name.eq_ignore_ascii_case(NO_PROXY) {
            excluded.push((name, value));
        }
        let stale = if port.is_some() { STALE_ALWAYS } else { STALE_WITHOUT_PORT };
        if stale.contains(&name) && !remove.iter().any(|other| other == name) {
            remove.push(name.to_string());
        }
    }
    let set = match port {
        Some(port) => variables(port, excluded),
        None => Vec::new(),
    };
    LaunchEnv { set, remove }
}

/// What to change in the environment of a child process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchEnv {
    /// Names and values to set.
    pub set: Vec<(String, String)>,
    /// Names to remove. Each was inherited, and none is in [`set`](Self::set).
    pub remove: Vec<String>,
}

const INTEGRATION: &str = "ENABLE_IDE_INTEGRATION";
const NO_PROXY: &str = "no_proxy";
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The variable by which VS Code marks its own terminals. An editor started in such a terminal inherits the mark, which
/// would be wrong in that editor's terminals.
const FORCE_CODE_TERMINAL: &str = "FORCE_CODE_TERMINAL";
const STALE_ALWAYS: &[&str] = &[FORCE_CODE_TERMINAL, OPENCODE_PORT_VARIABLE, KILO_PORT_VARIABLE];
const STALE_WITHOUT_PORT: &[&str] =
    &[FORCE_CODE_TERMINAL, OPENCODE_PORT_VARIABLE, KILO_PORT_VARIABLE, PORT_VARIABLE, INTEGRATION];

fn variables(port: u16, excluded: Vec<(&str, &str)>) -> Vec<(String, String)> {
    // The lower-case name comes first, whatever the order of the environment.
    let (lower, other): (Vec<_>, Vec<_>) = excluded.into_iter().partition(|(name, _)| *name == NO_PROXY);
    let mut hosts: Vec<&str> = Vec::new();
    for host in
        lower.iter().chain(&other).flat_map(|(_, value)| value.split(',')).map(str::trim).chain(LOOPBACK)
    {
        if !host.is_empty() && !hosts.iter().any(|other| other.eq_ignore_ascii_case(host)) {
            hosts.push(host);
        }
    }
    let hosts = hosts.join(",");
    Vec::from([
        (PORT_VARIABLE.to_string(), port.to_string()),
        (INTEGRATION.to_string(), "true".to_string()),
        (NO_PROXY.to_string(), hosts.clone()),
        (NO_PROXY.to_ascii_uppercase(), hosts),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    type Inherited = &'static [(&'static str, &'static str)];

    #[test]
    fn l12_loopback_is_merged_into_what_was_there() {
        let cases: &[(&str, Inherited, &str)] = &[
            ("no variable", &[], "localhost,127.0.0.1,::1"),
            ("an empty variable", &[("no_proxy", "")], "localhost,127.0.0.1,::1"),
            (
                "inherited hosts stay in front",
                &[("no_proxy", "a.example,10.0.0.0/8")],
                "a.example,10.0.0.0/8,localhost,127.0.0.1,::1",
            ),
            ("upper case only", &[("NO_PROXY", "a.example")], "a.example,localhost,127.0.0.1,::1"),
            (
                "both, in any order, lower case first",
                &[("NO_PROXY", "b.example,a.example"), ("no_proxy", "a.example")],
                "a.example,b.example,localhost,127.0.0.1,::1",
            ),
            (
                "all hosts are there already",
                &[("no_proxy", "::1,LOCALHOST,127.0.0.1")],
                "::1,LOCALHOST,127.0.0.1",
            ),
            ("some hosts are there already", &[("no_proxy", "127.0.0.1")], "127.0.0.1,localhost,::1"),
            (
                "spaces and gaps",
                &[("no_proxy", " a.example , ,b.example,")],
                "a.example,b.example,localhost,127.0.0.1,::1",
            ),
            (
                "localhost.example is not localhost",
                &[("no_proxy", "localhost.example")],
                "localhost.example,localhost,127.0.0.1,::1",
            ),
            ("a star for all hosts", &[("no_proxy", "*")], "*,localhost,127.0.0.1,::1"),
        ];
        for (name, inherited, expected) in cases {
            let env = launch_env(Some(4321), inherited.iter().copied());
            let expected = [
                ("CLAUDE_CODE_SSE_PORT", "4321"),
                ("ENABLE_IDE_INTEGRATION", "true"),
                ("no_proxy", *expected),
                ("NO_PROXY", *expected),
            ];
            assert_eq!(
                env.set,
                expected.map(|(name, value)| (name.to_string(), value.to_string())),
                "{name}"
            );
            assert!(env.remove.is_empty(), "{name}");
        }
    }

    #[test]
    fn l12_variables_of_outer_editor_are_replaced() {
        let inherited = [
            ("PATH", "/bin"),
            ("CLAUDE_CODE_SSE_PORT", "1"),
            ("ENABLE_IDE_INTEGRATION", "true"),
            ("FORCE_CODE_TERMINAL", "true"),
            ("OPENCODE_EDITOR_SSE_PORT", "1"),
            ("KILO_EDITOR_SSE_PORT", "1"),
            ("no_proxy", "a.example"),
        ];
        let with = launch_env(Some(2), inherited);
        assert_eq!(with.set[0], ("CLAUDE_CODE_SSE_PORT".to_string(), "2".to_string()));
        assert_eq!(with.remove, ["FORCE_CODE_TERMINAL", "OPENCODE_EDITOR_SSE_PORT", "KILO_EDITOR_SSE_PORT"]);

        let without = launch_env(None, inherited);
        assert!(without.set.is_empty(), "{without:?}");
        assert_eq!(
            without.remove,
            [
                "CLAUDE_CODE_SSE_PORT",
                "ENABLE_IDE_INTEGRATION",
                "FORCE_CODE_TERMINAL",
                "OPENCODE_EDITOR_SSE_PORT",
                "KILO_EDITOR_SSE_PORT"
            ]
        );

        assert_eq!(launch_env(None, [("PATH", "/bin")]), LaunchEnv::default());
    }

    #[test]
    fn applying_it_twice_changes_nothing_more() {
        let once = launch_env(Some(7), [("no_proxy", "a.example, b.example")]);
        let twice = launch_env(Some(7), once.set.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        assert_eq!(once, twice);
    }
}
