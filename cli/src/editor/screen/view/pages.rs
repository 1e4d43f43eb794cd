//! The pages of help and activity, and the screen without an open file.

use super::frame::Frame;
use super::palette::Ink;
use super::text::rest;
use crate::editor::screen::bindings::{BESIDES, BINDINGS, Binding, FIRST, MARKS, NO_KEY, SECTIONS, name};
use crate::editor::screen::model::act::Action;
use crate::editor::screen::model::written::Written;
use crate::editor::screen::model::{Model, Page, PageKind};
use crate::support::Shell;
use crate::support::columns::{cut, width};
use ide_mcp::ide::Unauthenticated;
use ide_mcp_lockfile::ago;
use ratatui::layout::Rect;

/// A line of a page. An entry is an emphasized word and a text.
enum Line {
    Heading(&'static str),
    Entry(String, String),
    /// The entry that the keys act on.
    Marked(String, String),
    /// A row of a command, and its effect. The command is shown whole, and not cut to a column.
    Command(String, String),
    Blank,
}

pub(crate) fn draw(model: &Model, page: Page, area: Rect, frame: &mut Frame) {
    frame.fill(area, Ink::Text);
    let lines = lines(model, page.kind);
    let column = lines.iter().map(|line| match line {
        Line::Entry(word, _) | Line::Marked(word, _) => word.chars().count(),
        Line::Heading(_) | Line::Command(..) | Line::Blank => 0,
    });
    let most = usize::from(area.width) * 2 / 5;
    let column = column.max().unwrap_or_default().min(most).saturating_add(5);
    for (y, line) in (area.y..area.y.saturating_add(area.height)).zip(lines.iter().skip(page.top)) {
        let row = Rect { y, height: 1, ..area };
        match line {
            Line::Heading(text) => {
                frame.write(row, &cut(&format!(" {text}"), row.width.into()), Ink::Heading);
            }
            Line::Entry(word, text) | Line::Marked(word, text) => {
                let (key, body_ink) = match line {
                    Line::Marked(..) => (Ink::Row, Ink::Row),
                    _ => (Ink::Key, Ink::Text),
                };
                frame.fill(row, body_ink);
                let word = cut(word, column.saturating_sub(5));
                frame.write(row, &format!("   {word}"), key);
                let body = rest(row, row.x.saturating_add(u16::try_from(column).unwrap_or(u16::MAX)));
                frame.write(body, &cut(text, body.width.into()), body_ink);
            }
            Line::Command(command, effect) => {
                let end = frame.write(row, &format!("   {command}  "), Ink::Key);
                let body = rest(row, end);
                frame.write(body, &cut(effect, body.width.into()), Ink::Text);
            }
            Line::Blank => {}
        }
    }
}

/// Returns the number of lines of a page.
pub(crate) fn length(model: &Model, kind: PageKind) -> usize {
    lines(model, kind).len()
}

fn lines(model: &Model, kind: PageKind) -> Vec<Line> {
    match kind {
        PageKind::Help => help(model),
        PageKind::Activity => activity(model),
        PageKind::Edits => edits(model),
    }
}

fn help(model: &Model) -> Vec<Line> {
    let entry = |binding: &Binding| {
        let keys: Vec<String> = model.keys.keys(binding).iter().map(|key| name(*key, false)).collect();
        let keys = if keys.is_empty() { NO_KEY.to_owned() } else { keys.join(", ") };
        Line::Entry(keys, binding.help.into())
    };
    let fixed = |(word, help): &(&str, &str)| Line::Entry((*word).into(), (*help).into());
    let mut lines = vec![Line::Heading("The keys that matter most")];
    lines.extend(
        FIRST
            .iter()
            .filter_map(|action| BINDINGS.iter().find(|binding| binding.action == *action))
            .map(entry),
    );
    lines.extend([Line::Blank, Line::Heading("The marks")]);
    lines.extend(MARKS.iter().map(fixed));
    lines.push(Line::Blank);
    for (title, within) in SECTIONS {
        lines.push(Line::Heading(title));
        lines.extend(BINDINGS.iter().filter(|binding| binding.within == *within).map(entry));
        if *title == SECTIONS.first().map_or("", |first| first.0) {
            lines.extend(BESIDES.iter().map(fixed));
        }
        lines.push(Line::Blank);
    }
    if let Some(source) = &model.config {
        let state = if source.is_read { "was read at the start" } else { "does not exist" };
        lines.extend([
            Line::Heading("The configuration file, which `ide-mcp help config` explains"),
            Line::Command(source.path.display().to_string(), state.into()),
            Line::Blank,
        ]);
    }
    lines
}

fn activity(model: &Model) -> Vec<Line> {
    let mut lines = vec![Line::Heading("Attached")];
    if model.agents.is_empty() {
        lines.push(Line::Entry("nobody".into(), String::new()));
    }
    lines.extend(model.agents.iter().map(|agent| {
        let process = agent.pid.map_or_else(String::new, |pid| format!("process {pid}"));
        Line::Entry(agent.name.clone(), process)
    }));
    let Unauthenticated { refused, wrong_tokens, ended, .. } = model.unauthenticated;
    if model.unauthenticated.total() > 0 {
        let counts =
            format!("{refused} refused, {wrong_tokens} of them for a wrong token; {ended} ended unanswered");
        lines.push(Line::Entry("not let in".into(), counts));
    }
    // The rows of commands are indented by three columns.
    let columns = usize::from(model.size.0).saturating_sub(3);
    let command = |(row, effect)| Line::Command(row, effect);
    if !model.launch.is_empty() {
        lines.extend([Line::Blank, Line::Heading("In another terminal, this line starts your command")]);
        lines.extend(command_rows(&model.launch, "", columns, model.shell).into_iter().map(command));
    }
    if let Some(attach) = &model.attach {
        lines.extend([Line::Blank, Line::Heading("How an agent attaches to this editor")]);
        let ways = attach.ways(model.shell).into_iter();
        let rows = ways.flat_map(|(words, effect)| command_rows(&words, &effect, columns, model.shell));
        lines.extend(rows.map(command));
        let here = attach.neighbors.iter().map(|neighbor| (neighbor.name.as_str(), neighbor.port));
        if !attach.is_alone() {
            lines.extend([Line::Blank, Line::Heading("The editors that have these folders open")]);
            lines.push(Line::Entry(attach.name.clone(), format!("port {}, this one", attach.port)));
            lines.extend(here.map(|(name, port)| Line::Entry(name.to_owned(), format!("port {port}"))));
        }
    }
    lines.extend([Line::Blank, Line::Heading("What happened, the latest first")]);
    lines.extend(model.log.iter().rev().map(|entry| {
        let who = entry.who.as_ref().map_or_else(String::new, |who| format!("{who}: "));
        Line::Entry(ago(model.now.saturating_since(entry.at)), format!("{who}{}", entry.text))
    }));
    lines
}

/// Returns the rows of a command of a shell, with its effect after the last row. If there is no room, the effect gets a
/// row of its own.
fn command_rows(words: &[String], effect: &str, columns: usize, shell: Shell) -> Vec<(String, String)> {
    let mut rows: Vec<_> =
        continued(words, columns, shell).into_iter().map(|row| (row, String::new())).collect();
    match rows.last_mut() {
        Some((row, last)) if width(row).saturating_add(width(effect)).saturating_add(2) <= columns => {
            *last = effect.to_owned();
        }
        _ if effect.is_empty() => {}
        _ => rows.push((String::new(), effect.to_owned())),
    }
    rows
}

/// Breaks a line of a shell between its words, so that the user can copy it in pieces. The screen cuts a word that is
/// longer than a row.
fn continued(words: &[String], columns: usize, shell: Shell) -> Vec<String> {
    let room = columns.saturating_sub(2);
    let mut rows: Vec<String> = Vec::new();
    for word in words {
        match rows.last_mut() {
            Some(row) if width(row).saturating_add(width(word)) < room => {
                row.push(' ');
                row.push_str(word);
            }
            _ => rows.push(word.clone()),
        }
    }
    let last = rows.len().saturating_sub(1);
    for row in rows.iter_mut().take(last) {
        row.extend([' ', shell.continuation()]);
    }
    rows
}

/// Returns the files that agents wrote, one line each.
fn edits(model: &Model) -> Vec<Line> {
    if model.written.current().is_none() {
        return vec![Line::Entry(
            "nothing".into(),
            "in auto mode an agent writes files without asking".into(),
        )];
    }
    let line = |(at, file): (usize, &Written)| {
        let word = format!("{} {}", file.kind, file.label);
        let text = format!("{}, {}", file.who, ago(model.now.saturating_since(file.at)));
        if at == model.written.cursor() { Line::Marked(word, text) } else { Line::Entry(word, text) }
    };
    model.written.iter().enumerate().map(line).collect()
}

/// Draws the screen without an open file.
pub(crate) fn draw_nothing(model: &Model, area: Rect, frame: &mut Frame) {
    frame.fill(area, Ink::Text);
    // The rows are indented by two columns.
    let columns = usize::from(area.width).saturating_sub(2);
    let commands = |ways: Vec<(Vec<String>, String)>| {
        let rows = ways
            .into_iter()
            .flat_map(move |(words, effect)| command_rows(&words, &effect, columns, model.shell));
        rows.map(|(row, effect)| (format!("{row}  {effect}").trim_end().to_owned(), Ink::Key))
            .collect::<Vec<_>>()
    };
    let mut lines = vec![
        ("No file is open".to_owned(), Ink::Heading),
        (String::new(), Ink::Dim),
        (format!("{} opens what is marked on the left.", model.keys.key(Action::Open, false)), Ink::Dim),
    ];
    if !model.launch.is_empty() {
        lines.push(("In another terminal, this line starts your command:".to_owned(), Ink::Dim));
        lines.extend(commands(vec![(model.launch.clone(), String::new())]));
    } else if let Some(attach) = &model.attach {
        lines.extend(attach.warning().map(|warning| (warning, Ink::Text)));
        lines.push((format!("To attach an agent to {}, use", attach.name), Ink::Dim));
        lines.extend(commands(attach.ways(model.shell)));
    }
    lines.push(("Proposed changes appear here.".to_owned(), Ink::Dim));
    let above = usize::from(area.height).saturating_sub(lines.len()) / 3;
    for ((text, ink), row) in lines.iter().zip(above..area.height.into()) {
        let y = area.y.saturating_add(u16::try_from(row).unwrap_or(u16::MAX));
        let line = Rect { x: area.x.saturating_add(2), y, width: area.width.saturating_sub(2), height: 1 };
        frame.write(line, &cut(text, line.width.into()), *ink);
    }
}
