//! Whether the memory of the editor grows.

use std::time::Duration;

/// How far it may be apart during the last third of a run.
const TOLERANCE: u64 = 1024;

/// How long the last third has to be, or it is warming up that would be judged.
const SHORTEST: Duration = Duration::from_secs(60);

/// The memory of a process in KiB, as often as it was looked at.
#[derive(Debug, Default)]
pub(super) struct Memory(Vec<u64>);

impl Memory {
    pub(super) fn note(&mut self, kib: Option<u64>) {
        self.0.extend(kib);
    }

    /// What became of it in a run of this length: a sentence, and whether it is as it must be.
    pub(super) fn verdict(&self, length: Duration) -> Result<String, String> {
        let (Some(first), Some(last)) = (self.0.first(), self.0.last()) else {
            return Ok("RSS cannot be measured on this system".into());
        };
        let third = self.0.len().div_ceil(3);
        let behind = self.0.get(self.0.len().saturating_sub(third)..).unwrap_or_default();
        let (least, most) =
            behind.iter().fold((u64::MAX, 0), |(least, most), kib| (least.min(*kib), most.max(*kib)));
        let apart = most.saturating_sub(least);
        let told = format!("RSS from {first} to {last} KiB, within {apart} KiB during the last third");
        if length / 3 < SHORTEST {
            return Ok(format!("{told}, which is too short to be judged"));
        }
        if apart > TOLERANCE { Err(format!("{told}: more than {TOLERANCE} KiB")) } else { Ok(told) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_third_is_judged() {
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
                (Ok(told), Ok(part)) | (Err(told), Err(part)) => {
                    assert!(told.contains(part), "{name}: {told}")
                }
                _ => panic!("{name}: {verdict:?}"),
            }
        }
    }
}
