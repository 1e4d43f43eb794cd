//! The time of the day, and times before it, for output alone.

#[cfg(any(feature = "doctor", feature = "editor"))]
use std::time::Duration;
#[cfg(any(feature = "doctor", feature = "tap"))]
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the current time in milliseconds of the Unix epoch.
#[cfg(any(feature = "doctor", feature = "tap"))]
#[allow(clippy::disallowed_methods, reason = "a transcript and a list of changes have the time of the day")]
pub(crate) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Returns an age as a person says it.
#[cfg(any(feature = "doctor", feature = "editor"))]
pub(crate) fn ago(age: Duration) -> String {
    match age.as_secs() {
        0 => "now".into(),
        seconds @ 1..60 => format!("{seconds} s ago"),
        seconds @ 60..3600 => format!("{} min ago", seconds / 60),
        seconds => format!("{} h ago", seconds / 3600),
    }
}
