use accrue::{
    JsonNumber, Metadata, MetadataUpdate, PricingUnit, WrittenDecimal, Zone,
    credit::{self, BlockStatus, CreditBlockFilter},
    invoice,
    related::Related,
};
use serde::Serialize;

use super::{
    dates::{Bounds, Date},
    invoices::InvoiceMinified,
    pages::Limit,
    price_filters::PriceFilter,
    prices::CreditAllocation,
};
use crate::{
    problem::Problem,
    shape::{MetadataIn, Moment, Sparse, choices, metadata_update, request, response},
};

request! {
    /// Filters and page of a list of credit blocks.
    pub(crate) struct CreditListQuery {
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Currency or pricing unit: `credits` where none is given.
        currency: Option<PricingUnit>,
        /// True if blocks that have expired or are used up are listed too.
        include_all_blocks: Option<bool>,
        /// Blocks with an effective date at this instant or later.
        "effective_date[gte]" effective_date_gte: Option<Date>,
        /// Blocks with an effective date after this instant.
        "effective_date[gt]" effective_date_gt: Option<Date>,
        /// Blocks with an effective date before this instant.
        "effective_date[lt]" effective_date_lt: Option<Date>,
        /// Blocks with an effective date at this instant or earlier.
        "effective_date[lte]" effective_date_lte: Option<Date>,
    }

    /// Changes to a credit block.
    pub(crate) struct UpdateCreditBlock {
        /// Metadata to set, or to remove where a value is null; null removes all.
        metadata: MetadataIn,
    }
}

response! {
    /// A credit block (wire 4.4): what was given at once, and what is left of it.
    pub(crate) struct CreditBlock {
        /// Its id.
        id: String,
        /// Amount that is left of it.
        balance: JsonNumber,
        /// First instant at which usage draws on it; null for what was drawn beyond the last block.
        effective_date: Option<Moment>,
        /// Instant at which what is left of it is lost, if ever.
        expiry_date: Option<Moment>,
        /// Amount that the customer paid for each unit.
        per_unit_cost_basis: Option<WrittenDecimal>,
        /// Its status: usage draws on it, or it waits for the invoice that bought it to be paid.
        status: BlockStatus,
        /// Amount that was given; null for what was drawn beyond the last block.
        maximum_initial_balance: Option<JsonNumber>,
        /// Filters of the prices that it pays for: every price where there are none.
        filters: Vec<PriceFilter>,
        /// Source of the credits.
        credit_block_source: BlockSource,
        /// Allocation that gave it; absent where none did.
        credit_allocation: Sparse<CreditAllocation>,
        /// Metadata: the caller's own key-value pairs.
        metadata: Metadata,
    }

    /// A credit block, and the invoices that bought it.
    pub(crate) struct BlockInvoices {
        /// The block.
        block: CreditBlock,
        /// The invoices, oldest first: void ones too.
        invoices: Vec<InvoiceMinified>,
    }
}

/// The source of the credits of a block. Nothing comes from commitments.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BlockSource {
    Allocation,
    TopUp,
    Commitment,
    Manual,
}

choices! {
    "CreditBlockStatus" BlockStatus {
        "active" => BlockStatus::Active,
        "pending_payment" => BlockStatus::PendingPayment,
    }

    "CreditBlockSource" BlockSource {
        "allocation" => BlockSource::Allocation,
        "top_up" => BlockSource::TopUp,
        "commitment" => BlockSource::Commitment,
        "manual" => BlockSource::Manual,
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
    /// Returns the bounds of the instants from which usage draws.
    pub(crate) const fn effective(&self) -> Bounds<'_> {
        Bounds {
            field: "effective_date",
            gte: &self.effective_date_gte,
            gt: &self.effective_date_gt,
            lt: &self.effective_date_lt,
            lte: &self.effective_date_lte,
        }
    }

    /// Returns the filter of the list, where dates are those of a zone.
    pub(crate) fn filter(&self, zone: &Zone) -> Result<CreditBlockFilter, Problem> {
        let include_all_blocks = self.include_all_blocks.unwrap_or(false);
        Ok(CreditBlockFilter { effective: self.effective().range(zone)?, include_all_blocks })
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
            status: block.status,
            maximum_initial_balance: block.maximum_initial_balance.clone().map(JsonNumber),
            filters: block.filters.iter().map(PriceFilter::from).collect(),
            credit_block_source: match block.source {
                credit::BlockSource::TopUp => BlockSource::TopUp,
                credit::BlockSource::Allocation => BlockSource::Allocation,
                _ => BlockSource::Manual,
            },
            credit_allocation: Sparse(
                block
                    .allocation
                    .as_deref()
                    .map(|of| CreditAllocation::of(&of.terms, Some(of.item_id))),
            ),
            metadata: block.metadata.clone(),
        }
    }
}

impl BlockInvoices {
    pub(crate) fn of(found: &invoice::BlockInvoices, related: &Related) -> Self {
        let invoices = found.invoices.iter();
        Self {
            block: CreditBlock::from(&found.block),
            invoices: invoices.map(|invoice| InvoiceMinified::of(invoice, related)).collect(),
        }
    }
}
