//! A table of times.

use crate::data::Grid;
use crate::measure::Timed;
use std::collections::BTreeMap;

/// The name of this crate in every table, in this build.
pub const OURS: &str = if cfg!(feature = "simd") { "ide-mcp, simd" } else { "ide-mcp" };

/// Nanoseconds, by contestant and column.
pub struct Table {
    pub name: String,
    columns: Vec<String>,
    contestants: Vec<&'static str>,
    cells: BTreeMap<(&'static str, String), f64>,
    /// How uncertain the times are: the largest ratio of median to minimum.
    noise: f64,
}

impl Table {
    pub fn new(name: String) -> Self {
        Self { name, columns: Vec::new(), contestants: Vec::new(), cells: BTreeMap::new(), noise: 1.0 }
    }

    /// Adds a column.
    pub fn add(&mut self, column: &str, timed: Vec<Timed>) {
        self.columns.push(column.into());
        for time in timed {
            if !self.contestants.contains(&time.name) {
                self.contestants.push(time.name);
            }
            self.noise = self.noise.max(time.median / time.min);
            self.cells.insert((time.name, column.into()), time.min);
        }
    }

    /// Returns the table as data.
    pub fn grid(&self) -> Grid {
        let unit = "ns, the least of the rounds; ide-mcp is this crate";
        let mut grid = Grid::new(&self.name, unit, self.columns.iter().cloned());
        for contestant in &self.contestants {
            for (at, column) in self.columns.iter().enumerate() {
                if let Some(time) = self.cells.get(&(*contestant, column.clone())) {
                    grid.set(contestant, at, *time);
                }
            }
        }
        grid.noise = Some(self.noise);
        grid
    }
}
