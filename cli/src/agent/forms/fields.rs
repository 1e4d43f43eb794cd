//! One field of a form: its prompt, and the value of a typed line. Nothing here reads or writes the terminal.

use ide_mcp::ide::kit::display_line;
use ide_mcp::mcp::{FieldChoice, FieldFault, FieldKind, FieldValue, Form, FormAnswer, FormField};
use serde_json::Number;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// How many characters of a text from the editor are shown. A longer text would push the question off the screen.
pub(super) const SHOWN: usize = 2_000;

/// Returns the text before the input: the kind of the value, and what Enter alone does.
pub(super) fn prompt(field: &FormField) -> String {
    let kind = match &field.kind {
        FieldKind::Text { min_length, max_length, format } => {
            let kind = match format.as_deref() {
                Some("email") => "an email address".into(),
                Some("uri") => "a URI".into(),
                Some("date") => "a date, such as 2026-11-24".into(),
                Some("date-time") => "a time, such as 2026-11-24T20:20:39Z".into(),
                _ => "a text".to_owned(),
            };
            let characters = bounds("of ", min_length.as_ref(), max_length.as_ref());
            if characters.is_empty() { kind } else { format!("{kind}{characters} characters") }
        }
        FieldKind::Number { is_integer, minimum, maximum } => {
            let kind = if *is_integer { "a whole number" } else { "a number" };
            format!("{kind}{}", bounds("of ", minimum.as_ref(), maximum.as_ref()))
        }
        FieldKind::Boolean => "yes or no".into(),
        FieldKind::Choice(choices) => format!("a number from 1 to {}", choices.len()),
        FieldKind::Choices { choices, min_items, max_items } => {
            let count = bounds("", min_items.as_ref(), max_items.as_ref());
            let kind = format!("comma-separated numbers from 1 to {}", choices.len());
            if count.is_empty() { kind } else { format!("{kind},{count} of them") }
        }
        _ => "a value".into(),
    };
    let enter = match (&field.default, field.required) {
        (Some(default), _) => format!(", Enter for {}", shown(field, default)),
        (None, false) => ", Enter for none".into(),
        (None, true) => String::new(),
    };
    format!("  {kind}{enter} > ")
}

/// Returns the bounds with a space before them; empty if there are no bounds. `of` comes before a single bound.
fn bounds<N: ToString>(of: &str, min: Option<&N>, max: Option<&N>) -> String {
    match (min.map(N::to_string), max.map(N::to_string)) {
        (Some(min), Some(max)) => format!(" from {min} to {max}"),
        (Some(min), None) => format!(" {of}at least {min}"),
        (None, Some(max)) => format!(" {of}at most {max}"),
        (None, None) => String::new(),
    }
}

fn shown(field: &FormField, value: &FieldValue) -> String {
    match (value, &field.kind) {
        (FieldValue::Boolean(value), _) => if *value { "yes" } else { "no" }.into(),
        (FieldValue::Number(number), _) => number.to_string(),
        (FieldValue::Text(text), FieldKind::Choice(choices)) => number_of(choices, text),
        (FieldValue::Texts(texts), FieldKind::Choices { choices, .. }) => {
            texts.iter().map(|text| number_of(choices, text)).collect::<Vec<_>>().join(",")
        }
        (FieldValue::Text(text), _) => format!("{:?}", line_of(text)),
        _ => String::new(),
    }
}

/// Returns the number of a choice in the list that is shown.
fn number_of(choices: &[FieldChoice], value: &str) -> String {
    let position = choices.iter().position(|choice| choice.value == value);
    position.unwrap_or_default().saturating_add(1).to_string()
}

/// Returns the value of the choice with this number, or the typed text itself if no choice has that number.
fn chosen(choices: &[FieldChoice], text: &str) -> String {
    let number: Option<usize> = text.trim().parse().ok();
    let numbered = number.and_then(|number| choices.get(number.checked_sub(1)?));
    numbered.map_or_else(|| text.trim(), |choice| &choice.value).to_owned()
}

/// Returns the value of a line; `None` if the line is empty and the field is optional and has no default. The error
/// says why the line does not fit.
pub(super) fn value(field: &FormField, line: &str) -> Result<Option<FieldValue>, &'static str> {
    if line.trim().is_empty() {
        return match &field.default {
            Some(default) => Ok(Some(default.clone())),
            None if field.required => Err("a value is required"),
            None => Ok(None),
        };
    }
    let value = match &field.kind {
        FieldKind::Number { .. } => {
            let number: Number = line.trim().parse().map_err(|_| "this is not a number")?;
            FieldValue::Number(number)
        }
        FieldKind::Boolean => yes_or_no(line).ok_or("this is neither yes nor no")?.into(),
        FieldKind::Choice(choices) => chosen(choices, line).into(),
        FieldKind::Choices { choices, .. } => {
            FieldValue::Texts(line.split(',').map(|text| chosen(choices, text)).collect())
        }
        FieldKind::Text { format: Some(format), .. } if !has_format(format, line) => {
            return Err("this does not fit the format");
        }
        _ => line.into(),
    };
    let one = FormAnswer::Accepted(BTreeMap::from([(field.name.to_string(), value.clone())]));
    match Form::new("").field(field.clone()).check(&one).map_err(|error| error.fault) {
        Ok(()) => Ok(Some(value)),
        Err(FieldFault::OutOfBounds) => Err("this is outside the bounds"),
        Err(FieldFault::NoChoice) => Err("this is not one of the choices"),
        Err(_) => Err("this is another kind of value"),
    }
}

/// Returns true if a string can have this format. Checks only what every string of the format has.
fn has_format(format: &str, text: &str) -> bool {
    let has_digits = |text: &str, form: &str| {
        text.len() == form.len()
            && text.bytes().zip(form.bytes()).all(|(byte, form)| match form {
                b'0' => byte.is_ascii_digit(),
                form => byte == form,
            })
    };
    match format {
        "email" => text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty()),
        "uri" => text.split_once(':').is_some_and(|(scheme, _)| {
            scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        }),
        "date" => has_digits(text, "0000-00-00"),
        "date-time" => {
            // More must follow: a zone, maybe after a fraction.
            let time = text.get(..19).filter(|_| text.len() > 19);
            time.is_some_and(|time| has_digits(&time.to_ascii_uppercase(), "0000-00-00T00:00:00"))
        }
        _ => true,
    }
}

pub(super) fn yes_or_no(line: &str) -> Option<bool> {
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" | "true" => Some(true),
        "n" | "no" | "false" => Some(false),
        _ => None,
    }
}

/// Returns a text from the editor as one line that is safe to display.
pub(super) fn line_of(text: &str) -> Cow<'_, str> {
    display_line(text, SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompt_names_kind_and_bounds() {
        let several = FieldValue::Texts(vec!["x".into(), "z".into()]);
        let rows = [
            (FormField::text("a").required(), "a text"),
            (FormField::text("a"), "a text, Enter for none"),
            (
                FormField::text("a").min_length(2).max_length(3).default("xy"),
                "a text from 2 to 3 characters, Enter for \"xy\"",
            ),
            (FormField::text("a").format("email").required(), "an email address"),
            (FormField::number("a").minimum(0.5).required(), "a number of at least 0.5"),
            (FormField::integer("a").maximum(9.0).default(3), "a whole number of at most 9, Enter for 3"),
            (FormField::boolean("a").default(false), "yes or no, Enter for no"),
            (
                FormField::choices("a", ["x", "y", "z"]).max_items(2).default(several),
                "comma-separated numbers from 1 to 3, at most 2 of them, Enter for 1,3",
            ),
        ];
        for (field, want) in rows {
            assert_eq!(prompt(&field), format!("  {want} > "));
        }
    }

    #[test]
    fn line_becomes_a_value_or_reason() {
        let text = || FormField::text("a").min_length(2).max_length(3);
        let format = |format| FormField::text("a").format(format);
        let choice = || FormField::choice("a", [("x", "The x"), ("2", "Two"), ("z", "")]);
        let several = || FormField::choices("a", ["x", "y", "z"]).max_items(2);
        let no_format = || Err("this does not fit the format");
        let rows = [
            (text(), " é ", Ok(Some(" é ".into()))),
            (text(), "éé", Ok(Some("éé".into()))),
            (text(), "a", Err("this is outside the bounds")),
            (text(), "abcd", Err("this is outside the bounds")),
            (text(), " ", Ok(None)),
            (text().required(), "", Err("a value is required")),
            (text().required().default("xy"), "", Ok(Some("xy".into()))),
            (FormField::number("a"), " -0.5 ", Ok(FieldValue::number(-0.5))),
            (FormField::number("a"), "1e999", Err("this is not a number")),
            (FormField::number("a").maximum(2.0), "2", Ok(Some(2.into()))),
            (FormField::number("a").maximum(2.0), "3", Err("this is outside the bounds")),
            (FormField::integer("a"), "1.5", Err("this is another kind of value")),
            (FormField::boolean("a"), "Y", Ok(Some(true.into()))),
            (FormField::boolean("a"), "no", Ok(Some(false.into()))),
            (FormField::boolean("a"), "maybe", Err("this is neither yes nor no")),
            (choice(), "1", Ok(Some("x".into()))),
            (choice(), "2", Ok(Some("2".into()))),
            (choice(), "3", Ok(Some("z".into()))),
            (choice(), "z", Ok(Some("z".into()))),
            (several(), "2, 1", Ok(Some(FieldValue::Texts(vec!["y".into(), "x".into()])))),
            (several(), "y", Ok(Some(FieldValue::Texts(vec!["y".into()])))),
            (several(), "1,2,3", Err("this is outside the bounds")),
            (several(), "1,4", Err("this is not one of the choices")),
            (choice(), "0", Err("this is not one of the choices")),
            (choice(), "4", Err("this is not one of the choices")),
            (format("email"), "a@b", Ok(Some("a@b".into()))),
            (format("email"), "a@", no_format()),
            (format("uri"), "x+1:", Ok(Some("x+1:".into()))),
            (format("uri"), "1x:y", no_format()),
            (format("date"), "2026-11-24", Ok(Some("2026-11-24".into()))),
            (format("date"), "24.11.2026", no_format()),
            (format("date-time"), "2026-11-24t20:20:39Z", Ok(Some("2026-11-24t20:20:39Z".into()))),
            (format("date-time"), "2026-11-24T20:20:39", no_format()),
            (format("other"), "any", Ok(Some("any".into()))),
        ];
        for (field, line, want) in rows {
            assert_eq!(value(&field, line), want, "{line:?} for {:?}", field.kind);
        }
    }
}
