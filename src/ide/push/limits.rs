//! Limits of what an editor sends.

/// The limits of what an editor sends at a time, in answers and pushes, where nothing else bounds it. Every byte of it
/// costs the agent's model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentLimits {
    /// The bytes of a selected text, in an answer or a push; the rest is cut off at a character. Default 256 KiB: it goes
    /// into a prompt, where more of it does harm.
    pub selection: usize,
    /// How many problems are given in an answer or a notification, those of all its files together; of the rest an answer
    /// says how many they are. Default 1,000: more than a model can use.
    pub diagnostics: usize,
}

impl Default for ContentLimits {
    fn default() -> Self {
        Self { selection: 256 * 1024, diagnostics: 1000 }
    }
}
