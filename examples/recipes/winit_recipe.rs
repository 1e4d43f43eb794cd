//! An editor's server for a program on winit, whose loop cannot wait for sockets: the server has a thread, which wakes
//! the loop with each event. Where there is no display, the main thread takes the events without winit.
//!
//! `cargo run --manifest-path examples/recipes/Cargo.toml --features winit --example winit_recipe`; Enter
//! ends it.

use ide_mcp_blocking::ide::tool::{Tool, ToolCall};
use ide_mcp_blocking::ide::{ServerConfig, ServerEvent};
use ide_mcp_blocking::{Handle, spawn};
use std::{error::Error, io, sync::mpsc, thread, time::Duration};
use winit::application::ApplicationHandler;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::window::WindowId;

/// The application, on the thread of winit.
struct App {
    handle: Handle,
}

/// An event for the loop of winit.
enum AppEvent {
    Editor(ServerEvent),
    Quit,
}

impl ApplicationHandler<AppEvent> for App {
    fn user_event(&mut self, event_loop: &ActiveEventLoop, event: AppEvent) {
        if !self.handle_event(event) {
            event_loop.exit();
        }
    }

    fn resumed(&mut self, _: &ActiveEventLoop) {}

    fn window_event(&mut self, _: &ActiveEventLoop, _: WindowId, _: WindowEvent) {}
}

impl App {
    /// Handles an event, and returns false when the loop should end. It accepts every proposal at once, to
    /// keep the focus on the loop; an editor keeps the call, shows the diff in a window, and answers when
    /// the person has decided.
    fn handle_event(&mut self, event: AppEvent) -> bool {
        let AppEvent::Editor(event) = event else { return false };
        let Some(ToolCall::OpenDiff(call, diff)) = event.into_call() else { return true };
        // An error means that the server has ended.
        self.handle.answer(call, diff.accept()).is_ok()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let event_loop = EventLoop::<AppEvent>::with_user_event().build();
    let proxy = event_loop.as_ref().ok().map(EventLoop::create_proxy);
    let (sender, events) = mpsc::channel();
    let send = move |event| match &proxy {
        Some(proxy) => drop(proxy.send_event(event)),
        None => drop(sender.send(event)),
    };

    let editor = ServerConfig::new("winit", "1.0").folder(".").tools([Tool::OpenDiff]);
    let notify = send.clone();
    let handle = spawn(editor, move |event| notify(AppEvent::Editor(event)))?;
    println!("listening on port {}; Enter ends it", handle.port());
    thread::spawn(move || io::stdin().read_line(&mut String::new()).map(|_| send(AppEvent::Quit)));

    let mut app = App { handle: handle.clone() };
    match event_loop {
        Ok(event_loop) => event_loop.run_app(&mut app)?,
        Err(_) => while events.recv().is_ok_and(|event| app.handle_event(event)) {},
    }
    handle.end(Duration::from_secs(5));
    Ok(())
}
