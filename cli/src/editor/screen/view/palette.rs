//! The look of the roles of cells: calm colors on a dark ground, the same on every terminal.

use crate::support::refuses_colors;
use ratatui::style::{Color, Modifier, Style};

/// The number of colors of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColorDepth {
    /// All colors of 24 bits.
    True,
    /// The 256 colors of xterm.
    Indexed,
    /// No colors, because the user wants none.
    None,
}

/// The role of a cell, which determines its look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ink {
    #[default]
    Text,
    Dim,
    /// A line between panes.
    Rule,
    Header,
    HeaderDim,
    /// An emphasized part of the header.
    HeaderMark,
    /// The announcement of waiting proposals.
    Banner,
    Number,
    CurrentNumber,
    /// The line of the cursor.
    CurrentLine,
    Selected,
    /// A match of the search.
    Found,
    /// A replacement of a character that cannot be shown.
    Replaced,
    Folder,
    OpenFile,
    /// The row that keys act on, with and without the focus.
    Row,
    RowUnfocused,
    Added,
    AddedStrong,
    AddedNumber,
    Removed,
    RemovedStrong,
    RemovedNumber,
    /// The empty side of a row of a side-by-side diff.
    Gap,
    Hidden,
    Problem,
    Notice,
    Status,
    StatusDim,
    StatusGood,
    StatusBad,
    Key,
    Hint,
    Heading,
}

/// A color in 24 bits, and the nearest one of the 256 that is easy to read here.
#[derive(Clone, Copy)]
struct Shade(u32, u8);

const TEXT: Shade = Shade(0xc8_cc_d4, 252);
const BRIGHT: Shade = Shade(0xe9_ec_f2, 255);
const DIM: Shade = Shade(0x8b_94_a3, 246);
const FAINT: Shade = Shade(0x5a_62_70, 241);
const BLUE: Shade = Shade(0x7a_a2_d6, 110);
const GREEN: Shade = Shade(0x98_c3_79, 114);
const RED: Shade = Shade(0xe0_6c_75, 168);
const YELLOW: Shade = Shade(0xe0_af_68, 179);
const VIOLET: Shade = Shade(0xc0_95_dd, 140);

const GROUND: Shade = Shade(0x1c_1f_26, 234);
const RAISED: Shade = Shade(0x22_26_2f, 235);
const BAR: Shade = Shade(0x2a_30_3b, 236);
const MARKED: Shade = Shade(0x2f_4a_6d, 24);
const MARKED_FAINT: Shade = Shade(0x2f_36_43, 238);
const GREEN_GROUND: Shade = Shade(0x1d_31_26, 234);
const GREEN_MARKED: Shade = Shade(0x2b_5a_3c, 22);
const RED_GROUND: Shade = Shade(0x37_22_28, 234);
const RED_MARKED: Shade = Shade(0x6e_30_3a, 52);
const SUNK: Shade = Shade(0x17_19_1f, 233);
const AMBER_GROUND: Shade = Shade(0x36_2f_22, 236);

impl ColorDepth {
    /// Returns the depth that the environment variables ask for.
    pub(crate) fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        if refuses_colors(&variable) {
            return Self::None;
        }
        let says_true = variable("COLORTERM").is_some_and(|value| value == "truecolor" || value == "24bit");
        if says_true { Self::True } else { Self::Indexed }
    }
}

impl Ink {
    pub(crate) const fn style(self, colors: ColorDepth) -> Style {
        const NONE: Modifier = Modifier::empty();
        const BOLD: Modifier = Modifier::BOLD;
        const FADED: Modifier = Modifier::DIM;
        const REVERSED: Modifier = Modifier::REVERSED;
        const LINED: Modifier = Modifier::UNDERLINED;
        // Without colors, the modifiers make the difference.
        let (text, ground, modifiers, plain) = match self {
            Self::Text => (TEXT, GROUND, NONE, NONE),
            Self::Dim => (DIM, GROUND, NONE, FADED),
            Self::Rule => (FAINT, GROUND, NONE, FADED),
            Self::Header => (BRIGHT, BAR, BOLD, BOLD.union(REVERSED)),
            Self::HeaderDim => (DIM, BAR, NONE, REVERSED),
            Self::HeaderMark => (YELLOW, BAR, NONE, REVERSED),
            Self::Banner => (YELLOW, AMBER_GROUND, BOLD, BOLD.union(LINED)),
            Self::Number => (FAINT, GROUND, NONE, FADED),
            Self::CurrentNumber => (TEXT, GROUND, NONE, NONE),
            Self::CurrentLine => (TEXT, RAISED, NONE, NONE),
            Self::Selected => (BRIGHT, MARKED, NONE, REVERSED),
            Self::Found => (BRIGHT, AMBER_GROUND, BOLD, BOLD.union(LINED)),
            Self::Replaced => (VIOLET, GROUND, NONE, REVERSED),
            Self::Folder => (BLUE, GROUND, NONE, NONE),
            Self::OpenFile => (BRIGHT, GROUND, BOLD, BOLD),
            Self::Row => (BRIGHT, MARKED, BOLD, REVERSED),
            Self::RowUnfocused => (TEXT, MARKED_FAINT, NONE, LINED),
            Self::Added => (Shade(0xb8_da_ae, 151), GREEN_GROUND, NONE, NONE),
            Self::AddedStrong => (Shade(0xe2_f7_da, 194), GREEN_MARKED, NONE, BOLD.union(LINED)),
            Self::AddedNumber => (Shade(0x6f_9a_72, 65), GREEN_GROUND, NONE, FADED),
            Self::Removed => (Shade(0xe2_ac_a8, 174), RED_GROUND, NONE, NONE),
            Self::RemovedStrong => (Shade(0xff_dc_d8, 224), RED_MARKED, NONE, BOLD.union(LINED)),
            Self::RemovedNumber => (Shade(0xa8_6f_72, 95), RED_GROUND, NONE, FADED),
            Self::Gap => (FAINT, SUNK, NONE, NONE),
            Self::Hidden => (FAINT, RAISED, NONE, FADED),
            Self::Problem => (RED, GROUND, NONE, BOLD),
            Self::Notice => (YELLOW, AMBER_GROUND, NONE, LINED),
            Self::Status => (TEXT, BAR, NONE, REVERSED),
            Self::StatusDim => (DIM, BAR, NONE, REVERSED),
            Self::StatusGood => (GREEN, BAR, NONE, REVERSED),
            Self::StatusBad => (RED, BAR, BOLD, BOLD.union(REVERSED)),
            Self::Key => (BLUE, GROUND, NONE, BOLD),
            Self::Hint => (DIM, GROUND, NONE, NONE),
            Self::Heading => (BRIGHT, GROUND, BOLD, BOLD),
        };
        match colors {
            ColorDepth::None => Style::new().add_modifier(plain),
            colors => Style::new().fg(text.of(colors)).bg(ground.of(colors)).add_modifier(modifiers),
        }
    }
}

impl Shade {
    const fn of(self, colors: ColorDepth) -> Color {
        match colors {
            ColorDepth::True => Color::from_u32(self.0),
            ColorDepth::Indexed | ColorDepth::None => Color::Indexed(self.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_selects_the_colors() {
        let cases: &[(&[(&str, &str)], ColorDepth)] = &[
            (&[], ColorDepth::Indexed),
            (&[("COLORTERM", "truecolor")], ColorDepth::True),
            (&[("COLORTERM", "24bit")], ColorDepth::True),
            (&[("COLORTERM", "yes")], ColorDepth::Indexed),
            (&[("COLORTERM", "truecolor"), ("NO_COLOR", "1")], ColorDepth::None),
            (&[("COLORTERM", "truecolor"), ("NO_COLOR", "")], ColorDepth::True),
        ];
        for (variables, expected) in cases {
            let of = |name: &str| variables.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned());
            assert_eq!(ColorDepth::of_environment(of), *expected, "{variables:?}");
        }
    }
}
