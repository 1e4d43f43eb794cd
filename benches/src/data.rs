//! The results as data, and their printing.

/// One named measurement: its tables and curves.
#[derive(Default)]
pub struct Section {
    pub grids: Vec<Grid>,
    pub plots: Vec<Plot>,
}

/// Numbers by row and column.
pub struct Grid {
    pub name: String,
    /// The meaning of the numbers.
    pub unit: String,
    pub columns: Vec<String>,
    pub rows: Vec<Row>,
    /// How uncertain the numbers are: the largest ratio of median to minimum, if the numbers are minima of
    /// rounds.
    pub noise: Option<f64>,
}

pub struct Row {
    pub name: String,
    pub cells: Vec<Option<f64>>,
}

/// Curves over one quantity.
pub struct Plot {
    pub name: String,
    pub x: String,
    pub y: String,
    pub series: Vec<Series>,
}

pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

impl Section {
    pub fn of(grids: Vec<Grid>) -> Self {
        Self { grids, ..Self::default() }
    }

    pub fn print(&self) {
        self.grids.iter().for_each(Grid::print);
        self.plots.iter().for_each(Plot::print);
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

    pub fn print(&self) {
        let noise = self.noise.map(|noise| format!(" (largest median over minimum: {noise:.2})"));
        println!("\n{}: {}{}\n", self.name, self.unit, noise.unwrap_or_default());
        print!("{:<32}", "");
        self.columns.iter().for_each(|column| print!("{column:>20}"));
        println!();
        for row in &self.rows {
            print!("{:<32}", row.name);
            for cell in &row.cells {
                print!("{:>20}", cell.map_or_else(|| "-".into(), number));
            }
            println!();
        }
    }
}

impl Plot {
    pub fn print(&self) {
        println!("\n{}: {}, by {}", self.name, self.y, self.x);
        for series in &self.series {
            let points: Vec<String> =
                series.points.iter().map(|(x, y)| format!("{} → {}", number(*x), number(*y))).collect();
            println!("{:<32}{}", series.name, points.join(", "));
        }
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
    fn numbers_have_three_significant_digits() {
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
}
