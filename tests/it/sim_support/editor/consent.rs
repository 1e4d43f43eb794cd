//! The person who decides about each client, in the runs in which the editor asks for consent.

use std::time::Duration;

use ide_mcp::{Time, ide::ConnId};

use super::{Editor, Ledgers};
use crate::sim_support::{
    ledger::{Consent, Ledger, Standing},
    oracle::{Invariant as I, Oracle},
    plant::Subject,
};

/// The question to the person, who is asked about one client at a time.
#[derive(Debug, Default)]
pub(super) struct Question {
    about: Option<ConnId>,
    /// The number of refusals since the latest consent.
    refusals: usize,
    quiet_until: Time,
}

impl Question {
    /// Records the end of the question about this client at this time, if it is open.
    pub(super) fn end(&mut self, conn: ConnId, time: Time, is_refused: bool) {
        if self.about.take_if(|about| *about == conn).is_none() {
            return;
        }
        self.refusals += usize::from(is_refused);
        let seconds = [10, 10, 20, 40, 80, 160, 300][self.refusals.min(6)];
        self.quiet_until = time.saturating_add(Duration::from_secs(seconds));
    }
}

impl Editor {
    /// Checks, after a turn of the loop, that no client waits although the person could be asked about it. `is_due` is
    /// true if a client waits.
    pub fn check_question(&self, time: Time, is_due: bool, oracle: &mut Oracle) {
        let Question { about, quiet_until, .. } = self.question;
        match is_due {
            true if about.is_some() => oracle.hit("consent: another question is open"),
            true if time < quiet_until => oracle.hit("consent: quiet time"),
            _ => oracle.claim(!is_due, I::Consent, || {
                format!("a client is initialized, and the person is not asked since {quiet_until:?}")
            }),
        }
    }

    /// Asks the person about a client, and plans the decision. Hostile peers are always allowed, because their scripts
    /// go on after the decision.
    pub(super) fn on_consent_pending(
        &mut self,
        (now, time): (Time, Time),
        conn: ConnId,
        ledger: &mut Ledger,
        oracle: &mut Oracle,
    ) {
        let Question { about, quiet_until, .. } = self.question;
        oracle.claim(about.is_none() && quiet_until <= time, I::Consent, || {
            format!("{conn:?} is asked about, beside {about:?} and before {quiet_until:?}")
        });
        self.question.about = Some(conn);
        oracle.claim(ledger.consent == Consent::NotAsked, I::Consent, || {
            format!("the person is asked about {conn:?}: {:?}", ledger.consent)
        });
        ledger.consent = Consent::Asked;
        oracle.hit("consent: asked");
        let allows = self.allows_all || ledger.standing != Standing::Honest || !self.random.one_in(4);
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
        ledgers: &mut Ledgers,
        oracle: &mut Oracle,
    ) -> bool {
        let mut any = false;
        while let Some(entry) = self.decisions.first_entry().filter(|entry| entry.key().0 <= now) {
            let (conn, allows) = entry.remove();
            any = true;
            let Some(ledger) = ledgers.get_mut(&conn).filter(|_| subject.waits_for_consent(conn)) else {
                oracle.hit("consent: too late");
                continue;
            };
            oracle.note(|| format!("the person decides about {conn:?}: {allows}"));
            if allows {
                let allowed = subject.allow(conn);
                oracle.claim(allowed, I::Consent, || format!("{conn:?} waits, and cannot be allowed"));
                ledger.consent = Consent::Given;
                self.question = Question::default();
                oracle.hit("consent: given");
            } else {
                subject.server.agent_mut(conn.into()).disconnect(time);
                ledger.consent = Consent::Refused;
                self.question.end(conn, time, true);
                oracle.hit("consent: refused");
            }
        }
        any
    }
}
