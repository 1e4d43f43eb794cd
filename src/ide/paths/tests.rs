//! Tests of the rows P1 and P4 to P7 of tests/it/threats.rs. Those that need a disk are in ide-mcp-lockfile.

use super::Platform::{Posix, Windows};
use super::*;
use Suspicion::*;
use alloc::string::ToString;

/// The expected class of a path.
enum Is {
    Inside(&'static str),
    Outside(&'static str),
    Suspicious(Suspicion),
}
use Is::{Inside, Outside, Suspicious};

fn assert_classes(folders: &[&str], platform: Platform, cases: &[(&str, Is)]) {
    let folders: Vec<_> = folders.iter().map(|folder| LocalPath::parse(folder, platform).unwrap()).collect();
    for (given, expected) in cases {
        let path = |text: &str| LocalPath { bytes: text.into(), windows: platform == Windows };
        let expected = match expected {
            Inside(text) => PathClass::Inside(path(text)),
            Outside(text) => PathClass::Outside(path(text)),
            Suspicious(why) => PathClass::Suspicious(*why),
        };
        assert_eq!(classify(given, &folders, platform), expected, "{given:?}");
    }
}

#[test]
fn p01_containment_goes_name_by_name() {
    assert_classes(
        &["/w/p", "/other/"],
        Posix,
        &[
            ("/w/p", Inside("/w/p")),
            ("/w/p/", Inside("/w/p")),
            ("/w//p/a", Inside("/w/p/a")),
            ("/w/./p/./a/..", Inside("/w/p")),
            ("/w/q/../p/a", Inside("/w/p/a")),
            ("/other/x", Inside("/other/x")),
            ("/../../w/p", Inside("/w/p")),
            ("/w/p_evil/x", Outside("/w/p_evil/x")),
            ("/w/p/../q", Outside("/w/q")),
            ("/w/p/./../q/", Outside("/w/q")),
            ("/w/p/../../../../etc/passwd", Outside("/etc/passwd")),
            ("/w/P", Outside("/w/P")),
            ("/w", Outside("/w")),
            ("/", Outside("/")),
            ("//", Outside("/")),
            ("w/p", Suspicious(NotAbsolute)),
            ("./w", Suspicious(NotAbsolute)),
            ("..", Suspicious(NotAbsolute)),
            ("", Suspicious(Empty)),
        ],
    );
    assert_classes(&["/"], Posix, &[("/", Inside("/")), ("/x", Inside("/x"))]);
    assert_classes(&[], Posix, &[("/x", Outside("/x"))]);
}

#[test]
fn p04_nothing_is_expanded() {
    assert_classes(
        &["/w/p"],
        Posix,
        &[
            ("/w/p/a..b", Inside("/w/p/a..b")),
            ("/w/p/...", Inside("/w/p/...")),
            ("/w/p/foo~", Inside("/w/p/foo~")),
            ("/w/p/~", Inside("/w/p/~")),
            ("/w/p/$HOME/x", Inside("/w/p/$HOME/x")),
            ("/w/p/%TEMP%/%2e%2e/x", Inside("/w/p/%TEMP%/%2e%2e/x")),
            ("/w/p/*.rs", Inside("/w/p/*.rs")),
            ("/w/p/a\\..\\b", Inside("/w/p/a\\..\\b")),
            ("~/x", Suspicious(NotAbsolute)),
            ("$HOME/x", Suspicious(NotAbsolute)),
        ],
    );
}

#[test]
fn p05_uris_are_decoded_once() {
    assert_classes(
        &["/w/p"],
        Posix,
        &[
            ("file:///w/p/a", Inside("/w/p/a")),
            ("FILE:///w/p/a", Inside("/w/p/a")),
            ("file://localhost/w/p/a", Inside("/w/p/a")),
            ("file://LOCALHOST/w/p/a", Inside("/w/p/a")),
            ("file:/w/p/a", Inside("/w/p/a")),
            ("file:////w/p/a", Inside("/w/p/a")),
            ("file:///w/p/%C3%A9%20x", Inside("/w/p/é x")),
            ("file:///w/p/%c3%a9 x", Inside("/w/p/é x")),
            ("file:///w/p/é x", Inside("/w/p/é x")),
            ("file:///w/p/%252e", Inside("/w/p/%2e")),
            ("file:///w/p/%3F%23", Inside("/w/p/?#")),
            ("file:///w/p/%2e%2e/q", Outside("/w/q")),
            ("file:///w/p%2f..%2fq", Outside("/w/q")),
            ("file:///w/p%5c..%5cq", Outside("/w/p\\..\\q")),
            ("file:///c%3A/w", Outside("/c:/w")),
            ("file://evil/share", Suspicious(Authority)),
            ("file://user@localhost/x", Suspicious(Authority)),
            ("file://localhost:80/x", Suspicious(Authority)),
            ("file://127.0.0.1/x", Suspicious(Authority)),
            ("file://%6cocalhost/x", Suspicious(Authority)),
            ("file:///a%", Suspicious(BadEscape)),
            ("file:///a%2", Suspicious(BadEscape)),
            ("file:///a%2g", Suspicious(BadEscape)),
            ("file:///a%+1", Suspicious(BadEscape)),
            ("file:///a%00b", Suspicious(ControlCharacter)),
            ("file:///a?b", Suspicious(QueryOrFragment)),
            ("file:///a#b", Suspicious(QueryOrFragment)),
            ("file:", Suspicious(Empty)),
            ("file://", Suspicious(Empty)),
            ("file://localhost", Suspicious(Empty)),
            ("file:w/p", Suspicious(NotAbsolute)),
            ("_claude_fs_right:/w/p/a", Inside("/w/p/a")),
            ("_claude_fs_left:/w/p/%C3%A9", Inside("/w/p/é")),
            ("_claude_vscode_fs_right:/w/p/..%2fq", Outside("/w/q")),
            ("_claude_fs_right:a", Suspicious(NotAbsolute)),
            ("_claude_fs_right://evil/share", Suspicious(Authority)),
            ("_claude:/w/p/a", Suspicious(NotAbsolute)),
            ("1a:/w/p/a", Suspicious(NotAbsolute)),
            ("a b:/w/p/a", Suspicious(NotAbsolute)),
            ("http://localhost/w/p", Suspicious(OtherScheme)),
            ("untitled:Untitled-1", Suspicious(OtherScheme)),
            ("vscode-remote://ssh/w/p", Suspicious(OtherScheme)),
        ],
    );
    // Bytes that are not Unicode stay as they are.
    let raw = LocalPath::parse("file:///w/p/%ff", Posix).unwrap();
    assert_eq!((raw.as_bytes(), raw.to_str()), (&b"/w/p/\xff"[..], None));
    assert_eq!(raw.to_uri(), "file:///w/p/%FF");
    assert_eq!(LocalPath::parse("/:x", Posix).unwrap().to_uri(), "file:///%3Ax");
}

#[test]
fn p06_windows_paths_are_judged_on_any_host() {
    assert_classes(
        &["C:\\w\\p", "\\\\Server\\share\\p"],
        Windows,
        &[
            ("C:\\w\\p", Inside("C:\\w\\p")),
            ("c:\\w\\p\\a", Inside("C:\\w\\p\\a")),
            ("C:/w/p/a", Inside("C:\\w\\p\\a")),
            ("c:/w\\p//a\\", Inside("C:\\w\\p\\a")),
            ("/c/w/p/a", Inside("C:\\w\\p\\a")),
            ("/C/w/p", Inside("C:\\w\\p")),
            ("C:\\w\\x\\..\\p", Inside("C:\\w\\p")),
            ("C:\\..\\w\\p", Inside("C:\\w\\p")),
            ("file:///C:/w/p/a", Inside("C:\\w\\p\\a")),
            ("file:///c%3A/w/p", Inside("C:\\w\\p")),
            ("file:///c:/w/p/%C3%A9", Inside("C:\\w\\p\\é")),
            ("file:///c/w/p", Inside("C:\\w\\p")),
            ("file:c:/w/p", Inside("C:\\w\\p")),
            ("_claude_fs_right:/c:/w/p", Inside("C:\\w\\p")),
            ("/mnt/c/w/p/a", Inside("C:\\w\\p\\a")),
            ("/mnt/C/w/p", Inside("C:\\w\\p")),
            ("file:///mnt/c/w/p/%C3%A9", Inside("C:\\w\\p\\é")),
            ("\\\\?\\C:\\w\\p\\a", Inside("C:\\w\\p\\a")),
            ("\\\\?\\c:\\w\\q\\..\\p", Inside("C:\\w\\p")),
            ("\\\\?\\UNC\\Server\\share\\p", Inside("\\\\server\\share\\p")),
            ("\\\\?\\unc\\server\\share\\p", Inside("\\\\server\\share\\p")),
            ("//?/C:/w/p", Inside("C:\\w\\p")),
            ("file:////?/C:/w/p", Suspicious(QueryOrFragment)),
            ("file:////%3F/C:/w/p", Inside("C:\\w\\p")),
            ("\\\\wsl$\\Ubuntu\\home\\u", Outside("\\\\wsl$\\Ubuntu\\home\\u")),
            ("\\\\server\\share\\p\\a", Inside("\\\\server\\share\\p\\a")),
            ("//SERVER/share/p", Inside("\\\\server\\share\\p")),
            ("file:////server/share/p", Inside("\\\\server\\share\\p")),
            ("C:\\w\\p\\a..b", Inside("C:\\w\\p\\a..b")),
            ("C:\\w\\p\\.git", Inside("C:\\w\\p\\.git")),
            ("C:\\w\\p\\NULL", Inside("C:\\w\\p\\NULL")),
            ("C:\\w\\p\\COM10", Inside("C:\\w\\p\\COM10")),
            ("C:\\w\\p\\com", Inside("C:\\w\\p\\com")),
            ("C:\\w\\p\\abc", Inside("C:\\w\\p\\abc")),
            ("C:\\w\\p\\abc1", Inside("C:\\w\\p\\abc1")),
            ("C:\\w\\p\\console.txt", Inside("C:\\w\\p\\console.txt")),
            ("C:\\w\\p\\$x %y% ~", Inside("C:\\w\\p\\$x %y% ~")),
            ("C:\\w\\p_evil", Outside("C:\\w\\p_evil")),
            ("C:\\w\\p\\..\\q", Outside("C:\\w\\q")),
            ("C:\\W\\p", Outside("C:\\W\\p")),
            ("D:\\w\\p", Outside("D:\\w\\p")),
            ("C:\\", Outside("C:\\")),
            ("C:/", Outside("C:\\")),
            ("/d", Outside("D:\\")),
            ("\\\\server\\shared\\p", Outside("\\\\server\\shared\\p")),
            ("\\\\server\\share\\..\\x", Outside("\\\\server\\share\\x")),
            ("\\\\c\\w\\p", Outside("\\\\c\\w\\p")),
            ("C:", Suspicious(NotAbsolute)),
            ("C:rel", Suspicious(NotAbsolute)),
            ("file:///C:rel", Suspicious(NotAbsolute)),
            ("\\w\\p", Suspicious(NotAbsolute)),
            ("/home/p", Suspicious(NotAbsolute)),
            ("/", Suspicious(NotAbsolute)),
            ("w\\p", Suspicious(NotAbsolute)),
            ("é:\\w", Suspicious(Stream)),
            ("1:\\w", Suspicious(Stream)),
            ("/mnt", Suspicious(NotAbsolute)),
            ("/mnt/", Suspicious(NotAbsolute)),
            ("/mnt/data/p", Suspicious(NotAbsolute)),
            ("/mntc/w", Suspicious(NotAbsolute)),
            ("/MNT/c/w", Suspicious(NotAbsolute)),
            ("\\mnt\\c\\w", Suspicious(NotAbsolute)),
            ("//mnt/c/w", Outside("\\\\mnt\\c\\w")),
            ("/mnt/c/w:s", Suspicious(Stream)),
            ("/mnt/c/w/NUL", Suspicious(DeviceName)),
            ("\\\\?\\C:", Suspicious(DevicePath)),
            ("\\\\?\\C:w", Suspicious(DevicePath)),
            ("\\\\?\\UNC", Suspicious(DevicePath)),
            ("\\\\?\\UNC\\server", Suspicious(IncompleteShare)),
            ("\\\\?\\UNC\\\\server\\share", Suspicious(IncompleteShare)),
            ("\\\\?\\UNC\\?\\C:\\w", Suspicious(DevicePath)),
            ("\\\\?\\UNC\\.\\C:\\w", Suspicious(DevicePath)),
            ("\\\\?\\UNC\\?\\UNC\\server\\share", Suspicious(DevicePath)),
            ("\\\\?\\\\\\?\\C:\\w", Suspicious(DevicePath)),
            ("\\\\?\\Volume{0}\\p", Suspicious(DevicePath)),
            ("\\\\?\\GLOBALROOT\\Device\\x", Suspicious(DevicePath)),
            ("\\\\?\\pipe\\x", Suspicious(DevicePath)),
            ("\\\\?\\c\\w", Suspicious(DevicePath)),
            ("\\\\?\\C:\\w::$DATA", Suspicious(Stream)),
            ("\\\\?\\C:\\CON", Suspicious(DeviceName)),
            ("\\\\?\\C:\\w\\a.", Suspicious(TrailingDotOrSpace)),
            ("\\\\?\\C:\\w\\a\nb", Suspicious(ControlCharacter)),
            ("\\\\.\\C:\\w", Suspicious(DevicePath)),
            ("\\\\.\\PhysicalDrive0", Suspicious(DevicePath)),
            ("\\\\.", Suspicious(DevicePath)),
            ("\\\\.server\\share", Outside("\\\\.server\\share")),
            ("\\\\?server\\share", Suspicious(IllegalCharacter)),
            ("\\??\\C:\\w", Suspicious(IllegalCharacter)),
            ("file:////%3F/pipe/x", Suspicious(DevicePath)),
            ("\\\\", Suspicious(IncompleteShare)),
            ("\\\\server", Suspicious(IncompleteShare)),
            ("\\\\server\\", Suspicious(IncompleteShare)),
            ("\\\\server\\..\\x", Suspicious(IncompleteShare)),
            ("\\\\\\x\\y", Suspicious(IncompleteShare)),
            ("C:\\NUL", Suspicious(DeviceName)),
            ("C:\\w\\con.txt", Suspicious(DeviceName)),
            ("C:\\w\\Aux .x.y", Suspicious(DeviceName)),
            ("C:\\com1\\x", Suspicious(DeviceName)),
            ("C:\\LPT².txt", Suspicious(DeviceName)),
            ("C:\\CONIN$", Suspicious(DeviceName)),
            ("C:\\w\\NUL\\..\\x", Suspicious(DeviceName)),
            ("/c/prn", Suspicious(DeviceName)),
            ("C:\\a.txt:stream", Suspicious(Stream)),
            ("C:\\a::$DATA", Suspicious(Stream)),
            ("C:\\w.\\x", Suspicious(TrailingDotOrSpace)),
            ("C:\\w \\x", Suspicious(TrailingDotOrSpace)),
            ("C:\\w\\...", Suspicious(TrailingDotOrSpace)),
            ("C:\\w\\a|b", Suspicious(IllegalCharacter)),
            ("C:\\w\\*.rs", Suspicious(IllegalCharacter)),
            ("file:///c:/%ff", Suspicious(NotUnicode)),
            ("file://server/share/p", Suspicious(Authority)),
        ],
    );
    assert_classes(
        &["/w"],
        Posix,
        &[
            ("C:\\w", Suspicious(NotAbsolute)),
            ("\\\\server\\share", Suspicious(NotAbsolute)),
            ("/c/w", Outside("/c/w")),
            ("/w/NUL", Inside("/w/NUL")),
            ("/w/a.", Inside("/w/a.")),
        ],
    );
    let forms = [
        ("C:\\Users\\u", "/c/Users/u", "file:///C:/Users/u"),
        ("d:\\", "/d", "file:///D:/"),
        ("\\\\s\\x\\y", "//s/x/y", "file:////s/x/y"),
        ("C:\\a b\\é", "/c/a b/é", "file:///C:/a%20b/%C3%A9"),
    ];
    for (given, posix, uri) in forms {
        let path = LocalPath::parse(given, Windows).unwrap();
        assert_eq!((path.to_posix_form().unwrap().as_str(), path.to_uri().as_str()), (posix, uri), "{given}");
        for form in [posix, uri] {
            assert_eq!(LocalPath::parse(form, Windows), Ok(path.clone()), "{form}");
        }
    }
}

/// The real client puts `file://` before a path and encodes nothing (measured on Linux).
#[test]
fn p06_path_after_file_is_not_a_host_on_windows() {
    assert_classes(
        &["C:\\w\\p", "\\\\server\\share\\p"],
        Windows,
        &[
            ("file://C:\\w\\p\\a.ts", Inside("C:\\w\\p\\a.ts")),
            ("FILE://c:\\w\\p\\é", Inside("C:\\w\\p\\é")),
            ("file://C:/w/p/a.ts", Inside("C:\\w\\p\\a.ts")),
            ("file://c:/w/p/a%20b", Inside("C:\\w\\p\\a b")),
            ("file://C:\\w\\p\\100%", Inside("C:\\w\\p\\100%")),
            ("file://C:\\w\\p\\a%20b#c", Inside("C:\\w\\p\\a%20b#c")),
            ("file://C:\\w\\p\\..%2f..%2fq", Inside("C:\\w\\p\\..%2f..%2fq")),
            ("file://\\\\server\\share\\p\\a", Inside("\\\\server\\share\\p\\a")),
            ("file://\\\\?\\C:\\w\\p\\a", Inside("C:\\w\\p\\a")),
            ("file://wsl.localhost/Ubuntu/home/u", Outside("\\\\wsl.localhost\\Ubuntu\\home\\u")),
            ("file://WSL$/Ubuntu/home/u", Outside("\\\\wsl$\\Ubuntu\\home\\u")),
            ("file://wsl%24/Ubuntu/home/u", Outside("\\\\wsl$\\Ubuntu\\home\\u")),
            ("file://C:\\w\\p\\..\\q", Outside("C:\\w\\q")),
            ("file://C:/w/p/%2e%2e/q", Outside("C:\\w\\q")),
            ("file://\\\\evil\\share\\x", Outside("\\\\evil\\share\\x")),
            ("file://C:", Suspicious(Authority)),
            ("file://C:w\\p", Suspicious(Authority)),
            ("file://C:80/w", Suspicious(Authority)),
            ("file://CC:\\w", Suspicious(Authority)),
            ("file://C%3A/w", Suspicious(Authority)),
            ("file://evil\\share\\x", Suspicious(Authority)),
            ("file://\\evil\\share", Suspicious(Authority)),
            ("file://evil/C:/w/p", Suspicious(Authority)),
            ("file://user@C:/w/p", Suspicious(Authority)),
            ("file://wsl.localhost.evil/Ubuntu/x", Suspicious(Authority)),
            ("file://wsl.localhost:80/Ubuntu/x", Suspicious(Authority)),
            ("file://wsl.localhost", Suspicious(IncompleteShare)),
            ("file://wsl.localhost/..", Suspicious(IncompleteShare)),
            ("file://\\\\.\\PhysicalDrive0", Suspicious(DevicePath)),
            ("file://C:\\w\\p\\a?b", Suspicious(IllegalCharacter)),
            ("file://C:/w/p/a?b", Suspicious(QueryOrFragment)),
            ("file://C:/w/p/a#b", Suspicious(QueryOrFragment)),
            ("file://C:/w/p/100%", Suspicious(BadEscape)),
            ("file://C:\\w\\a::$DATA", Suspicious(Stream)),
            ("file://C:/w/a%3A%3A$DATA", Suspicious(Stream)),
            ("file://C:/w/a%00", Suspicious(ControlCharacter)),
            ("file://C:\\w\\nul", Suspicious(DeviceName)),
            ("file://C:\\w\\.env.", Suspicious(TrailingDotOrSpace)),
            ("http://C:\\w", Suspicious(OtherScheme)),
        ],
    );
    assert_classes(
        &["/w"],
        Posix,
        &[
            ("file://C:\\w\\a.ts", Suspicious(Authority)),
            ("file://C:/w/a.ts", Suspicious(Authority)),
            ("file://\\\\server\\share\\x", Suspicious(Authority)),
            ("file://wsl.localhost/Ubuntu/w", Suspicious(Authority)),
            ("\\\\?\\C:\\w", Suspicious(NotAbsolute)),
            ("/mnt/c/w", Outside("/mnt/c/w")),
        ],
    );
}

/// An agent on Windows names the files of an editor in WSL by Windows paths.
#[test]
fn p06_windows_path_is_translated_in_wsl() {
    let wsl = System::Wsl { distribution: Some("Ubuntu") };
    let nameless = System::Wsl { distribution: None };
    let rows: &[(&str, System<'_>, Result<&str, Suspicion>)] = &[
        ("/w/p", wsl, Ok("/w/p")),
        ("/mnt/c/w", wsl, Ok("/mnt/c/w")),
        ("/c/w", wsl, Ok("/c/w")),
        ("/w/NUL", wsl, Ok("/w/NUL")),
        ("/c:/w", wsl, Ok("/c:/w")),
        ("file:///w/a%20b", wsl, Ok("/w/a b")),
        ("file:///w/a\\b", wsl, Ok("/w/a\\b")),
        ("C:\\w\\a", wsl, Ok("/mnt/c/w/a")),
        ("D:/w/../a", wsl, Ok("/mnt/d/a")),
        ("C:\\", wsl, Ok("/mnt/c")),
        ("C:\\w\\a", nameless, Ok("/mnt/c/w/a")),
        ("\\\\?\\C:\\w", wsl, Ok("/mnt/c/w")),
        ("file://C:\\w\\a#b", wsl, Ok("/mnt/c/w/a#b")),
        ("file:///C:/w/a%20b", wsl, Ok("/mnt/c/w/a b")),
        ("file:///c%3A/w", wsl, Ok("/mnt/c/w")),
        ("file:///c%3Aw", wsl, Ok("/c:w")),
        ("\\\\wsl.localhost\\ubuntu\\home\\u", wsl, Ok("/home/u")),
        ("\\\\wsl$\\Ubuntu", wsl, Ok("/")),
        ("\\\\wsl$\\Ubuntu\\mnt\\c\\w", wsl, Ok("/mnt/c/w")),
        ("\\\\?\\UNC\\wsl$\\Ubuntu\\w", wsl, Ok("/w")),
        ("file://wsl.localhost/Ubuntu/w/%C3%A9", wsl, Ok("/w/é")),
        ("file://\\\\wsl$\\Ubuntu\\w", wsl, Ok("/w")),
        ("\\\\wsl$\\Debian\\w", wsl, Err(NotAbsolute)),
        ("\\\\wsl$\\Ubuntu\\w", nameless, Err(NotAbsolute)),
        ("\\\\server\\share\\x", wsl, Err(NotAbsolute)),
        ("//server/share/x", wsl, Ok("/server/share/x")),
        ("file:////server/share/x", wsl, Ok("/server/share/x")),
        ("C:w", wsl, Err(NotAbsolute)),
        ("\\w", wsl, Err(NotAbsolute)),
        ("C:\\w\\a:b", wsl, Err(Stream)),
        ("C:\\w\\a::$DATA", wsl, Err(Stream)),
        ("file:///C:/w/a%3Ab", wsl, Err(Stream)),
        ("C:\\CON", wsl, Err(DeviceName)),
        ("C:\\w\\a.", wsl, Err(TrailingDotOrSpace)),
        ("\\\\.\\C:\\w", wsl, Err(DevicePath)),
        ("\\\\?\\Volume{0}\\w", wsl, Err(DevicePath)),
        ("file://evil/w", wsl, Err(Authority)),
        ("C:\\w", System::Linux, Err(NotAbsolute)),
        ("C:\\w", System::MacOs, Err(NotAbsolute)),
        ("/mnt/c/w", System::MacOs, Ok("/mnt/c/w")),
        ("/mnt/c/w", System::Windows, Ok("C:\\w")),
    ];
    for (given, system, expected) in rows {
        let parsed = LocalPath::parse(given, *system);
        assert_eq!(
            parsed.as_ref().map(|path| path.to_str().unwrap()),
            expected.as_ref().copied(),
            "{given:?}"
        );
        let windows = *system == System::Windows;
        assert!(parsed.is_err() || parsed.is_ok_and(|path| path.windows == windows), "{given:?}");
    }
    let folder = LocalPath::parse("/mnt/c/w", wsl).unwrap();
    assert!(matches!(classify("file://C:\\w\\a.ts", &[folder], wsl), PathClass::Inside(_)));
}

#[test]
fn p07_long_or_invisible_path_is_suspicious() {
    let of_len = |len: usize| alloc::format!("/{}", "x".repeat(len - 1));
    assert_eq!(LocalPath::parse(&of_len(4096), Posix).unwrap().as_bytes().len(), 4096);
    assert_eq!(LocalPath::parse(&of_len(4097), Posix), Err(TooLong { len: 4097 }));
    // The limit applies to the normal form of the path, which is opened, not to its URI.
    let escaped = alloc::format!("file:///{}", "%78".repeat(4095));
    assert_eq!(LocalPath::parse(&escaped, Posix).unwrap().as_bytes(), of_len(4096).as_bytes());
    let short = alloc::format!("/c/{}", "x".repeat(4093));
    assert_eq!(LocalPath::parse(&short, Windows).unwrap().as_bytes().len(), 4096);
    assert_eq!(LocalPath::parse("/c", Windows).unwrap().as_bytes(), b"C:\\");
    for given in ["/a\0b", "/a\nb", "/\u{1b}[2J", "/a\u{7f}", "/a\u{9b}b", "file:///a%0Ab", "file:///%c2%9b"]
    {
        for platform in [Posix, Windows] {
            assert_eq!(LocalPath::parse(given, platform), Err(ControlCharacter), "{given:?}");
        }
    }
    assert!(!TooLong { len: 5000 }.to_string().is_empty());
}

#[test]
fn path_survives_its_uri_and_normal_form() {
    arbtest::arbtest(|u| {
        for platform in [Posix, Windows] {
            let prefix = *u.choose(&[
                "/",
                "C:\\",
                "/c/",
                "\\\\s\\t\\",
                "file:///",
                "file://",
                "/mnt/",
                "\\\\?\\",
                "",
            ])?;
            let given = alloc::format!("{prefix}{}", u.arbitrary::<&str>()?);
            let Ok(path) = LocalPath::parse(&given, platform) else { continue };
            assert_eq!(LocalPath::parse(&path.to_uri(), platform).as_ref(), Ok(&path), "{given:?}");
            assert_eq!(LocalPath::from_bytes(path.as_bytes(), platform).as_ref(), Ok(&path), "{given:?}");
            assert!(path.is_within(&path), "{given:?}");
        }
        Ok(())
    });
}

#[test]
fn path_of_another_family_is_never_within() {
    let posix = LocalPath::parse("/c/w", Posix).unwrap();
    let windows = LocalPath::parse("/c/w", Windows).unwrap();
    assert!(!posix.is_within(&windows) && !windows.is_within(&posix));
    assert_eq!(Platform::native() == Windows, cfg!(windows));
}

#[test]
fn forms_differ_by_their_roots() {
    // The path; whether it is absolute; whether it is a Windows path; whether it begins with a drive in the form of
    // POSIX tools.
    for (path, absolute, windows, drive) in [
        ("/w", true, false, true),
        ("/w/x", true, false, true),
        ("/1/x", true, false, false),
        ("/mnt/c", true, false, true),
        ("/mnt/c/x", true, false, true),
        ("/mnt/data", true, false, false),
        ("/mnt", true, false, false),
        ("/wx", true, false, false),
        ("/", true, false, false),
        ("C:\\w", true, true, false),
        ("c:/w", true, true, false),
        ("1:\\w", false, false, false),
        ("C:w", false, false, false),
        ("C:", false, false, false),
        ("\\\\s\\x", true, true, false),
        ("\\w", false, false, false),
        ("w/x", false, false, false),
        ("", false, false, false),
    ] {
        assert_eq!((is_absolute(path), is_windows(path)), (absolute, windows), "{path:?}");
        assert_eq!(lexical::posix_drive(path.as_bytes()).is_some(), drive, "{path:?}");
    }
    assert_eq!(lexical::normal(b"1:\\w", true), None);
}

#[test]
fn debug_output_shows_the_path() {
    let path = LocalPath::parse("file:///w/%ff\"", Posix).unwrap();
    assert_eq!(alloc::format!("{path:?}"), "\"/w/\u{fffd}\\\"\"");
}

#[test]
fn editor_uris_convert_in_both_directions() {
    for (path, uri, back) in [
        ("/w/a b%", "file:///w/a b%", "/w/a b%"),
        ("/", "file:///", "/"),
        ("C:\\w\\é", "file:///C:/w/é", "C:/w/é"),
        ("c:/w", "file:///c:/w", "c:/w"),
        ("\\\\s\\x\\y", "file:////s/x/y", "//s/x/y"),
        ("\\\\?\\C:\\w", "file:///C:/w", "C:/w"),
        ("\\\\?\\UNC\\s\\x", "file:////s/x", "//s/x"),
    ] {
        assert_eq!(Unencoded(path).to_string(), uri);
        assert_eq!(as_written(uri), back);
    }
    for relative in ["src/main.ts", "./a", "C:w", "\\w", ""] {
        assert_eq!(Unencoded(relative).to_string(), "", "{relative:?} has no URI");
    }
    assert_eq!(as_written("file://C:\\w\\a"), "C:\\w\\a");
    for path in ["/w", "C:\\w", "untitled:x", "", "/c:w"] {
        assert_eq!(as_written(path), path);
    }
}

#[test]
fn lenient_reader_takes_any_string_as_path() {
    for (name, given, expected) in [
        ("a path", "/w/a", "/w/a"),
        ("a path with an escape", "/w/%61%20%C3%A9", "/w/a é"),
        ("a URI", "file:///w/%61", "/w/a"),
        ("a URI with a host", "file://host/w", "/w"),
        ("a URI with a host and no path", "file://host", ""),
        ("a URI of another scheme", "vscode-remote://ssh/w/.env", "/w/.env"),
        ("a URI without an authority", "untitled:w%2Fx", "w/x"),
        ("a drive", "C:/w", "C:/w"),
        ("a drive in a URI", "file:///c%3A/w", "c:/w"),
        ("a Windows path after file://", "file://C:\\w\\.env", "C:\\w\\.env"),
        ("a Windows path with an escape, after file://", "file://C:\\w\\%2eenv", "C:\\w\\.env"),
        ("a drive after file://", "file://C:/w/%2eenv", "C:/w/.env"),
        ("invalid escapes", "/%/%6/%6x/%%41", "/%/%6/%6x/%A"),
        ("bytes that are not Unicode", "/%ff", "/\u{fffd}"),
        ("an empty string", "", ""),
    ] {
        assert_eq!(lenient(given), expected, "{name}");
    }
}

#[test]
fn file_of_a_client_keeps_its_server() {
    for (given, expected) in [
        ("/w/%61", "/w/%61"),
        ("C:/w", "C:/w"),
        ("file:///w/%61", "/w/a"),
        ("FILE:/w/a", "/w/a"),
        ("file://localhost/w/a", "/w/a"),
        ("file://LOCALHOST/w/a", "/w/a"),
        ("file://server/share/%61", "//server/share/a"),
        ("file:////server/share/a", "//server/share/a"),
        ("file:///C:/w", "C:/w"),
        ("file://C:\\w\\a%20#", "C:\\w\\a%20#"),
        ("file://C:/w/a%20", "C:/w/a "),
        ("file://\\\\s\\x\\a", "\\\\s\\x\\a"),
    ] {
        assert_eq!(of_file(given), expected, "{given}");
    }
}

#[test]
fn depth_counts_the_names() {
    for (given, platform, expected) in [
        ("/a/b.c/d", Posix, 3),
        ("/", Posix, 0),
        (r"C:\a\b", Windows, 3),
        (r"C:\", Windows, 1),
        ("/a\\b", Posix, 1),
    ] {
        assert_eq!(LocalPath::parse(given, platform).unwrap().depth(), expected, "{given}");
    }
}

#[test]
fn relative_path_is_checked_for_every_system() {
    for (given, expected) in [
        ("a/b.rs", Ok(())),
        ("**/*.{rs,toml}", Ok(())),
        ("a..b/./c", Ok(())),
        ("", Err(Empty)),
        ("a/\u{1b}[2J", Err(ControlCharacter)),
        ("a\0", Err(ControlCharacter)),
        ("a/CON", Err(DeviceName)),
        ("a:b", Err(Stream)),
        ("a./b", Err(TrailingDotOrSpace)),
    ] {
        assert_eq!(check_relative(given), expected, "{given:?}");
    }
}
