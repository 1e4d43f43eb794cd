//! A notification for several peers.

use super::{NotSent, write};
use alloc::{sync::Arc, vec::Vec};
use serde::Serialize;

/// A notification that is written once and sent to any number of peers. Clones share the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SerializedNotification(Arc<[u8]>);

impl SerializedNotification {
    /// Writes a notification. `params` must be an object.
    ///
    /// # Errors
    ///
    /// [`NotSent::Unserializable`] if the parameters cannot be written as an object.
    pub(crate) fn new<P: Serialize + ?Sized>(method: &str, params: Option<&P>) -> Result<Self, NotSent> {
        let mut text = Vec::with_capacity(1024);
        write::notification(&mut text, method, params).map_err(|_| NotSent::Unserializable)?;
        Ok(Self(text.into()))
    }

    /// Returns the text of the message, which is JSON in UTF-8.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;

    #[test]
    fn text_is_that_of_a_written_notification() {
        let params = BTreeMap::from([("text", "a \"quoted\" ü\n")]);
        let rows = [("with params", Some(&params)), ("without params", None)];
        for (name, params) in rows {
            let mut written = Vec::new();
            write::notification(&mut written, "n", params).unwrap();
            let notification = SerializedNotification::new("n", params).unwrap();
            assert_eq!(notification.as_bytes(), written, "{name}");
        }
    }

    #[test]
    fn params_that_are_not_an_object_are_refused() {
        let refused = Err(NotSent::Unserializable);
        assert_eq!(SerializedNotification::new("n", Some(&[1])), refused, "a list");
        let keys = BTreeMap::from([((1, 2), 3)]);
        assert_eq!(SerializedNotification::new("n", Some(&keys)), refused, "keys that are not strings");
    }

    #[test]
    fn clones_share_the_bytes() {
        let notification = SerializedNotification::new("n", None::<&()>).unwrap();
        assert!(core::ptr::eq(notification.clone().as_bytes(), notification.as_bytes()));
    }
}
