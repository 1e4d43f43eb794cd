//! The limits of the contents that an editor sends.

/// The limits of the contents of one answer or push of an editor, for contents that have no other
/// bound. Every byte of them has a cost for the agent's model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentLimits {
    /// The largest number of bytes of a selected text in an answer or a push. The rest is cut off,
    /// between two characters. Default 256 KiB: the text goes into a prompt, where a longer text
    /// does harm.
    pub selection: usize,
    /// The largest number of problems in an answer or a notification, those of all its files
    /// together. An answer also contains the number of the problems that it leaves out. Default
    /// 1,000: more than a model can use.
    pub diagnostics: usize,
}

impl Default for ContentLimits {
    fn default() -> Self {
        Self { selection: 256 * 1024, diagnostics: 1000 }
    }
}
