//! How the cost grows: instructions by the number of earlier messages, of connections and of open calls, by
//! the size of a text, and by the size of its pieces.

use crate::case::Case;
use crate::cases::decoder;
use crate::data::{Plot, Series};
use crate::floor::{self, Passes};
use crate::mcp::calls::{get_diagnostics, open_diff};
use crate::mcp::{counted, ours as calls};
use crate::ours;
use crate::workload::{Script, Workload};

/// One point of a curve.
pub struct Point {
    plot: usize,
    series: &'static str,
    x: f64,
    /// What to divide the count of one repetition by.
    by: f64,
    pub case: Case,
}

/// The title, and the meaning of each axis.
const PLOTS: [(&str, &str, &str); 5] = [
    ("Cost by messages so far", "messages before", "instructions per message"),
    ("Cost by open calls", "calls open", "instructions per call"),
    ("Cost by connections", "connections", "instructions per call"),
    ("Cost by size", "bytes of a text", "instructions per byte"),
    ("Cost by how a 16 KiB text is cut", "bytes per read", "instructions per byte"),
];

const CALL: &str = "tools/call";
const DECODE: &str = "receiving a text";
const FLOOR: &str = "copy + unmask + UTF-8 alone";

/// Returns all points.
pub fn points() -> Vec<Point> {
    let mut points = Vec::new();
    let mut push = |plot, series, x: usize, by: usize, run: Box<dyn FnMut(usize)>, times| {
        let case = Case { name: format!("{series} {x}"), run, times };
        points.push(Point { plot, series, x: x as f64, by: by as f64, case });
    };
    let small = Workload::new(125, Script::Ascii);
    for before in [1, 10, 100, 1000, 10_000] {
        push(0, CALL, before, 1, Box::new(counted::after(before, 0, get_diagnostics(7))), 64);
        let mut decode = decoder(ours::decode(small, usize::MAX));
        decode(before);
        push(0, DECODE, before, 1, decode, small.texts.len());
    }
    for open in [1, 4, 16, 64, 128, 255] {
        push(1, CALL, open, 1, Box::new(counted::after(0, open, get_diagnostics(7))), 64);
    }
    for connections in [1, 4, 16, 64, 256, 1000] {
        push(2, CALL, connections, 1, Box::new(calls::server(connections, get_diagnostics(7))), 1000);
    }
    for size in [16, 125, 1024, 16 * 1024, 256 * 1024, 1024 * 1024] {
        let workload = Workload::new(size, Script::Ascii);
        let times = 2 * workload.frames.len();
        push(3, DECODE, size, size, decoder(ours::decode(workload, usize::MAX)), times);
        push(3, FLOOR, size, size, decoder(floor::decode(workload, usize::MAX, Passes::CopyXorUtf8)), times);
        if size >= 125 {
            let text = open_diff(7, size);
            let times = (256 * 1024 / text.len()).clamp(2, 64);
            push(3, CALL, size, size, Box::new(calls::frames(&text)), times);
        }
    }
    const TEXT: usize = 16 * 1024;
    let workload = Workload::new(TEXT, Script::Ascii);
    for cut in [1, 4, 16, 64, 256, 1024, 4096, TEXT] {
        push(4, DECODE, cut, TEXT, decoder(ours::decode(workload, cut)), workload.frames.len());
        let floor = floor::decode(workload, cut, Passes::CopyXorUtf8);
        push(4, FLOOR, cut, TEXT, decoder(floor), workload.frames.len());
    }
    points
}

/// Returns the curves for the counts of the points.
pub fn plots(points: &[Point], counts: &[f64]) -> Vec<Plot> {
    let mut plots: Vec<Plot> = PLOTS
        .iter()
        .map(|(name, x, y)| Plot { name: (*name).into(), x: (*x).into(), y: (*y).into(), series: Vec::new() })
        .collect();
    for (point, count) in points.iter().zip(counts) {
        let all = &mut plots[point.plot].series;
        let at = all.iter().position(|series| series.name == point.series).unwrap_or_else(|| {
            all.push(Series { name: point.series.into(), points: Vec::new() });
            all.len() - 1
        });
        all[at].points.push((point.x, count / point.case.times as f64 / point.by));
    }
    plots
}
