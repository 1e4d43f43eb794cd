//! Progress: reports on a request that is still open, and the token that connects them with it.
//!
//! The sender of a request puts a token into `params._meta.progressToken`. Until the answer, the receiver may then send
//! `notifications/progress` with this token, each time with a greater number. Some peers drop the connection if a token
//! is made up or used after the answer; this code makes both impossible.

use alloc::{borrow::Cow, boxed::Box, format, string::String};

use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::value::{RawValue, to_raw_value};

use super::ProtocolVersion;
use crate::{
    rpc::{Id, SessionLimits, each_member, name_of, read_object, text_of},
    text::truncate,
};

/// How far a request has come.
///
/// ```
/// let progress = ide_mcp::mcp::Progress::new(3.0).of(10.0).message("3 of 10 files");
/// assert_eq!(progress.total, Some(10.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// How much is done: a number in any unit, which grows from one report to the next.
    pub progress: f64,
    /// What `progress` will be at the end, if you know.
    pub total: Option<f64>,
    /// What is being done, for a person. Version 2024-11-05 does not have this member.
    pub message: Option<Cow<'a, str>>,
}

impl<'a> Progress<'a> {
    /// Returns this progress, without a total and without a message.
    #[must_use]
    pub const fn new(progress: f64) -> Self {
        Self { progress, total: None, message: None }
    }

    /// Sets the total.
    #[must_use]
    pub const fn of(mut self, total: f64) -> Self {
        self.total = Some(total);
        self
    }

    /// Sets the message.
    #[must_use]
    pub fn message(mut self, message: impl Into<Cow<'a, str>>) -> Self {
        self.message = Some(message.into());
        self
    }
}

/// The parameters of `notifications/progress`, for reading.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProgressIn<'a> {
    #[serde(borrow)]
    progress_token: &'a RawValue,
    progress: f64,
    total: Option<&'a RawValue>,
    message: Option<&'a RawValue>,
}

impl ProgressIn<'_> {
    pub(super) fn token(&self, limits: &SessionLimits) -> Option<Id> {
        Id::read(self.progress_token, limits)
    }

    /// Returns the progress, with the message cut to `limit` bytes.
    pub(super) fn progress(&self, limit: usize) -> Progress<'static> {
        let message = self.message.and_then(text_of);
        Progress {
            progress: self.progress,
            total: self.total.and_then(|raw| serde_json::from_str(raw.get()).ok()),
            message: message.map(|text| Cow::Owned(truncate(&text, limit).into())),
        }
    }
}

/// The parameters of `notifications/progress`, for writing in one version.
pub(super) struct ProgressOut<'a> {
    pub(super) token: &'a Id,
    pub(super) report: &'a Progress<'a>,
    pub(super) version: Option<ProtocolVersion>,
}

impl Serialize for ProgressOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        out.serialize_entry("progressToken", self.token)?;
        out.serialize_entry("progress", &self.report.progress)?;
        if let Some(total) = self.report.total.filter(|total| total.is_finite()) {
            out.serialize_entry("total", &total)?;
        }
        if let Some(message) = &self.report.message {
            if self.version.is_some_and(|version| version >= ProtocolVersion::V2025_03_26) {
                out.serialize_entry("message", message)?;
            }
        }
        out.end()
    }
}

/// Returns the token in the `_meta` of a request; `None` if there is none that can be echoed.
pub(super) fn token(meta: &RawValue, limits: &SessionLimits) -> Option<Id> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Meta<'a> {
        #[serde(borrow)]
        progress_token: Option<&'a RawValue>,
    }
    let meta: Meta<'_> = read_object(meta)?;
    Id::read(meta.progress_token?, limits)
}

/// Returns the token of a request, from its parameters.
pub(super) fn token_of(params: Option<&RawValue>, limits: &SessionLimits) -> Option<Id> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow, rename = "_meta")]
        meta: Option<&'a RawValue>,
    }
    let params: Params<'_> = serde_json::from_str(params?.get()).ok()?;
    token(params.meta?, limits)
}

/// Returns the parameters with this token in their `_meta`, replacing any other. Returns `None` if they cannot be
/// written as an object.
pub(super) fn with_token<P: Serialize + ?Sized>(params: Option<&P>, token: u64) -> Option<Box<RawValue>> {
    let params = to_raw_value(&params).ok()?;
    let mut text = String::from("{");
    let meta = match params.get() {
        "null" => None,
        _ => copy_members(&params, "_meta", &mut text)?,
    };
    text.push_str("\"_meta\":{");
    let before = text.len();
    if meta.is_some_and(|meta| copy_members(meta, "progressToken", &mut text).is_none()) {
        // The `_meta` was not an object, so nothing of it is kept.
        text.truncate(before);
    }
    text.push_str(&format!("\"progressToken\":{token}}}}}"));
    RawValue::from_string(text).ok()
}

/// Appends the members of an object as they are written, each followed by a comma. Leaves out those with the name
/// `but`, and returns the first that it left out. Returns `None` if `object` is not an object.
fn copy_members<'a>(object: &'a RawValue, but: &str, into: &mut String) -> Option<Option<&'a RawValue>> {
    let mut left_out = None;
    each_member(object, |name, value| {
        if name_of(name).is_some_and(|name| name == but) {
            left_out = left_out.or(Some(value));
            return;
        }
        for part in [name.get(), ":", value.get(), ","] {
            into.push_str(part);
        }
    })?;
    Some(left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_added_to_existing_parameters() {
        const CASES: &[(&str, &str, Option<&str>)] = &[
            ("nothing", "null", Some(r#"{"_meta":{"progressToken":7}}"#)),
            ("empty", "{}", Some(r#"{"_meta":{"progressToken":7}}"#)),
            ("others", r#"{"b":[1],"a":{}}"#, Some(r#"{"b":[1],"a":{},"_meta":{"progressToken":7}}"#)),
            (
                "other metadata",
                r#"{"_meta":{"x":null},"a":1}"#,
                Some(r#"{"a":1,"_meta":{"x":null,"progressToken":7}}"#),
            ),
            (
                "another token",
                r#"{"_meta":{"progressToken":"abc"}}"#,
                Some(r#"{"_meta":{"progressToken":7}}"#),
            ),
            (
                "metadata twice",
                r#"{"_meta":{"x":1},"_meta":2}"#,
                Some(r#"{"_meta":{"x":1,"progressToken":7}}"#),
            ),
            (
                "metadata with an escape",
                r#"{"_met\u0061":{"x":1,"progress\u0054oken":1}}"#,
                Some(r#"{"_meta":{"x":1,"progressToken":7}}"#),
            ),
            (
                "a name that is not Unicode",
                r#"{"\ud83d":1}"#,
                Some(r#"{"\ud83d":1,"_meta":{"progressToken":7}}"#),
            ),
            ("metadata that is an array", r#"{"_meta":[1]}"#, Some(r#"{"_meta":{"progressToken":7}}"#)),
            ("metadata null", r#"{"_meta":null}"#, Some(r#"{"_meta":{"progressToken":7}}"#)),
            ("not an object", "[1]", None),
        ];
        for (name, params, want) in CASES {
            let params: &RawValue = serde_json::from_str(params).unwrap();
            let got = with_token(Some(params), 7);
            assert_eq!(got.as_deref().map(RawValue::get), *want, "{name}");
        }
        assert_eq!(with_token(None::<&()>, 7).unwrap().get(), r#"{"_meta":{"progressToken":7}}"#);
    }

    #[test]
    fn progress_is_written_for_its_version() {
        let token = Id::from(7);
        let report = Progress::new(0.5).of(1.0).message("half");
        let write = |report: &Progress<'_>, version| {
            serde_json::to_string(&ProgressOut { token: &token, report, version: Some(version) }).unwrap()
        };
        assert_eq!(
            write(&report, ProtocolVersion::V2025_03_26),
            r#"{"progressToken":7,"progress":0.5,"total":1.0,"message":"half"}"#
        );
        assert_eq!(
            write(&report, ProtocolVersion::V2024_11_05),
            r#"{"progressToken":7,"progress":0.5,"total":1.0}"#
        );
        let endless = Progress::new(2.0).of(f64::INFINITY);
        assert_eq!(write(&endless, ProtocolVersion::NEWEST), r#"{"progressToken":7,"progress":2.0}"#);
    }
}
