use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Reached;
use crate::{CreditNoteId, InvoiceId, Timestamp};

/// How far the invoices of a subscription have come (invoicing 6.1).
///
/// There is one for each boundary: an instant at which something falls due. Its draft is made when the
/// boundary before it has passed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Invoicing {
    /// The last boundary that has passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) passed: Option<Timestamp>,
    /// Drafts in order: those that wait to be issued by themselves, and that of the next boundary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) drafts: Vec<Draft>,
    /// The last time that its threshold was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reached: Option<Reached>,
    /// Credit notes of what its end cuts short.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) cut: Vec<CreditNoteId>,
}

/// Draft that waits for its boundary, or to be issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Draft {
    pub(crate) id: InvoiceId,
    pub(crate) boundary: Timestamp,
    /// Instant at which it was made: behind the boundary where that was over then.
    pub(crate) made_at: Timestamp,
    /// True where usage falls due: it is issued a grace period later.
    pub(crate) has_usage: bool,
    pub(crate) is_automatic: bool,
}

/// What time brings a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InvoicingStep {
    /// The boundary of the last one has passed.
    Pass,
    /// It is issued.
    Issue(Draft),
}

impl Invoicing {
    /// Returns what time brings next, where events are taken for so long behind a period.
    pub(crate) fn next(&self, grace: Duration) -> Option<(Timestamp, InvoicingStep)> {
        let steps = self.drafts.iter().map(|draft| match self.has_passed(draft) {
            true => (draft.eligible_at(grace), InvoicingStep::Issue(*draft)),
            false => (draft.boundary.max(draft.made_at), InvoicingStep::Pass),
        });
        steps.min_by_key(|(at, _)| *at)
    }

    /// Returns the draft of the next boundary.
    pub(crate) fn upcoming(&self) -> Option<&Draft> {
        self.drafts.last().filter(|draft| !self.has_passed(draft))
    }

    fn has_passed(&self, draft: &Draft) -> bool {
        self.passed.is_some_and(|passed| draft.boundary <= passed)
    }
}

impl Draft {
    /// Returns the instant from which it may be issued.
    pub(crate) fn eligible_at(&self, grace: Duration) -> Timestamp {
        let grace = if self.has_usage { grace } else { Duration::ZERO };
        self.boundary.saturating_add(grace).max(self.made_at)
    }
}
