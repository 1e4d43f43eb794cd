//! The report of the tables, and the goals that depend on them.

use crate::data::{Goal, Grid, Section};
use crate::table::{OURS_DEFAULT, OURS_SIMD, Table};

/// Returns the measurement with this name, and the goals whose contestants ran.
pub fn section(id: &str, tables: &[Table]) -> Section {
    let mut section = Section::new(id);
    section.grids = tables.iter().map(Table::grid).collect();
    judge(&mut section);
    section
}

/// Adds the rows of this crate with `simd`, which another program has measured, and judges the goals
/// again.
pub fn add_simd(section: &mut Section, simd: Section) {
    for (grid, other) in section.grids.iter_mut().zip(simd.grids) {
        grid.extend(other);
    }
    judge(section);
}

fn judge(section: &mut Section) {
    let goals = section.grids.iter().flat_map(|grid| {
        let own = GOALS.iter().filter(|goal| goal.table == grid.name);
        own.filter_map(|goal| goal.judge(grid)).chain(crate::mcp::tables::goals(grid))
    });
    section.goals = goals.collect();
}

/// A ratio that this crate has to reach: in this table and column, the fastest of `than` takes at
/// least `times` as long as this crate. `simd` is true if the goal needs the feature `simd`.
struct Ratio {
    table: &'static str,
    column: &'static str,
    than: &'static [&'static str],
    times: f64,
    simd: bool,
}

const fn ratio(
    table: &'static str,
    column: &'static str,
    than: &'static [&'static str],
    times: f64,
    simd: bool,
) -> Ratio {
    Ratio { table, column, than, times, simd }
}

/// All peers, of which the fastest counts.
const EVERYONE: &[&str] = &[
    "tungstenite",
    "fastwebsockets",
    "tokio-websockets",
    "sockudo-ws",
    "sockudo-ws (protocol)",
    "websocket-codec",
];

const GOALS: &[Ratio] = &[
    ratio("decode, whole", "16 B", &["websocket-codec"], 3.5, false),
    ratio("decode, whole", "16 B", &["tungstenite"], 4.5, false),
    ratio("decode, whole", "125 B", &["tungstenite"], 3.0, false),
    ratio("decode, whole", "125 B", &["tokio-websockets"], 4.0, false),
    ratio("decode, whole", "1 KiB", &["tokio-websockets"], 2.0, true),
    ratio("decode, whole", "16 KiB", EVERYONE, 0.95, true),
    ratio("decode, whole", "1 MiB", EVERYONE, 0.95, true),
    ratio("decode, multi-byte", "1 MiB", &["tungstenite"], 14.0, true),
];

impl Ratio {
    /// Returns the result of the goal, if its contestants ran.
    fn judge(&self, grid: &Grid) -> Option<Goal> {
        let peers = self.than.iter().filter_map(|peer| Some((*peer, grid.cell(peer, self.column)?)));
        let (peer, theirs) = peers.min_by(|one, other| one.1.total_cmp(&other.1))?;
        let ours = grid.cell(if self.simd { OURS_SIMD } else { OURS_DEFAULT }, self.column)?;
        let simd = if self.simd { ", with simd" } else { "" };
        let what = format!("{}, {}: as fast as {peer}{simd}", self.table, self.column);
        Some(Goal::new(what, theirs / ours, self.times, true, "×"))
    }
}
