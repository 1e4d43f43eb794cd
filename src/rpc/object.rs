//! Reading objects: serde's derived structs take arrays as well.

use serde::Deserialize;
use serde_json::value::RawValue;

/// What an object says. `None` if it is none, or says it otherwise.
pub(crate) fn read_object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    if raw.get().starts_with('{') { serde_json::from_str(raw.get()).ok() } else { None }
}
