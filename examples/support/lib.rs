//! What the programs share: their output, texts that are safe to show, and pieces of a command line.

mod options;
mod output;
mod safe;

pub use options::{parse_port, usage_error};
pub use output::{complain, json_line, say, say_json, write_line};
pub use safe::{display_safe, display_safe_lines};
