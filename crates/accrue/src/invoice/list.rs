use super::{Invoice, InvoiceSource, InvoiceStatus};
use crate::{CivilDate, CustomerId, Decimal, IdOr, InstantRange, SubscriptionId, Timestamp, Zone};

/// Filter of a list of invoices (invoicing 9.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvoiceFilter {
    /// Customers whose invoices are listed: all where none are named. Each name must be one customer's.
    pub customers: Vec<IdOr<CustomerId>>,
    /// Subscription whose invoices are listed.
    pub subscription: Option<SubscriptionId>,
    /// Statuses; issued, paid and synced ones where none is named.
    pub statuses: Vec<InvoiceStatus>,
    /// Sources: all where none is named.
    pub sources: Vec<InvoiceSource>,
    /// Range of the dates that they bear.
    pub invoice_date: InstantRange,
    /// Days on which one of their dates is.
    pub days: InvoiceDays,
    /// Time before now in which they fell due: so many days, and so many months.
    pub due_within: Option<(u32, u32)>,
    /// Totals above this.
    pub amount_above: Option<Decimal>,
    /// Totals below this.
    pub amount_below: Option<Decimal>,
    /// Exact total.
    pub amount: Option<Decimal>,
}

/// Days on which a date of an invoice is, in the zone of its customer: any where none is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InvoiceDays {
    /// Date that is meant.
    pub of: InvoiceDate,
    /// The day itself.
    pub on: Option<CivilDate>,
    /// The last day.
    pub until: Option<CivilDate>,
    /// The day before the first.
    pub after: Option<CivilDate>,
}

/// Date of an invoice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InvoiceDate {
    /// Date that it bears.
    #[default]
    InvoiceDate,
    /// Instant by which it is to be paid: drafts have none.
    DueDate,
}

impl InvoiceDays {
    fn hold(&self, of: &Invoice, zone: &Zone) -> bool {
        let Self { on, until, after, .. } = self;
        if [on, until, after].iter().all(|day| day.is_none()) {
            return true;
        }
        let date = match self.of {
            InvoiceDate::InvoiceDate => Some(of.invoice_date),
            InvoiceDate::DueDate => of.due_date,
        };
        let Some(date) = date else { return false };
        // A day that is out of range holds nothing, and nothing is before or behind it.
        let day = |of: &CivilDate| of.in_zone(zone).ok();
        on.as_ref().is_none_or(|of| day(of).is_some_and(|day| day.contains(date)))
            && until.as_ref().is_none_or(|of| day(of).is_some_and(|day| date < day.end()))
            && after.as_ref().is_none_or(|of| day(of).is_some_and(|day| day.end() <= date))
    }
}

impl InvoiceFilter {
    /// Tells whether an invoice of a customer passes, its figures aside.
    pub(crate) fn may_pass(&self, of: &Invoice, zone: &Zone, now: Timestamp) -> bool {
        use InvoiceStatus::{Issued, Paid, Synced};

        let statuses = match self.statuses.as_slice() {
            [] => &[Issued, Paid, Synced],
            named => named,
        };
        let fell_due = |(days, months): (u32, u32)| {
            let from = zone.before(now, days, months);
            of.due_date.is_some_and(|at| from <= at && at <= now)
        };
        statuses.contains(&of.status)
            && (self.sources.is_empty() || self.sources.contains(&of.source))
            && self.subscription.is_none_or(|id| of.subscription_id == Some(id))
            && self.days.hold(of, zone)
            && self.due_within.is_none_or(fell_due)
    }

    /// Tells whether its total passes: of a draft that of now.
    pub(crate) fn passes_total(&self, of: &Invoice) -> bool {
        self.amount.as_ref().is_none_or(|amount| of.total == *amount)
            && self.amount_above.as_ref().is_none_or(|amount| of.total > *amount)
            && self.amount_below.as_ref().is_none_or(|amount| of.total < *amount)
    }
}
