//! The look of the roles of cells: calm colors on a dark or a light ground, the same on every terminal.

use crate::support::refuses_colors;
use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

/// The number of colors of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColorDepth {
    /// All 24-bit colors.
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

/// A color of a theme, by its name in the configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Shade {
    Text,
    Bright,
    Dim,
    Faint,
    Blue,
    Green,
    Red,
    Yellow,
    Violet,
    Ground,
    Raised,
    Bar,
    Marked,
    MarkedFaint,
    Sunk,
    Amber,
    Added,
    AddedStrong,
    AddedNumber,
    AddedGround,
    AddedMarked,
    Removed,
    RemovedStrong,
    RemovedNumber,
    RemovedGround,
    RemovedMarked,
}

/// The number of shades.
const SHADES: usize = 26;

/// The color of a shade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum Tint {
    /// The color in 24 bits, and the nearest of the 256 colors that is easy to read here.
    Of(u32, u8),
    /// That of the terminal.
    Default,
}

use Tint::Of;

/// The tints of all shades, in the order of [`Shade`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Theme([Tint; SHADES]);

#[rustfmt::skip]
const DARK: Theme = Theme([
    Of(0xc8_cc_d4, 252), // text
    Of(0xe9_ec_f2, 255), // bright
    Of(0x8b_94_a3, 246), // dim
    Of(0x5a_62_70, 241), // faint
    Of(0x7a_a2_d6, 110), // blue
    Of(0x98_c3_79, 114), // green
    Of(0xe0_6c_75, 168), // red
    Of(0xe0_af_68, 179), // yellow
    Of(0xc0_95_dd, 140), // violet
    Of(0x1c_1f_26, 234), // ground
    Of(0x22_26_2f, 235), // raised
    Of(0x2a_30_3b, 236), // bar
    Of(0x2f_4a_6d, 24), // marked
    Of(0x2f_36_43, 238), // marked-faint
    Of(0x17_19_1f, 233), // sunk
    Of(0x36_2f_22, 236), // amber
    Of(0xb8_da_ae, 151), // added
    Of(0xe2_f7_da, 194), // added-strong
    Of(0x6f_9a_72, 65), // added-number
    Of(0x1d_31_26, 234), // added-ground
    Of(0x2b_5a_3c, 22), // added-marked
    Of(0xe2_ac_a8, 174), // removed
    Of(0xff_dc_d8, 224), // removed-strong
    Of(0xa8_6f_72, 95), // removed-number
    Of(0x37_22_28, 234), // removed-ground
    Of(0x6e_30_3a, 52), // removed-marked
]);

#[rustfmt::skip]
const LIGHT: Theme = Theme([
    Of(0x38_3a_42, 237), // text
    Of(0x1a_1c_23, 234), // bright
    Of(0x5b_62_6f, 240), // dim
    Of(0x92_99_a6, 246), // faint
    Of(0x2f_5f_b3, 25), // blue
    Of(0x2f_6a_1d, 22), // green
    Of(0xb0_2a_35, 124), // red
    Of(0x70_4d_00, 58), // yellow
    Of(0x8b_3f_b5, 91), // violet
    Of(0xfa_fa_fa, 231), // ground
    Of(0xf0_f1_f4, 255), // raised
    Of(0xe3_e6_ec, 254), // bar
    Of(0xb9_d4_f6, 153), // marked
    Of(0xdd_e3_ec, 253), // marked-faint
    Of(0xf0_f0_f0, 255), // sunk
    Of(0xfb_ef_d0, 230), // amber
    Of(0x24_54_2a, 22), // added
    Of(0x0e_3d_15, 22), // added-strong
    Of(0x5a_8a_5e, 65), // added-number
    Of(0xe6_f6_e6, 194), // added-ground
    Of(0xac_e2_b0, 157), // added-marked
    Of(0x7a_28_2c, 88), // removed
    Of(0x5c_10_18, 52), // removed-strong
    Of(0xa5_65_6a, 131), // removed-number
    Of(0xfd_e9_ea, 224), // removed-ground
    Of(0xf9_b9_bd, 217), // removed-marked
]);

impl Default for Theme {
    fn default() -> Self {
        DARK
    }
}

/// The choice of a theme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ThemeName {
    #[default]
    Dark,
    Light,
    /// The terminal's theme, if the terminal reports it.
    Auto,
}

impl Theme {
    /// Returns the theme for a choice. With [`ThemeName::Auto`], `COLORFGBG` decides: some terminals put the colors
    /// of text and background into it, as `0;15`. Without it the theme is the dark one.
    pub(crate) fn of(name: ThemeName, variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_light = || {
            let value = variable("COLORFGBG").unwrap_or_default();
            matches!(value.rsplit(';').next(), Some("7" | "15"))
        };
        match name {
            ThemeName::Dark => DARK,
            ThemeName::Light => LIGHT,
            ThemeName::Auto if is_light() => LIGHT,
            ThemeName::Auto => DARK,
        }
    }

    pub(crate) fn set(&mut self, shade: Shade, tint: Tint) {
        if let Some(old) = self.0.get_mut(shade as usize) {
            *old = tint;
        }
    }

    /// Returns the color of a shade in 24 bits; `None` for that of the terminal.
    #[cfg(test)]
    pub(crate) fn rgb(&self, shade: Shade) -> Option<u32> {
        match self.0[shade as usize] {
            Of(color, _) => Some(color),
            Tint::Default => None,
        }
    }

    fn color(&self, shade: Shade, colors: ColorDepth) -> Color {
        match (self.0.get(shade as usize), colors) {
            (Some(Of(color, _)), ColorDepth::True) => Color::from_u32(*color),
            (Some(Of(_, index)), ColorDepth::Indexed | ColorDepth::None) => Color::Indexed(*index),
            (Some(Tint::Default) | None, _) => Color::Reset,
        }
    }
}

impl TryFrom<String> for Tint {
    type Error = String;

    /// Returns the color of `#rrggbb`, or that of the terminal for `default`.
    fn try_from(text: String) -> Result<Self, String> {
        if text == "default" {
            return Ok(Self::Default);
        }
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6);
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let color = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let color =
            color.ok_or_else(|| format!("{text:?} is not a color: write \"#rrggbb\" or \"default\""))?;
        Ok(Of(color, nearest(color)))
    }
}

/// Returns the nearest color in the cube and the grays of the 256 colors of xterm, whose first 16 differ from
/// terminal to terminal.
fn nearest(color: u32) -> u8 {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let [_, red, green, blue] = color.to_be_bytes();
    let distance = |of: [u8; 3]| -> u32 {
        let apart = |one: u8, other: u8| u32::from(one.abs_diff(other)).pow(2);
        apart(of[0], red).saturating_add(apart(of[1], green)).saturating_add(apart(of[2], blue))
    };
    let cube = STEPS.into_iter().flat_map(|red| {
        STEPS.into_iter().flat_map(move |green| STEPS.into_iter().map(move |blue| [red, green, blue]))
    });
    let grays = (0..24_u8).map(|step| [step.saturating_mul(10).saturating_add(8); 3]);
    let all = (16..=u8::MAX).zip(cube.chain(grays));
    all.min_by_key(|(_, of)| distance(*of)).map_or(16, |(index, _)| index)
}

impl ColorDepth {
    /// Returns the depth that the environment variables ask for.
    pub(crate) fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        if refuses_colors(&variable) {
            return Self::None;
        }
        let is_true_color =
            variable("COLORTERM").is_some_and(|value| value == "truecolor" || value == "24bit");
        if is_true_color { Self::True } else { Self::Indexed }
    }
}

impl Ink {
    pub(crate) fn style(self, colors: ColorDepth, theme: &Theme) -> Style {
        use Shade::{
            Added, AddedGround, AddedMarked, AddedNumber, AddedStrong, Amber, Bar, Blue, Bright, Dim, Faint,
            Green, Ground, Marked, MarkedFaint, Raised, Red, Removed, RemovedGround, RemovedMarked,
            RemovedNumber, RemovedStrong, Sunk, Text, Violet, Yellow,
        };
        const NONE: Modifier = Modifier::empty();
        const BOLD: Modifier = Modifier::BOLD;
        const FADED: Modifier = Modifier::DIM;
        const REVERSED: Modifier = Modifier::REVERSED;
        const LINED: Modifier = Modifier::UNDERLINED;
        // Without colors, the modifiers make the difference.
        let (text, ground, modifiers, plain) = match self {
            Self::Text => (Text, Ground, NONE, NONE),
            Self::Dim => (Dim, Ground, NONE, FADED),
            Self::Rule => (Faint, Ground, NONE, FADED),
            Self::Header => (Bright, Bar, BOLD, BOLD.union(REVERSED)),
            Self::HeaderDim => (Dim, Bar, NONE, REVERSED),
            Self::HeaderMark => (Yellow, Bar, NONE, REVERSED),
            Self::Banner => (Yellow, Amber, BOLD, BOLD.union(LINED)),
            Self::Number => (Faint, Ground, NONE, FADED),
            Self::CurrentNumber => (Text, Ground, NONE, NONE),
            Self::CurrentLine => (Text, Raised, NONE, NONE),
            Self::Selected => (Bright, Marked, NONE, REVERSED),
            Self::Found => (Bright, Amber, BOLD, BOLD.union(LINED)),
            Self::Replaced => (Violet, Ground, NONE, REVERSED),
            Self::Folder => (Blue, Ground, NONE, NONE),
            Self::OpenFile => (Bright, Ground, BOLD, BOLD),
            Self::Row => (Bright, Marked, BOLD, REVERSED),
            Self::RowUnfocused => (Text, MarkedFaint, NONE, LINED),
            Self::Added => (Added, AddedGround, NONE, NONE),
            Self::AddedStrong => (AddedStrong, AddedMarked, NONE, BOLD.union(LINED)),
            Self::AddedNumber => (AddedNumber, AddedGround, NONE, FADED),
            Self::Removed => (Removed, RemovedGround, NONE, NONE),
            Self::RemovedStrong => (RemovedStrong, RemovedMarked, NONE, BOLD.union(LINED)),
            Self::RemovedNumber => (RemovedNumber, RemovedGround, NONE, FADED),
            Self::Gap => (Faint, Sunk, NONE, NONE),
            Self::Hidden => (Faint, Raised, NONE, FADED),
            Self::Problem => (Red, Ground, NONE, BOLD),
            Self::Notice => (Yellow, Amber, NONE, LINED),
            Self::Status => (Text, Bar, NONE, REVERSED),
            Self::StatusDim => (Dim, Bar, NONE, REVERSED),
            Self::StatusGood => (Green, Bar, NONE, REVERSED),
            Self::StatusBad => (Red, Bar, BOLD, BOLD.union(REVERSED)),
            Self::Key => (Blue, Ground, NONE, BOLD),
            Self::Hint => (Dim, Ground, NONE, NONE),
            Self::Heading => (Bright, Ground, BOLD, BOLD),
        };
        match colors {
            ColorDepth::None => Style::new().add_modifier(plain),
            colors => Style::new()
                .fg(theme.color(text, colors))
                .bg(theme.color(ground, colors))
                .add_modifier(modifiers),
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

    #[test]
    fn terminal_selects_the_theme() {
        let rows = [
            (ThemeName::Dark, "0;15", DARK),
            (ThemeName::Light, "15;0", LIGHT),
            (ThemeName::Auto, "0;15", LIGHT),
            (ThemeName::Auto, "0;default;7", LIGHT),
            (ThemeName::Auto, "15;0", DARK),
            (ThemeName::Auto, "15;default", DARK),
            (ThemeName::Auto, "", DARK),
        ];
        for (name, value, expected) in rows {
            let variable = |wanted: &str| (wanted == "COLORFGBG").then(|| value.to_owned());
            assert_eq!(Theme::of(name, variable), expected, "{name:?} {value}");
        }
    }

    #[test]
    fn nearest_color_is_found() {
        let rows = [
            ("#000000", 16),
            ("#ffffff", 231),
            ("#ff0000", 196),
            ("#5f87af", 67),
            ("#808080", 244),
            ("#090909", 232),
        ];
        for (text, expected) in rows {
            let tint = Tint::try_from(text.to_owned()).unwrap();
            assert!(matches!(tint, Of(_, index) if index == expected), "{text}: {tint:?}");
        }
    }

    /// Returns the contrast of a text to its ground, as WCAG 2 defines it.
    fn contrast(text: u32, ground: u32) -> f64 {
        let luminance = |color: u32| {
            let [_, red, green, blue] = color.to_be_bytes().map(|part| {
                let part = f64::from(part) / 255.0;
                if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
            });
            0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
        };
        let (one, other) = (luminance(text), luminance(ground));
        if one > other { one / other } else { other / one }
    }

    /// Returns one of the 256 colors in 24 bits.
    fn of_index(index: u8) -> u32 {
        let gray = |gray: u32| gray << 16 | gray << 8 | gray;
        let step = |step: u8| if step == 0 { 0 } else { u32::from(step) * 40 + 55 };
        match index.checked_sub(232) {
            Some(index) => gray(u32::from(index) * 10 + 8),
            None => {
                let index = index - 16;
                step(index / 36) << 16 | step(index / 6 % 6) << 8 | step(index % 6)
            }
        }
    }

    #[test]
    fn texts_of_both_themes_can_be_read() {
        use Ink::*;
        // Numbers and lines may be fainter than the text.
        let faint = [Rule, Number, Gap, Hidden, AddedNumber, RemovedNumber];
        let read = [
            Text,
            Dim,
            Header,
            HeaderDim,
            HeaderMark,
            Banner,
            CurrentNumber,
            CurrentLine,
            Selected,
            Found,
            Replaced,
            Folder,
            OpenFile,
            Row,
            RowUnfocused,
            Added,
            AddedStrong,
            Removed,
            RemovedStrong,
            Problem,
            Notice,
            Status,
            StatusDim,
            StatusGood,
            StatusBad,
            Key,
            Hint,
            Heading,
        ];
        for (name, theme, of_texts) in [("dark", DARK, 3.6), ("light", LIGHT, 4.5)] {
            for colors in [ColorDepth::True, ColorDepth::Indexed] {
                let rows = faint.iter().map(|ink| (ink, 2.0)).chain(read.iter().map(|ink| (ink, of_texts)));
                for (ink, least) in rows {
                    let style = ink.style(colors, &theme);
                    let color = |color: Option<Color>| match color.unwrap() {
                        Color::Rgb(red, green, blue) => u32::from_be_bytes([0, red, green, blue]),
                        Color::Indexed(index) => of_index(index),
                        other => panic!("{other:?}"),
                    };
                    let found = contrast(color(style.fg), color(style.bg));
                    assert!(found >= least, "{name} {ink:?} {colors:?}: {found:.1}");
                }
            }
        }
    }
}
