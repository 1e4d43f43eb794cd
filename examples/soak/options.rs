//! The command line.

use lexopt::prelude::*;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) const USAGE: &str = "\
Lets an editor live through in minutes what agents do to it in weeks, and looks whether it is the worse for it.

usage: soak [--minutes N] [--clients N] [--seed N] [--editor PROGRAM]

The editor is a process, `editor --headless`. Its clients ask for everything, leave proposed changes open, cancel, stall,
break rules, and vanish in every way there is; a person decides on changes, selects in storms and mentions files.

What has to hold:
  each request is answered once, and as it must be, unless its connection was killed; nothing else is answered
  the last selection of a storm arrives at every client, and of those before it few
  mentions arrive, once and in order
  the editor ends a proposed change for itself once, and all of them when their connection ends
  its memory (RSS) stays within 1 MiB during the last third, if that is a minute or longer; measured on Linux alone
  SIGTERM answers what is open and ends it with status 0; it leaves no lock file

  --minutes N       for how long, 0.1 for a few seconds (default: 30)
  --clients N       how many at a time, 1 to 16, which is what the editor lets in (default: 16)
  --seed N          what they do; when, is for the system to say, so two runs differ all the same (default: 1)
  --editor PROGRAM  the editor (default: the `editor` beside this program)

A line every 30 seconds says how it goes, the last one what there was.

exit status: 0; 1 if something did not hold; 2 if it cannot begin";

/// What the editor lets in by default.
const MOST_CLIENTS: usize = 16;

/// A week: longer than anyone waits.
const MOST_MINUTES: f64 = 7.0 * 24.0 * 60.0;

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) length: Duration,
    pub(crate) clients: usize,
    pub(crate) seed: u64,
    pub(crate) editor: Option<PathBuf>,
}

impl Options {
    /// `None` if help was asked for.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let mut options =
            Self { length: Duration::from_secs(30 * 60), clients: MOST_CLIENTS, seed: 1, editor: None };
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("minutes") => options.length = parser.value()?.parse_with(minutes)?,
                Long("clients") => options.clients = parser.value()?.parse_with(clients)?,
                Long("seed") => options.seed = parser.value()?.parse()?,
                Long("editor") => options.editor = Some(parser.value()?.into()),
                other @ (Short(_) | Long(_) | Value(_)) => return Err(other.unexpected()),
            }
        }
        Ok(Some(options))
    }
}

fn minutes(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok().filter(|minutes| *minutes > 0.0 && *minutes <= MOST_MINUTES);
    let length = number.map(|minutes: f64| Duration::from_secs_f64(minutes * 60.0));
    length.ok_or_else(|| "--minutes takes a number above 0, at most a week of them".into())
}

fn clients(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MOST_CLIENTS).contains(number));
    number.ok_or_else(|| format!("--clients takes a number from 1 to {MOST_CLIENTS}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_range() {
        let cases = [
            ("--minutes", "30", true),
            ("--minutes", "0.1", true),
            ("--minutes", "0", false),
            ("--minutes", "-1", false),
            ("--minutes", "NaN", false),
            ("--minutes", "inf", false),
            ("--minutes", "10080", true),
            ("--minutes", "10081", false),
            ("--clients", "0", false),
            ("--clients", "1", true),
            ("--clients", "16", true),
            ("--clients", "17", false),
            ("--seed", "18446744073709551615", true),
            ("--seed", "-1", false),
        ];
        for (option, value, is_good) in cases {
            let parsed = Options::parse(lexopt::Parser::from_args([option, value]));
            assert_eq!(parsed.is_ok(), is_good, "{option} {value}: {parsed:?}");
        }
    }
}
