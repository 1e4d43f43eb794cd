//! The look of the roles of cells: calm colors on a dark ground, the same on every terminal.

use super::view::canvas::Ink;
use crate::support::refuses_colors;
use crossterm::style::{Attribute, Color};

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

#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    colors: ColorDepth,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// The color of the text, and that of the ground.
    pub(crate) colors: Option<(Color, Color)>,
    pub(crate) attributes: &'static [Attribute],
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

impl Theme {
    pub(crate) const fn new(colors: ColorDepth) -> Self {
        Self { colors }
    }

    /// Creates the theme that the environment variables ask for.
    pub(crate) fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        if refuses_colors(&variable) {
            return Self::new(ColorDepth::None);
        }
        let says_true = variable("COLORTERM").is_some_and(|value| value == "truecolor" || value == "24bit");
        Self::new(if says_true { ColorDepth::True } else { ColorDepth::Indexed })
    }

    pub(crate) fn look(&self, ink: Ink) -> Look {
        use Attribute::{Bold, Dim, Reverse, Underlined};
        // Without colors, the attributes make the difference.
        let (text, ground, attributes, plain): (_, _, &'static [Attribute], &'static [Attribute]) = match ink
        {
            Ink::Text => (TEXT, GROUND, &[], &[]),
            Ink::Dim => (DIM, GROUND, &[], &[Dim]),
            Ink::Rule => (FAINT, GROUND, &[], &[Dim]),
            Ink::Header => (BRIGHT, BAR, &[Bold], &[Bold, Reverse]),
            Ink::HeaderDim => (DIM, BAR, &[], &[Reverse]),
            Ink::HeaderMark => (YELLOW, BAR, &[], &[Reverse]),
            Ink::Banner => (YELLOW, AMBER_GROUND, &[Bold], &[Bold, Underlined]),
            Ink::Number => (FAINT, GROUND, &[], &[Dim]),
            Ink::CurrentNumber => (TEXT, GROUND, &[], &[]),
            Ink::CurrentLine => (TEXT, RAISED, &[], &[]),
            Ink::Selected => (BRIGHT, MARKED, &[], &[Reverse]),
            Ink::Found => (BRIGHT, AMBER_GROUND, &[Bold], &[Bold, Underlined]),
            Ink::Replaced => (VIOLET, GROUND, &[], &[Reverse]),
            Ink::Folder => (BLUE, GROUND, &[], &[]),
            Ink::OpenFile => (BRIGHT, GROUND, &[Bold], &[Bold]),
            Ink::Row => (BRIGHT, MARKED, &[Bold], &[Reverse]),
            Ink::RowUnfocused => (TEXT, MARKED_FAINT, &[], &[Underlined]),
            Ink::Added => (Shade(0xb8_da_ae, 151), GREEN_GROUND, &[], &[]),
            Ink::AddedStrong => (Shade(0xe2_f7_da, 194), GREEN_MARKED, &[], &[Bold, Underlined]),
            Ink::AddedNumber => (Shade(0x6f_9a_72, 65), GREEN_GROUND, &[], &[Dim]),
            Ink::Removed => (Shade(0xe2_ac_a8, 174), RED_GROUND, &[], &[]),
            Ink::RemovedStrong => (Shade(0xff_dc_d8, 224), RED_MARKED, &[], &[Bold, Underlined]),
            Ink::RemovedNumber => (Shade(0xa8_6f_72, 95), RED_GROUND, &[], &[Dim]),
            Ink::Gap => (FAINT, SUNK, &[], &[]),
            Ink::Hidden => (FAINT, RAISED, &[], &[Dim]),
            Ink::Problem => (RED, GROUND, &[], &[Bold]),
            Ink::Notice => (YELLOW, AMBER_GROUND, &[], &[Underlined]),
            Ink::Status => (TEXT, BAR, &[], &[Reverse]),
            Ink::StatusDim => (DIM, BAR, &[], &[Reverse]),
            Ink::StatusGood => (GREEN, BAR, &[], &[Reverse]),
            Ink::StatusBad => (RED, BAR, &[Bold], &[Bold, Reverse]),
            Ink::Key => (BLUE, GROUND, &[], &[Bold]),
            Ink::Hint => (DIM, GROUND, &[], &[]),
            Ink::Heading => (BRIGHT, GROUND, &[Bold], &[Bold]),
        };
        match self.colors {
            ColorDepth::None => Look { colors: None, attributes: plain },
            colors => Look { colors: Some((text.of(colors), ground.of(colors))), attributes },
        }
    }
}

impl Shade {
    const fn of(self, colors: ColorDepth) -> Color {
        match colors {
            ColorDepth::True => {
                let [_, r, g, b] = self.0.to_be_bytes();
                Color::Rgb { r, g, b }
            }
            ColorDepth::Indexed | ColorDepth::None => Color::AnsiValue(self.1),
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
            assert_eq!(Theme::of_environment(of).colors, *expected, "{variables:?}");
        }
    }
}
