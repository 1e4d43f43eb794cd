//! An agent that finds its editor, lists the editor's tools, and asks for problems.
//!
//! Run `ide-mcp editor` in one terminal, and `cargo run --example agent` in another, in the same folder. If
//! the editor does not offer `getDiagnostics` (`minimal_server` does not), the example lists the tools and
//! ends with an error.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the example prints its results")]

use ide_mcp_blocking::ide::kit::display_safe;
use ide_mcp_blocking::ide::tool::GetDiagnostics;
use ide_mcp_blocking::{Agent, AgentOptions};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // The message of an error says what to do. If `main` returned the error, Rust would print its
        // fields instead.
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut agent = Agent::attach(AgentOptions::new("example-agent", "1.0"))?;
    println!("attached to {}", display_safe(&agent.session().editor().name));
    for tool in agent.list_tools()? {
        println!("{}: {}", display_safe(&tool.name), display_safe(&tool.description));
    }
    for file in agent.call_tool(&GetDiagnostics::default())?.files {
        for problem in file.diagnostics {
            println!("{}: {}", display_safe(&file.uri), display_safe(&problem.message));
        }
    }
    agent.detach();
    Ok(())
}
