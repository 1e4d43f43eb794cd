//! JSON that is passed on as it was written.

use super::from_json;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use core::fmt;
use core::ops::Deref;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A JSON value as its sender wrote it: parameters, a result, the data of an error.
///
/// It dereferences to a [`RawValue`]. Two values are equal if they are written the same, byte for byte.
///
/// ```
/// use ide_mcp::rpc::Json;
///
/// #[derive(serde::Deserialize)]
/// struct Wanted {
///     path: String,
/// }
///
/// let params: Json = serde_json::from_str(r#"{"path": "/w/a", "line": 3}"#).unwrap();
/// assert_eq!(params.read::<Wanted>().unwrap().path, "/w/a");
/// assert_eq!(params.get(), r#"{"path": "/w/a", "line": 3}"#);
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Reads the value as a `T`; `None` if it does not fit.
    #[must_use]
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        from_json(self.0.get()).ok()
    }
}

impl Deref for Json {
    type Target = RawValue;

    fn deref(&self) -> &RawValue {
        &self.0
    }
}

impl fmt::Display for Json {
    /// Shows the JSON as it was written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl fmt::Debug for Json {
    /// Shows what a [`RawValue`] shows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Json {}

impl From<Box<RawValue>> for Json {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw)
    }
}

impl From<&RawValue> for Json {
    fn from(raw: &RawValue) -> Self {
        Self(raw.to_owned())
    }
}
