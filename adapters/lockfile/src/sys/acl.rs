//! Who may do what with a file on Windows, read from its security descriptor (SDDL).
//!
//! ```text
//! O:BAG:SYD:PAI(A;OICI;FA;;;SY)(A;OICI;0x1301bf;;;AU)
//!   ▲           ▲ ▲    ▲      ▲
//!   owner    allow │   rights  account: local system, authenticated users
//!                  inherited by files and directories below
//! ```
//!
//! We trust our own account, the system, the administrators and whatever acts for them: they can read
//! everything anyway, like root. Every other account either stands for all users of the machine, or is a
//! single account or a group whose members we do not know. We ignore entries that deny access, so a directory
//! may be safer than we judge it.

use crate::Weakness;

/// A security descriptor.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Descriptor<'a> {
    owner: Option<&'a str>,
    /// The entries of the DACL. `None` without a DACL: then everybody may do everything, as on a file system
    /// without access rights.
    entries: Option<Vec<Entry<'a>>>,
}

/// An entry that allows an account to do something.
#[derive(Debug, PartialEq, Eq)]
struct Entry<'a> {
    account: &'a str,
    rights: u32,
    /// False if the entry is only inherited, and does not apply to the directory itself.
    is_for_itself: bool,
    /// True if files in the directory inherit the entry.
    is_for_files: bool,
}

/// What we know of the access rights of a file or directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) others: Others,
    /// The RIDs of the owner and of our account, if another account of our machine or domain owns it.
    pub(crate) other_owner: Option<(u32, u32)>,
}

impl Access {
    /// Returns why the directory does not protect what lies below it; `None` if it does. We cannot know who
    /// uses a single account or is in a group, so these alone are no reason to refuse, like a group on Unix.
    pub(crate) fn weakness(self) -> Option<Weakness> {
        let mode = self.others.mode();
        if self.others.all.replaces {
            Some(Weakness::WritableByAll { mode })
        } else if self.others.some.replaces || self.other_owner.is_some() {
            Some(Weakness::WritableByGroup { mode })
        } else {
            None
        }
    }
}

/// What accounts other than the trusted ones may do with a file or directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Others {
    /// What accounts that stand for all users may do.
    pub(crate) all: Bits,
    /// What single accounts and groups may do.
    pub(crate) some: Bits,
}

/// What some accounts may do with a file or directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    /// Read it, or its files.
    pub(crate) reads: bool,
    /// Change it, or add, change or remove a file in it.
    pub(crate) writes: bool,
    /// Replace it or what is in it, or give themselves the right to.
    pub(crate) replaces: bool,
}

const READ_DATA: u32 = 0x1;
const ADD_FILE: u32 = 0x2;
const DELETE_CHILD: u32 = 0x40;
const DELETE: u32 = 0x1_0000;
const WRITE_DAC: u32 = 0x4_0000;
const WRITE_OWNER: u32 = 0x8_0000;
const GENERIC_ALL: u32 = 0x1000_0000;
const GENERIC_WRITE: u32 = 0x4000_0000;
const GENERIC_READ: u32 = 0x8000_0000;

/// The rights by which an account can give itself all others.
const TAKES_OVER: u32 = WRITE_DAC | WRITE_OWNER | GENERIC_ALL;

impl<'a> Descriptor<'a> {
    /// Parses a descriptor; `None` if it has a form that we do not know, so that we cannot judge it.
    pub(crate) fn parse(sddl: &'a str) -> Option<Self> {
        let (mut owner, mut rest) = (None, sddl);
        while let Some((part, behind)) = rest.split_once(':') {
            match part {
                "O" => (owner, rest) = account_first(behind).map(|(account, rest)| (Some(account), rest))?,
                "G" => rest = account_first(behind)?.1,
                "D" => return Some(Self { owner, entries: entries(behind)? }),
                _ => return None,
            }
        }
        // A descriptor without a DACL.
        rest.is_empty().then_some(Self { owner, entries: None })
    }

    /// Returns the RID of the owner, if it is another account of our machine or domain. We cannot know who
    /// uses an account from elsewhere, such as one of a file server.
    pub(crate) fn other_owner(&self, us: &str) -> Option<u32> {
        let is_of_our_domain =
            |owner: &&str| domain(owner).is_some_and(|of_owner| domain(us) == Some(of_owner));
        self.owner.filter(is_of_our_domain).filter(|owner| whose(owner, us) != Whose::Ours).map(rid)
    }

    /// Returns what other users may do. `is_root` is true for the root of a drive, which nobody can replace.
    pub(crate) fn others(&self, us: &str, is_root: bool) -> Others {
        const EVERYTHING: Bits = Bits { reads: true, writes: true, replaces: true };
        let mut others = Others::default();
        let Some(entries) = &self.entries else { return Others { all: EVERYTHING, ..others } };
        for entry in entries {
            let bits = match whose(entry.account, us) {
                Whose::Ours => continue,
                Whose::All => &mut others.all,
                Whose::Another => &mut others.some,
            };
            let has = |rights: u32| entry.rights & (rights | TAKES_OVER) != 0;
            // An entry for files lets an account read and change the files in the directory.
            if entry.is_for_itself || entry.is_for_files {
                bits.reads |= has(READ_DATA | GENERIC_READ);
                bits.writes |= has(ADD_FILE | GENERIC_WRITE | DELETE_CHILD);
            }
            let replaces = if is_root { DELETE_CHILD } else { DELETE_CHILD | DELETE };
            bits.replaces |= entry.is_for_itself && has(replaces);
        }
        others
    }
}

impl Others {
    /// Returns the permission bits of Unix that mean the same.
    pub(crate) const fn mode(self) -> u32 {
        0o700 | self.some.octal() << 3 | self.all.octal()
    }
}

impl Bits {
    const fn octal(self) -> u32 {
        (if self.reads { 0o4 } else { 0 }) | (if self.writes || self.replaces { 0o2 } else { 0 })
    }
}

/// Parses what follows `D:`: flags, then entries in parentheses. `Some(None)` for a null DACL.
fn entries(text: &str) -> Option<Option<Vec<Entry<'_>>>> {
    let begin = text.find('(').unwrap_or(text.len());
    let (flags, mut rest) = text.split_at(begin);
    if flags.contains("NO_ACCESS_CONTROL") {
        return Some(None);
    }
    let mut entries = Vec::new();
    while let Some(text) = rest.strip_prefix('(') {
        let end = end(text)?;
        entries.extend(entry(text.get(..end)?)?);
        rest = text.get(end..)?.strip_prefix(')')?;
    }
    // After the DACL, only the SACL may follow, which says what is audited.
    (rest.is_empty() || rest.starts_with("S:")).then_some(Some(entries))
}

/// Returns where the closing parenthesis of an entry is. A condition in the entry may contain parentheses of
/// its own, and quoted strings.
fn end(text: &str) -> Option<usize> {
    let (mut depth, mut is_quoted) = (0_usize, false);
    text.char_indices().find_map(|(at, character)| {
        match character {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' => depth = depth.saturating_add(1),
            ')' if depth == 0 => return Some(at),
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        None
    })
}

/// Parses one entry; `Some(None)` for one that allows nothing.
fn entry(text: &str) -> Option<Option<Entry<'_>>> {
    let mut parts = text.splitn(6, ';');
    let (kind, flags, rights) = (parts.next()?, parts.next()?, parts.next()?);
    let account = parts.nth(2)?.split(';').next()?;
    // Entries that allow: plain, for one object, and conditional (we take the condition as true).
    if !matches!(kind, "A" | "OA" | "XA" | "ZA") {
        return Some(None);
    }
    let flag = |wanted: &str| pairs(flags).any(|flag| flag == wanted);
    Some(Some(Entry {
        account,
        rights: rights_of(rights)?,
        is_for_itself: !flag("IO"),
        is_for_files: flag("OI"),
    }))
}

fn pairs(text: &str) -> impl Iterator<Item = &str> {
    (0..text.len()).step_by(2).filter_map(|at| text.get(at..at.saturating_add(2)))
}

/// Parses rights: a number, or names of two letters.
fn rights_of(text: &str) -> Option<u32> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).ok();
    }
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return text.parse().ok();
    }
    let mut rights = 0;
    for name in pairs(text) {
        rights |= match name {
            "GA" => GENERIC_ALL,
            "GR" => GENERIC_READ,
            "GW" => GENERIC_WRITE,
            "GX" => 0x2000_0000,
            "RC" => 0x2_0000,
            "SD" => DELETE,
            "WD" => WRITE_DAC,
            "WO" => WRITE_OWNER,
            "FA" => 0x1f_01ff,
            "FR" => 0x12_0089,
            "FW" => 0x12_0116,
            "FX" => 0x12_00a0,
            "CC" => READ_DATA,
            "DC" => ADD_FILE,
            "LC" => 0x4,
            "SW" => 0x8,
            "RP" => 0x10,
            "WP" => 0x20,
            "DT" => DELETE_CHILD,
            "LO" => 0x80,
            "CR" => 0x100,
            _ => return None,
        };
    }
    Some(rights)
}

/// Splits off the account at the beginning of a string: two letters, or `S-1-5-…`.
fn account_first(text: &str) -> Option<(&str, &str)> {
    let is_sid = text.starts_with("S-");
    let is_of_sid = |letter: char| letter == 'S' || letter == '-' || letter.is_ascii_digit();
    let end = if is_sid { text.find(|letter| !is_of_sid(letter)).unwrap_or(text.len()) } else { 2 };
    // The next part may begin with an `S`, as in `S:`.
    let end = if is_sid { text.get(..end)?.trim_end_matches('S').len() } else { end };
    text.split_at_checked(end)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// Our own account, the system, the administrators, the owner's placeholders, or a program of ours.
    Ours,
    /// An account that stands for all users, or for all unknown ones.
    All,
    /// A single account, or a group whose members we do not know.
    Another,
}

fn whose(account: &str, us: &str) -> Whose {
    // The system and its services; the administrators; the placeholders for the owner and the account itself;
    // sandboxed programs.
    const TRUSTED: [&str; 17] = [
        "SY",
        "S-1-5-18",
        "LS",
        "S-1-5-19",
        "NS",
        "S-1-5-20",
        "BA",
        "S-1-5-32-544",
        "LA",
        "DA",
        "EA",
        "CO",
        "CG",
        "OW",
        "PS",
        "S-1-5-10",
        "AC",
    ];
    // The owner and its rights, our session, services, sandboxed programs (AppContainer).
    const TRUSTED_KINDS: [&str; 4] = ["S-1-3-", "S-1-5-5-", "S-1-5-80-", "S-1-15-"];
    // Users of any kind: all, anonymous, authenticated, interactive, network, local, and those of the
    // organization; then the users and guests of the machine and of a domain.
    const EVERYBODY: [&str; 19] = [
        "WD",
        "S-1-1-0",
        "AN",
        "S-1-5-7",
        "AU",
        "S-1-5-11",
        "IU",
        "S-1-5-4",
        "NU",
        "S-1-5-2",
        "S-1-2-0",
        "S-1-5-15",
        "BU",
        "S-1-5-32-545",
        "BG",
        "S-1-5-32-546",
        "LG",
        "DU",
        "DG",
    ];
    let of_domain = |rids: [u32; 3]| account.starts_with("S-1-5-21-") && rids.contains(&rid(account));
    let is_trusted = account == us
        || TRUSTED.contains(&account)
        || TRUSTED_KINDS.iter().any(|kind| account.starts_with(kind))
        // The administrator, the administrators of a domain, and those of the enterprise.
        || of_domain([500, 512, 519]);
    match account {
        _ if is_trusted => Whose::Ours,
        // A guest, and the users and guests of a domain.
        _ if EVERYBODY.contains(&account) || of_domain([501, 513, 514]) => Whose::All,
        _ => Whose::Another,
    }
}

/// Returns the machine or domain of an account.
fn domain(account: &str) -> Option<&str> {
    account.strip_prefix("S-1-5-21-")?.rsplit_once('-').map(|(domain, _)| domain)
}

/// Returns the RID of an account: the last number of its SID, unique in its machine or domain.
pub(crate) fn rid(account: &str) -> u32 {
    account.rsplit('-').next().and_then(|rid| rid.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test states what it expects")]

    use super::*;

    const US: &str = "S-1-5-21-1-2-3-1001";

    /// Describes what others may do: all users, then single accounts and groups. `r` is reading, `w` writing,
    /// and `x` replacing.
    fn described(others: Others) -> String {
        let bits = |bits: Bits| -> String {
            let row = [(bits.reads, 'r'), (bits.writes, 'w'), (bits.replaces, 'x')];
            row.into_iter().filter_map(|(has, letter)| has.then_some(letter)).collect()
        };
        format!("{}/{}", bits(others.all), bits(others.some))
    }

    #[test]
    fn rights_of_others_are_read_from_descriptor() {
        let rows = [
            (
                "a profile",
                "O:S-1-5-21-1-2-3-1001D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;S-1-5-21-1-2-3-1001)",
                "/",
            ),
            (
                "a directory below a profile",
                "O:BAD:AI(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)(A;OICIID;FA;;;S-1-5-21-1-2-3-1001)",
                "/",
            ),
            ("a descriptor with a group", "O:SYG:SYD:(A;;FA;;;SY)", "/"),
            (
                "a directory on C:",
                "O:S-1-5-21-1-2-3-1001G:S-1-5-21-1-2-3-513D:AI(A;OICIID;FA;;;BA)(A;OICIID;FA;;;SY)(A;OICIID;0x1200a9;;;BU)\
                 (A;ID;0x1301bf;;;AU)(A;OICIIOID;SDGXGWGR;;;AU)",
                "rwx/",
            ),
            (
                "C:\\Users",
                "O:SYD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;;0x1200a9;;;BU)(A;OICIIO;GXGR;;;BU)(A;;0x1200a9;;;WD)(A;OICIIO;GXGR;;;WD)",
                "r/",
            ),
            (
                "C:\\",
                "O:S-1-5-80-1-2-3-4-5D:PAI(A;;LC;;;AU)(A;OICIIO;SDGXGWGR;;;AU)(A;;FA;;;SY)(A;OICIIO;GA;;;BA)(A;OICI;0x1200a9;;;BU)",
                "rw/",
            ),
            ("an entry that only files inherit", "D:(A;OIIO;FR;;;WD)", "r/"),
            ("an entry that only directories inherit", "D:(A;CIIO;FA;;;WD)", "/"),
            ("passing through", "D:(A;;FX;;;WD)", "/"),
            ("reading", "D:(A;;FR;;;WD)", "r/"),
            ("adding files", "D:(A;;FW;;;WD)", "w/"),
            ("adding directories", "D:(A;;LC;;;WD)", "/"),
            ("removing what lies in the directory", "D:(A;;DT;;;WD)", "wx/"),
            ("removing the directory", "D:(A;;SD;;;WD)", "x/"),
            ("changing the access rights", "D:(A;;WD;;;WD)", "rwx/"),
            ("taking ownership", "D:(A;;WO;;;BU)", "rwx/"),
            ("the generic right to everything", "D:(A;;GA;;;AU)", "rwx/"),
            ("rights as a hexadecimal number", "D:(A;;0x80000000;;;WD)", "r/"),
            ("rights as a decimal number", "D:(A;;1;;;WD)", "r/"),
            ("the users of a domain", "D:(A;;FR;;;S-1-5-21-9-9-9-513)", "r/"),
            ("the administrators of a domain", "D:(A;;FA;;;S-1-5-21-9-9-9-512)", "/"),
            ("another account of this machine", "D:(A;;FA;;;S-1-5-21-1-2-3-1002)", "/rwx"),
            ("an account whose RID begins like ours", "D:(A;;FR;;;S-1-5-21-1-2-3-10011)", "/r"),
            ("a group of a file server", "D:(A;;FR;;;S-1-22-2-1000)", "/r"),
            ("a capability of sandboxed programs", "D:(A;;FA;;;S-1-15-3-65536-1-2)(A;;FA;;;AC)", "/"),
            ("an entry that denies", "D:(D;;FA;;;WD)", "/"),
            ("an entry of the SACL", "D:S:(AU;SAFA;FA;;;WD)", "/"),
            (
                "a conditional entry",
                "D:(XA;;FR;;;WD;(@User.a == \"(\" && (Exists b)))(A;;FW;;;S-1-5-21-1-2-3-7)",
                "r/w",
            ),
            ("an entry for one object", "D:(OA;;CC;00000000-0000-0000-0000-000000000000;;WD)", "r/"),
            ("an empty DACL", "D:", "/"),
            ("an empty DACL with flags", "D:PAI", "/"),
            ("no DACL", "O:BA", "rwx/"),
            ("an empty descriptor", "", "rwx/"),
            ("a null DACL, as on FAT", "O:BAD:NO_ACCESS_CONTROL", "rwx/"),
        ];
        for (name, sddl, expected) in rows {
            let access = Descriptor::parse(sddl).unwrap_or_else(|| panic!("{name}: {sddl}"));
            assert_eq!(described(access.others(US, false)), expected, "{name}: {sddl}");
        }
        let root = Descriptor::parse("D:(A;;0x1301bf;;;AU)").unwrap();
        assert_eq!(described(root.others(US, true)), "rw/", "the root of a drive cannot be removed");
        assert_eq!(described(Descriptor::parse("D:(A;;DT;;;AU)").unwrap().others(US, true)), "wx/");
    }

    #[test]
    fn owner_from_the_same_machine_is_reported() {
        for (sddl, expected) in [
            ("O:S-1-5-21-1-2-3-1001D:", None),
            ("O:S-1-5-21-1-2-3-1002D:", Some(1002)),
            ("O:S-1-5-21-1-2-3-1002S:(AU;SA;FA;;;WD)", Some(1002)),
            ("O:S-1-5-21-1-2-3-500D:", None),
            ("O:BAD:", None),
            ("O:SYG:BAD:", None),
            ("O:S-1-5-80-956008885-1-2-3-4D:", None),
            ("O:S-1-5-21-9-9-9-1002D:", None),
            ("O:S-1-22-1-1000D:", None),
            ("D:", None),
        ] {
            match Descriptor::parse(sddl) {
                Some(access) => assert_eq!(access.other_owner(US), expected, "{sddl}"),
                None => assert!(sddl.contains("S:("), "{sddl}: only a SACL without a DACL is not parsed"),
            }
        }
    }

    #[test]
    fn parent_is_weak_if_others_can_replace_it() {
        let other_account = Some((1002, 1001));
        for (sddl, other_owner, expected) in [
            ("D:", None, None),
            ("D:(A;;FR;;;WD)(A;;LC;;;AU)", None, None),
            ("D:(A;;0x1301bf;;;AU)", None, Some(Weakness::WritableByAll { mode: 0o706 })),
            ("D:(A;;SD;;;S-1-5-21-1-2-3-1002)", None, Some(Weakness::WritableByGroup { mode: 0o720 })),
            ("D:", other_account, Some(Weakness::WritableByGroup { mode: 0o700 })),
        ] {
            let others = Descriptor::parse(sddl).unwrap().others(US, false);
            assert_eq!(Access { others, other_owner }.weakness(), expected, "{sddl}");
        }
    }

    #[test]
    fn access_rights_become_unix_mode_bits() {
        for (sddl, expected) in [
            ("D:", 0o700),
            ("D:(A;;FR;;;WD)", 0o704),
            ("D:(A;;FA;;;AU)", 0o706),
            ("D:(A;;SD;;;S-1-5-21-1-2-3-1002)", 0o720),
            ("D:(A;;FA;;;S-1-5-21-1-2-3-1002)(A;;FW;;;WD)", 0o762),
        ] {
            assert_eq!(Descriptor::parse(sddl).unwrap().others(US, false).mode(), expected, "{sddl}");
        }
    }

    #[test]
    fn descriptor_of_an_unknown_form_is_not_judged() {
        for text in [
            "x",
            "X:BA",
            "O:",
            "O:B",
            "D:(",
            "D:(A;;FA;;;WD",
            "D:(A;;FA)",
            "D:(A;;QQ;;;WD)",
            "D:(A;;0xg;;;WD)",
            "D:(A;;FA;;;WD)x",
            "D:(A;;é;;;WD)",
        ] {
            assert_eq!(Descriptor::parse(text), None, "{text}");
        }
        arbtest::arbtest(|u| {
            let text: String = (0..u.int_in_range(0..=12)?)
                .map(|_| {
                    u.choose(&[
                        "D:",
                        "O:",
                        "(A;;",
                        "OI",
                        "FA",
                        ";;;",
                        "WD",
                        ")",
                        "(",
                        "S-1-5-21-1",
                        "\"",
                        "é",
                        "P",
                    ])
                    .copied()
                })
                .collect::<Result<_, _>>()?;
            let _ = Descriptor::parse(&text).map(|access| (access.others(US, false), access.other_owner(US)));
            Ok(())
        });
    }
}
