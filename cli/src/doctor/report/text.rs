//! The report for a user: the verdict, then the findings with their advice, worst first.

use super::Report;
use crate::doctor::kinds::{Kind, Status};
use crate::doctor::rules::{Finding, Verdict, editor_named};
use crate::support::{Shell, columns, counted, has_colors};
use anstyle::{AnsiColor, Style};
use ide_mcp::ide::kit::display_safe;

/// The maximum length of a line. Longer lines are hard to read even on a wide terminal.
const WIDEST: usize = 100;
const INDENT: &str = "    ";
/// How the agent of the headline is started.
const START: &str = "Start it with `claude --ide`, or type /ide in a running one.";
/// The same at a terminal where PATH has no agent. A program, or a script in a container, does not need an agent where
/// it runs.
const START_ELSEWHERE: &str = "But PATH has no agent here: no claude, opencode or kilo. Where one is installed, start it with \
                               `claude --ide`, or type /ide in a running one.";

/// The maximum number of findings of one kind: what a screen of 24 rows shows. `--json` has all of them.
const MOST_OF_A_KIND: usize = 20;

/// Returns the report. Findings with the same remedy show it once. `verbose` adds the findings without a fault.
pub(crate) fn text(report: &Report<'_>, verbose: bool, paint: Paint) -> String {
    let mut lines = title(&display_safe(&headline(report)), paint);
    if matches!(report.verdict, Verdict::Attaches { .. } | Verdict::NotProbed { .. }) {
        let start = if report.has_agent || paint.columns.is_none() { START } else { START_ELSEWHERE };
        lines.extend(wrapped_words(start, INDENT, INDENT, paint.width()));
    }
    let key = |finding: &Finding| (finding.advice.clone(), finding.command.clone());
    for (shown, more) in by_kind(report.findings).filter(|(shown, _)| !is_ok(shown)) {
        for alike in shown.chunk_by(|one, next| key(one) == key(next)) {
            lines.push(String::new());
            let (others, last) = alike.split_at(alike.len().saturating_sub(1));
            lines.extend(others.iter().flat_map(|finding| head(finding, paint)));
            lines.extend(last.iter().flat_map(|finding| self::shown(finding, report.shell, paint)));
        }
        lines.extend(more.map(|more| format!("\n{more}")));
    }
    if report.count(Status::Ok) > 0 {
        lines.push(String::new());
    }
    if verbose {
        for (shown, more) in by_kind(report.findings).filter(|(shown, _)| is_ok(shown)) {
            lines.extend(shown.iter().flat_map(|finding| head(finding, paint)));
            lines.extend(more);
        }
    } else if report.count(Status::Ok) > 0 {
        lines.extend(wrapped(Status::Ok, paint, &passed(report)));
    }
    lines.join("\n")
}

/// Returns the findings of each kind that are shown, and a line about those that are not.
fn by_kind(findings: &[Finding]) -> impl Iterator<Item = (&[Finding], Option<String>)> {
    findings
        .chunk_by(|one, next| one.kind == next.kind)
        .map(|alike| bounded(alike, alike.first().map(|finding| finding.kind)))
}

/// Returns the first findings of a kind, and a line that counts the others.
pub(super) fn bounded<'a, T>(alike: &'a [T], kind: Option<&Kind>) -> (&'a [T], Option<String>) {
    let (shown, others) = alike.split_at(alike.len().min(MOST_OF_A_KIND));
    let more = kind.filter(|_| !others.is_empty());
    (shown, more.map(|kind| format!("… and {} more [{}]; --json has all", others.len(), kind.id)))
}

fn is_ok(findings: &[Finding]) -> bool {
    findings.first().is_none_or(|finding| finding.kind.status == Status::Ok)
}

pub(super) fn headline(report: &Report<'_>) -> String {
    let cwd = report.cwd;
    let verdict = match report.verdict {
        Verdict::Attaches { port, name } => format!("attaches to {}", editor_named(name, *port)),
        Verdict::NotProbed { port, name } => {
            format!("finds {}; the doctor did not connect to it", editor_named(name, *port))
        }
        Verdict::Fails { port, name } => format!("finds {}, but may not get in", editor_named(name, *port)),
        Verdict::MustChoose(several) => format!("must choose among {several} editors (type /ide in it)"),
        Verdict::Refrains { port, name } => {
            format!("finds {}, but does not attach by itself", editor_named(name, *port))
        }
        Verdict::FindsNothing => "finds no editor".into(),
        Verdict::Unknown => "may find an editor through a lock file that the doctor does not read".into(),
    };
    let counts: Vec<String> = [Status::Problem, Status::Warning]
        .into_iter()
        .filter(|status| report.count(*status) > 0)
        .map(|status| counted(report.count(status), status.word()))
        .collect();
    let counts = if counts.is_empty() { "all is well".into() } else { counts.join(", ") };
    format!("An agent started in {cwd} {verdict}: {counts}.")
}

pub(super) fn head(finding: &Finding, paint: Paint) -> Vec<String> {
    let text = format!("{} [{}]", display_safe(&finding.message), finding.kind.id);
    wrapped(finding.kind.status, paint, &text)
}

pub(super) fn shown(finding: &Finding, shell: Shell, paint: Paint) -> Vec<String> {
    let mut lines = head(finding, paint);
    lines.extend(wrapped_words(finding.kind.meaning, INDENT, INDENT, paint.width()));
    if !finding.advice.is_empty() {
        let (first, others) = (format!("{INDENT}→ "), format!("{INDENT}  "));
        lines.extend(wrapped_words(&display_safe(&finding.advice), &first, &others, paint.width()));
        // A command is for copying: it is whole and literal, or not shown.
        if !finding.command.is_empty() && display_safe(&finding.command) == finding.command {
            lines.push(format!("{others}{} {}", shell.prompt(), finding.command));
        }
    }
    lines
}

/// Says how many checks found no fault.
fn passed(report: &Report<'_>) -> String {
    let count = report.count(Status::Ok);
    let checks = if count < report.findings.len() { "other check" } else { "check" };
    format!("{} found nothing wrong; --verbose lists them", counted(count, checks))
}

/// Returns the lines of a headline.
pub(super) fn title(text: &str, paint: Paint) -> Vec<String> {
    let lines = wrapped_words(text, "", INDENT, paint.columns.unwrap_or(usize::MAX));
    lines.iter().map(|line| paint.bold(line)).collect()
}

/// Returns the lines of a text, with the word for its status before it.
fn wrapped(status: Status, paint: Paint, text: &str) -> Vec<String> {
    let word = status.word();
    let mut lines = wrapped_words(text, &format!("{word}: "), INDENT, paint.width());
    if let Some(first) = lines.first_mut() {
        // Escape sequences have no width, so they are added last.
        first.replace_range(..word.len(), &paint.status(status));
    }
    lines
}

/// Breaks a text between words into lines of at most `width` characters. A longer word stays whole, and the terminal
/// continues it in its next row.
fn wrapped_words(text: &str, first: &str, others: &str, width: usize) -> Vec<String> {
    let (mut lines, mut line, mut is_begun) = (Vec::new(), first.to_owned(), false);
    for word in text.split_whitespace() {
        let needed = line.chars().count().saturating_add(word.chars().count()).saturating_add(1);
        if is_begun && needed > width {
            lines.push(std::mem::replace(&mut line, others.to_owned()));
            is_begun = false;
        }
        if is_begun {
            line.push(' ');
        }
        line.push_str(word);
        is_begun = true;
    }
    lines.push(line);
    lines
}

/// The look of a report.
#[derive(Clone, Copy)]
pub(crate) struct Paint {
    /// True if there are colors.
    pub(crate) colored: bool,
    /// The columns of the terminal. `None` if there is no terminal; the headline is then a single line, for programs that
    /// read lines.
    pub(crate) columns: Option<usize>,
}

impl Paint {
    /// Returns the look on standard output.
    pub(crate) fn of_stdout() -> Self {
        Self { colored: has_colors(), columns: columns::of_stdout() }
    }

    fn status(self, status: Status) -> String {
        let color = match status {
            Status::Problem => AnsiColor::Red,
            Status::Warning => AnsiColor::Yellow,
            Status::Note => AnsiColor::Cyan,
            Status::Ok => AnsiColor::Green,
        };
        self.with(color.on_default().bold(), status.word())
    }

    /// Returns the maximum length of a line that has more than one word.
    fn width(self) -> usize {
        self.columns.map_or(WIDEST, |columns| columns.min(WIDEST))
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.colored { format!("{style}{text}{style:#}") } else { text.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::kinds;

    const PLAIN: Paint = Paint { colored: false, columns: None };

    fn finding(kind: &'static Kind, message: &str, advice: &str) -> Finding {
        let (message, advice, command) = (message.into(), advice.into(), "fix it".into());
        Finding { kind, message, path: None, port: None, advice, command, is_of_another: false }
    }

    #[test]
    fn problems_come_first_and_ok_is_condensed() {
        let findings = [
            finding(&kinds::TOKEN_REFUSED, "\"E\" on port 1 refuses \u{1b}[2J", "Start the editor again."),
            finding(&kinds::DIRECTORY_NOT_USED, "a", ""),
            finding(&kinds::DIRECTORY_NOT_USED, "b", ""),
            finding(&kinds::LOCK_SOUND, "c", ""),
        ];
        let verdict = Verdict::Fails { port: 1, name: "E".into() };
        let report = Report::of(&findings, &verdict);
        let expected = "\
An agent started in /w finds \"E\" on port 1, but may not get in: 1 problem.

problem: \"E\" on port 1 refuses \u{fffd}[2J [token-refused]
    The editor does not know the token of the lock file: another editor wrote the file, or it is an
    old one.
    → Start the editor again.
      $ fix it

ok: 3 other checks found nothing wrong; --verbose lists them";
        assert_eq!(text(&report, false, PLAIN), expected);
        let verbose = text(&report, true, PLAIN);
        assert!(
            verbose.ends_with("\nok: a [directory-not-used]\nok: b [directory-not-used]\nok: c [lock-sound]"),
            "{verbose}"
        );
        let colored = text(&report, false, Paint { colored: true, ..PLAIN });
        assert!(colored.contains("\u{1b}[1m\u{1b}[31mproblem\u{1b}[0m: \"E\""), "{colored}");
        let plain =
            colored.split("\u{1b}[").map(|piece| piece.split_once('m').map_or(piece, |(_, rest)| rest));
        assert_eq!(plain.skip(1).collect::<String>(), expected, "colors change nothing else");
    }

    #[test]
    fn shared_remedy_is_shown_once() {
        let left = |message| finding(&kinds::LOCK_LEFT_OVER, message, "Remove all such files.");
        let other = finding(&kinds::LOCK_LEFT_OVER, "c", "Remove the file.");
        let findings = [left("a"), left("b"), other];
        let report = Report::of(&findings, &Verdict::FindsNothing);
        let text = text(&report, false, PLAIN);
        let expected = "warning: a [lock-left-over]\nwarning: b [lock-left-over]\n    The editor";
        assert!(text.contains(expected), "{text}");
        assert_eq!(
            (text.matches("→ Remove all").count(), text.matches("→ Remove the").count()),
            (1, 1),
            "{text}"
        );
    }

    #[test]
    fn command_follows_the_prompt_of_its_shell() {
        let findings = [finding(&kinds::TOKEN_REFUSED, "a", "Start the editor again.")];
        for (shell, line) in
            [(Shell::Posix, "$ fix it"), (Shell::PowerShell, "PS> fix it"), (Shell::Cmd, "> fix it")]
        {
            let report = Report { shell, ..Report::of(&findings, &Verdict::FindsNothing) };
            let text = text(&report, false, PLAIN);
            assert!(text.ends_with(&format!("\n      {line}")), "{text}");
        }
    }

    #[test]
    fn missing_agent_is_mentioned_at_a_terminal() {
        let verdict = Verdict::Attaches { port: 1, name: "E".into() };
        let (here, elsewhere) =
            ("\n    Start it with `claude --ide`", "\n    But PATH has no agent here: no claude,");
        let rows = [
            ("an agent", true, Some(80), here),
            ("none", false, Some(80), elsewhere),
            ("none, for a program", false, None, here),
        ];
        for (name, has_agent, columns, expected) in rows {
            let report = Report { has_agent, ..Report::of(&[], &verdict) };
            let text = text(&report, false, Paint { columns, ..PLAIN });
            assert!(text.contains(expected), "{name}: {text}");
            assert_eq!(report.exit_status(), 0, "{name}");
        }
    }

    /// Nobody reads ten thousand lock files on a screen.
    #[test]
    fn findings_of_one_kind_are_bounded() {
        let rows = [
            ("as many as are shown", 20, 20, None),
            ("one more", 21, 20, Some("… and 1 more")),
            ("many", 10_000, 20, Some("… and 9980 more")),
        ];
        for (name, count, shown, more) in rows {
            for (kind, verbose, each_has_its_remedy) in [
                (&kinds::LOCK_UNPARSABLE, false, true),
                (&kinds::LOCK_LEFT_OVER, false, false),
                (&kinds::LOCK_SOUND, true, false),
            ] {
                let findings: Vec<Finding> = (0..count)
                    .map(|nth| {
                        finding(
                            kind,
                            "says",
                            &if each_has_its_remedy {
                                format!("Move {nth} away.")
                            } else {
                                "Move it.".into()
                            },
                        )
                    })
                    .collect();
                let report = Report::of(&findings, &Verdict::FindsNothing);
                let text = text(&report, verbose, PLAIN);
                assert_eq!(text.matches(": says [").count(), shown, "{name}: {}", kind.id);
                match more {
                    Some(more) => assert!(
                        text.contains(&format!("\n{more} [{}]; --json has all", kind.id)),
                        "{name}: {text}"
                    ),
                    None => assert!(!text.contains(" more ["), "{name}: {text}"),
                }
            }
        }
    }

    #[test]
    fn lines_are_broken_only_between_words() {
        for width in [WIDEST, 80, 20, 1] {
            let long = "x".repeat(WIDEST * 2);
            let text = format!("{} {long} {}", "ab ".repeat(60), "c".repeat(3));
            let lines = wrapped_words(&text, "1: ", "  ", width);
            let is_one_word = |line: &String| line.split_whitespace().count() <= 1 || line == "1: ab";
            assert!(lines.iter().all(|line| line.chars().count() <= width || is_one_word(line)), "{lines:?}");
            assert_eq!(
                lines.iter().flat_map(|line| line.split_whitespace()).count(),
                60 + 1 + 1 + 1,
                "nothing is lost"
            );
        }
    }

    #[test]
    fn report_fits_the_terminal() {
        let message = "\"E\" on port 1 refuses the token of its own lock file: 401 Unauthorized";
        let findings = [finding(&kinds::TOKEN_REFUSED, message, kinds::TOKEN_REFUSED.advice)];
        let verdict = Verdict::MustChoose(3);
        let report = Report { cwd: "/home/me/project", ..Report::of(&findings, &verdict) };
        for width in [80, 60] {
            let text = text(&report, true, Paint { columns: Some(width), ..PLAIN });
            let is_command = |line: &str| line.trim_start().starts_with('$');
            for line in text.lines().filter(|line| !is_command(line)) {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}
