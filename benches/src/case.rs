//! A case whose instructions are counted, and the counts.

/// A case, which repeats its work the given number of times.
pub struct Case {
    pub name: String,
    pub run: Box<dyn FnMut(usize)>,
    /// How often to repeat while counting: whole passes over the workload, and if possible no more than
    /// takes a second under callgrind.
    pub times: usize,
}

/// The counts by name, in the order of the cases.
pub type Counts = Vec<(String, f64)>;
