//! How much an editor tells.

/// How much an editor tells at a time, of what has no bound of its own. Every byte of it costs the agent's model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PushLimits {
    /// The bytes of a selected text, be it asked for or told; the rest is cut off at a character. Default 256 KiB: it goes
    /// into a prompt, where more of it does harm.
    pub selection: usize,
    /// How many problems are given in an answer or a notification, those of all its files together; of the rest an answer
    /// says how many they are. Default 1,000: more than a model can use.
    pub diagnostics: usize,
}

impl Default for PushLimits {
    fn default() -> Self {
        Self { selection: 256 * 1024, diagnostics: 1000 }
    }
}
