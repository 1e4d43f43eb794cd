//! The time of day, which only output shows.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the current time in milliseconds of the Unix epoch.
#[allow(clippy::disallowed_methods, reason = "a transcript and a list of changes have the time of the day")]
pub(crate) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
