//! What the programs share: messages as lines, their output, texts that are safe to show, and pieces of a command line.

mod lines;
mod options;
mod output;
mod safe;

pub use lines::{Fault, LinesIn, LinesOut};
pub use options::{parse_port, usage_error};
pub use output::{complain, json_line, say, say_json, write_line};
pub use safe::{display_safe, display_safe_lines};
