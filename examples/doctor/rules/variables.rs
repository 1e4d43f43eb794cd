//! What the environment makes of an agent.

use super::Finding;
use crate::facts::{Facts, Lock, System, Variables};
use crate::kinds;
use ide_mcp::ide::LockFile;
use ide_mcp::ide::launch_env::PORT_VARIABLE;

const CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";
const INTEGRATION: &str = "ENABLE_IDE_INTEGRATION";
const AUTO_CONNECT: &str = "CLAUDE_CODE_AUTO_CONNECT_IDE";
const HOST_OVERRIDE: &str = "CLAUDE_CODE_IDE_HOST_OVERRIDE";
/// Those that clients are known to obey for `ws:`.
const PROXIES: [&str; 4] = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];
const NO_PROXIES: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// The variables that are looked at.
pub(crate) const NAMES: &[&str] = &[
    CONFIG_DIR,
    PORT_VARIABLE,
    INTEGRATION,
    AUTO_CONNECT,
    HOST_OVERRIDE,
    "http_proxy",
    "HTTP_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
];

pub(super) fn look(facts: &Facts, findings: &mut Vec<Finding>) {
    let variables = &facts.variables;
    if let Err(why) = &facts.directories {
        findings.push(Finding::new(&kinds::VARIABLES_UNUSABLE, why));
    } else if let Some(dir) = variables.get(CONFIG_DIR) {
        findings.push(Finding::new(&kinds::CONFIG_DIR_SET, format!("{CONFIG_DIR} is {dir:?}")));
    }
    findings.extend(port(facts));
    findings.extend(integration(variables));
    if variables.get(AUTO_CONNECT).is_some_and(is_no) {
        findings.push(Finding::new(
            &kinds::AUTO_CONNECT_OFF,
            format!("{AUTO_CONNECT} says that agents do not attach"),
        ));
    }
    if let Some(host) =
        variables.get(HOST_OVERRIDE).filter(|host| !matches!(*host, "" | "127.0.0.1" | "localhost"))
    {
        findings.push(Finding::new(&kinds::HOST_OVERRIDE, format!("{HOST_OVERRIDE} is {host:?}")));
    }
    findings.extend(proxy(variables));
    if facts.system == System::Wsl {
        findings.push(Finding::new(&kinds::WSL, "this is the Windows Subsystem for Linux"));
    }
}

fn port(facts: &Facts) -> Option<Finding> {
    let value = facts.variables.get(PORT_VARIABLE)?;
    let Some(port) = LockFile::parse_port(value) else {
        return Some(Finding::new(&kinds::PORT_VARIABLE_INVALID, format!("{PORT_VARIABLE} is {value:?}")));
    };
    let mut published = facts.locks.iter().filter(|lock| lock.used && lock.port == Some(port));
    let lives = |lock: &Lock| lock.file.is_ok() && lock.pid_alive != Some(false);
    let (kind, says) = match published.find(|lock| lives(lock)) {
        Some(lock) => (&kinds::PORT_VARIABLE_SOUND, format!("{PORT_VARIABLE} names {}", super::editor(lock))),
        None => (
            &kinds::PORT_VARIABLE_STALE,
            format!("{PORT_VARIABLE} is {port}, and no living editor has a lock file for that port"),
        ),
    };
    Some(Finding::new(kind, says).port(port))
}

fn integration(variables: &Variables) -> Option<Finding> {
    let value = variables.get(INTEGRATION)?;
    if !matches!(value.to_ascii_lowercase().as_str(), "true" | "t" | "1" | "yes" | "on") {
        return Some(Finding::new(&kinds::INTEGRATION_OFF, format!("{INTEGRATION} is {value:?}")));
    }
    variables.get(PORT_VARIABLE).is_none().then(|| {
        let says = format!("{INTEGRATION} is set, and {PORT_VARIABLE} is not");
        Finding::new(&kinds::INTEGRATION_WITHOUT_PORT, says)
    })
}

fn proxy(variables: &Variables) -> Option<Finding> {
    let is_set = |name: &&str| variables.get(name).is_some_and(|value| !value.is_empty());
    // Its value may have a password.
    let proxy = PROXIES.into_iter().find(is_set)?;
    // One that is not set excludes nothing, and which of them an agent reads differs (L12).
    let excludes = |name| variables.get(name).is_some_and(excludes_loopback);
    let lists = NO_PROXIES.map(|name| (name, excludes(name)));
    let is_set = NO_PROXIES.iter().any(|name| variables.get(name).is_some());
    let (kind, says) = match (lists.iter().find(|list| list.1), lists.iter().find(|list| !list.1)) {
        (Some(_), None) => {
            (&kinds::PROXY_SOUND, format!("{proxy} is set, and 127.0.0.1 is excluded from it"))
        }
        (Some((good, _)), Some((bad, _))) => (
            &kinds::NO_PROXY_DIFFERS,
            format!("{proxy} is set; {good} excludes 127.0.0.1 from it, and {bad} does not"),
        ),
        (None, _) if is_set => {
            (&kinds::PROXY_TAKES_LOOPBACK, format!("{proxy} is set, and 127.0.0.1 is not excluded from it"))
        }
        (None, _) => {
            (&kinds::PROXY_TAKES_LOOPBACK, format!("{proxy} is set, and neither no_proxy nor NO_PROXY is"))
        }
    };
    Some(Finding::new(kind, says))
}

/// Whether an agent that honours this connects to 127.0.0.1 itself. `localhost` alone does not help: the address is used.
fn excludes_loopback(list: &str) -> bool {
    let mut hosts = list.split([',', ' ']).map(str::trim);
    hosts.any(|host| matches!(host, "*" | "127.0.0.1" | "127.0.0.0/8"))
}

fn is_no(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "false" | "0" | "no" | "off")
}
