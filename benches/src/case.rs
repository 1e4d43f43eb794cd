//! A case whose instructions are counted, and the counts.

/// A case, which repeats its work the given number of times.
pub struct Case {
    pub name: String,
    pub run: Box<dyn FnMut(usize)>,
    /// How often to repeat while counting: whole passes over the workload, and no more than a second under
    /// callgrind if possible.
    pub times: usize,
}

/// The counts by name, in the order of the cases.
pub type Counts = Vec<(String, f64)>;
