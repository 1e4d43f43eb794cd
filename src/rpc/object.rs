//! Reading objects: serde's derived structs take arrays as well.

use serde::Deserialize;
use serde_json::value::RawValue;

pub(crate) fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

/// What an object says. `None` if it is none, or says it otherwise.
pub(crate) fn read_object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    if is_object(raw) { serde_json::from_str(raw.get()).ok() } else { None }
}
