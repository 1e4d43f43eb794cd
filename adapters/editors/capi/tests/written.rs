//! A loop may report at any time what a socket took.
#![allow(unsafe_code, reason = "the functions of C are called")]
#![allow(clippy::unwrap_used, clippy::undocumented_unsafe_blocks, reason = "a test")]

#[path = "../../../../tests/lab/capi/functions.rs"]
mod functions;

use functions::*;
use std::collections::BTreeMap;
use std::{ptr, slice};

/// When a loop reports what a socket took.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Report {
    AtOnce,
    Twice,
    /// After the events.
    AfterNext,
    /// After the whole output of the turn.
    AfterTheOutput,
    /// At the end of the next turn, in which the output is offered again.
    InTheNextTurn,
}

/// The sockets of two clients take seven bytes at a time, and each client reads each byte once.
#[test]
fn late_reports_count() {
    for report in
        [Report::AtOnce, Report::Twice, Report::AfterNext, Report::AfterTheOutput, Report::InTheNextTurn]
    {
        let read = refusals(report);
        assert_eq!(read.len(), 2);
        for read in read.values().map(|read| String::from_utf8_lossy(read)) {
            let (head, body) = read.split_once("\r\n\r\n").unwrap();
            let length = format!("Content-Length: {}", body.len());
            assert!(head.starts_with("HTTP/1.1 400 ") && head.contains(&length), "{report:?}: {read}");
        }
    }
}

/// Returns what two clients read when their requests are refused.
fn refusals(report: Report) -> BTreeMap<i64, Vec<u8>> {
    let config = cr#"{"name":"E","folders":["/w"],"port":1,"token":"0123456789abcdef","tools":[]}"#;
    let mut read = BTreeMap::new();
    // SAFETY, for all blocks below: the handle lives until the end, and each text has its length.
    let ed = unsafe { idemcp_new(config.as_ptr(), ZT, ptr::null_mut(), 0) };
    for _ in 0..2 {
        let conn = unsafe { idemcp_connect(ed) };
        let request = b"GET / HTTP/1.1\r\n\r\n";
        assert_eq!(unsafe { idemcp_feed(ed, conn, request.as_ptr(), request.len()) }, 0);
        read.insert(conn, Vec::new());
    }
    let (mut unreported, mut closed) = (BTreeMap::new(), 0);
    for turn in 0..1_000 {
        while unsafe { idemcp_next(ed) } != 0 {}
        loop {
            let (mut bytes, mut len) = (ptr::null(), 0);
            let conn = unsafe { idemcp_next_output(ed, &raw mut bytes, &raw mut len) };
            if conn == 0 {
                break;
            }
            if bytes.is_null() {
                closed += 1;
                continue;
            }
            if report == Report::InTheNextTurn && turn % 2 == 1 {
                assert!(unreported.contains_key(&conn), "{report:?}: the output comes again");
                continue;
            }
            let taken = len.min(7);
            read.get_mut(&conn).unwrap().extend_from_slice(unsafe { slice::from_raw_parts(bytes, taken) });
            assert!(unreported.insert(conn, taken).is_none(), "{report:?}: twice in a turn");
            match report {
                Report::AfterNext => while unsafe { idemcp_next(ed) } != 0 {},
                Report::AfterTheOutput | Report::InTheNextTurn => continue,
                Report::AtOnce | Report::Twice => {}
            }
            report_all(ed, &mut unreported);
            if report == Report::Twice {
                assert_eq!(unsafe { idemcp_written(ed, conn, len) }, 0);
            }
        }
        if report == Report::AfterTheOutput || turn % 2 == 1 {
            report_all(ed, &mut unreported);
        }
        if closed == 2 {
            break;
        }
    }
    assert_eq!(closed, 2, "{report:?}");
    unsafe { idemcp_free(ed) };
    read
}

fn report_all(ed: *mut std::ffi::c_void, unreported: &mut BTreeMap<i64, usize>) {
    while let Some((conn, taken)) = unreported.pop_first() {
        assert_eq!(unsafe { idemcp_written(ed, conn, taken) }, 0);
    }
}

/// Returns the connections that have output in a turn.
fn output(ed: *mut std::ffi::c_void) -> Vec<i64> {
    let mut named = Vec::new();
    loop {
        let (mut bytes, mut len) = (ptr::null(), 0);
        let conn = unsafe { idemcp_next_output(ed, &raw mut bytes, &raw mut len) };
        if conn == 0 {
            return named;
        }
        named.push(conn);
    }
}

/// A late report of one connection does not delay another connection whose socket was full.
#[test]
fn late_report_leaves_the_others_their_turn() {
    let config = cr#"{"name":"E","folders":["/w"],"port":1,"token":"0123456789abcdef","tools":[]}"#;
    let ed = unsafe { idemcp_new(config.as_ptr(), ZT, ptr::null_mut(), 0) };
    let (full, late) = unsafe { (idemcp_connect(ed), idemcp_connect(ed)) };
    for conn in [full, late] {
        let request = b"GET / HTTP/1.1\r\n\r\n";
        assert_eq!(unsafe { idemcp_feed(ed, conn, request.as_ptr(), request.len()) }, 0);
    }
    while unsafe { idemcp_next(ed) } != 0 {}
    let (mut bytes, mut len) = (ptr::null(), 0);
    assert_eq!(unsafe { idemcp_next_output(ed, &raw mut bytes, &raw mut len) }, full);
    assert_eq!(unsafe { idemcp_written(ed, full, 0) }, 0);
    assert_eq!(unsafe { idemcp_next_output(ed, &raw mut bytes, &raw mut len) }, late);
    assert!(output(ed).is_empty());
    // The next turn: the first socket has room, and the second one reports what it took.
    while unsafe { idemcp_next(ed) } != 0 {}
    assert_eq!(unsafe { idemcp_written(ed, late, 7) }, 0);
    let named = output(ed);
    assert!(named.contains(&full), "{named:?}");
    unsafe { idemcp_free(ed) };
}
