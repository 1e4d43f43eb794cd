//! Retries on Windows while another program holds a new file: indexers, antivirus programs and readers open
//! each new file for some milliseconds, during which no other program can replace, remove or open it.

use std::io;
use std::thread::sleep;
use std::time::Duration;

/// With the pauses between ten attempts, a file may be held for a third of a second.
pub(crate) const ATTEMPTS: u32 = 10;
/// The first pause; each is longer than the one before.
const PAUSE: Duration = Duration::from_millis(10);
/// The longest pause.
const LONGEST: Duration = Duration::from_millis(50);

/// Tries again while another program holds the file, at most [`ATTEMPTS`] times, and returns the last
/// outcome.
pub(crate) fn patiently<T>(attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    patiently_by(is_held, sleep, attempt)
}

fn patiently_by<T>(
    is_held: impl Fn(&io::Error) -> bool,
    mut pause: impl FnMut(Duration),
    mut attempt: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    for failed in 1..ATTEMPTS {
        match attempt() {
            Err(error) if is_held(&error) => pause(PAUSE.saturating_mul(failed).min(LONGEST)),
            outcome => return outcome,
        }
    }
    attempt()
}

/// Returns true if Windows reports that another program holds the file.
fn is_held(error: &io::Error) -> bool {
    // Windows also reports "Access is denied" if the holder has mapped the file, or if the file is about to be
    // removed.
    const ACCESS_DENIED: i32 = 5;
    const SHARING_VIOLATION: i32 = 32;
    const LOCK_VIOLATION: i32 = 33;
    const USER_MAPPED_FILE: i32 = 1224;
    let held = [ACCESS_DENIED, SHARING_VIOLATION, LOCK_VIOLATION, USER_MAPPED_FILE];
    cfg!(windows) && error.raw_os_error().is_some_and(|code| held.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn file_that_is_held_is_tried_again_for_a_while() {
        // The failures before the success, the attempts, and whether the last attempt succeeds.
        for (failures, attempts, ends_well) in
            [(0, 1, true), (1, 2, true), (9, 10, true), (10, 10, false), (u32::MAX, 10, false)]
        {
            let (mut tried, mut pauses) = (0, Vec::new());
            let outcome = patiently_by(
                |error| error.kind() == ErrorKind::PermissionDenied,
                |pause| pauses.push(pause),
                || {
                    tried += 1;
                    if tried > failures { Ok(tried) } else { Err(ErrorKind::PermissionDenied.into()) }
                },
            );
            assert_eq!((tried, outcome.is_ok()), (attempts, ends_well), "{failures} failures");
            assert_eq!(pauses.len() + 1, usize::try_from(attempts).unwrap(), "{failures} failures");
            assert!(pauses.iter().sum::<Duration>() <= Duration::from_millis(350), "{pauses:?}");
            assert!(pauses.iter().all(|pause| (PAUSE..=LONGEST).contains(pause)), "{pauses:?}");
        }
        let mut tried = 0;
        let outcome: io::Result<()> = patiently(|| {
            tried += 1;
            Err(ErrorKind::NotFound.into())
        });
        assert_eq!((tried, outcome.unwrap_err().kind()), (1, ErrorKind::NotFound), "another error");
    }
}
