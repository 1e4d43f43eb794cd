//! The code that the commands share: the search for the editor, the connection to it, messages as lines, the
//! format of transcripts and the messages in them, output with or without a reader, the columns of texts,
//! progress, and parts of a command line.

#[cfg(any(feature = "doctor", feature = "editor", feature = "replay", feature = "tap"))]
mod colors;
#[cfg(any(feature = "agent", feature = "editor", feature = "replay", feature = "tap"))]
pub(crate) mod columns;
mod complaints;
#[cfg(any(feature = "agent", feature = "replay"))]
pub(crate) mod difference;
#[cfg(any(
    feature = "agent",
    feature = "bridge",
    feature = "doctor",
    feature = "mcp-config",
    feature = "tap"
))]
pub(crate) mod find;
mod help;
mod lines;
#[cfg(any(feature = "agent", feature = "bridge", feature = "doctor", feature = "tap"))]
mod loopback;
#[cfg(any(feature = "replay", feature = "tap"))]
pub(crate) mod message;
mod nearest;
mod options;
mod output;
mod pipes;
mod program;
mod progress;
#[cfg(any(feature = "agent", feature = "editor"))]
pub(crate) mod save;
#[cfg(any(feature = "doctor", feature = "editor", feature = "mcp-config"))]
mod shell;
#[cfg(any(feature = "bridge", feature = "doctor", feature = "editor", feature = "sidecar", feature = "tap"))]
mod signals;
#[cfg(all(test, feature = "editor"))]
pub(crate) mod temp;
#[cfg(any(feature = "replay", feature = "tap"))]
pub(crate) mod transcript;
#[cfg(any(feature = "replay", feature = "tap"))]
pub(crate) mod units;
#[cfg(any(feature = "doctor", feature = "tap"))]
mod wall_clock;
#[cfg(any(feature = "agent", feature = "editor"))]
pub(crate) mod wrap;
mod writer;

#[cfg(any(feature = "doctor", feature = "replay", feature = "tap"))]
pub(crate) use colors::has_colors;
#[cfg(feature = "editor")]
pub(crate) use colors::refuses_colors;
pub(crate) use complaints::complain;
pub(crate) use help::{Help, HelpOption, Value};
pub(crate) use lines::{BadLine, Line, Lines};
#[cfg(any(feature = "agent", feature = "bridge", feature = "doctor", feature = "tap"))]
pub(crate) use loopback::{connect_checked, not_connected, report_unknown};
pub(crate) use nearest::did_you_mean;
pub(crate) use options::parse_port;
pub(crate) use output::{json_line, write_line};
pub(crate) use pipes::{END_OF_INPUT, Input, LINES, PipeWriter, read_lines};
pub(crate) use program::{FAILED, NOT_BEGUN, Program};
pub(crate) use progress::Progress;
#[cfg(any(feature = "doctor", feature = "editor", feature = "mcp-config"))]
pub(crate) use shell::quoted;
#[cfg(any(feature = "bridge", feature = "doctor", feature = "editor", feature = "tap"))]
pub(crate) use signals::on_signal;
#[cfg(feature = "sidecar")]
pub(crate) use signals::on_signals;
#[cfg(any(feature = "doctor", feature = "tap"))]
pub(crate) use wall_clock::unix_ms;
pub(crate) use writer::{MAX_WAITING, Writer};
