//! The results as data, which are printed, kept beside the page, and rendered into the page.

use serde::{Deserialize, Serialize};

/// One named measurement: its tables, curves and goals.
#[derive(Default, Serialize, Deserialize)]
pub struct Section {
    pub id: String,
    pub grids: Vec<Grid>,
    pub plots: Vec<Plot>,
    pub goals: Vec<Goal>,
}

/// Numbers by row and column.
#[derive(Serialize, Deserialize)]
pub struct Grid {
    pub name: String,
    /// The meaning of the numbers.
    pub unit: String,
    pub columns: Vec<String>,
    pub rows: Vec<Row>,
    /// The largest ratio of median to minimum, if the numbers are minima of rounds: a measure of
    /// uncertainty.
    pub noise: Option<f64>,
}

#[derive(Serialize, Deserialize)]
pub struct Row {
    pub name: String,
    pub cells: Vec<Option<f64>>,
}

/// Curves over one quantity.
#[derive(Serialize, Deserialize)]
pub struct Plot {
    /// The name of the file.
    pub id: String,
    pub name: String,
    pub x: String,
    pub y: String,
    pub series: Vec<Series>,
}

#[derive(Serialize, Deserialize)]
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// A goal of a measurement.
#[derive(Serialize, Deserialize)]
pub struct Goal {
    pub what: String,
    pub reached: f64,
    pub bound: f64,
    /// True if the bound is a lower bound.
    pub at_least: bool,
    pub unit: String,
}

impl Section {
    pub fn new(id: &str) -> Self {
        Self { id: id.into(), ..Self::default() }
    }

    pub fn print(&self) {
        self.grids.iter().for_each(Grid::print);
        self.plots.iter().for_each(Plot::print);
        if !self.goals.is_empty() {
            println!();
        }
        self.goals.iter().for_each(Goal::print);
    }
}

impl Grid {
    pub fn new(name: &str, unit: &str, columns: impl IntoIterator<Item = String>) -> Self {
        let columns = columns.into_iter().collect();
        Self { name: name.into(), unit: unit.into(), columns, rows: Vec::new(), noise: None }
    }

    /// Sets the cell of this row and column, and adds the row if it is missing.
    pub fn set(&mut self, row: &str, column: usize, value: f64) {
        let at = self.rows.iter().position(|known| known.name == row).unwrap_or_else(|| {
            self.rows.push(Row { name: row.into(), cells: vec![None; self.columns.len()] });
            self.rows.len() - 1
        });
        self.rows[at].cells[column] = Some(value);
    }

    /// Returns the cell of this row and column.
    pub fn cell(&self, row: &str, column: &str) -> Option<f64> {
        let column = self.columns.iter().position(|name| name == column)?;
        self.rows.iter().find(|known| known.name == row)?.cells[column]
    }

    /// Adds the rows of another table of the same columns that this table does not have.
    pub fn extend(&mut self, other: Self) {
        for row in other.rows {
            if !self.rows.iter().any(|known| known.name == row.name) {
                self.rows.push(row);
            }
        }
        self.noise = self.noise.zip(other.noise).map(|(one, other)| one.max(other));
    }

    fn print(&self) {
        let noise = self.noise.map(|noise| format!(" (largest median over minimum: {noise:.2})"));
        println!("\n{}: {}{}\n", self.name, self.unit, noise.unwrap_or_default());
        print!("{:<32}", "");
        self.columns.iter().for_each(|column| print!("{column:>16}"));
        println!();
        for row in &self.rows {
            print!("{:<32}", row.name);
            for cell in &row.cells {
                print!("{:>16}", cell.map_or_else(|| "-".into(), number));
            }
            println!();
        }
    }
}

impl Plot {
    fn print(&self) {
        println!("\n{}: {}, by {}", self.name, self.y, self.x);
        for series in &self.series {
            let points: Vec<String> =
                series.points.iter().map(|(x, y)| format!("{} → {}", number(*x), number(*y))).collect();
            println!("{:<32}{}", series.name, points.join(", "));
        }
    }
}

impl Goal {
    pub fn new(what: impl Into<String>, reached: f64, bound: f64, at_least: bool, unit: &str) -> Self {
        Self { what: what.into(), reached, bound, at_least, unit: unit.into() }
    }

    /// Returns a goal with an upper bound, for a ratio or another number.
    pub fn at_most(what: impl Into<String>, reached: f64, bound: f64, unit: &str) -> Self {
        Self::new(what, reached, bound, false, unit)
    }

    pub fn is_met(&self) -> bool {
        if self.at_least { self.reached >= self.bound } else { self.reached <= self.bound }
    }

    /// Returns the factor by which the bound is missed, if it is missed; infinite if the number for
    /// a lower bound is 0.
    pub fn shortfall(&self) -> f64 {
        if self.at_least { self.bound / self.reached } else { self.reached / self.bound }
    }

    /// Returns the bound as text.
    pub fn wants(&self) -> String {
        format!("{} {}{}", if self.at_least { "≥" } else { "≤" }, number(self.bound), self.unit)
    }

    pub fn print(&self) {
        let met = if self.is_met() { "met" } else { "MISS" };
        println!(
            "{met:<5} {:<72} {:>10}{}, goal {}",
            self.what,
            number(self.reached),
            self.unit,
            self.wants()
        );
    }
}

/// Formats a number with about three significant digits unless it is whole, and with thousands
/// separated.
pub fn number(value: f64) -> String {
    let digits = match value.abs() {
        size if size.fract() == 0.0 || size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    let (whole, rest) =
        text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let (sign, whole) = whole.strip_prefix('-').map_or(("", whole), |whole| ("-", whole));
    let mut grouped = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    rest.map_or(grouped.clone(), |rest| format!("{grouped}.{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_count() {
        let cases = [
            (0.0, "0"),
            (0.0456, "0.046"),
            (0.999, "0.999"),
            (1.0, "1"),
            (34.0, "34"),
            (1.204, "1.20"),
            (12.34, "12.3"),
            (123.4, "123"),
            (1234.5, "1,234"),
            (1_234_567.0, "1,234,567"),
            (-1234.0, "-1,234"),
        ];
        for (value, expected) in cases {
            assert_eq!(number(value), expected, "{value}");
        }
    }

    #[test]
    fn a_goal_is_met_at_its_bound() {
        for (reached, at_least, expected) in
            [(1.2, false, true), (1.21, false, false), (1.2, true, true), (1.19, true, false)]
        {
            assert_eq!(Goal::new("", reached, 1.2, at_least, "×").is_met(), expected, "{reached} {at_least}");
        }
    }
}
