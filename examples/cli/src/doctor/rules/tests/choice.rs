//! The cases of several editors, among which the agent chooses.

use super::{Case, file, lock};
use crate::doctor::facts::Lock;

pub(super) const CASES: &[Case] = &[
    (
        "an editor elsewhere",
        |f| f.locks.push(Lock { directory: 1, used: false, ..lock(2, "/w") }),
        &["locks-where-nobody-looks"],
    ),
    (
        "a dead editor elsewhere",
        |f| {
            f.locks.push(Lock { directory: 1, used: false, pid_alive: Some(false), ..lock(2, "/w") });
        },
        &[],
    ),
    (
        "an editor in both",
        |f| f.locks.push(Lock { directory: 1, used: false, ..lock(1, "/w") }),
        &["port-published-twice"],
    ),
    (
        "two editors of one port",
        |f| {
            f.locks.push(Lock { directory: 1, used: false, ..lock(1, "/w") });
            f.locks[1].file.as_mut().unwrap().auth_token = None;
        },
        &["port-published-twice-differently"],
    ),
    ("two windows", |f| f.locks.push(lock(2, "/v")), &["process-published-twice"]),
    (
        "two editors",
        |f| {
            f.locks.push(lock(2, "/"));
            file(f).pid = Some(8);
        },
        &["several-editors"],
    ),
];
