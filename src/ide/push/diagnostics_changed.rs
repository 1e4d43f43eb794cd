//! `diagnostics_changed`: the problems of files have changed.

use super::InDialect;
use crate::ide::Dialect;
use crate::ide::tool::{Diagnostic, FileDiagnostics};
use crate::rpc::{from_json, members};
use alloc::{boxed::Box, string::String, vec::Vec};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use serde_json::value::RawValue;

pub(super) const NAMES: [&str; 2] = ["diagnostics_changed", "notifications/diagnostics_changed"];

/// The problems of files have changed: the parameters of `diagnostics_changed`. The real client shows no sign that it
/// got this (measured).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiagnosticsChanged {
    /// The files whose problems have changed, without the problems: `{"uris":[…]}`. A client that needs them must ask
    /// again.
    Stale {
        /// The files, as `file:` URIs.
        uris: Vec<String>,
    },
    /// The problems of one file: `{"uri":…,"diagnostics":[…]}`. At most
    /// [`ContentLimits::diagnostics`](crate::ide::ContentLimits::diagnostics) of them are sent.
    Now(FileDiagnostics),
}

impl DiagnosticsChanged {
    /// Returns roughly how much memory the parameters take: the bytes of their strings, and the size of each list
    /// element.
    pub(super) fn content_len(&self) -> usize {
        match self {
            Self::Stale { uris } => uris
                .iter()
                .fold(0, |sum, uri| sum.saturating_add(size_of::<String>()).saturating_add(uri.len())),
            Self::Now(file) => file.diagnostics.iter().fold(file.uri.len(), |sum, diagnostic| {
                let texts = [Some(&diagnostic.message), diagnostic.source.as_ref(), diagnostic.code.as_ref()];
                let texts: usize = texts.into_iter().flatten().map(String::len).sum();
                sum.saturating_add(size_of::<Diagnostic>()).saturating_add(texts)
            }),
        }
    }

    /// Returns the notification with its first `most` problems; `None` if it has no more than that.
    pub(crate) fn cut(&self, most: usize) -> Option<Self> {
        match self {
            Self::Now(file) if file.diagnostics.len() > most => {
                let mut cut = FileDiagnostics::new(&file.uri, file.diagnostics.get(..most)?.to_vec());
                cut.lines_in_file = file.lines_in_file;
                Some(Self::Now(cut))
            }
            Self::Stale { .. } | Self::Now(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for DiagnosticsChanged {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let uris = members(&raw, ["uris"]).and_then(|[uris]| from_json(uris?.get()).ok());
        match uris {
            Some(uris) => Ok(Self::Stale { uris }),
            None => from_json(raw.get()).map(Self::Now).map_err(D::Error::custom),
        }
    }
}

impl Serialize for DiagnosticsChanged {
    /// Writes the parameters in the shape of VS Code.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        InDialect(self, Dialect::VsCode).serialize(serializer)
    }
}

impl Serialize for InDialect<'_, DiagnosticsChanged> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            DiagnosticsChanged::Stale { uris } => serializer.collect_map([("uris", uris)]),
            DiagnosticsChanged::Now(file) => file.shown(usize::MAX, self.1).serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::kit::Range;

    #[test]
    fn both_shapes_of_changed_diagnostics_round_trip() {
        use crate::ide::tool::{Diagnostic, Severity};
        let problem = Diagnostic::new(Severity::Error, Range::default(), "m");
        let now = DiagnosticsChanged::Now(FileDiagnostics::new("file:///a", Vec::from([problem])));
        let stale = DiagnosticsChanged::Stale { uris: Vec::from(["file:///a".into()]) };
        for dialect in Dialect::ALL {
            for changed in [&now, &stale] {
                let written = serde_json::to_string(&InDialect(changed, dialect)).unwrap();
                assert_eq!(
                    &serde_json::from_str::<DiagnosticsChanged>(&written).unwrap(),
                    changed,
                    "{written}"
                );
            }
        }
        assert!(serde_json::to_string(&InDialect(&now, Dialect::JetBrains)).unwrap().contains(r#""ERROR""#));
    }

    #[test]
    fn changed_diagnostics_are_cut_above_the_limit() {
        use crate::ide::tool::{Diagnostic, Severity};
        for (count, cut_to) in [(2, None), (3, None), (4, Some(3))] {
            let problem = Diagnostic::new(Severity::Hint, Range::default(), "m");
            let mut file = FileDiagnostics::new("u", alloc::vec![problem; count]);
            file.lines_in_file = Some(7);
            let cut = cut_to.map(|most| {
                let diagnostics = file.diagnostics[..most].to_vec();
                DiagnosticsChanged::Now(FileDiagnostics { diagnostics, ..file.clone() })
            });
            assert_eq!(DiagnosticsChanged::Now(file).cut(3), cut, "{count}");
        }
    }
}
