//! Writes the four envelopes, straight into a buffer, with the members in the order that every peer accepts. We write
//! no member that the specification does not name, and no `null` for an absent member.
//!
//! The buffer never holds half a message: if a value of the caller cannot be written, the buffer is as it was.

use alloc::vec::Vec;

use serde::Serialize;
use serde_json::value::RawValue;

use super::Id;

/// The caller's value cannot be written as JSON, or is not an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unserializable;

/// Writes `{"jsonrpc":"2.0","id":…,"result":…}`. The result must be an object, as all results of MCP are.
///
/// # Errors
///
/// If the result cannot be written or is not an object. The buffer is then as it was before.
pub(crate) fn result<R: Serialize + ?Sized>(
    buf: &mut Vec<u8>,
    id: &Id,
    result: &R,
) -> Result<(), Unserializable> {
    let start = buf.len();
    begin_result(buf, id);
    let value = buf.len();
    // What was written is JSON, so its first byte shows its kind.
    if write_json(buf, result).is_err() || buf.get(value) != Some(&b'{') {
        buf.truncate(start);
        return Err(Unserializable);
    }
    buf.push(b'}');
    Ok(())
}

/// Writes a response whose result may be any value, for methods outside MCP.
#[cfg(any(test, feature = "ide"))]
pub(crate) fn any_result(buf: &mut Vec<u8>, id: &Id, result: &RawValue) {
    begin_result(buf, id);
    buf.extend_from_slice(result.get().as_bytes());
    buf.push(b'}');
}

fn begin_result(buf: &mut Vec<u8>, id: &Id) {
    buf.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    id.write(buf);
    buf.extend_from_slice(br#","result":"#);
}

/// Writes `{"jsonrpc":"2.0","id":…,"error":{"code":…,"message":…,"data":…}}`, without `data` if it
/// is `None`.
pub(crate) fn error(buf: &mut Vec<u8>, id: &Id, code: i64, message: &str, data: Option<&RawValue>) {
    buf.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    id.write(buf);
    buf.extend_from_slice(br#","error":{"code":"#);
    write_plain(buf, &code);
    buf.extend_from_slice(br#","message":"#);
    write_plain(buf, message);
    if let Some(data) = data {
        buf.extend_from_slice(br#","data":"#);
        buf.extend_from_slice(data.get().as_bytes());
    }
    buf.extend_from_slice(b"}}");
}

/// Writes `{"jsonrpc":"2.0","id":…,"method":…,"params":…}`, without `params` if they are absent or written as `null`.
///
/// # Errors
///
/// If the parameters cannot be written or are not an object. The buffer is then as it was before.
pub(crate) fn request<P: Serialize + ?Sized>(
    buf: &mut Vec<u8>,
    id: u64,
    method: &str,
    params: Option<&P>,
) -> Result<(), Unserializable> {
    let start = buf.len();
    buf.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write_plain(buf, &id);
    buf.extend_from_slice(br#","method":"#);
    finish(buf, start, method, params)
}

/// Writes `{"jsonrpc":"2.0","method":…,"params":…}`, without `params` if they are absent or written as `null`.
///
/// # Errors
///
/// If the parameters cannot be written or are not an object. The buffer is then as it was before.
pub(crate) fn notification<P: Serialize + ?Sized>(
    buf: &mut Vec<u8>,
    method: &str,
    params: Option<&P>,
) -> Result<(), Unserializable> {
    let start = buf.len();
    buf.extend_from_slice(br#"{"jsonrpc":"2.0","method":"#);
    finish(buf, start, method, params)
}

/// Writes the method, the parameters and the end. If the parameters cannot be written, removes all
/// bytes from `start` on.
fn finish<P: Serialize + ?Sized>(
    buf: &mut Vec<u8>,
    start: usize,
    method: &str,
    params: Option<&P>,
) -> Result<(), Unserializable> {
    write_plain(buf, method);
    if let Some(params) = params {
        let before = buf.len();
        buf.extend_from_slice(br#","params":"#);
        let value = buf.len();
        if write_json(buf, params).is_err() {
            buf.truncate(start);
            return Err(Unserializable);
        }
        match buf.get(value..) {
            // The TypeScript peers drop a whole message for `"params":null`.
            Some(b"null") => buf.truncate(before),
            Some([b'{', ..]) => {}
            // MCP has only parameters by name.
            Some(_) | None => {
                buf.truncate(start);
                return Err(Unserializable);
            }
        }
    }
    buf.push(b'}');
    Ok(())
}

/// Writes a number or a string, which can always be written.
fn write_plain<T: Serialize + ?Sized>(buf: &mut Vec<u8>, value: &T) {
    let written = write_json(buf, value);
    debug_assert!(written.is_ok(), "numbers and strings are always JSON");
}

/// Appends `value` as JSON. After an error, the caller must remove what was appended.
pub(crate) fn write_json<T: Serialize + ?Sized>(
    buf: &mut Vec<u8>,
    value: &T,
) -> Result<(), serde_json::Error> {
    #[cfg(feature = "std")]
    return serde_json::to_writer(buf, value);
    // Without `std`, serde_json has no serializer that writes into a buffer of ours.
    #[cfg(not(feature = "std"))]
    serde_json::to_vec(value).map(|bytes| buf.extend_from_slice(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{collections::BTreeMap, string::String};

    /// Returns a map whose keys are not strings. It cannot be written as JSON, which the serializer finds only after
    /// the opening brace.
    fn unserializable() -> BTreeMap<(u8, u8), u8> {
        BTreeMap::from([((1, 2), 3)])
    }

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut buf = b"before|".to_vec();
        write(&mut buf);
        String::from_utf8(buf).unwrap()
    }

    #[test]
    fn envelopes_have_exact_members_in_order() {
        let id = Id::from(7);
        let data: &RawValue = serde_json::from_str(r#"{"a":1}"#).unwrap();
        let rows: [(&str, String, &str); 8] = [
            (
                "result",
                text(|b| result(b, &id, data).unwrap()),
                r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#,
            ),
            (
                "any result",
                text(|b| any_result(b, &id, RawValue::NULL)),
                r#"{"jsonrpc":"2.0","id":7,"result":null}"#,
            ),
            (
                "error",
                text(|b| error(b, &id, -1, "no \"way\"", None)),
                r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no \"way\""}}"#,
            ),
            (
                "error with data",
                text(|b| error(b, &id, 0, "m", Some(data))),
                r#"{"jsonrpc":"2.0","id":7,"error":{"code":0,"message":"m","data":{"a":1}}}"#,
            ),
            (
                "request",
                text(|b| request(b, 1, "m", Some(data)).unwrap()),
                r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}"#,
            ),
            (
                "request without params",
                text(|b| request(b, 1, "m", None::<&()>).unwrap()),
                r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#,
            ),
            (
                "notification",
                text(|b| notification(b, "n", Some(data)).unwrap()),
                r#"{"jsonrpc":"2.0","method":"n","params":{"a":1}}"#,
            ),
            (
                "params that are written as null are left out",
                text(|b| notification(b, "n", Some(&None::<u8>)).unwrap()),
                r#"{"jsonrpc":"2.0","method":"n"}"#,
            ),
        ];
        for (name, got, want) in rows {
            assert_eq!(got.strip_prefix("before|"), Some(want), "{name}");
        }
    }

    #[test]
    fn failed_write_leaves_the_buffer_unchanged() {
        let id = Id::from(7);
        let rows = [
            ("result", text(|b| assert!(result(b, &id, &unserializable()).is_err()))),
            ("result that is an array", text(|b| assert!(result(b, &id, &[1]).is_err()))),
            ("result that is null", text(|b| assert!(result(b, &id, &()).is_err()))),
            ("request", text(|b| assert!(request(b, 1, "m", Some(&unserializable())).is_err()))),
            ("notification", text(|b| assert!(notification(b, "m", Some(&unserializable())).is_err()))),
            ("params that are an array", text(|b| assert!(notification(b, "m", Some(&[1])).is_err()))),
        ];
        for (name, got) in rows {
            assert_eq!(got, "before|", "{name}");
        }
    }
}
