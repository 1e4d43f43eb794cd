//! The rules about the environment of an agent.

use super::Finding;
use super::words::{editor, quoted};
use crate::doctor::facts::SHORTEST_SECRET;
use crate::doctor::facts::{Facts, Lock, System, Variables};
use crate::doctor::kinds;
use ide_mcp::ide::discovery::LockFile;
use ide_mcp::ide::discovery::client_env::{
    AUTO_CONNECT_VARIABLE, DISTRIBUTION_VARIABLE, HOST_VARIABLE, KILO_PORT_VARIABLE, LOOPBACK,
    OPENCODE_PORT_VARIABLE, PORT_VARIABLE, SKIP_CHECK_VARIABLE,
};
use std::net::IpAddr;

const CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";
const INTEGRATION: &str = "ENABLE_IDE_INTEGRATION";
/// The variables that clients are known to use for `ws:`.
const PROXIES: [&str; 4] = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];
const NO_PROXIES: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// The variables that the doctor reads.
pub(crate) const NAMES: &[&str] = &[
    CONFIG_DIR,
    PORT_VARIABLE,
    INTEGRATION,
    AUTO_CONNECT_VARIABLE,
    HOST_VARIABLE,
    SKIP_CHECK_VARIABLE,
    OPENCODE_PORT_VARIABLE,
    KILO_PORT_VARIABLE,
    DISTRIBUTION_VARIABLE,
    "http_proxy",
    "HTTP_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
];

pub(super) fn look(facts: &Facts, findings: &mut Vec<Finding>) {
    let variables = &facts.variables;
    if let Err(reason) = &facts.directories {
        // The home directory counts only without the variable.
        let is_home = variables.get(CONFIG_DIR).is_none();
        let kind = if is_home { &kinds::VARIABLES_UNUSABLE } else { &kinds::CONFIG_DIR_UNUSABLE };
        findings.push(Finding::new(kind, reason));
    } else if let Some(dir) = variables.get(CONFIG_DIR) {
        let is_published = facts.locks.iter().any(|lock| lock.used && lock.is_of_living_editor());
        let kind = if is_published { &kinds::CONFIG_DIR_SOUND } else { &kinds::CONFIG_DIR_SET };
        findings.push(Finding::new(kind, is(CONFIG_DIR, dir)));
    }
    findings.extend(port(facts));
    findings.extend(integration(variables));
    let client = variables.client();
    if let Some(value) = client.auto_connect.as_ref().filter(|_| !client.auto_connects()) {
        findings.push(Finding::new(&kinds::AUTO_CONNECT_OFF, is(AUTO_CONNECT_VARIABLE, value)));
    }
    findings.extend(host(client.host()));
    if let Some(value) = client.skip_check.as_ref().filter(|_| client.skips_folder_check()) {
        findings.push(Finding::new(&kinds::FOLDER_CHECK_SKIPPED, is(SKIP_CHECK_VARIABLE, value)));
    }
    findings.extend(opencode(facts));
    findings.extend(proxy(variables));
    if matches!(facts.system, System::Wsl { .. }) {
        findings.push(Finding::new(&kinds::WSL, "this is the Windows Subsystem for Linux"));
    }
}

fn is(name: &str, value: &str) -> String {
    format!("{name} is {}", shown_value(name, value))
}

fn port(facts: &Facts) -> Option<Finding> {
    let value = facts.variables.get(PORT_VARIABLE)?;
    let Some(port) = facts.variables.client().port() else {
        return Some(Finding::new(&kinds::PORT_VARIABLE_INVALID, is(PORT_VARIABLE, value)));
    };
    let mut published = facts.locks.iter().filter(|lock| lock.used && lock.port == Some(port));
    let (kind, message) = match published.find(|lock| lock.is_of_living_editor()) {
        Some(lock) => (&kinds::PORT_VARIABLE_SOUND, format!("{PORT_VARIABLE} names {}", editor(lock))),
        None => (
            &kinds::PORT_VARIABLE_STALE,
            format!("{PORT_VARIABLE} is {port}, and no living editor has a lock file for that port"),
        ),
    };
    Some(Finding::new(kind, message).port(port))
}

/// Returns the value of a variable as far as it can be shown. A path or a host is shown. Any other value is a word or
/// a number, or may be a secret in the wrong place.
pub(crate) fn shown_value(name: &str, value: &str) -> String {
    let is_shown = match name {
        CONFIG_DIR => true,
        HOST_VARIABLE => !value.contains('@'),
        name if PROXIES.contains(&name) || NO_PROXIES.contains(&name) => return "set".into(),
        _ => value.len() < SHORTEST_SECRET,
    };
    if is_shown { quoted(value) } else { format!("{} characters long", value.chars().count()) }
}

/// Returns a finding about the host of the editor, if it is not 127.0.0.1 or localhost.
fn host(host: &str) -> Option<Finding> {
    if host == LOOPBACK || host.eq_ignore_ascii_case("localhost") {
        return None;
    }
    let is_here = host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    let kind = if is_here { &kinds::HOST_OVERRIDE_LOOPBACK } else { &kinds::HOST_OVERRIDE };
    Some(Finding::new(kind, is(HOST_VARIABLE, host)))
}

/// Returns a finding if a variable names a port for opencode or Kilo Code, which send no token there. An
/// editor that requires no token accepts them.
fn opencode(facts: &Facts) -> Option<Finding> {
    let client = facts.variables.client();
    let set = [
        (OPENCODE_PORT_VARIABLE, client.opencode_port),
        (KILO_PORT_VARIABLE, client.kilo_port),
        (PORT_VARIABLE, client.port),
    ];
    let named = |(name, value): (&'static str, Option<String>)| {
        let value = value?;
        Some((name, LockFile::parse_port(&value)?, value))
    };
    let (name, port, value) = set.into_iter().find_map(named)?;
    let asks_for_no_token = |lock: &Lock| {
        lock.used && lock.port == Some(port) && lock.file.as_ref().is_ok_and(|file| file.auth_token.is_none())
    };
    (!facts.locks.iter().any(asks_for_no_token))
        .then(|| Finding::new(&kinds::OPENCODE_WITHOUT_TOKEN, is(name, &value)))
}

fn integration(variables: &Variables) -> Option<Finding> {
    let value = variables.get(INTEGRATION)?;
    if !matches!(value.to_ascii_lowercase().as_str(), "true" | "t" | "1" | "yes" | "on") {
        return Some(Finding::new(&kinds::INTEGRATION_OFF, is(INTEGRATION, value)));
    }
    variables.get(PORT_VARIABLE).is_none().then(|| {
        let message = format!("{INTEGRATION} is set, and {PORT_VARIABLE} is not");
        Finding::new(&kinds::INTEGRATION_WITHOUT_PORT, message)
    })
}

fn proxy(variables: &Variables) -> Option<Finding> {
    let is_set = |name: &&str| variables.get(name).is_some_and(|value| !value.is_empty());
    // The value can contain a password, so no finding contains the value.
    let proxy = PROXIES.into_iter().find(is_set)?;
    // A list that is not set excludes nothing. Agents differ in which list they read.
    let excludes = |name| variables.get(name).is_some_and(excludes_loopback);
    let lists = NO_PROXIES.map(|name| (name, excludes(name)));
    let is_set = NO_PROXIES.iter().any(|name| variables.get(name).is_some());
    let (kind, message) = match (lists.iter().find(|list| list.1), lists.iter().find(|list| !list.1)) {
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
    Some(Finding::new(kind, message))
}

/// Returns true if an agent that follows this list connects to 127.0.0.1 directly. `localhost`
/// alone does not help, since the agent uses the address.
fn excludes_loopback(list: &str) -> bool {
    let mut hosts = list.split([',', ' ']).map(str::trim);
    hosts.any(|host| matches!(host, "*" | "127.0.0.1" | "127.0.0.0/8"))
}
