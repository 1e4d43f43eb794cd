//! The rules about lock files that conflict with each other.

use super::Finding;
use super::words::{editor, listed, quoted};
use crate::doctor::facts::{Facts, Lock};
use crate::doctor::kinds;
use std::collections::BTreeMap;

pub(super) fn look(facts: &Facts, findings: &mut Vec<Finding>) {
    let readable = || facts.locks.iter().filter(|lock| lock.file.is_ok());
    for (port, locks) in grouped(readable(), |lock| lock.port) {
        let token = |lock: &&Lock| lock.file.as_ref().ok().and_then(|file| file.auth_token.clone());
        let agree = locks.windows(2).all(|two| two.first().map(token) == two.last().map(token));
        let (kind, verb) = if agree {
            (&kinds::PORT_TWICE, "have the same port and the same token")
        } else {
            (&kinds::PORT_TWICE_DIFFERENTLY, "have the same port, but not the same token")
        };
        let paths: Vec<String> = locks.iter().map(|lock| quoted(&lock.path)).collect();
        let finding = Finding::new(kind, format!("{} {verb}", listed(&paths, " and "))).port(port);
        // The token that the editor accepted is right. If it accepted none, the newest file is the
        // likeliest to be right.
        let wrong = locks.iter().min_by_key(|lock| (lock.attaches(), lock.modified));
        findings.push(match wrong.filter(|_| !agree) {
            Some(wrong) => finding.path(&wrong.path),
            None => finding,
        });
    }
    let pid = |lock: &Lock| lock.file.as_ref().ok()?.pid;
    for (pid, locks) in grouped(readable().filter(|lock| lock.used), pid) {
        let names: Vec<String> = locks.iter().map(|lock| editor(lock)).collect();
        let details = format!("{} have the process id {pid}", listed(&names, " and "));
        findings.push(Finding::new(&kinds::PROCESS_TWICE, details));
    }
}

/// Groups the lock files by their key. Returns the groups of more than one lock file.
fn grouped<'a, K: Ord>(
    locks: impl Iterator<Item = &'a Lock>,
    key: impl Fn(&Lock) -> Option<K>,
) -> BTreeMap<K, Vec<&'a Lock>> {
    let mut groups: BTreeMap<K, Vec<&Lock>> = BTreeMap::new();
    for lock in locks {
        if let Some(key) = key(lock) {
            groups.entry(key).or_default().push(lock);
        }
    }
    groups.retain(|_, locks| locks.len() > 1);
    groups
}
