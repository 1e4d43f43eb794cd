//! An editor's server in calloop's event loop: one descriptor, which is that of a nested `Poll`,
//! and one timer.
//!
//! `cargo run --manifest-path examples/recipes/Cargo.toml --example calloop_recipe`; Enter ends it.

use calloop::generic::Generic;
use calloop::timer::{TimeoutAction, Timer};
use calloop::{EventLoop, Interest, LoopHandle, LoopSignal, Mode, PostAction, RegistrationToken};
use ide_mcp::Clock;
use ide_mcp::ide::{Diagnostics, Host, HostConfig, HostEvent, LockFile, Policy, ServerConfig, ServerEvent};
use ide_mcp::ide::{Tool, ToolCall, ToolSet};
use ide_mcp::mcp::Implementation;
use ide_mcp_lockfile::{LockDir, new_token, workspace_folders};
use ide_mcp_mio::{Bind, Server};
use mio::{Events, Poll, Token};
use std::error::Error;
use std::time::Duration;
use std::{io, process};

struct App {
    server: Server,
    inner: Poll,
    events: Events,
    clock: Clock,
    handle: LoopHandle<'static, Self>,
    timer: Option<RegistrationToken>,
    signal: LoopSignal,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut outer: EventLoop<'static, App> = EventLoop::try_new()?;
    let inner = Poll::new()?;
    let mut app = App {
        server: listen(&inner)?,
        events: Events::with_capacity(64),
        clock: Clock::new(),
        handle: outer.handle(),
        timer: None,
        signal: outer.get_signal(),
        inner,
    };
    println!("listening on port {}; Enter ends it", app.server.port());

    let sockets = Generic::new(app.inner.registry().try_clone()?, Interest::READ, Mode::Level);
    outer.handle().insert_source(sockets, |_, _, app: &mut App| app.turn().map(|()| PostAction::Continue))?;
    let keys = Generic::new(io::stdin(), Interest::READ, Mode::Level);
    outer.handle().insert_source(keys, |_, _, app: &mut App| {
        app.server.shutdown(app.clock.now());
        app.turn().map(|()| PostAction::Remove)
    })?;
    app.turn()?;
    outer.run(None, &mut app, |_| {})?;
    Ok(())
}

impl App {
    /// Gives the server a turn: when the descriptor is readable, when the timer fires, and after
    /// each change of the server by the application.
    fn turn(&mut self) -> io::Result<()> {
        self.inner.poll(&mut self.events, Some(Duration::ZERO))?;
        for event in &self.events {
            self.server.handle_event(event);
        }
        self.server.turn(self.clock.now(), |host, event| {
            let HostEvent::Agent { event, .. } = event else { return };
            match event {
                ServerEvent::Ready { .. } => println!("an agent is attached"),
                ServerEvent::Call(call) => answer(host, call),
                _ => {}
            }
        });
        if self.server.is_over() {
            self.signal.stop();
        }
        self.set_timer()
    }

    /// Sets the timer to the deadline, which can be earlier or later than before.
    fn set_timer(&mut self) -> io::Result<()> {
        if let Some(timer) = self.timer.take() {
            self.handle.remove(timer);
        }
        let deadline = self.server.deadline(self.clock.now());
        let Some(wait) = self.clock.until(deadline) else { return Ok(()) };
        let fired = |_, _: &mut (), app: &mut Self| {
            app.timer = None;
            if app.turn().is_err() {
                app.signal.stop();
            }
            TimeoutAction::Drop
        };
        let timer = self.handle.insert_source(Timer::from_duration(wait), fired);
        self.timer = Some(timer.map_err(|error| io::Error::other(error.error))?);
        Ok(())
    }
}

/// Accepts every proposal unchanged, and finds no problems.
fn answer(host: &mut Host, call: ToolCall) {
    // An error means that the agent has gone or has cancelled the call.
    let _ = match call {
        ToolCall::GetDiagnostics(call, _) => host.answer(call, &Diagnostics::new(Vec::new())),
        ToolCall::OpenDiff(call, diff) => host.answer(call, &diff.accept()),
        other => host.call(other).fail(-32601, "this editor shows diffs and nothing else"),
    };
}

fn listen(poll: &Poll) -> Result<Server, Box<dyn Error>> {
    let token = new_token()?;
    let info = Implementation::new("calloop_recipe", "1.0");
    let tools = ToolSet::new().handle(Tool::OpenDiff).handle(Tool::GetDiagnostics);
    let config = HostConfig::new(ServerConfig::new(info, Policy::new(0, token.clone()), tools));
    let mut server = Server::bind(Bind::AnyPort, config, poll.registry(), Token(0))?;
    let file = LockFile::new(process::id(), workspace_folders(["."])?, "calloop", token);
    server.publish(&LockDir::from_environment()?, &file)?;
    Ok(server)
}
