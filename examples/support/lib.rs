//! What the programs share: finding the editor, messages as lines, the form of transcripts, their output, and pieces of a
//! command line.

pub mod find;
mod lines;
mod options;
mod output;
pub mod transcript;

pub use lines::{Fault, LinesIn, LinesOut};
pub use options::{parse_port, usage_error};
pub use output::{complain, json_line, say, say_json, write_line};
