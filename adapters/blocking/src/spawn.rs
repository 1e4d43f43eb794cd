//! The server of an editor on its own thread, for loops that cannot wait for sockets.

use crate::Server;
use ide_mcp::ide::ServerEvent;
use ide_mcp_driver::{Handle, StartError, StartOptions};
use std::thread;

/// Starts the server of an editor on its own thread, and returns a [`Handle`] to it. Use this if your loop
/// cannot wait for sockets: that of winit, a blocking `crossterm::event::read`, or a toolkit with its own
/// loop.
///
/// `notify` receives every event on that thread. Let it pass the event to your loop, through a channel and a
/// wake-up such as `EventLoopProxy::send_event`; or let it answer a call at once, with a clone of the handle.
/// While `notify` runs, the server does nothing else.
///
/// The server runs until [`Handle::shutdown`], or until `notify` panics. Call [`end`](Handle::end) before
/// your program ends, or its lock file stays behind.
///
/// ```no_run
/// use ide_mcp_blocking::ide::tool::{Tool, ToolCall};
/// use ide_mcp_blocking::ide::{ServerConfig, ServerEvent};
/// use ide_mcp_blocking::spawn;
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (sender, events) = std::sync::mpsc::channel();
/// let editor = ServerConfig::new("My Editor", "1.0").folder(".").tools([Tool::OpenDiff]);
/// let handle = spawn(editor, move |event| drop(sender.send(event)))?;
///
/// // In the loop of the application:
/// let mut open = Vec::new();
/// for event in events.try_iter() {
///     match event {
///         // Show both texts to the person. The agent waits.
///         ServerEvent::Call { call: ToolCall::OpenDiff(call, diff), .. } => open.push((call, diff)),
///         // The agent has gone, or the person decided in its terminal: close the view.
///         ServerEvent::DiffClosed { call, .. } => open.retain(|(of_view, _)| of_view.id() != call),
///         _ => {}
///     }
/// }
/// // Once the person has accepted one:
/// if let Some((call, diff)) = open.pop() {
///     handle.answer(call, diff.accept())?;
/// }
///
/// handle.end(Duration::from_secs(5));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`StartError`], also if the thread cannot be started.
pub fn spawn(
    editor: impl Into<StartOptions>,
    mut notify: impl FnMut(ServerEvent) + Send + 'static,
) -> Result<Handle, StartError> {
    let mut server = Server::start(editor)?;
    let handle = server.handle();
    let run = move || {
        while !server.is_over() {
            if let Some(event) = server.next_event() {
                notify(event);
            }
        }
    };
    thread::Builder::new().name("ide-mcp server".into()).spawn(run).map_err(StartError::Thread)?;
    Ok(handle)
}
