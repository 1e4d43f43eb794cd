//! The editors among the examples.

use crate::agent::Agent;
use crate::process::{Place, Process, skip};
use ide_mcp::ide::tool::{DiffOutcome, OpenDiff};
use ide_mcp::mcp::FormAnswer;
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// Starts an editor and waits for its lock file.
fn published(place: &Place, program: &str) -> Process {
    let process = place.start(program, &[]);
    place.published(program, None);
    process
}

/// Checks that the editor ends soon. A loop that missed its wake-up would wait for the first ping, after
/// 30 s.
fn ends(place: &Place, mut process: Process) {
    let begin = Instant::now();
    let (status, problem) = process.end();
    assert_eq!(status, Some(0), "{problem}");
    assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
    assert!(place.in_lock_dir().is_empty());
}

#[test]
fn minimal_server() {
    let place = Place::new("minimal");
    let mut editor = published(&place, "minimal_server");
    let mut agent = Agent::attach(&place);
    assert_eq!(
        agent.tools(),
        ["openDiff", "close_tab", "closeAllDiffTabs"],
        "it does not offer getDiagnostics"
    );
    editor.send_line("y");
    agent.proposal_is_accepted();
    editor.hang_up();
    let proposal = agent.propose();
    assert!(
        matches!(agent.decided(proposal), DiffOutcome::Rejected { .. }),
        "an editor that ends rejects its proposals"
    );
    ends(&place, editor);
}

#[test]
fn context() {
    let place = Place::new("context");
    let mut editor = published(&place, "context");
    let mut agent = Agent::attach(&place);
    let answer = FormAnswer::Accepted([("save".to_string(), true.into())].into());
    assert_eq!(agent.form(&answer), "Save before an edit?");
    let prompt = agent.request("prompts/get", &json!({"name": "review"}));
    assert_eq!(prompt["messages"][0]["content"]["text"], "Review draft://text.");
    assert!(editor.line().contains("\"save\": Boolean(true)"));
    let list = agent.request("resources/list", &json!({}));
    let uris: Vec<_> = list["resources"].as_array().unwrap().iter().map(|spec| spec["uri"].clone()).collect();
    assert_eq!(uris, ["draft://text", "draft://notes", "ide://diagnostics"]);
    for (uri, text) in [
        ("draft://text", "a draft\n"),
        ("draft://notes", "publish it"),
        ("ide://diagnostics", "this is a draft"),
    ] {
        let read = agent.request("resources/read", &json!({"uri": uri}));
        assert!(read["contents"][0]["text"].as_str().unwrap().contains(text), "{uri}: {read}");
    }
    let draft = fs::canonicalize(place.project()).unwrap().join("draft.txt");
    agent.call("getDiagnostics", &json!({"uri": format!("file://{}", draft.display())}));
    assert_eq!(fs::read_to_string(&draft).unwrap(), "a draft\n", "the editor has saved the buffer");
    fs::write(&draft, "of the agent").unwrap();
    agent.call("getDiagnostics", &json!({}));
    agent.call("getDiagnostics", &json!({"uri": format!("file://{}", draft.display())}));
    assert_eq!(fs::read_to_string(&draft).unwrap(), "of the agent", "the buffer was saved before");
    drop(agent);
    ends(&place, editor);
}

/// The agent finds the editor by the working directory.
#[test]
fn agent() {
    let place = Place::new("agent");
    let (status, problem) = place.start("agent", &[]).end();
    assert_eq!(status, Some(1), "{problem}");
    assert!(problem.contains("no lock files: start the editor"), "{problem}");
    let editor = published(&place, "context");
    let mut agent = place.start("agent", &[]);
    assert_eq!(agent.line(), "attached to Context");
    assert!(agent.line().starts_with("getDiagnostics: "));
    assert_eq!(agent.line(), "file:///draft.txt: this is a draft");
    assert_eq!(agent.end().0, Some(0));
    ends(&place, editor);
}

#[test]
fn mio_loop() {
    let place = Place::new("mio-loop");
    let mut editor = published(&place, "mio_loop");
    assert!(editor.line().starts_with("listening on port "));
    let mut agent = Agent::attach(&place);
    let mut diagnostics = |uri: &str| agent.call("getDiagnostics", &json!({"uri": uri})).concat();
    assert!(diagnostics("file:///draft.txt").contains("this is a draft"));
    assert_eq!(editor.line(), "agent is attached");
    assert_eq!(diagnostics("file:///done.txt"), r#"[{"uri":"file:///done.txt","diagnostics":[]}]"#);
    drop(agent);
    editor.terminate();
    ends(&place, editor);
}

#[test]
fn frame_loop() {
    let place = Place::new("frame-loop");
    let editor = published(&place, "frame_loop");
    let mut agent = Agent::attach(&place);
    agent.proposal_is_accepted();
    drop(agent);
    editor.terminate();
    ends(&place, editor);
}

#[test]
fn frame_loop_survives_a_lost_lock_directory() {
    let place = Place::new("frame-disk");
    let mut editor = published(&place, "frame_loop");
    let away = place.home().join("away");
    fs::rename(place.lock_dir(), &away).unwrap();
    fs::write(place.lock_dir(), "no directory").unwrap();
    // The editor tries again every 5 s, so it tries twice in this time.
    thread::sleep(Duration::from_secs(11));
    fs::remove_file(place.lock_dir()).unwrap();
    place.published("frame_loop, which found no directory,", None);
    Agent::attach(&place).tools();
    editor.terminate();
    let (status, problem) = editor.end();
    assert_eq!(status, Some(0), "{problem}");
    assert_eq!(problem.matches("lock file").count(), 1, "{problem}");
    assert!(place.in_lock_dir().is_empty());
}

#[test]
fn one_descriptor() {
    let place = Place::new("one-descriptor");
    let mut editor = published(&place, "one_descriptor");
    assert!(editor.line().starts_with("listening on port "));
    Agent::attach(&place).tools();
    assert_eq!(editor.line(), "an agent is attached");
    editor.terminate();
    ends(&place, editor);
}

/// The program needs a terminal, which `script` gives it. Each key goes to the loop that waits for keys.
#[test]
fn thread_handle() {
    let place = Place::new("thread-handle");
    let program = place.command("thread_handle", &[]);
    let mut script = Command::new("script");
    script.args(["-qec", program.get_program().to_str().unwrap(), "/dev/null"]);
    place.prepare(&mut script);
    let mut editor = Process::spawn("thread_handle", &mut script);
    place.published("thread_handle", None);
    let mut agent = Agent::attach(&place);
    let (accepted, rejected) =
        (OpenDiff::new("/x", "new\n", "t").accept(), OpenDiff::new("/x", "", "t").reject());
    for (key, outcome) in [("a", &accepted), ("r", &rejected), ("a", &accepted)] {
        let proposal = agent.propose();
        assert!(editor.line().contains("accept (a) or reject (r)?"));
        editor.put(key);
        assert_eq!(agent.decided(proposal), *outcome);
    }
    // When the agent of a proposal has gone, later keys must not decide about it.
    agent.propose();
    assert!(editor.line().contains("accept (a) or reject (r)?"));
    drop(agent);
    let mut other = Agent::attach(&place);
    let proposal = other.propose();
    assert!(editor.line().contains("accept (a) or reject (r)?"));
    editor.put("r");
    assert_eq!(other.decided(proposal), rejected);
    editor.put("q");
    ends(&place, editor);
}

/// Without a terminal the loop fails at its start; `setsid` takes away the terminal of the test.
#[test]
fn thread_handle_without_terminal_ends_its_server() {
    let place = Place::new("no-terminal");
    let program = place.command("thread_handle", &[]);
    let mut setsid = Command::new("setsid");
    setsid.args(["--wait".as_ref(), program.get_program()]);
    place.prepare(&mut setsid);
    let (status, problem) = Process::spawn("thread_handle", &mut setsid).end();
    assert_eq!(status, Some(1), "{problem}");
    assert!(place.in_lock_dir().is_empty());
}

#[test]
fn smol_loop() {
    attached_and_answered("smol_loop");
}

#[test]
fn blocking_loop() {
    attached_and_answered("blocking_loop");
}

fn attached_and_answered(program: &str) {
    let place = Place::new(program);
    let mut editor = published(&place, program);
    assert!(editor.line().starts_with("listening on port "));
    let mut agent = Agent::attach(&place);
    agent.proposal_is_accepted();
    assert_eq!(editor.line(), "agent is attached");
    drop(agent);
    editor.terminate();
    ends(&place, editor);
}

/// The program `ide-mcp agent` finds each editor by the working directory. The tests of the workspace build
/// it. `one_descriptor` offers no tool.
#[test]
fn agent_program_attaches_to_each_editor() {
    let test = env::current_exe().unwrap();
    let program = test.parent().and_then(Path::parent).unwrap().join("ide-mcp");
    if !program.exists() {
        return skip("cargo build --package ide-mcp-cli builds the agent");
    }
    // The tool that the editor answers without a person.
    let proposal = r#"{"old_file_path":"/x","new_file_path":"/x","new_file_contents":"new","tab_name":"t"}"#;
    let rows = [
        ("minimal_server", "openDiff", proposal, "FILE_SAVED"),
        ("frame_loop", "openDiff", proposal, "FILE_SAVED"),
        ("blocking_loop", "openDiff", proposal, "FILE_SAVED"),
        ("smol_loop", "openDiff", proposal, "FILE_SAVED"),
        ("mio_loop", "getDiagnostics", r#"{"uri":"file:///draft.txt"}"#, "this is a draft"),
        ("context", "getDiagnostics", "{}", "this is a draft"),
    ];
    for (editor, tool, arguments, expected) in rows {
        let place = Place::new("agent-program");
        let mut server = published(&place, editor);
        if editor == "minimal_server" {
            server.send_line("y");
        }
        let mut command = Command::new(&program);
        place.prepare(command.args(["agent", "call", tool, arguments]));
        let mut agent = Process::spawn("agent", &mut command);
        let answer = agent.rest().join("\n");
        assert_eq!(agent.end(), (Some(0), String::new()), "{editor}: {answer}");
        assert!(answer.contains(expected), "{editor}: {answer}");
        match editor {
            // End its input: there is no person to decide about the next proposal.
            "minimal_server" => {
                server.hang_up();
                let _proposal = Agent::attach(&place).propose();
            }
            "context" => {} // It ends when its agent leaves.
            _ => server.terminate(),
        }
        ends(&place, server);
    }
}
