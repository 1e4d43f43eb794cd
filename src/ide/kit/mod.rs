//! Optional helpers: positions in a text, strings made safe to show, names of files that hold secrets, and a log of
//! edits. The machines do not use them: you call them, and you keep the log.
//!
//! ```
//! use ide_mcp::ide::kit::{Position, display_line};
//!
//! // A position of the protocol counts UTF-16 units; your editor may count bytes.
//! let text = "let café = 1;\n";
//! assert_eq!(Position::from_byte_offset(text, 10), Position::new(0, 9));
//! assert_eq!(Position::new(0, 9).to_byte_offset(text), Some(10));
//!
//! // The name of a tab, from an agent, before a person sees it.
//! assert_eq!(display_line("\u{1b}[2Ja.txt", 20), "\u{fffd}[2Ja.txt");
//! ```
//!
//! - **Positions.** [`Position`] and [`Range`] in a text, converted from and to bytes or the columns of a language
//!   server ([`Encoding`]). Implement [`Text`] for your rope or gap buffer.
//! - **Safe to show.** [`display_line`], [`display_safe`] and [`display_safe_lines`] replace control characters, line
//!   separators and direction marks, with which a text could control the terminal or show itself in another order.
//! - **Secrets.** [`secret_reason`] knows the names of files that usually contain one.
//! - **Edits.** [`EditLog`] keeps what agents wrote, so that a person can look at it and undo it.

mod display;
mod edits;
mod position;
mod secrets;
pub(super) mod text;

pub use display::{display_line, display_safe, display_safe_lines, is_display_unsafe};
pub use edits::{Edit, EditLog, FileState, UndoError};
pub use position::{Encoding, Position, Range};
pub use secrets::secret_reason;
pub use text::Text;
