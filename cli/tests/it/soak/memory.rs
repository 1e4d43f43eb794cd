//! A check that the memory of the editor does not grow.

use std::time::Duration;

/// The maximum allowed difference in KiB during the last third of a run.
const TOLERANCE: u64 = 1024;

/// The minimum length of a last third that is judged. A shorter one still shows the growth after the
/// start.
const SHORTEST: Duration = Duration::from_secs(60);

/// The samples of the memory of a process in KiB.
#[derive(Debug, Default)]
pub(super) struct Memory(Vec<u64>);

impl Memory {
    pub(super) fn note(&mut self, kib: Option<u64>) {
        self.0.extend(kib);
    }

    /// Returns a sentence about the memory in a run of this length, as an error if the memory has
    /// grown.
    pub(super) fn verdict(&self, length: Duration) -> Result<String, String> {
        let (Some(first), Some(last)) = (self.0.first(), self.0.last()) else {
            return Ok("RSS cannot be measured on this system".into());
        };
        let third = self.0.len().div_ceil(3);
        let behind = self.0.get(self.0.len().saturating_sub(third)..).unwrap_or_default();
        let (least, most) =
            behind.iter().fold((u64::MAX, 0), |(least, most), kib| (least.min(*kib), most.max(*kib)));
        let apart = most.saturating_sub(least);
        let measured = format!("RSS from {first} to {last} KiB, within {apart} KiB during the last third");
        if length / 3 < SHORTEST {
            return Ok(format!("{measured}, which is too short to be judged"));
        }
        if apart > TOLERANCE { Err(format!("{measured}: more than {TOLERANCE} KiB")) } else { Ok(measured) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_third_is_judged() {
        let long = Duration::from_secs(180);
        let cases: [(&str, &[u64], Duration, Result<&str, &str>); 6] = [
            ("nothing", &[], long, Ok("cannot be measured")),
            (
                "early growth",
                &[1000, 9000, 9000, 9500, 9600, 9700],
                long,
                Ok("from 1000 to 9700 KiB, within 100 KiB"),
            ),
            ("at the limit", &[0, 0, 0, 0, 0, 1024], long, Ok("within 1024 KiB")),
            ("above it", &[0, 0, 0, 0, 0, 1025], long, Err("within 1025 KiB")),
            ("falling", &[0, 0, 0, 0, 1025, 0], long, Err("within 1025 KiB")),
            ("too short", &[0, 0, 9999], Duration::from_secs(179), Ok("too short to be judged")),
        ];
        for (name, samples, length, expected) in cases {
            let verdict = Memory(samples.into()).verdict(length);
            match (&verdict, expected) {
                (Ok(measured), Ok(part)) | (Err(measured), Err(part)) => {
                    assert!(measured.contains(part), "{name}: {measured}")
                }
                _ => panic!("{name}: {verdict:?}"),
            }
        }
    }
}
