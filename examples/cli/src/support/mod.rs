//! The code that the programs share: the search for the editor, the connection to it, messages as
//! lines, the format of transcripts and the messages in them, output with or without a reader, progress, and parts of a
//! command line.

mod complaints;
pub(crate) mod find;
mod help;
mod lines;
mod loopback;
pub(crate) mod message;
mod nearest;
mod options;
mod output;
mod pipes;
mod program;
mod progress;
mod shell;
mod signals;
pub(crate) mod transcript;
pub(crate) mod units;
mod writer;

pub(crate) use complaints::complain;
pub(crate) use help::{Help, HelpOption, Value};
pub(crate) use loopback::{connect_checked, not_connected, report_unknown};
pub(crate) use nearest::did_you_mean;
pub(crate) use options::parse_port;
pub(crate) use output::{json_line, write_line};
pub(crate) use pipes::{Input, LINES, PipeWriter, read_lines};
pub(crate) use program::{FAILED, NOT_BEGUN, Program};
pub(crate) use progress::Progress;
pub(crate) use shell::quoted;
pub(crate) use signals::on_signal;
pub(crate) use writer::{MOST_WAITING, Writer};
