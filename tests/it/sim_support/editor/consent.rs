//! The person who decides about each client, in the runs in which the editor asks for consent.

use std::time::Duration;

use ide_mcp::{Time, ide::ConnId};

use super::{Books, Editor};
use crate::sim_support::{
    ledger::{Consent, Ledger, Standing},
    oracle::{Invariant as I, Oracle},
    plant::Subject,
};

impl Editor {
    /// Asks the person about a client, and plans the decision. The scripts of hostile peers go on after
    /// it, so the person disconnects agents alone.
    pub(super) fn ask_for_consent(
        &mut self,
        now: Time,
        conn: ConnId,
        book: &mut Ledger,
        oracle: &mut Oracle,
    ) {
        oracle.claim(book.consent == Consent::Unasked, I::Consent, || {
            format!("the person is asked about {conn:?}: {:?}", book.consent)
        });
        book.consent = Consent::Asked;
        oracle.hit("consent: asked");
        let allows = self.allows_all || book.standing != Standing::Honest || !self.random.one_in(4);
        let pause = Duration::from_millis([0, 50, 1_000, 6_000][self.random.below(4)]);
        self.serial += 1;
        self.decisions.insert((now.saturating_add(pause), self.serial), (conn, allows));
    }

    /// Does what the person has decided until now. Returns true if there was anything.
    pub fn decide(
        &mut self,
        now: Time,
        time: Time,
        subject: &mut Subject,
        books: &mut Books,
        oracle: &mut Oracle,
    ) -> bool {
        let mut any = false;
        while let Some(entry) = self.decisions.first_entry().filter(|entry| entry.key().0 <= now) {
            let (conn, allows) = entry.remove();
            any = true;
            let Some(book) = books.get_mut(&conn).filter(|_| subject.waits_for_consent(conn)) else {
                oracle.hit("consent: too late");
                continue;
            };
            oracle.note(|| format!("the person decides about {conn:?}: {allows}"));
            if allows {
                let allowed = subject.allow(conn);
                oracle.claim(allowed, I::Consent, || format!("{conn:?} waits, and cannot be allowed"));
                book.consent = Consent::Given;
                oracle.hit("consent: given");
            } else {
                subject.host.client(conn.into()).disconnect(time);
                book.consent = Consent::Refused;
                oracle.hit("consent: refused");
            }
        }
        any
    }
}
