//! Tables, and the goals that are read off them.

use crate::measure::Timed;
use crate::tables::OURS;
use std::collections::BTreeMap;

/// Nanoseconds, by contestant and column.
pub struct Table {
    pub name: String,
    columns: Vec<String>,
    contestants: Vec<&'static str>,
    cells: BTreeMap<(&'static str, String), f64>,
    /// The largest median over minimum: how far to trust it.
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

    /// Nanoseconds of one cell.
    pub fn cell(&self, contestant: &'static str, column: &str) -> Option<f64> {
        self.cells.get(&(contestant, column.into())).copied()
    }

    /// Prints nanoseconds, and behind each how many times ours that is.
    pub fn print(&self) {
        println!(
            "\n{}: ns, and how many times ours (largest median over minimum: {:.2})\n",
            self.name, self.noise
        );
        print!("{:<32}", "");
        self.columns.iter().for_each(|column| print!("{column:>22}"));
        println!();
        for contestant in &self.contestants {
            print!("{contestant:<32}");
            for column in &self.columns {
                match (self.cell(contestant, column), self.cell(OURS, column)) {
                    (Some(time), Some(ours)) => print!("{time:>14.1} {:>6.2}x", time / ours),
                    _ => print!("{:>22}", "-"),
                }
            }
            println!();
        }
    }
}

/// A ratio that ours is to reach: in this table and column, `than` takes at least `times` as long as ours. `simd` says
/// that the feature has to be on.
struct Goal {
    table: &'static str,
    column: &'static str,
    than: &'static [&'static str],
    times: f64,
    simd: bool,
}

const fn goal(
    table: &'static str,
    column: &'static str,
    than: &'static [&'static str],
    times: f64,
    simd: bool,
) -> Goal {
    Goal { table, column, than, times, simd }
}

/// Against several, the fastest counts.
const EVERYONE: &[&str] = &[
    "tungstenite",
    "fastwebsockets",
    "tokio-websockets",
    "sockudo-ws",
    "sockudo-ws (protocol)",
    "websocket-codec",
];

const GOALS: &[Goal] = &[
    goal("decode, whole", "16 B", &["websocket-codec"], 3.5, false),
    goal("decode, whole", "16 B", &["tungstenite"], 4.5, false),
    goal("decode, whole", "125 B", &["tungstenite"], 3.0, false),
    goal("decode, whole", "125 B", &["tokio-websockets"], 4.0, false),
    goal("decode, whole", "1 KiB", &["tokio-websockets"], 2.0, true),
    goal("decode, whole", "16 KiB", EVERYONE, 0.95, true),
    goal("decode, whole", "1 MiB", EVERYONE, 0.95, true),
    goal("decode, multi-byte", "1 MiB", &["tungstenite"], 14.0, true),
    goal("decode, single bytes", "16 B", &["tokio-websockets"], 5.0, false),
    goal("decode, single bytes", "125 B", &["tokio-websockets"], 5.0, false),
    goal("decode, single bytes", "1 KiB", &["tokio-websockets"], 5.0, false),
    goal("decode, single bytes", "16 KiB", &["tokio-websockets"], 5.0, false),
    goal("handshake", "request", &["tungstenite"], 4.5, false),
    goal("handshake", "request", &["soketto"], 1.5, false),
];

/// Prints each goal whose contestants ran.
pub fn print_goals(tables: &[Table]) {
    println!("\ngoals\n");
    for goal in GOALS {
        let Some(table) = tables.iter().find(|table| table.name == goal.table) else { continue };
        let peers = goal.than.iter().filter_map(|peer| Some((*peer, table.cell(peer, goal.column)?)));
        let fastest = peers.min_by(|one, other| one.1.total_cmp(&other.1));
        let (Some((peer, theirs)), Some(ours)) = (fastest, table.cell(OURS, goal.column)) else { continue };
        let ratio = theirs / ours;
        println!(
            "{:<5} {:<22}{:>8}  {ours:>12.1} ns  {peer:<22}{theirs:>12.1} ns  {ratio:>6.2}x, goal {:>5.2}x{}",
            if ratio >= goal.times { "met" } else { "MISS" },
            goal.table,
            goal.column,
            goal.times,
            if goal.simd { " with simd" } else { "" },
        );
    }
    tables.iter().filter(|table| table.name == "tools/call").for_each(crate::mcp::tables::print_goals);
}
