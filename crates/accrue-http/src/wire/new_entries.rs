use accrue::{
    CreditBlockId, Description, ItemId, JsonNumber, Metadata, PricingUnit, Timestamp,
    WrittenDecimal, Zone,
    credit::{InvoiceSettings, LedgerChange, NewBlock, NewLedgerEntry, VoidReason},
    invoice::PaymentTerms,
};

use super::{
    credits::currency_or_credits,
    dates::{Date, any_is_local},
    price_filters::BlockFilterIn,
};
use crate::{
    json::Json,
    problem::{Problem, Violations},
    shape::{
        Describe, MetadataIn, Read, Reader, Schema, Whole, Words, choices, new_metadata, request,
    },
};

request! {
    /// An entry that gives a new credit block.
    pub(crate) struct NewIncrement {
        /// Type of the entry: `increment`.
        entry_type: EntryTag,
        /// Amount.
        amount: JsonNumber,
        /// Currency or pricing unit: `credits` where none is given.
        currency: Option<PricingUnit>,
        /// Its description.
        description: Option<Words>,
        /// Metadata: the caller's own key-value pairs.
        metadata: MetadataIn,
        /// First instant at which usage draws on the block; now where nothing is given.
        effective_date: Option<Date>,
        /// Instant at which what is left of the block is lost, if ever. Dates without an offset are in the customer's
        /// zone.
        expiry_date: Option<Date>,
        /// Amount that the customer paid for each unit.
        per_unit_cost_basis: Option<WrittenDecimal>,
        /// Settings of the invoice for it, which what the customer paid for is to have.
        invoice_settings: Option<InvoiceSettingsIn>,
        /// Filters of the prices that it pays for, by their items: every price where there are none.
        filters: Option<Vec<BlockFilterIn>>,
    }

    /// Settings of the invoice for credits that are bought.
    pub(crate) struct InvoiceSettingsIn open {
        /// True if it is collected without a request.
        auto_collection: bool,
        /// Days that the customer has to pay: this, or a due date.
        net_terms: Option<Whole<0, 36_500>>,
        /// Due date, in place of one that follows from the number of days.
        custom_due_date: Option<Date>,
        /// Date that it bears: the effective date of the block where none is given.
        invoice_date: Option<Date>,
        /// Text for the customer.
        memo: Option<Description>,
        /// Item of its line: the one named "Credits" where none is given.
        item_id: Option<ItemId>,
        /// True if usage draws on the block only once it is paid.
        require_successful_payment: Option<bool>,
        /// True if it was paid elsewhere: it is issued as paid.
        mark_as_paid: Option<bool>,
    }

    /// An entry that takes credits.
    pub(crate) struct NewDecrement {
        /// Type of the entry: `decrement`.
        entry_type: EntryTag,
        /// Amount.
        amount: JsonNumber,
        /// Currency or pricing unit: `credits` where none is given.
        currency: Option<PricingUnit>,
        /// Its description.
        description: Option<Words>,
        /// Metadata: the caller's own key-value pairs.
        metadata: MetadataIn,
    }

    /// An entry that gives what is left of a block, or a part of it, another expiry date.
    pub(crate) struct NewExpirationChange {
        /// Type of the entry: `expiration_change`.
        entry_type: EntryTag,
        /// New expiry date: the start of this day in the customer's time zone.
        target_expiry_date: Day,
        /// Amount that gets the new expiry date: all that is left where nothing is given.
        amount: Option<JsonNumber>,
        /// Id of the credit block: where none is given, the only one that has the expiry date.
        block_id: Option<CreditBlockId>,
        /// Expiry date that the block has now: without an offset in the customer's zone.
        expiry_date: Option<Date>,
        /// Currency or pricing unit: `credits` where none is given.
        currency: Option<PricingUnit>,
        /// Its description.
        description: Option<Words>,
        /// Metadata: the caller's own key-value pairs.
        metadata: MetadataIn,
    }

    /// An entry that makes an amount of what is left of a block void.
    pub(crate) struct NewVoid {
        /// Type of the entry: `void`.
        entry_type: EntryTag,
        /// Amount to void.
        amount: JsonNumber,
        /// Id of the credit block.
        block_id: CreditBlockId,
        /// Reason of the void.
        void_reason: Option<VoidReason>,
        /// Currency or pricing unit: `credits` where none is given.
        currency: Option<PricingUnit>,
        /// Its description.
        description: Option<Words>,
        /// Metadata: the caller's own key-value pairs.
        metadata: MetadataIn,
    }

    /// An entry that gives back to a block an amount that was taken from it.
    pub(crate) struct NewAmendment {
        /// Type of the entry: `amendment`.
        entry_type: EntryTag,
        /// Amount to give back.
        amount: JsonNumber,
        /// Id of the credit block.
        block_id: CreditBlockId,
        /// Currency or pricing unit: `credits` where none is given.
        currency: Option<PricingUnit>,
        /// Its description.
        description: Option<Words>,
        /// Metadata: the caller's own key-value pairs.
        metadata: MetadataIn,
    }
}

/// The type of an entry that the caller adds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EntryTag {
    Increment,
    Decrement,
    ExpirationChange,
    Void,
    Amendment,
}

choices! {
    EntryTag {
        "increment" => EntryTag::Increment,
        "decrement" => EntryTag::Decrement,
        "expiration_change" => EntryTag::ExpirationChange,
        "void" => EntryTag::Void,
        "amendment" => EntryTag::Amendment,
    }

    VoidReason {
        "refund" => VoidReason::Refund,
    }
}

/// An entry to add to a ledger, with the fields of its type.
#[derive(Clone, Debug)]
pub(crate) enum NewEntry {
    Increment(NewIncrement),
    Decrement(NewDecrement),
    ExpirationChange(NewExpirationChange),
    Void(NewVoid),
    Amendment(NewAmendment),
}

impl Read for NewEntry {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let fields = reader.fields(json, at, &[], false)?;
        match fields.read::<EntryTag>("entry_type", reader)? {
            EntryTag::Increment => Read::read(json, at, reader).map(Self::Increment),
            EntryTag::Decrement => Read::read(json, at, reader).map(Self::Decrement),
            EntryTag::ExpirationChange => Read::read(json, at, reader).map(Self::ExpirationChange),
            EntryTag::Void => Read::read(json, at, reader).map(Self::Void),
            EntryTag::Amendment => Read::read(json, at, reader).map(Self::Amendment),
        }
    }
}

impl Describe for NewEntry {
    fn schema() -> Schema {
        let variants = [
            ("increment", NewIncrement::schema()),
            ("decrement", NewDecrement::schema()),
            ("expiration_change", NewExpirationChange::schema()),
            ("void", NewVoid::schema()),
            ("amendment", NewAmendment::schema()),
        ];
        let tag = "entry_type";
        let variants = variants.map(|(word, entry)| (word, entry.told_by(tag, word)));
        Schema::OneOf { name: "NewLedgerEntry", tag, variants: variants.into() }
    }
}

/// A day, as `YYYY-MM-DD`.
#[derive(Clone, Debug)]
pub(crate) struct Day(String);

impl Read for Day {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let text = String::read(json, at, reader)?;
        match Zone::UTC.instant(&text) {
            Ok(_) if text.len() == "2026-03-08".len() => Some(Self(text)),
            _ => reader.wrong(at, "expected a date as YYYY-MM-DD from 1970 to 9998"),
        }
    }
}

impl Describe for Day {
    fn schema() -> Schema {
        Schema::formatted("date")
    }
}

impl Day {
    /// Returns the instant at which it begins. At the ends of time not every zone has one.
    fn begin(&self, zone: &Zone, pointer: &str) -> Result<Timestamp, Problem> {
        let begin = zone.instant(&self.0);
        begin.map_err(|error| Violations::one(pointer, error.to_string()).into())
    }
}

impl NewEntry {
    /// Tells whether it has dates of the customer's time zone.
    pub(crate) fn has_local_dates(&self) -> bool {
        match self {
            Self::Increment(new) => {
                let of_block = [&new.effective_date, &new.expiry_date];
                let settings = new.invoice_settings.as_ref();
                any_is_local(of_block) || settings.is_some_and(InvoiceSettingsIn::has_local_dates)
            }
            Self::ExpirationChange(_) => true,
            Self::Decrement(_) | Self::Void(_) | Self::Amendment(_) => false,
        }
    }

    /// Makes the entry of it, where its dates are those of a time zone.
    pub(crate) fn into_entry(self, zone: &Zone) -> Result<NewLedgerEntry, Problem> {
        let (change, words) = match self {
            Self::Increment(new) => {
                let effective_date =
                    new.effective_date.map(|date| date.in_zone(zone, "/effective_date"));
                let expiry_date = new.expiry_date.map(|date| date.in_zone(zone, "/expiry_date"));
                let settings = new.invoice_settings.map(|of| of.into_settings(zone)).transpose()?;
                check_is_invoiced(new.per_unit_cost_basis.as_ref(), settings.as_ref())?;
                let filters = new.filters.unwrap_or_default().into_iter();
                let block = NewBlock {
                    amount: new.amount.0,
                    effective_date: effective_date.transpose()?,
                    expiry_date: expiry_date.transpose()?,
                    per_unit_cost_basis: new.per_unit_cost_basis,
                    filters: filters.map(|BlockFilterIn(filter)| filter).collect(),
                    invoice: settings,
                };
                (LedgerChange::Increment(block), (new.currency, new.description, new.metadata))
            }
            Self::Decrement(new) => {
                let change = LedgerChange::Decrement { amount: new.amount.0 };
                (change, (new.currency, new.description, new.metadata))
            }
            Self::ExpirationChange(new) => {
                let expiry_date = new.expiry_date.map(|date| date.in_zone(zone, "/expiry_date"));
                let change = LedgerChange::ExpirationChange {
                    target_expiry_date: new
                        .target_expiry_date
                        .begin(zone, "/target_expiry_date")?,
                    amount: new.amount.map(|amount| amount.0),
                    block_id: new.block_id,
                    expiry_date: expiry_date.transpose()?,
                };
                (change, (new.currency, new.description, new.metadata))
            }
            Self::Void(new) => {
                let (amount, block_id) = (new.amount.0, new.block_id);
                let change = LedgerChange::Void { amount, block_id, void_reason: new.void_reason };
                (change, (new.currency, new.description, new.metadata))
            }
            Self::Amendment(new) => {
                let change =
                    LedgerChange::Amendment { amount: new.amount.0, block_id: new.block_id };
                (change, (new.currency, new.description, new.metadata))
            }
        };
        let (currency, description, metadata) = words;
        let metadata: Metadata = new_metadata(metadata);
        Ok(NewLedgerEntry {
            currency: currency_or_credits(currency)?,
            change,
            description: description.and_then(|words| words.0),
            metadata,
        })
    }
}

impl InvoiceSettingsIn {
    fn has_local_dates(&self) -> bool {
        any_is_local([&self.custom_due_date, &self.invoice_date])
    }

    fn into_settings(self, zone: &Zone) -> Result<InvoiceSettings, Problem> {
        let pointer = "/invoice_settings/custom_due_date";
        let terms = match (self.net_terms, self.custom_due_date) {
            (Some(days), None) => PaymentTerms::Days(days.count()),
            (None, Some(date)) => PaymentTerms::DueDate(date.in_zone(zone, pointer)?),
            (Some(_), Some(_)) => {
                let message = "is there beside net_terms, expected one of the two";
                return Err(Violations::one(pointer, message).into());
            }
            (None, None) => {
                let message = "is missing, as is custom_due_date: expected one of the two";
                return Err(Violations::one("/invoice_settings/net_terms", message).into());
            }
        };
        let date =
            self.invoice_date.map(|date| date.in_zone(zone, "/invoice_settings/invoice_date"));
        Ok(InvoiceSettings {
            auto_collection: self.auto_collection,
            invoice_date: date.transpose()?,
            memo: self.memo,
            item_id: self.item_id,
            require_successful_payment: self.require_successful_payment.unwrap_or_default(),
            mark_as_paid: self.mark_as_paid.unwrap_or_default(),
            ..InvoiceSettings::new(terms)
        })
    }
}

/// Refuses what was paid for without an invoice: only a host may bill it elsewhere (invoicing 13.1).
fn check_is_invoiced(
    basis: Option<&WrittenDecimal>,
    settings: Option<&InvoiceSettings>,
) -> Result<(), Problem> {
    if settings.is_some() || basis.is_none_or(|basis| basis.number().is_zero()) {
        return Ok(());
    }
    let message = "is missing, expected it beside a per_unit_cost_basis above zero";
    Err(Violations::one("/invoice_settings", message).into())
}
