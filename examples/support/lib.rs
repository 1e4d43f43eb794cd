//! What the programs share: finding the editor, connecting to it, messages as lines, the form of transcripts,
//! their output, be it read or not, progress, and pieces of a command line.

mod complaints;
pub mod find;
mod lines;
mod loopback;
mod options;
mod output;
mod pipes;
mod program;
mod progress;
mod signals;
pub mod transcript;
mod writer;

pub use complaints::complain;
pub use lines::{Fault, LinesIn, LinesOut};
pub use loopback::{NotConnected, Trust, address_of, connect, connect_checked, connect_to};
pub use options::parse_port;
pub use output::{json_line, say, say_json, write_line};
pub use pipes::{Input, LINES, PipeWriter, read_lines};
pub use program::{FAILED, NOT_BEGUN, Program};
pub use progress::Progress;
pub use signals::on_signal;
pub use writer::{MOST_WAITING, Writer};
