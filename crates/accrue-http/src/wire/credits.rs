use accrue::{
    Decimal, JsonNumber, Metadata, MetadataUpdate, PricingUnit,
    credit::{self, CreditBlockFilter},
};

use super::pages::range;
use crate::{
    problem::Problem,
    shape::{MetadataIn, Moment, Whole, metadata_update, request, response},
};

request! {
    /// Which credits of a customer, and which page of their blocks.
    pub(crate) struct CreditListQuery {
        /// How many rows a page has at most.
        limit: Option<Whole<1, 100>>,
        /// Where the page begins: `next_cursor` of the one before.
        cursor: Option<String>,
        /// The currency or pricing unit: `credits` where none is given.
        currency: Option<PricingUnit>,
        /// Whether those are listed too that have expired or are used up.
        include_all_blocks: Option<bool>,
        /// Drawn on from this instant or a later one on.
        "effective_date[gte]" effective_date_gte: Option<Moment>,
        /// Drawn on from a later instant on.
        "effective_date[gt]" effective_date_gt: Option<Moment>,
        /// Drawn on from an earlier instant on.
        "effective_date[lt]" effective_date_lt: Option<Moment>,
        /// Drawn on from this instant or an earlier one on.
        "effective_date[lte]" effective_date_lte: Option<Moment>,
    }

    /// What to change of a block of credits.
    pub(crate) struct UpdateCreditBlock {
        /// Texts to set, or to remove where they are null; null removes all.
        metadata: MetadataIn,
    }
}

response! {
    /// A block of credits (wire 4.4): what was given at once, and what is left of it.
    pub(crate) struct CreditBlock {
        /// Its id.
        id: String,
        /// What is left of it.
        balance: JsonNumber,
        /// From when on usage draws on it; null of what was drawn beyond the last block.
        effective_date: Option<Moment>,
        /// When what is left of it is lost, if ever.
        expiry_date: Option<Moment>,
        /// What the customer paid for one of them.
        per_unit_cost_basis: Option<Decimal>,
        /// Whether usage draws on it.
        status: &'static str,
        /// What was given; null of what was drawn beyond the last block.
        maximum_initial_balance: Option<JsonNumber>,
        /// What it pays for alone: it pays for everything.
        filters: Vec<BlockFilter>,
        /// Who gave it.
        credit_block_source: &'static str,
        /// Texts of the caller's own.
        metadata: Metadata,
    }

    /// What a block pays for alone.
    pub(crate) struct BlockFilter {
        /// What of a price is looked at.
        field: &'static str,
        /// Whether prices that have one of the values count, or all others.
        operator: &'static str,
        /// The values.
        values: Vec<String>,
    }
}

/// Returns the currency or pricing unit that a request is about: `credits` where it names none.
pub(crate) fn currency_or_credits(currency: Option<PricingUnit>) -> Result<PricingUnit, Problem> {
    match currency {
        Some(currency) => Ok(currency),
        None => {
            PricingUnit::parse("credits").map_err(|_| Problem::internal("no unit is named credits"))
        }
    }
}

impl CreditListQuery {
    /// Returns which blocks are asked for.
    pub(crate) fn filter(&self) -> CreditBlockFilter {
        CreditBlockFilter {
            effective: range(
                self.effective_date_gte,
                self.effective_date_gt,
                self.effective_date_lt,
                self.effective_date_lte,
            ),
            include_all_blocks: self.include_all_blocks.unwrap_or(false),
        }
    }
}

impl From<UpdateCreditBlock> for MetadataUpdate {
    fn from(update: UpdateCreditBlock) -> Self {
        metadata_update(update.metadata)
    }
}

impl From<&credit::CreditBlock> for CreditBlock {
    fn from(block: &credit::CreditBlock) -> Self {
        Self {
            id: block.id.to_string(),
            balance: JsonNumber(block.balance.clone()),
            effective_date: block.effective_date.map(Moment::from),
            expiry_date: block.expiry_date.map(Moment::from),
            per_unit_cost_basis: block.per_unit_cost_basis.clone(),
            status: "active",
            maximum_initial_balance: block.maximum_initial_balance.clone().map(JsonNumber),
            filters: Vec::new(),
            credit_block_source: "manual",
            metadata: block.metadata.clone(),
        }
    }
}
