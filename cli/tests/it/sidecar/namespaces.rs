//! The listener and the lock file in a container, and the editor outside.
#![cfg(target_os = "linux")]

use super::config;
use crate::support::{Editor, Place, Process, skip};
use serde_json::json;
use std::net::TcpStream;
use std::process::Command;

#[test]
fn agent_attaches_inside_and_not_outside() {
    let place = Place::new("sidecar-container");
    let arguments = ["--net", "--pid", "--fork", "--mount-proc", "--kill-child"];
    match Command::new("unshare").args(arguments).arg("true").output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => return skip(String::from_utf8_lossy(&output.stderr).trim_end()),
        Err(error) => return skip(&format!("unshare cannot be started: {error}")),
    }
    // The agent is started inside, by the same shell, after the lock file is there.
    let program = crate::executable();
    let inside = format!(
        "ip link set lo up; exec 3<&0; '{program}' sidecar <&3 & while [ -z \"$(ls \"$HOME/.claude/ide\" 2>/dev/null)\" ]; do sleep 0.05; done; \
         '{program}' agent call getOpenEditors >&2; wait"
    );
    let mut command = Command::new("unshare");
    command.args(arguments).args(["sh", "-c", &inside]);
    place.prepare(&mut command);
    let mut process = Process::spawn("unshare", &mut command);
    process.send_line(&config(&place, &json!({})));
    let mut editor = Editor::at(process);
    let call = editor.until("call");
    editor.send_line(&json!({"cmd": "respond", "call": call["call"], "result": {"tabs": []}}).to_string());
    editor.until("closed");
    let port: u16 = editor.port.parse().unwrap();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "it listens outside");
    let mut agent = place.agent(&["call", "getOpenEditors"]);
    assert_ne!(agent.end().0, Some(0), "it attaches outside");
    editor.hang_up();
    editor.until("over");
    let (status, complaint) = editor.end();
    assert!(status == Some(0) && complaint.contains("tabs"), "{status:?} {complaint}");
}
