//! Pictures: bars of one column, and curves. Plain SVG, for light and dark backgrounds.

use crate::data::{Grid, Plot, Section, number};
use std::fmt::Write as _;

/// A picture, with its title.
pub struct Picture {
    pub id: String,
    pub title: String,
    pub svg: String,
}

/// The columns that are shown as bars: section, table, column, file, and title.
const BARS: &[(&str, &str, &str, &str, &str)] = &[
    ("decode", "decode, whole", "125 B", "decode-125", "Receiving a text of 125 B: ns"),
    ("decode", "decode, whole", "16 KiB", "decode-16k", "Receiving a text of 16 KiB: ns"),
    ("handshake", "handshake", "request", "handshake", "Opening, as a server: ns"),
    ("calls", "tools/call", "100 B", "calls-100", "A tools/call of 100 B in memory: ns"),
    (
        "echo",
        "echo, 125 B, 64 in flight",
        "messages/s",
        "echo-64",
        "Echo of 125 B, 64 in flight: messages per second",
    ),
    ("memory", "", "each connection", "memory", "An idle connection: KiB of memory"),
    (
        "call-sockets",
        "tools/call over loopback, 100 B, 16 in flight",
        "CPU ns each",
        "call-sockets-100",
        "A tools/call of 100 B over loopback, 16 in flight: ns of CPU",
    ),
    (
        "adapters",
        "tools/call of 100 B, 1 connection, 1 in flight",
        "CPU ns each",
        "adapters",
        "A tools/call through each adapter, one at a time: ns of CPU",
    ),
    ("minimal", "", "build, CPU seconds", "minimal-build", "Building the smallest editor: CPU seconds"),
    ("minimal", "", "program, KiB", "minimal-size", "The smallest editor: KiB"),
];

/// Returns all pictures of a section.
pub fn pictures(section: &Section) -> Vec<Picture> {
    let bars =
        BARS.iter().filter(|(id, ..)| *id == section.id).filter_map(|(_, table, column, id, title)| {
            let grid = section.grids.iter().find(|grid| table.is_empty() || grid.name == *table)?;
            let svg = bars(grid, column, title)?;
            Some(Picture { id: (*id).into(), title: (*title).into(), svg })
        });
    let curves = section.plots.iter().map(|plot| Picture {
        id: plot.id.clone(),
        title: format!("{}: {}, by {}", plot.name, plot.y, plot.x),
        svg: curves(plot),
    });
    bars.chain(curves).collect()
}

const STYLE: &str = "<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.title { font-weight: 600; font-size: 14px; }
.quiet { fill: #59636e; }
.bar, .dot1 { fill: #8c959f; } .ours, .dot0 { fill: #0969da; } .dot2 { fill: #bc4c00; }
.line { fill: none; stroke-width: 2; } .line0 { stroke: #0969da; } .line1 { stroke: #8c959f; } .line2 { stroke: #bc4c00; }
.grid { stroke: #d1d9e0; }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc; } .quiet { fill: #9198a1; }
.bar, .dot1 { fill: #656c76; } .ours, .dot0 { fill: #4493f8; } .dot2 { fill: #db6d28; }
.line0 { stroke: #4493f8; } .line1 { stroke: #656c76; } .line2 { stroke: #db6d28; }
.grid { stroke: #3d444d; }
}
</style>
";

const WIDTH: f64 = 720.0;

fn begin(height: f64, title: &str) -> String {
    let title = escape(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\" aria-label=\"{title}\">\n{STYLE}\
         <text class=\"title\" x=\"8\" y=\"22\">{title}</text>\n"
    )
}

/// Draws one bar for each row that has a number in this column.
fn bars(grid: &Grid, column: &str, title: &str) -> Option<String> {
    const LEFT: f64 = 220.0;
    const RIGHT: f64 = 90.0;
    const TOP: f64 = 38.0;
    const STEP: f64 = 24.0;
    let column = grid.columns.iter().position(|name| name == column)?;
    let rows: Vec<(&str, f64)> =
        grid.rows.iter().filter_map(|row| Some((row.name.as_str(), row.cells[column]?))).collect();
    let most = rows.iter().map(|(_, value)| *value).fold(f64::MIN_POSITIVE, f64::max);
    let mut svg = begin(TOP + STEP * rows.len() as f64 + 8.0, title);
    for (at, (name, value)) in rows.iter().enumerate() {
        let y = TOP + STEP * at as f64;
        let long = (value / most * (WIDTH - LEFT - RIGHT)).max(1.0);
        let class = if name.starts_with("ide-mcp") { "ours" } else { "bar" };
        let text = y + 14.0;
        writeln!(
            svg,
            "<text x=\"{}\" y=\"{text:.0}\" text-anchor=\"end\">{}</text>\
             <rect class=\"{class}\" x=\"{LEFT}\" y=\"{y:.0}\" width=\"{long:.1}\" height=\"18\" rx=\"2\"/>\
             <text class=\"quiet\" x=\"{:.1}\" y=\"{text:.0}\">{}</text>",
            LEFT - 8.0,
            escape(name),
            LEFT + long + 6.0,
            number(*value)
        )
        .expect("a string takes everything");
    }
    Some(svg + "</svg>\n")
}

/// The area of the curves: left, top, right and bottom.
const AREA: (f64, f64, f64, f64) = (80.0, 48.0, 700.0, 250.0);

/// Draws curves over a logarithmic axis. The other axis is logarithmic too if the values lie far
/// apart.
fn curves(plot: &Plot) -> String {
    let (left, top, right, bottom) = AREA;
    let points = || plot.series.iter().flat_map(|series| &series.points);
    let axis_x = Axis::logarithmic(points().map(|(x, _)| *x), left, right);
    let axis_y = Axis::of(points().map(|(_, y)| *y), bottom, top);
    let mut svg = begin(bottom + 72.0, &format!("{}: {}", plot.name, plot.y));
    let mut put = |line: String| svg.push_str(&(line + "\n"));
    for tick in axis_y.ticks() {
        let y = axis_y.at(tick);
        put(format!("<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"));
        let (x, y) = (left - 8.0, y + 4.0);
        put(format!(
            "<text class=\"quiet\" x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>",
            number(tick)
        ));
    }
    for tick in axis_x.ticks() {
        let (x, y) = (axis_x.at(tick), bottom + 18.0);
        put(format!(
            "<text class=\"quiet\" x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{}</text>",
            count(tick)
        ));
    }
    let y = bottom + 38.0;
    put(format!(
        "<text class=\"quiet\" x=\"{right}\" y=\"{y}\" text-anchor=\"end\">{}</text>",
        escape(&plot.x)
    ));
    let mut legend = left;
    for (at, series) in plot.series.iter().enumerate() {
        let at = at % 3;
        let points: Vec<(f64, f64)> =
            series.points.iter().map(|(x, y)| (axis_x.at(*x), axis_y.at(*y))).collect();
        let line: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        put(format!("<polyline class=\"line line{at}\" points=\"{}\"/>", line.join(" ")));
        for (x, y) in points {
            put(format!("<circle class=\"dot{at}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>"));
        }
        let y = bottom + 58.0;
        put(format!("<circle class=\"dot{at}\" cx=\"{legend:.0}\" cy=\"{:.0}\" r=\"4\"/>", y - 4.0));
        put(format!("<text x=\"{:.0}\" y=\"{y:.0}\">{}</text>", legend + 10.0, escape(&series.name)));
        legend += 36.0 + 7.5 * series.name.len() as f64;
    }
    svg + "</svg>\n"
}

/// A mapping from values to positions.
struct Axis {
    from: f64,
    to: f64,
    logarithmic: bool,
    start: f64,
    end: f64,
}

impl Axis {
    /// Returns an axis from zero, or a logarithmic axis if the largest value is more than twenty
    /// times the smallest.
    fn of(values: impl Iterator<Item = f64> + Clone, start: f64, end: f64) -> Self {
        let (least, most) = range(values.clone());
        if most > 20.0 * least {
            return Self::logarithmic(values, start, end);
        }
        Self { from: 0.0, to: most * 1.1, logarithmic: false, start, end }
    }

    fn logarithmic(values: impl Iterator<Item = f64>, start: f64, end: f64) -> Self {
        let (least, most) = range(values);
        Self { from: least.ln(), to: most.ln(), logarithmic: true, start, end }
    }

    fn at(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.ln() } else { value };
        self.start
            + (value - self.from) / (self.to - self.from).max(f64::MIN_POSITIVE) * (self.end - self.start)
    }

    fn ticks(&self) -> Vec<f64> {
        if self.logarithmic {
            let tens = (-3..=7).map(|power| 10_f64.powi(power));
            return tens.filter(|ten| (self.from - 1e-9..=self.to + 1e-9).contains(&ten.ln())).collect();
        }
        let power = 10_f64.powf((self.to / 4.0).log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].map(|times| times * power).into_iter().find(|step| self.to / step <= 5.0);
        let step = step.unwrap_or(self.to);
        (0..=5).map(|at| f64::from(at) * step).filter(|tick| *tick <= self.to).collect()
    }
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values
        .fold((f64::INFINITY, f64::MIN_POSITIVE), |(least, most), value| (least.min(value), most.max(value)))
}

/// Formats a whole number in short form.
fn count(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{} M", value / 1e6),
        value if value >= 1e3 => format!("{} k", value / 1e3),
        value => format!("{value}"),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Series;

    #[test]
    fn axis_begins_at_zero_or_is_logarithmic() {
        let near = Axis::of([10.0, 100.0].into_iter(), 0.0, 110.0);
        assert!(
            (near.at(50.0) - 50.0).abs() < 1e-6 && near.ticks() == [0.0, 50.0, 100.0],
            "{:?}",
            near.ticks()
        );
        let far = Axis::of([1.0, 100.0].into_iter(), 0.0, 100.0);
        assert!((far.at(10.0) - 50.0).abs() < 1e-6 && far.ticks() == [1.0, 10.0, 100.0], "{:?}", far.ticks());
    }

    #[test]
    fn names_are_escaped() {
        let mut grid = Grid::new("g", "", ["c".into()]);
        grid.set("<a> & \"b\"", 0, 1.0);
        let svg = bars(&grid, "c", "t").unwrap();
        assert!(svg.contains("&lt;a> &amp; &quot;b&quot;"), "{svg}");
        assert!(bars(&grid, "another", "t").is_none(), "there is no such column");
    }

    #[test]
    fn a_curve_of_one_point_is_drawn() {
        let series = vec![Series { name: "s".into(), points: vec![(1.0, 5.0)] }];
        let plot = Plot { id: "p".into(), name: "n".into(), x: "x".into(), y: "y".into(), series };
        assert!(!curves(&plot).contains("NaN"));
    }
}
