//! Random numbers that are the same in every run: the seed of a failed test repeats the failure.

use alloc::vec::Vec;
use core::convert::Infallible;

/// Numbers from a seed: SplitMix64 (Steele, Lea and Flood 2014), tiny, and good enough to pick test cases.
///
/// It can also be the [source of randomness](Random::source) of a client under test, whose keys are then the same in
/// every run. Each number determines all the following ones, so use it only in tests.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts from this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    pub const fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.number().checked_rem(bound).unwrap_or(0)).unwrap_or(0)
    }

    /// Returns true in one of `many` calls, on average.
    pub fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    /// Returns `len` bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.byte()).collect()
    }

    /// Returns a source of randomness for a client.
    pub fn source(mut self) -> impl FnMut(&mut [u8]) -> Result<(), Infallible> + Send + Sync + 'static {
        move |bytes| {
            bytes.fill_with(|| self.byte());
            Ok(())
        }
    }

    const fn byte(&mut self) -> u8 {
        let [low, ..] = self.number().to_le_bytes();
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        // The first numbers of the reference implementation for this seed.
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.number()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut random = Random::new(1);
        for bound in [1, 2, 7, usize::MAX] {
            assert!((0..100).all(|_| random.below(bound) < bound), "{bound}");
        }
        assert_eq!(random.below(0), 0);
    }
}
