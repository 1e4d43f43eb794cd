//! The report of the tables, and the goals that depend on them.

use crate::data::{Goal, Section};
use crate::table::{OURS, Table};

/// Returns the measurement with this name, and the goals whose contestants ran.
pub fn section(id: &str, tables: &[Table]) -> Section {
    let mut section = Section::new(id);
    section.grids = tables.iter().map(Table::grid).collect();
    section.goals = tables
        .iter()
        .flat_map(|table| {
            let own = GOALS.iter().filter(|goal| goal.table == table.name);
            own.filter_map(|goal| goal.judge(table)).chain(crate::mcp::tables::goals(table))
        })
        .collect();
    section
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
    ratio("decode, single bytes", "16 B", &["tokio-websockets"], 5.0, false),
    ratio("decode, single bytes", "125 B", &["tokio-websockets"], 5.0, false),
    ratio("decode, single bytes", "1 KiB", &["tokio-websockets"], 5.0, false),
    ratio("decode, single bytes", "16 KiB", &["tokio-websockets"], 5.0, false),
    ratio("handshake", "request", &["tungstenite"], 4.5, false),
    ratio("handshake", "request", &["soketto"], 1.5, false),
];

impl Ratio {
    /// Returns the result of the goal, if its contestants ran.
    fn judge(&self, table: &Table) -> Option<Goal> {
        let peers = self.than.iter().filter_map(|peer| Some((*peer, table.cell(peer, self.column)?)));
        let (peer, theirs) = peers.min_by(|one, other| one.1.total_cmp(&other.1))?;
        let ours = table.cell(OURS, self.column)?;
        let simd = if self.simd { ", with simd" } else { "" };
        let what = format!("{}, {}: as fast as {peer}{simd}", self.table, self.column);
        Some(Goal::new(what, theirs / ours, self.times, true, "×"))
    }
}
