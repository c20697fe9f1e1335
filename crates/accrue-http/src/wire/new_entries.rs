use accrue::{
    CreditBlockId, Decimal, JsonNumber, Metadata, PricingUnit, Timestamp, Zone,
    credit::{LedgerChange, NewBlock, NewLedgerEntry, VoidReason},
};

use super::{
    credits::currency_or_credits,
    not_built::{AnyObject, NotBuilt},
};
use crate::{
    json::Json,
    problem::{Problem, Violations},
    shape::{
        Describe, MetadataIn, Moment, Read, Reader, Schema, Words, choices, new_metadata, request,
    },
};

request! {
    /// An entry that gives a new block of credits.
    pub(crate) struct NewIncrement {
        /// `increment`
        entry_type: EntryTag,
        /// How much.
        amount: JsonNumber,
        /// The currency or pricing unit: `credits` where none is given.
        currency: Option<PricingUnit>,
        /// What people read of it.
        description: Option<Words>,
        /// Texts of the caller's own.
        metadata: MetadataIn,
        /// From when on usage draws on the block; now where nothing is given.
        effective_date: Option<Moment>,
        /// When what is left of the block is lost, if ever.
        expiry_date: Option<Moment>,
        /// What the customer paid for one of them.
        per_unit_cost_basis: Option<Decimal>,
        /// How the customer is invoiced for it: not available.
        invoice_settings: Option<NotBuilt<AnyObject>>,
        /// What it pays for alone: not available.
        filters: Option<NotBuilt<Vec<AnyObject>>>,
    }

    /// An entry that takes credits.
    pub(crate) struct NewDecrement {
        /// `decrement`
        entry_type: EntryTag,
        /// How much.
        amount: JsonNumber,
        /// The currency or pricing unit: `credits` where none is given.
        currency: Option<PricingUnit>,
        /// What people read of it.
        description: Option<Words>,
        /// Texts of the caller's own.
        metadata: MetadataIn,
    }

    /// An entry that gives what is left of a block, or a part of it, another expiry date.
    pub(crate) struct NewExpirationChange {
        /// `expiration_change`
        entry_type: EntryTag,
        /// The day with whose begin it expires from now on, in the customer's time zone.
        target_expiry_date: Day,
        /// How much: all that is left where nothing is given.
        amount: Option<JsonNumber>,
        /// The block: where none is given, the only one that has the expiry date.
        block_id: Option<CreditBlockId>,
        /// When the block expires, as an instant or as a day.
        expiry_date: Option<MomentOrDay>,
        /// The currency or pricing unit: `credits` where none is given.
        currency: Option<PricingUnit>,
        /// What people read of it.
        description: Option<Words>,
        /// Texts of the caller's own.
        metadata: MetadataIn,
    }

    /// An entry that makes something of what is left of a block void.
    pub(crate) struct NewVoid {
        /// `void`
        entry_type: EntryTag,
        /// How much.
        amount: JsonNumber,
        /// The block.
        block_id: CreditBlockId,
        /// Why.
        void_reason: Option<VoidReason>,
        /// The currency or pricing unit: `credits` where none is given.
        currency: Option<PricingUnit>,
        /// What people read of it.
        description: Option<Words>,
        /// Texts of the caller's own.
        metadata: MetadataIn,
    }

    /// An entry that gives something back to a block that was taken from it.
    pub(crate) struct NewAmendment {
        /// `amendment`
        entry_type: EntryTag,
        /// How much.
        amount: JsonNumber,
        /// The block.
        block_id: CreditBlockId,
        /// The currency or pricing unit: `credits` where none is given.
        currency: Option<PricingUnit>,
        /// What people read of it.
        description: Option<Words>,
        /// Texts of the caller's own.
        metadata: MetadataIn,
    }
}

/// What an entry that the caller adds does, in one word.
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

/// An entry to add to a ledger, as its type has it.
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
        Schema::OneOf {
            tag: "entry_type",
            variants: vec![
                ("increment", NewIncrement::schema()),
                ("decrement", NewDecrement::schema()),
                ("expiration_change", NewExpirationChange::schema()),
                ("void", NewVoid::schema()),
                ("amendment", NewAmendment::schema()),
            ],
        }
    }
}

/// A day, as `YYYY-MM-DD`.
#[derive(Clone, Debug)]
pub(crate) struct Day(String);

impl Read for Day {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let text = String::read(json, at, reader)?;
        match Zone::UTC.begin_of_day(&text) {
            Ok(_) => Some(Self(text)),
            Err(_) => reader.wrong(at, "expected a date as YYYY-MM-DD from 1970 to 9998"),
        }
    }
}

impl Describe for Day {
    fn schema() -> Schema {
        Schema::formatted("date")
    }
}

impl Day {
    /// Returns when it begins. At the ends of time that is not in every zone an instant.
    fn begin(&self, zone: &Zone, pointer: &str) -> Result<Timestamp, Problem> {
        let begin = zone.begin_of_day(&self.0);
        begin.map_err(|error| Violations::one(pointer, error.to_string()).into())
    }
}

/// An instant, or the begin of a day.
#[derive(Clone, Debug)]
pub(crate) enum MomentOrDay {
    Moment(Moment),
    Day(Day),
}

impl Read for MomentOrDay {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        match json {
            Json::String(text) if Zone::UTC.begin_of_day(text).is_ok() => {
                Some(Self::Day(Day(text.clone())))
            }
            _ => Moment::read(json, at, reader).map(Self::Moment),
        }
    }
}

impl Describe for MomentOrDay {
    fn schema() -> Schema {
        String::schema()
    }
}

impl MomentOrDay {
    fn instant(&self, zone: &Zone, pointer: &str) -> Result<Timestamp, Problem> {
        match self {
            Self::Moment(Moment(instant)) => Ok(*instant),
            Self::Day(day) => day.begin(zone, pointer),
        }
    }
}

impl NewEntry {
    /// Tells whether it names days: those of the customer's time zone.
    pub(crate) const fn names_days(&self) -> bool {
        matches!(self, Self::ExpirationChange(_))
    }

    /// Makes the entry of it, where its days are those of a time zone.
    pub(crate) fn into_entry(self, zone: &Zone) -> Result<NewLedgerEntry, Problem> {
        let (change, words) = match self {
            Self::Increment(new) => {
                let block = NewBlock {
                    amount: new.amount.0,
                    effective_date: new.effective_date.map(|date| date.0),
                    expiry_date: new.expiry_date.map(|date| date.0),
                    per_unit_cost_basis: new.per_unit_cost_basis,
                };
                (LedgerChange::Increment(block), (new.currency, new.description, new.metadata))
            }
            Self::Decrement(new) => {
                let change = LedgerChange::Decrement { amount: new.amount.0 };
                (change, (new.currency, new.description, new.metadata))
            }
            Self::ExpirationChange(new) => {
                let expiry_date = new.expiry_date.map(|date| date.instant(zone, "/expiry_date"));
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
