//! The questions of one form: what the user reads, and what they type. Nothing here reads or writes the terminal.

use super::fields::{SHOWN, line_of, prompt, value, yes_or_no};
use ide_mcp::ide::kit::display_safe_lines;
use ide_mcp::mcp::{FieldKind, FieldValue, Form, FormAnswer};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const DECLINE: &str = "/decline";
const CANCEL: &str = "/cancel";

/// A form in the middle of its questions.
#[derive(Debug)]
pub(super) struct Questions {
    form: Form,
    /// The position of the current field.
    at: usize,
    /// The values of the fields before the current field.
    values: BTreeMap<String, FieldValue>,
}

/// The next step of a form.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A text for the user, who must then type a line.
    Ask(String),
    /// The answer, and a word for it.
    Done(FormAnswer, &'static str),
}

impl Questions {
    /// Begins a form, and returns the text with the first question. `editor` must be safe to display.
    pub(super) fn begin(editor: &str, form: Form) -> (Self, String) {
        let questions = Self { form, at: 0, values: BTreeMap::new() };
        let mut text = format!("{editor} asks:\n");
        let message = &questions.form.message;
        let end = message.char_indices().nth(SHOWN).map(|(end, _)| end);
        let shown = end.and_then(|end| message.get(..end));
        // The mark at the left shows that a line comes from the editor.
        for line in display_safe_lines(shown.unwrap_or(message)).lines() {
            let _ = writeln!(text, "  | {line}");
        }
        if shown.is_some() {
            text.push_str("  | …\n");
        }
        let _ = writeln!(text, "  ({DECLINE} declines, {CANCEL} or Ctrl+D closes the form)");
        text.push_str(&questions.question());
        (questions, text)
    }

    /// Takes a line of the user; `None` is the end of the input.
    pub(super) fn answer(&mut self, line: Option<&str>) -> Next {
        let line = line.map(|line| line.trim_end_matches(['\r', '\n']));
        match line.map(|line| (line, line.trim())) {
            None | Some((_, CANCEL)) => Next::Done(FormAnswer::Cancelled, "closed"),
            Some((_, DECLINE)) => Next::Done(FormAnswer::Declined, "declined"),
            Some((line, _)) => match self.form.fields().get(self.at) {
                Some(field) => match value(field, line) {
                    Ok(value) => {
                        let name = field.name.clone().into_owned();
                        self.values.extend(value.map(|value| (name, value)));
                        self.at = self.at.saturating_add(1);
                        if self.at < self.form.fields().len() {
                            Next::Ask(self.question())
                        } else {
                            self.sent()
                        }
                    }
                    Err(reason) => Next::Ask(format!("  {reason}\n{}", prompt(field))),
                },
                // A form without fields only asks for consent.
                None => match yes_or_no(line) {
                    Some(true) => self.sent(),
                    Some(false) => Next::Done(FormAnswer::Declined, "declined"),
                    None => Next::Ask(self.question()),
                },
            },
        }
    }

    fn sent(&mut self) -> Next {
        Next::Done(FormAnswer::Accepted(std::mem::take(&mut self.values)), "sent")
    }

    fn question(&self) -> String {
        let fields = self.form.fields();
        let Some(field) = fields.get(self.at) else { return "  yes or no > ".into() };
        let title = if field.title.is_empty() { &field.name } else { &field.title };
        let number = self.at.saturating_add(1);
        let mut text = match fields {
            [_] => format!("{}\n", line_of(title)),
            fields => format!("{number}/{} {}\n", fields.len(), line_of(title)),
        };
        if !field.description.is_empty() {
            let _ = writeln!(text, "  {}", line_of(&field.description));
        }
        if let FieldKind::Choice(choices) | FieldKind::Choices { choices, .. } = &field.kind {
            for (number, choice) in (1..).zip(choices) {
                let title = choice.title.as_ref().unwrap_or(&choice.value);
                let _ = writeln!(text, "  {number:>3}  {}", line_of(title));
            }
        }
        text + &prompt(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ide_mcp::mcp::FormField;

    /// Answers a form with these lines. Returns the last step, and checks that each one before it wants another line.
    fn answered(form: Form, lines: &[Option<&str>]) -> Next {
        let (mut questions, _) = Questions::begin("\"Editor\"", form);
        let (last, before) = lines.split_last().unwrap();
        for line in before {
            let next = questions.answer(*line);
            assert!(matches!(next, Next::Ask(_)), "{line:?}: {next:?}");
        }
        questions.answer(*last)
    }

    fn accepted(values: &[(&str, FieldValue)]) -> Next {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        Next::Done(FormAnswer::Accepted(values.collect()), "sent")
    }

    #[test]
    fn texts_of_a_form_are_safe_to_display() {
        let form = Form::new("Which\u{1b}[2J\ntests?").field(
            FormField::choice("suite", [("a", "All\nof them"), ("f", "Failed")])
                .title("Su\u{7}ite")
                .description("The \u{202e}tests")
                .default("f"),
        );
        let (mut questions, text) = Questions::begin("\"Editor\"", form.field(FormField::integer("jobs")));
        assert_eq!(
            text,
            "\"Editor\" asks:\n  | Which\u{fffd}[2J\n  | tests?\n  (/decline declines, /cancel or Ctrl+D closes the form)\n\
             1/2 Su\u{fffd}ite\n  The \u{fffd}tests\n    1  All\u{fffd}of them\n    2  Failed\n  a number from 1 to 2, Enter for 2 > "
        );
        let next = questions.answer(Some("\n"));
        assert_eq!(next, Next::Ask("2/2 jobs\n  a whole number, Enter for none > ".into()));
    }

    #[test]
    fn only_question_has_no_number() {
        let (_, text) = Questions::begin("e", Form::new("m").field(FormField::text("answer").required()));
        assert!(text.contains(" closes the form)\nanswer\n  "), "{text}");
    }

    #[test]
    fn invalid_value_is_asked_again() {
        let form = || Form::new("m").field(FormField::integer("n").required()).field(FormField::text("t"));
        let (mut questions, _) = Questions::begin("e", form());
        for _ in 0..2 {
            let again = Next::Ask("  this is not a number\n  a whole number > ".into());
            assert_eq!(questions.answer(Some("x\n")), again);
        }
        assert!(matches!(questions.answer(Some("7\r\n")), Next::Ask(_)));
        assert_eq!(questions.answer(Some("\n")), accepted(&[("n", 7.into())]));
        assert_eq!(
            answered(form(), &[Some("7"), Some("x")]),
            accepted(&[("n", 7.into()), ("t", "x".into())])
        );
    }

    #[test]
    fn form_is_declined_or_cancelled_anywhere() {
        let form = || Form::new("m").field(FormField::text("a")).field(FormField::text("b"));
        let (declined, closed) =
            (Next::Done(FormAnswer::Declined, "declined"), Next::Done(FormAnswer::Cancelled, "closed"));
        for before in [&[][..], &[Some("x")]] {
            let end = |line| answered(form(), &[before, &[line]].concat());
            assert_eq!(end(Some(" /decline \n")), declined);
            assert_eq!(end(Some("/cancel\n")), closed);
            assert_eq!(end(None), closed);
        }
        let consent = || Form::new("Go on?");
        assert_eq!(answered(consent(), &[Some("x"), Some("yes")]), accepted(&[]));
        assert_eq!(answered(consent(), &[Some("n")]), declined);
        assert_eq!(answered(consent(), &[None]), closed);
    }

    #[test]
    fn long_text_is_shortened() {
        for (length, is_whole) in [(SHOWN, true), (SHOWN + 1, false)] {
            let (_, text) = Questions::begin("e", Form::new("é".repeat(length)));
            assert_eq!(text.matches('é').count(), SHOWN);
            assert_eq!(!text.contains('…'), is_whole, "{length}");
        }
    }
}
