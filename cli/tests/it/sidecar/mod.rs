//! The sidecar behind an editor that the test plays.

#[cfg(unix)]
mod ends;
mod guide;
mod lines;
mod namespaces;
mod script;
#[cfg(unix)]
mod unread;

use crate::support::{Editor, Place};
use serde_json::{Value, json};

/// Returns a configuration for the project of this place, with these members changed.
fn config(place: &Place, changes: &Value) -> String {
    let mut config = json!({
        "name": "E", "folders": [place.project()],
        "tools": ["openDiff", "getDiagnostics", "getOpenEditors"],
    });
    config.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    config.to_string()
}

/// Starts a sidecar with this configuration, and waits until it listens.
pub(crate) fn sidecar(place: &Place, changes: &Value) -> Editor {
    let mut process = place.start("sidecar", &[]);
    process.send_line(&config(place, changes));
    Editor::at(process)
}
