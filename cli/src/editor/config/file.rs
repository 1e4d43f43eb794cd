//! The settings in the configuration file, as serde reads them. An unknown name is an error, because it is a typo, or a
//! setting of a later version.

use crate::editor::ignored::Pattern;
use crate::editor::options::{DIALECTS, OnDiff};
use crate::editor::screen::bindings::BINDINGS;
use crate::editor::screen::keys::Key;
use crate::editor::screen::model::act::Action;
use crate::editor::screen::view::palette::{Shade, ThemeName, Tint};
use ide_mcp::ide::Dialect;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor, value::SeqAccessDeserializer};
use std::collections::BTreeMap;
use std::fmt;
use toml::Spanned;

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct File {
    pub(super) editor: Editor,
}

/// The settings of `ide-mcp editor`. A setting that is not in the file is `None`, or has its default.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Editor {
    #[serde(deserialize_with = "dialect")]
    pub(crate) dialect: Option<Dialect>,
    pub(crate) on_diff: Option<OnDiff>,
    pub(crate) token: Option<bool>,
    pub(crate) ignore: Option<bool>,
    pub(crate) hide: Vec<Pattern>,
    pub(crate) theme: ThemeName,
    pub(crate) colors: BTreeMap<Shade, Tint>,
    pub(super) keys: BTreeMap<NamedAction, Spanned<Keys>>,
}

fn dialect<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Dialect>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let found = DIALECTS.iter().find(|(known, _)| *known == name);
    found.map(|(_, dialect)| Some(*dialect)).ok_or_else(|| {
        let known: Vec<String> = DIALECTS.iter().map(|(known, _)| format!("`{known}`")).collect();
        Error::custom(format_args!("unknown variant `{name}`, expected one of {}", known.join(", ")))
    })
}

/// An action and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NamedAction(&'static str, pub(super) Action);

impl NamedAction {
    /// Returns the actions that have keys to change, with their names.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        BINDINGS.iter().filter_map(|binding| Some(Self(binding.action.name()?, binding.action)))
    }
}

impl<'de> Deserialize<'de> for NamedAction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::all().find(|Self(known, _)| *known == name).ok_or_else(|| {
            let known: Vec<String> = Self::all().map(|Self(known, _)| format!("`{known}`")).collect();
            Error::custom(format_args!("unknown action `{name}`, expected one of {}", known.join(", ")))
        })
    }
}

/// The keys of an action: one, or a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Keys(pub(super) Vec<Key>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;

        impl<'de> Visitor<'de> for OneOrMore {
            type Value = Keys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key such as \"Ctrl+S\", or a list of keys")
            }

            fn visit_str<E: Error>(self, key: &str) -> Result<Keys, E> {
                Key::try_from(key.to_owned()).map(|key| Keys(vec![key])).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, keys: A) -> Result<Keys, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(keys)).map(Keys)
            }
        }

        deserializer.deserialize_any(OneOrMore)
    }
}
