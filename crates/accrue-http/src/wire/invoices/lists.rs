//! Filters of lists of invoices (invoicing 9.2).

use accrue::{
    CustomerId, Decimal, ExternalId, IdOr, SubscriptionId, Zone,
    invoice::{InvoiceDate, InvoiceDays, InvoiceFilter, InvoiceSource, InvoiceStatus},
};
use serde::Serialize;

use super::Shown;
use crate::{
    json::Json,
    problem::Problem,
    shape::{Describe, Read, Reader, Schema, choices, request},
    wire::{
        dates::{Bounds, Date, Day},
        pages::{Limit, Sought},
    },
};

/// The largest number of days or months that a window has.
const MOST_OF_A_WINDOW: u32 = 99_999;

macro_rules! invoice_queries {
    ($($(#[doc = $doc:literal])* $name:ident {$(
        $(#[doc = $field_doc:literal])* $field:ident: $type:ty,
    )*})*) => {$(
        request! {
            $(#[doc = $doc])*
            pub(crate) struct $name {
                /// Maximum number of rows on a page: at most 100, also where more are asked for.
                limit: Option<Limit>,
                /// Cursor of the page: `next_cursor` of the one before.
                cursor: Option<String>,
                /// Customer of the invoices.
                customer_id: Option<Sought<CustomerId>>,
                /// External id of the customer.
                external_customer_id: Option<ExternalId>,
                /// Subscription that the invoices bill.
                subscription_id: Option<Sought<SubscriptionId>>,
                /// Statuses of the invoices: issued, paid and synced where none is given.
                "status[]" statuses: Option<Vec<InvoiceStatus>>,
                /// Date that the bounds of `due_date` are held against: the date that an invoice bears
                /// where none is given.
                date_type: Option<DateType>,
                /// Day on which that date is.
                due_date: Option<Day>,
                /// Day on which that date is, or which it is before.
                "due_date[lt]" due_date_lt: Option<Day>,
                /// Day which that date is after.
                "due_date[gt]" due_date_gt: Option<Day>,
                /// Time before now in which an invoice fell due, in days or months: `30d`, `2m`.
                due_date_window: Option<Window>,
                /// Invoices that bear this date or a later one.
                "invoice_date[gte]" invoice_date_gte: Option<Date>,
                /// Invoices that bear a date after this one.
                "invoice_date[gt]" invoice_date_gt: Option<Date>,
                /// Invoices that bear a date before this one.
                "invoice_date[lt]" invoice_date_lt: Option<Date>,
                /// Invoices that bear this date or an earlier one.
                "invoice_date[lte]" invoice_date_lte: Option<Date>,
                /// Total of the invoices.
                amount: Option<Decimal>,
                /// Invoices with a total above this.
                "amount[gt]" amount_gt: Option<Decimal>,
                /// Invoices with a total below this.
                "amount[lt]" amount_lt: Option<Decimal>,
                /// True for invoices of subscriptions, false for others.
                is_recurring: Option<bool>,
                $($(#[doc = $field_doc])* $field: $type,)*
            }
        }

        impl $name {
            fn common(&self) -> Common<'_> {
                Common {
                    customer_id: self.customer_id.as_ref(),
                    external_customer_id: self.external_customer_id.as_ref(),
                    subscription_id: self.subscription_id.as_ref(),
                    statuses: self.statuses.as_deref().unwrap_or_default(),
                    date_type: self.date_type.unwrap_or(DateType::InvoiceDate),
                    days: [self.due_date, self.due_date_lt, self.due_date_gt],
                    window: self.due_date_window,
                    invoice_date: Bounds {
                        field: "invoice_date",
                        gte: &self.invoice_date_gte,
                        gt: &self.invoice_date_gt,
                        lt: &self.invoice_date_lt,
                        lte: &self.invoice_date_lte,
                    },
                    amounts: [&self.amount, &self.amount_gt, &self.amount_lt],
                    is_recurring: self.is_recurring,
                }
            }

            /// Returns the customer whose zone its dates are in, where there is one.
            pub(crate) fn customer_of_dates(&self) -> Option<IdOr<CustomerId>> {
                self.common().customers().next()
            }

            /// Returns the subscription whose invoices are listed, where it can be one.
            pub(crate) fn subscription(&self) -> Option<SubscriptionId> {
                self.subscription_id.and_then(|Sought(id)| id)
            }
        }
    )*};
}

invoice_queries! {
    /// Filters and page of a list of invoices.
    InvoiceListQuery {
        /// False if lines of quantity zero are left out, but for those with a minimum of their own.
        include_zero_quantity_line_items: Option<bool>,
    }

    /// Filters and page of a list of invoices without their lines.
    InvoiceSummaryQuery {
        /// Status of the invoices, beside those of `status[]`.
        status: Option<InvoiceStatus>,
    }
}

/// Time before now: so many days, or so many months.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    days: u32,
    months: u32,
}

impl Read for Window {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let Json::String(text) = json else { return reader.unexpected(json, at, "a string") };
        let count =
            |unit| text.strip_suffix(unit)?.parse().ok().filter(|of| *of <= MOST_OF_A_WINDOW);
        match (count('d'), count('m')) {
            (Some(days), _) => Some(Self { days, months: 0 }),
            (None, Some(months)) => Some(Self { days: 0, months }),
            (None, None) => reader.wrong(at, "expected a number of days or months: `30d` or `2m`"),
        }
    }
}

impl Describe for Window {
    fn schema() -> Schema {
        Schema::String { least: 2, most: None, format: None, pattern: Some("^[0-9]{1,5}[dm]$") }
    }
}

/// The date that the bounds of `due_date` are held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DateType {
    DueDate,
    InvoiceDate,
}

choices! {
    "InvoiceDateType" DateType {
        "due_date" => DateType::DueDate,
        "invoice_date" => DateType::InvoiceDate,
    }
}

/// What both queries ask for.
struct Common<'a> {
    customer_id: Option<&'a Sought<CustomerId>>,
    external_customer_id: Option<&'a ExternalId>,
    subscription_id: Option<&'a Sought<SubscriptionId>>,
    statuses: &'a [InvoiceStatus],
    date_type: DateType,
    /// The day itself, the last day, and the day before the first.
    days: [Option<Day>; 3],
    window: Option<Window>,
    invoice_date: Bounds<'a>,
    /// The amount itself, and those that bound it from below and from above.
    amounts: [&'a Option<Decimal>; 3],
    is_recurring: Option<bool>,
}

impl Common<'_> {
    fn customers(&self) -> impl Iterator<Item = IdOr<CustomerId>> {
        let id = self.customer_id.and_then(|Sought(id)| id.map(IdOr::Id));
        id.into_iter().chain(self.external_customer_id.cloned().map(IdOr::External))
    }

    /// Returns the filter, where days are those of a zone; `None` where no invoice can pass.
    fn filter(&self, zone: &Zone) -> Result<Option<InvoiceFilter>, Problem> {
        let is_nobody = matches!(self.customer_id, Some(Sought(None)))
            || matches!(self.subscription_id, Some(Sought(None)));
        if is_nobody {
            return Ok(None);
        }
        let [on, until, after] = self.days.map(|day| day.map(|Day(date)| date));
        let of = match self.date_type {
            DateType::InvoiceDate => InvoiceDate::InvoiceDate,
            DateType::DueDate => InvoiceDate::DueDate,
        };
        let [amount, amount_above, amount_below] = self.amounts.map(Clone::clone);
        Ok(Some(InvoiceFilter {
            customers: self.customers().collect(),
            subscription: self.subscription_id.and_then(|Sought(id)| *id),
            statuses: self.statuses.to_vec(),
            sources: match self.is_recurring {
                None => Vec::new(),
                Some(true) => vec![InvoiceSource::Subscription, InvoiceSource::Partial],
                Some(false) => vec![InvoiceSource::OneOff],
            },
            invoice_date: self.invoice_date.range(zone)?,
            days: InvoiceDays { of, on, until, after },
            due_within: self.window.map(|Window { days, months }| (days, months)),
            amount_above,
            amount_below,
            amount,
        }))
    }
}

impl InvoiceListQuery {
    /// Returns the filter, where days are those of a zone; `None` where no invoice can pass.
    pub(crate) fn filter(&self, zone: &Zone) -> Result<Option<InvoiceFilter>, Problem> {
        self.common().filter(zone)
    }

    pub(crate) fn shown(&self) -> Shown {
        match self.include_zero_quantity_line_items {
            Some(false) => Shown::WithoutZeros,
            Some(true) | None => Shown::EveryLine,
        }
    }
}

impl InvoiceSummaryQuery {
    /// Returns the filter, where days are those of a zone; `None` where no invoice can pass.
    pub(crate) fn filter(&self, zone: &Zone) -> Result<Option<InvoiceFilter>, Problem> {
        let filter = self.common().filter(zone)?;
        Ok(filter.map(|mut filter| {
            filter.statuses.extend(self.status);
            filter
        }))
    }
}
