//! All kinds of findings: the id, the status, the meaning, the advice, and the command that follows the
//! advice. `docs/doctor.md` is the table of all kinds.
//!
//! In advice, `{port}` and `{cwd}` stand for the values of the finding.

use serde::Serialize;

pub(crate) use remedy::{Remedy, Values};
pub(crate) use table::*;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// It keeps an agent from attaching, or lets in a program that has no right to attach.
    Problem,
    /// It does harm in some circumstances.
    Warning,
    /// Useful information.
    Note,
    /// The correct state.
    Ok,
}

impl Status {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Problem => "problem",
            Self::Warning => "warning",
            Self::Note => "note",
            Self::Ok => "ok",
        }
    }
}

/// What all findings with the same id have in common.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The id, which never changes its meaning.
    pub(crate) id: &'static str,
    pub(crate) status: Status,
    /// True if the finding means that the doctor could not inspect something.
    pub(crate) blinds: bool,
    pub(crate) meaning: &'static str,
    /// The advice; empty if nothing is to be done.
    pub(crate) advice: &'static str,
    /// The command that follows the advice, or its first step; `None` if only a user can follow the advice.
    pub(crate) command: Option<Remedy>,
}

macro_rules! kinds {
    ($($name:ident = $id:literal $status:ident $($blinds:ident)?: $meaning:literal, $advice:literal
        $(, $command:expr)?;)*) => {
        $(pub(crate) static $name: Kind = Kind {
            id: $id,
            status: Status::$status,
            blinds: false $(|| kinds!($blinds))?,
            meaning: $meaning,
            advice: $advice,
            command: kinds!(command $($command)?),
        };)*

        /// All kinds, for the page that explains them.
        #[cfg(test)]
        pub(crate) static ALL: &[&Kind] = &[$(&$name),*];
    };
    (blinds) => { true };
    (command) => { None };
    (command $command:expr) => { Some($command) };
}

mod remedy;
mod table;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn kinds_have_unique_ids_and_needed_advice() {
        let mut seen = BTreeSet::new();
        for kind in ALL {
            let words = kind
                .id
                .split('-')
                .all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase()));
            assert!(words && seen.insert(kind.id), "{}", kind.id);
            assert!(kind.meaning.ends_with('.'), "{}", kind.id);
            let needs = matches!(kind.status, Status::Problem | Status::Warning);
            assert!(!needs || !kind.advice.is_empty(), "{}", kind.id);
            assert!(kind.command.is_none() || !kind.advice.is_empty(), "{}", kind.id);
            assert!(!kind.blinds || kind.status == Status::Problem, "{}", kind.id);
        }
    }
}
