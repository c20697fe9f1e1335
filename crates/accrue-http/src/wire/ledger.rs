use accrue::{
    Decimal, Description, JsonNumber, Metadata, PriceId, PricingUnit, WrittenDecimal, Zone,
    credit::{self, EntryKind, EntryStatus, EntryType, LedgerFilter, VoidReason},
    related::Related,
};
use serde::Serialize;

use super::{
    customers::CustomerMinified,
    dates::{Date, created},
    invoices::Invoice,
    pages::Limit,
    price_filters::PriceFilter,
};
use crate::{
    links::Links,
    problem::Problem,
    shape::{Describe, Moment, Nothing, Object, Schema, choices, request, response},
};

request! {
    /// Filters and page of a list of ledger entries.
    pub(crate) struct LedgerListQuery {
        /// Maximum number of rows on a page: at most 1,000, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Currency or pricing unit: `credits` where none is given.
        currency: Option<PricingUnit>,
        /// Smallest amount that the entries moved, up or down.
        minimum_amount: Option<Decimal>,
        /// Type of the entries.
        entry_type: Option<EntryKind>,
        /// Status of the entries: pending ones can still grow.
        entry_status: Option<EntryStatus>,
        /// Entries created at this instant or later.
        "created_at[gte]" created_at_gte: Option<Date>,
        /// Entries created after this instant.
        "created_at[gt]" created_at_gt: Option<Date>,
        /// Entries created before this instant.
        "created_at[lt]" created_at_lt: Option<Date>,
        /// Entries created at this instant or earlier.
        "created_at[lte]" created_at_lte: Option<Date>,
    }
}

response! {
    /// The fields of every ledger entry (wire 4.4).
    struct Entry {
        /// Its id.
        id: String,
        /// Its number in the ledger.
        ledger_sequence_number: u64,
        /// Its type.
        entry_type: EntryKind,
        /// Its status: a pending entry can still grow.
        entry_status: EntryStatus,
        /// Customer of the ledger.
        customer: CustomerMinified,
        /// Currency or pricing unit of the ledger.
        currency: PricingUnit,
        /// Balance before it.
        starting_balance: JsonNumber,
        /// Balance after it.
        ending_balance: JsonNumber,
        /// Amount by which it moved the balance: below zero where it took something. An entry that leaves
        /// the balance has the amount that it moves of a block.
        amount: JsonNumber,
        /// Credit block that it moved.
        credit_block: AffectedBlock,
        /// Instant of its creation.
        created_at: Moment,
        /// Its description.
        description: Option<Description>,
        /// Metadata: the caller's own key-value pairs.
        metadata: Metadata,
    }

    /// The further fields of an increment.
    struct OfIncrement {
        /// Invoices that were made with it, in the answer to whoever asked for it; null elsewhere.
        created_invoices: Option<Vec<Invoice>>,
    }

    /// The further fields of other entries: none.
    struct OfOther {}

    /// The further fields of a decrement.
    struct OfDecrement {
        /// Id of the price of the usage that it is for; null where it is not for usage.
        price_id: Option<PriceId>,
        /// Always null.
        invoice_id: Nothing,
        /// Always null.
        event_id: Nothing,
    }

    /// The further fields of a change of an expiry date.
    struct OfExpirationChange {
        /// Expiry date of the new block.
        new_block_expiry_date: Option<Moment>,
    }

    /// The further fields of a void that begins.
    struct OfVoidInitiated {
        /// Instant at which the amount to void expires: at once.
        new_block_expiry_date: Moment,
        /// Amount to void.
        void_amount: JsonNumber,
        /// Reason of the void.
        void_reason: Option<VoidReason>,
    }

    /// The further fields of a void.
    struct OfVoid {
        /// Amount that was made void.
        void_amount: JsonNumber,
        /// Reason of the void.
        void_reason: Option<VoidReason>,
    }

    /// The credit block that an entry moved.
    pub(crate) struct AffectedBlock {
        /// Its id.
        id: String,
        /// Instant at which what is left of it is lost, if ever.
        expiry_date: Option<Moment>,
        /// Amount that the customer paid for each unit.
        per_unit_cost_basis: Option<WrittenDecimal>,
        /// Filters of the prices that it pays for: every price where there are none.
        filters: Vec<PriceFilter>,
    }
}

choices! {
    EntryKind {
        "increment" => EntryKind::Increment,
        "decrement" => EntryKind::Decrement,
        "expiration_change" => EntryKind::ExpirationChange,
        "credit_block_expiry" => EntryKind::CreditBlockExpiry,
        "void" => EntryKind::Void,
        "void_initiated" => EntryKind::VoidInitiated,
        "amendment" => EntryKind::Amendment,
    }

    EntryStatus {
        "committed" => EntryStatus::Committed,
        "pending" => EntryStatus::Pending,
    }
}

/// A ledger entry, with the fields of its type.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LedgerEntry {
    #[serde(flatten)]
    entry: Entry,
    #[serde(flatten)]
    of_type: OfType,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum OfType {
    Increment(OfIncrement),
    Decrement(OfDecrement),
    ExpirationChange(OfExpirationChange),
    VoidInitiated(OfVoidInitiated),
    Void(OfVoid),
    Other(OfOther),
}

impl Describe for LedgerEntry {
    fn schema() -> Schema {
        let variant =
            |kind: EntryKind, name, of_type| (kind.name(), described(name, kind, of_type));
        let other = OfOther::schema;
        Schema::OneOf {
            name: "LedgerEntry",
            tag: "entry_type",
            variants: vec![
                variant(EntryKind::Increment, "IncrementLedgerEntry", OfIncrement::schema()),
                variant(EntryKind::Decrement, "DecrementLedgerEntry", OfDecrement::schema()),
                variant(
                    EntryKind::ExpirationChange,
                    "ExpirationChangeLedgerEntry",
                    OfExpirationChange::schema(),
                ),
                variant(EntryKind::CreditBlockExpiry, "CreditBlockExpiryLedgerEntry", other()),
                variant(
                    EntryKind::VoidInitiated,
                    "VoidInitiatedLedgerEntry",
                    OfVoidInitiated::schema(),
                ),
                variant(EntryKind::Void, "VoidLedgerEntry", OfVoid::schema()),
                variant(EntryKind::Amendment, "AmendmentLedgerEntry", other()),
            ],
        }
    }
}

/// Describes the entries of one type.
fn described(name: &'static str, kind: EntryKind, of_type: Schema) -> Schema {
    let properties = [Entry::schema(), of_type].into_iter().flat_map(|schema| match schema {
        Schema::Object(object) => object.properties,
        _ => Vec::new(),
    });
    let properties = properties.collect();
    let description = "An entry of a ledger (wire 4.4).".to_owned();
    Schema::Object(Object { name, description, is_closed: false, properties })
        .told_by("entry_type", kind.name())
}

created!(LedgerListQuery);

impl LedgerListQuery {
    /// Returns the filter of the list, where dates are those of a zone.
    pub(crate) fn filter(&self, zone: &Zone) -> Result<LedgerFilter, Problem> {
        Ok(LedgerFilter {
            created: self.created().range(zone)?,
            entry_type: self.entry_type,
            entry_status: self.entry_status,
            minimum_amount: self.minimum_amount.clone(),
        })
    }
}

impl LedgerEntry {
    /// Writes an entry, with its customer.
    pub(crate) fn of(entry: &credit::LedgerEntry, related: &Related, links: &Links) -> Self {
        let block = &entry.credit_block;
        let of_type = match &entry.entry_type {
            EntryType::Increment => {
                let invoices = entry.created_invoices.iter().filter_map(|id| related.invoice(*id));
                let invoices: Vec<_> = invoices.map(|of| Invoice::of(of, related, links)).collect();
                let created_invoices = Some(invoices).filter(|of| !of.is_empty());
                OfType::Increment(OfIncrement { created_invoices })
            }
            EntryType::Decrement => OfType::Decrement(OfDecrement {
                price_id: entry.price_id,
                invoice_id: Nothing,
                event_id: Nothing,
            }),
            EntryType::ExpirationChange { new_block_expiry_date, .. } => {
                let new_block_expiry_date = Some(Moment(*new_block_expiry_date));
                OfType::ExpirationChange(OfExpirationChange { new_block_expiry_date })
            }
            EntryType::VoidInitiated { void_amount, void_reason } => {
                OfType::VoidInitiated(OfVoidInitiated {
                    new_block_expiry_date: entry.created_at.into(),
                    void_amount: JsonNumber(void_amount.clone()),
                    void_reason: *void_reason,
                })
            }
            EntryType::Void { void_amount, void_reason } => OfType::Void(OfVoid {
                void_amount: JsonNumber(void_amount.clone()),
                void_reason: *void_reason,
            }),
            _ => OfType::Other(OfOther {}),
        };
        let entry = Entry {
            id: entry.id.to_string(),
            ledger_sequence_number: entry.ledger_sequence_number,
            entry_type: entry.entry_type.kind(),
            entry_status: entry.entry_status,
            customer: CustomerMinified::of(entry.customer_id, related.customer(entry.customer_id)),
            currency: entry.currency.clone(),
            starting_balance: JsonNumber(entry.starting_balance.clone()),
            ending_balance: JsonNumber(entry.ending_balance.clone()),
            amount: JsonNumber(entry.moved().clone()),
            credit_block: AffectedBlock {
                id: block.id.to_string(),
                expiry_date: block.expiry_date.map(Moment::from),
                per_unit_cost_basis: block.per_unit_cost_basis.clone(),
                filters: block.filters.iter().map(PriceFilter::from).collect(),
            },
            created_at: entry.created_at.into(),
            description: entry.description.clone(),
            metadata: entry.metadata.clone(),
        };
        Self { entry, of_type }
    }
}
