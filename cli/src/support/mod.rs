//! The code that the commands share: it finds the editor and connects to it, reads messages from lines, reads and
//! writes transcripts and files, prints output that may lose its reader, lays out lines on a screen, and parses common
//! options.

#[cfg(feature = "clap")]
mod colors;
#[cfg(feature = "clap")]
pub(crate) mod columns;
mod complaints;
#[cfg(any(feature = "agent", feature = "doctor", feature = "replay"))]
mod counted;
#[cfg(any(feature = "agent", feature = "replay"))]
pub(crate) mod difference;
#[cfg(feature = "clap")]
pub(crate) mod ended;
#[cfg(any(
    feature = "agent",
    feature = "bridge",
    feature = "doctor",
    feature = "mcp-config",
    feature = "tap"
))]
pub(crate) mod find;
#[cfg(any(feature = "agent", feature = "editor"))]
pub(crate) mod hunks;
#[cfg(any(feature = "agent", feature = "editor"))]
pub(crate) mod keys;
mod lines;
#[cfg(any(feature = "agent", feature = "editor"))]
pub(crate) mod local;
#[cfg(any(feature = "agent", feature = "bridge", feature = "doctor", feature = "tap"))]
mod loopback;
#[cfg(any(feature = "agent", feature = "replay", feature = "tap"))]
pub(crate) mod message;
#[cfg(any(feature = "demo", feature = "doctor"))]
mod on_path;
#[cfg(feature = "clap")]
mod options;
mod output;
mod pipes;
mod program;
mod progress;
#[cfg(any(feature = "agent", feature = "editor"))]
pub(crate) mod save;
#[cfg(any(feature = "doctor", feature = "editor", feature = "mcp-config", feature = "tap"))]
mod shell;
pub(crate) mod signals;
#[cfg(test)]
#[allow(dead_code, reason = "not every command has a test that needs all of it")]
pub(crate) mod temp;
#[cfg(any(feature = "agent", feature = "replay", feature = "tap"))]
pub(crate) mod transcript;
#[cfg(any(feature = "agent", feature = "replay", feature = "tap"))]
pub(crate) mod units;
#[cfg(any(feature = "doctor", feature = "tap"))]
mod wall_clock;
#[cfg(any(feature = "agent", feature = "editor", feature = "replay", feature = "tap"))]
pub(crate) mod wrap;
mod writer;

#[cfg(feature = "editor")]
pub(crate) use colors::refuses_colors;
#[cfg(feature = "clap")]
pub(crate) use colors::{choose_colors, has_colors};
pub(crate) use complaints::{complain, settle};
#[cfg(any(feature = "agent", feature = "doctor", feature = "replay"))]
pub(crate) use counted::counted;
pub(crate) use lines::{BadLine, Line, Lines};
#[cfg(any(feature = "agent", feature = "bridge", feature = "doctor", feature = "tap"))]
pub(crate) use loopback::{connect_checked, not_connected, report_unknown};
#[cfg(any(feature = "demo", feature = "doctor"))]
pub(crate) use on_path::on_path;
#[cfg(any(feature = "agent", feature = "bridge", feature = "doctor", feature = "tap"))]
pub(crate) use options::trust;
#[cfg(feature = "clap")]
pub(crate) use options::{EditorArgs, listening_port, shown_name};
pub(crate) use output::{json_line, write_line};
pub(crate) use pipes::{END_OF_INPUT, Input, LINES, PipeWriter, read_lines};
pub(crate) use program::{FAILED, NOT_BEGUN, Program};
pub(crate) use progress::Progress;
#[cfg(any(feature = "doctor", feature = "editor", feature = "mcp-config", feature = "tap"))]
pub(crate) use shell::{Shell, quoted};
pub(crate) use signals::on_signal;
#[cfg(any(feature = "doctor", feature = "tap"))]
pub(crate) use wall_clock::unix_ms;
pub(crate) use writer::{MAX_WAITING, Writer};
