//! The prompt that the editor offers to agents, and its questions to users at agents.
//!
//! The resources need no code here: the tools that read the selection, the open files, the folders and the problems
//! are resources too.

use super::agents::of_peer;
use super::app::App;
use super::model::Tone;
use ide_mcp::ide::{Pending, Server};
use ide_mcp::mcp::{
    Context, Form, FormAnswer, FormField, GetPrompt, Outcome, PromptArgument, PromptResult, PromptSpec,
};
use ide_mcp::rpc::{CallId, RequestId};

/// The name of the field in the question.
const ANSWER: &str = "answer";

/// Returns the prompt for agents.
pub(super) fn context() -> Context {
    let review = PromptSpec::new("review", "Reviews the selected lines of the editor, or the shown file");
    Context::new().prompt(review.argument(PromptArgument::optional("focus", "What the review looks for")))
}

impl App {
    /// Answers a request for the prompt. It names the selected lines, and the agent reads them itself.
    pub(super) fn answer_prompt(&self, server: &mut Server, call: CallId, question: &GetPrompt) {
        let shown = self.model.document();
        let refused = match shown {
            _ if server.is_paused() => Some("the editor is paused by its user"),
            None => Some("no file is shown in the editor"),
            Some(document) if document.is_hidden => Some("the file may not leave the editor"),
            Some(_) => None,
        };
        let passage = shown.map(|document| {
            let range = document.selection().range;
            let (first, last) = (range.start.line.saturating_add(1), range.end.line.saturating_add(1));
            let lines = if range.start == range.end { String::new() } else { format!("#L{first}-{last}") };
            format!("@{}{lines}", document.path)
        });
        // If this fails, the agent is gone, and nobody waits for the answer.
        let _ = match (refused, passage) {
            (None, Some(passage)) => {
                let focus = question.arguments.get("focus").filter(|focus| !focus.is_empty());
                let focus = focus.map(|focus| format!(" Look for this: {focus}")).unwrap_or_default();
                let result = PromptResult::text(format!("Review {passage}.{focus}"));
                server.call(call).respond_prompt(&result).map_err(drop)
            }
            (reason, _) => server.call(call).fail(reason.unwrap_or_default()).map_err(drop),
        };
    }

    /// Asks the user at the first agent that shows forms.
    pub(super) fn ask_agent(&mut self, server: &mut Server, question: &str) -> Result<(), String> {
        let agents: Vec<_> = server.agents().map(|agent| agent.id()).collect();
        if agents.is_empty() {
            return Err("no agent is attached".into());
        }
        let form = Form::new(question.to_owned()).field(FormField::text(ANSWER).required());
        let mut question =
            agents.into_iter().filter_map(|agent| server.agent_mut(agent).elicit(form.clone()).ok());
        let question = question.next().ok_or("no attached agent can show a question")?;
        self.questions.push(question);
        self.model.notify(Tone::Plain, "the agent shows your question to its user");
        Ok(())
    }

    /// Handles the outcome of a question.
    pub(super) fn answered(&mut self, request: RequestId, outcome: Outcome) {
        let at = self.questions.iter().position(|question: &Pending<FormAnswer>| question.id() == request);
        let Some(question) = at.map(|at| self.questions.remove(at)) else { return };
        let (tone, text) = match question.answer(outcome) {
            Ok(answer) => match (answer.text(ANSWER), &answer) {
                (Some(text), _) => (Tone::Good, format!("the answer is: {}", of_peer(text))),
                (None, FormAnswer::Declined) => {
                    (Tone::Plain, "the user at the agent declined to answer".into())
                }
                (None, _) => (Tone::Plain, "the user at the agent closed the question".into()),
            },
            Err(error) => (Tone::Bad, format!("no answer: {}", of_peer(&error.to_string()))),
        };
        self.model.report(tone, text);
    }
}
