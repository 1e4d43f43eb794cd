//! How much content an editor sends.

/// How much content one answer or push may have, where nothing else bounds it. Every byte costs the agent's model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentLimits {
    /// The maximum size of a selected text in an answer or a push, in bytes. The rest is cut off, between two
    /// characters. Default 256 KiB: the text goes into a prompt, where more would do harm.
    pub selection: usize,
    /// The maximum number of problems in an answer or a notification, over all its files. An answer also says how many
    /// it leaves out. Default 1,000: more than a model can use.
    pub diagnostics: usize,
}

impl Default for ContentLimits {
    fn default() -> Self {
        Self { selection: 256 * 1024, diagnostics: 1000 }
    }
}
