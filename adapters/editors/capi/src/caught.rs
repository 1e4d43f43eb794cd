//! Keeps panics inside the library, and prints nothing: standard error may be the screen of the editor.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::OnceLock;

type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Sync + Send>;

/// The panic hook of the program, if the program and the library share one copy of std.
static PREVIOUS: OnceLock<Hook> = OnceLock::new();

thread_local! {
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `act`, and returns the message of a panic as an error.
pub(crate) fn caught<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    PREVIOUS.get_or_init(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(on_panic));
        previous
    });
    IS_INSIDE.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(act));
    IS_INSIDE.set(false);
    result.map_err(|_| format!("a bug in ide-mcp: {}", MESSAGE.take()))
}

fn on_panic(info: &PanicHookInfo<'_>) {
    if IS_INSIDE.get() {
        MESSAGE.set(info.to_string());
    } else if let Some(previous) = PREVIOUS.get() {
        previous(info);
    }
}
