use super::{Invoice, InvoiceStatus};
use crate::{CustomerId, Decimal, IdOr, InstantRange, SubscriptionId};

/// Filter of a list of invoices (invoicing 9.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvoiceFilter {
    /// Customers whose invoices are listed: all where none are named. Each name must be one customer's.
    pub customers: Vec<IdOr<CustomerId>>,
    /// Subscription whose invoices are listed.
    pub subscription: Option<SubscriptionId>,
    /// Statuses; issued, paid and synced ones where none is named.
    pub statuses: Vec<InvoiceStatus>,
    /// Range of the dates that they bear.
    pub invoice_date: InstantRange,
    /// Range of the instants by which they are to be paid; drafts have none.
    pub due_date: Option<InstantRange>,
    /// Totals above this.
    pub amount_above: Option<Decimal>,
    /// Totals below this.
    pub amount_below: Option<Decimal>,
    /// Exact total.
    pub amount: Option<Decimal>,
}

impl InvoiceFilter {
    /// Tells whether an invoice passes; a draft with its figures.
    pub(crate) fn passes(&self, of: &Invoice) -> bool {
        use InvoiceStatus::{Issued, Paid, Synced};

        let statuses = match self.statuses.as_slice() {
            [] => &[Issued, Paid, Synced],
            named => named,
        };
        let is_due = |range: &InstantRange| of.due_date.is_some_and(|at| range.contains(at));
        statuses.contains(&of.status)
            && self.subscription.is_none_or(|id| of.subscription_id == Some(id))
            && self.due_date.as_ref().is_none_or(is_due)
            && self.amount.as_ref().is_none_or(|amount| of.total == *amount)
            && self.amount_above.as_ref().is_none_or(|amount| of.total > *amount)
            && self.amount_below.as_ref().is_none_or(|amount| of.total < *amount)
    }
}
