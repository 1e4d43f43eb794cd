//! The bars above and below: the title, the waiting proposals, the agents with the latest message, and the keys.

use super::frame::Frame;
use super::palette::Ink;
use super::text::{rest, right_aligned};
use super::{pages, prompt};
use crate::editor::screen::layout::{Places, shown};
use crate::editor::screen::model::act::{Action, SIDE_BY_SIDE, changes};
use crate::editor::screen::model::text::LineEnds;
use crate::editor::screen::model::{Focus, Model, PageKind, Tone};
use crate::support::columns::{column_of, cut, cut_start, width};
use ratatui::layout::Rect;

pub(crate) fn draw(model: &Model, places: &Places, frame: &mut Frame) {
    if let Some(area) = places.header {
        header(model, places, area, frame);
    }
    if let Some(area) = places.banner {
        let names: Vec<&str> = model.proposals.iter().map(|open| open.label.as_str()).collect();
        let wait = if names.len() == 1 { "waits" } else { "wait" };
        let text = format!(" ✻ {} {wait}: {}", changes(names.len()), names.join(", "));
        let key = model.keys.key(Action::ShowProposal, false);
        split(frame, area, &text, &format!("{key} shows it "), Ink::Banner, Ink::Banner);
    }
    if let Some(area) = places.status {
        status(model, area, frame);
    }
    if let Some(area) = places.help {
        help(model, area, frame);
    }
}

fn header(model: &Model, places: &Places, area: Rect, frame: &mut Frame) {
    frame.fill(area, Ink::Header);
    if let Some(page) = model.page {
        let title = match page.kind {
            PageKind::Help => " Help",
            PageKind::Activity => " Activity",
            PageKind::Edits => " What agents wrote",
        };
        let is_more = page.top.saturating_add(shown(model).rows) < pages::length(model, page.kind);
        let more = if is_more { "PgDn shows more " } else { "" };
        split(frame, area, title, more, Ink::Header, Ink::HeaderDim);
    } else if model.focus == Focus::Proposal {
        proposal(model, area, frame);
    } else {
        if let Some(files) = places.files {
            let files = Rect { width: files.width, ..area };
            let ink = if model.focus == Focus::Files { Ink::Header } else { Ink::HeaderDim };
            // The name of the folder distinguishes two editors.
            frame.write(files, &cut(&format!(" {}", model.tree.title()), files.width.into()), ink);
        }
        if let (Some(main), Some(document)) = (places.main, model.document()) {
            let area = Rect { x: main.x, width: main.width, ..area };
            let state = match (document.conflict, document.seen.is_absent(), document.buffer.is_dirty()) {
                (true, _, _) => " changed here and on disk ",
                (false, true, _) => " not on disk ",
                (false, false, true) => " not saved ",
                (false, false, false) => "",
            };
            let state = format!("{}{state}", if document.is_hidden { " ‖ hidden" } else { "" });
            let state = if state.is_empty() || state.ends_with(' ') { state } else { format!("{state} ") };
            let room = usize::from(area.width).saturating_sub(width(&state)).saturating_sub(1);
            let ink = if model.focus == Focus::Text { Ink::Header } else { Ink::HeaderDim };
            let folder = format!(" · {}", model.tree.title());
            let has_room = width(&document.label).saturating_add(width(&folder)) <= room;
            let folder = if places.files.is_none() && has_room { folder.as_str() } else { "" };
            let name = format!(" {}{folder}", cut_start(&document.label, room));
            split(frame, area, &name, &state, ink, Ink::HeaderMark);
        }
    }
}

fn proposal(model: &Model, area: Rect, frame: &mut Frame) {
    let Some(open) = model.proposed() else { return };
    let count = model.proposals.len();
    let mut right =
        if count > 1 { format!("{} of {count} ", model.front.saturating_add(1)) } else { String::new() };
    let next =
        model.proposals.iter().cycle().skip(model.front.saturating_add(1)).take(count.saturating_sub(1));
    let next: Vec<&str> = next.map(|open| open.label.as_str()).collect();
    let long = format!("then {} · {right}", next.join(", "));
    let changed = format!("  +{} −{}", open.changes.added, open.changes.removed);
    let decided = match open.counts() {
        (0, 0, _) => String::new(),
        (accepted, rejected, all) => format!("  ✓ {accepted} ✗ {rejected} of {all}"),
    };
    let edited = format!("{decided}{}", if open.is_edited() { "  edited" } else { "" });
    let verb = if open.editing.is_some() { "editing the proposal for" } else { "proposes" };
    let who =
        if open.editing.is_some() { format!(" ✻ {verb} ") } else { format!(" ✻ {} {verb} ", open.who) };
    let used = width(&who).saturating_add(width(&changed)).saturating_add(width(&edited));
    let room = usize::from(area.width);
    if count > 1 && used.saturating_add(width(&open.label)).saturating_add(width(&long)) < room {
        right = long;
    }
    // If room is short, the name of the file has priority.
    let who =
        if used.saturating_add(width(&right)).saturating_add(12) > room { " ✻ ".to_owned() } else { who };
    let used = width(&who).saturating_add(width(&changed)).saturating_add(width(&edited));
    let free = room.saturating_sub(used).saturating_sub(width(&right));
    let end = frame.write(area, &who, Ink::HeaderDim);
    frame.write(Rect { width: area.width.min(2), ..area }, " ✻", Ink::HeaderMark);
    let end = frame.write(rest(area, end), &cut_start(&open.label, free), Ink::Header);
    let end = frame.write(rest(area, end), &changed, Ink::HeaderDim);
    frame.write(rest(area, end), &edited, Ink::HeaderMark);
    right_aligned(frame, area, &right, Ink::HeaderDim);
}

fn status(model: &Model, area: Rect, frame: &mut Frame) {
    frame.fill(area, Ink::Status);
    if let Some(prompt) = model.prompt.as_ref().filter(|_| model.page.is_none()) {
        return prompt::draw(model, prompt, area, frame);
    }
    let (text, ink, is_address) = latest(model);
    let area = beside(model, &text, area, frame);
    let (sign, names, sign_ink) = match attached(model) {
        _ if model.is_paused => {
            let key = model.keys.key(Action::Pause, false);
            ("‖ ", format!("paused: agents receive nothing ({key})"), Ink::StatusBad)
        }
        None => ("○ ", "nobody attached".to_owned(), Ink::StatusDim),
        Some(names) => ("● ", names, Ink::StatusGood),
    };
    let names = |area: Rect, frame: &mut Frame| {
        let area = rest(area, frame.write(area, sign, sign_ink));
        rest(area, frame.write(area, &cut(&names, area.width.into()), Ink::Status))
    };
    let begin = rest(area, frame.write(area, " ", Ink::Status));
    if is_address || text.is_empty() {
        let left = names(begin, frame);
        // The beginning of an address is its port.
        if is_address && left.width >= 14 {
            let left = rest(left, frame.write(left, " · ", Ink::StatusDim));
            frame.write(left, &cut(&text, left.width.into()), ink);
        }
        return;
    }
    // A message is in front of the names, which are cut. The sign is always visible.
    let free = usize::from(begin.width).saturating_sub(width(&text));
    let has_names = free >= width(" · ● claude");
    let begin = if has_names { begin } else { rest(begin, frame.write(begin, sign, sign_ink)) };
    let left = rest(begin, frame.write(begin, &cut(&text, begin.width.into()), ink));
    if has_names {
        names(rest(left, frame.write(left, " · ", Ink::StatusDim)), frame);
    }
}

/// Writes the place of the cursor and the problems at the right, and returns the area that is left. A message has
/// priority over both.
fn beside(model: &Model, text: &str, area: Rect, frame: &mut Frame) -> Rect {
    let (mut place, mut problems) = (place(model), problems(model));
    let fits = |place: &str, problems: &str| {
        let needed = width(text).saturating_add(width(place)).saturating_add(width(problems));
        model.message.is_none() || needed.saturating_add(width(" ● ")) <= area.width.into()
    };
    if !fits(&place, &problems) {
        place.clear();
    }
    if !fits(&place, &problems) {
        problems.clear();
    }
    let without = |area: Rect, text: &str| Rect { width: area.width.saturating_sub(columns(text)), ..area };
    right_aligned(frame, area, &place, Ink::StatusDim);
    let area = without(area, &place);
    right_aligned(frame, area, &problems, Ink::StatusBad);
    without(area, &problems)
}

/// Returns the latest message, or else the latest event of an agent, or else the address of this editor.
/// The last value is true for the address.
fn latest(model: &Model) -> (String, Ink, bool) {
    if let Some(message) = &model.message {
        let ink = match message.tone {
            Tone::Good => Ink::StatusGood,
            Tone::Plain => Ink::Status,
            Tone::Bad => Ink::StatusBad,
        };
        return (message.text.clone(), ink, false);
    }
    match (&model.stopping, &model.activity, &model.attach) {
        (Some(reason), _, _) => (reason.clone(), Ink::Status, false),
        (None, Some((text, _)), _) => (text.clone(), Ink::StatusDim, false),
        (None, None, Some(attach)) => {
            (attach.address(), if attach.is_alone() { Ink::StatusDim } else { Ink::Status }, true)
        }
        (None, None, None) => (String::new(), Ink::StatusDim, false),
    }
}

/// Returns the names of the agents. A name that several agents share is listed once, with their number.
fn attached(model: &Model) -> Option<String> {
    let mut names: Vec<(&str, usize)> = Vec::new();
    for agent in &model.agents {
        match names.iter_mut().find(|(name, _)| *name == agent.name) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => names.push((&agent.name, 1)),
        }
    }
    let name = |(name, count): &(&str, usize)| {
        if *count == 1 { (*name).to_owned() } else { format!("{count} × {name}") }
    };
    (!names.is_empty()).then(|| names.iter().map(name).collect::<Vec<_>>().join(", "))
}

/// Returns the place of the cursor, after the line ends if they are not `
/// `. Lines and columns count from 1, as people count.
fn place(model: &Model) -> String {
    if model.page.is_some() {
        return String::new();
    }
    let buffer = match (model.focus, model.proposed()) {
        (Focus::Proposal, Some(open)) => open.editing.as_ref(),
        _ => model.document().map(|document| &document.buffer),
    };
    let Some(buffer) = buffer else { return String::new() };
    let text = buffer.text();
    let line = text.line_of(buffer.cursor());
    let column = column_of(text.line(line), buffer.cursor().saturating_sub(text.range_of(line).start));
    let ends = match text.line_ends() {
        LineEnds::Lf => "",
        LineEnds::CrLf => "  CRLF",
        LineEnds::Mixed => "  mixed CRLF",
    };
    let mut place = format!("{ends}  {}:{} ", line.saturating_add(1), column.saturating_add(1));
    if let Some((first, last)) = buffer.selected_lines() {
        let lines = last.saturating_sub(first).saturating_add(1);
        place = if lines > 1 {
            format!("  {lines} lines selected {place}")
        } else {
            format!("  selected {place}")
        };
    } else if buffer.marking {
        place = format!("  marking {place}");
    }
    place
}

/// Returns the number of wrong tokens since the user has last read the activity, and the number of problems in the
/// shown file.
fn problems(model: &Model) -> String {
    let tokens = match model.unread_wrong_tokens() {
        0 => String::new(),
        1 => "  1 wrong token".into(),
        count => format!("  {count} wrong tokens"),
    };
    tokens + &problems_of_file(model)
}

fn problems_of_file(model: &Model) -> String {
    match model.document().map_or(0, |document| document.diagnostics.len()) {
        count @ 1.. if model.focus != Focus::Proposal && model.page.is_none() => format!("  ● {count}"),
        _ => String::new(),
    }
}

fn columns(text: &str) -> u16 {
    u16::try_from(width(text)).unwrap_or(u16::MAX)
}

fn help(model: &Model, area: Rect, frame: &mut Frame) {
    frame.fill(area, Ink::Hint);
    if model.focus == Focus::Proposal && model.page.is_none() && !model.is_live() {
        frame.write(area, " a proposal has arrived: look at it first …", Ink::Hint);
        return;
    }
    // The problem in the line of the cursor has priority over the keys.
    let (page, document) = (model.page, model.document().filter(|_| model.prompt.is_none()));
    if let (Focus::Text, None, Some(document)) = (model.focus, page, document) {
        let line = document.buffer.text().line_of(document.buffer.cursor());
        if let Some(problem) = document.problem_in(line) {
            let text = format!(" ● {}", problem.message);
            frame.write(area, &cut(&text, area.width.into()), Ink::Problem);
            return;
        }
    }
    // The key to the page of all keys has a fixed place.
    let key = format!(" {}", model.keys.key(Action::Help, true));
    let area = match area.width.checked_sub(columns(&key).saturating_add(6)) {
        Some(width) if model.page.is_none() => {
            let last = frame.write(rest(area, area.x.saturating_add(width)), &key, Ink::Key);
            frame.write(rest(area, last), " help", Ink::Hint);
            Rect { width, ..area }
        }
        _ => area,
    };
    let mut end = area.x.saturating_add(1);
    let count = model.proposals.len();
    let changes_shown = model.proposed().map_or(0, |open| open.counts().2);
    for (key, action, does) in model.keys.short(model.context()) {
        let is_of_use = match action {
            Action::ShowProposal => count > 0,
            Action::NextProposal => count > 1,
            Action::AcceptChange | Action::RejectChange => changes_shown > 1,
            Action::SideBySide => model.size.0 >= SIDE_BY_SIDE,
            // This key has a fixed place.
            Action::Help => false,
            _ => true,
        };
        if !is_of_use {
            continue;
        }
        let needed = width(&key).saturating_add(width(does)).saturating_add(1);
        if needed > rest(area, end).width.into() {
            break;
        }
        end = frame.write(rest(area, end), &key, Ink::Key);
        end = frame.write(rest(area, end.saturating_add(1)), does, Ink::Hint).saturating_add(2);
    }
}

/// Writes one text at the left and one at the right. The right one stays whole.
pub(super) fn split(frame: &mut Frame, area: Rect, left: &str, right: &str, left_ink: Ink, right_ink: Ink) {
    frame.fill(area, left_ink);
    let room = usize::from(area.width).saturating_sub(width(right)).saturating_sub(1);
    frame.write(area, &cut(left, room), left_ink);
    right_aligned(frame, area, right, right_ink);
}
