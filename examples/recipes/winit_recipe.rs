//! An editor's server beside winit, whose loop cannot wait for sockets: the server has a thread, which wakes
//! the loop with each event. Where there is no display, the main thread takes the events without winit.
//!
//! `cargo run --manifest-path examples/recipes/Cargo.toml --features winit --example winit_recipe`; Enter
//! ends it.

use ide_mcp_blocking::ide::{HostEvent, ServerEvent, Tool, ToolCall, ToolSet};
use ide_mcp_blocking::{EditorOptions, Handle, spawn};
use std::{error::Error, io, sync::mpsc, thread, time::Duration};
use winit::application::ApplicationHandler;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::window::WindowId;

/// The application on the thread of winit.
struct App {
    handle: Handle,
}

/// An event for the loop of winit.
enum AppEvent {
    Editor(HostEvent),
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
    /// Handles an event. Returns false at the end.
    fn handle_event(&mut self, event: AppEvent) -> bool {
        if let AppEvent::Editor(HostEvent::Agent {
            event: ServerEvent::Call(ToolCall::OpenDiff(call, diff)),
            ..
        }) = event
        {
            // An error means that the server has ended.
            return self.handle.answer(call, diff.accept()).is_ok();
        }
        matches!(event, AppEvent::Editor(_))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let editor = EditorOptions::new("winit", "1.0").folder(".").tools(ToolSet::new().handle(Tool::OpenDiff));
    // An event loop of winit needs a display; its proxy sends from any thread.
    let event_loop = EventLoop::<AppEvent>::with_user_event().build();
    let (sender, events) = mpsc::channel();
    let send: Box<dyn Fn(AppEvent) + Send> = match &event_loop {
        Ok(event_loop) => {
            let proxy = event_loop.create_proxy();
            Box::new(move |event| drop(proxy.send_event(event)))
        }
        Err(_) => Box::new(move |event| drop(sender.send(event))),
    };
    let send = std::sync::Arc::new(std::sync::Mutex::new(send));
    let of_editor = send.clone();
    let handle = spawn(editor, move |event| of_editor.lock().unwrap()(AppEvent::Editor(event)))?;
    println!("listening on port {}; Enter ends it", handle.port());
    thread::spawn(move || {
        io::stdin().read_line(&mut String::new()).map(|_| send.lock().unwrap()(AppEvent::Quit))
    });

    let mut app = App { handle: handle.clone() };
    match event_loop {
        Ok(event_loop) => event_loop.run_app(&mut app)?,
        Err(_) => while events.recv().is_ok_and(|event| app.handle_event(event)) {},
    }
    handle.shutdown();
    handle.wait_until_over(Duration::from_secs(5));
    Ok(())
}
