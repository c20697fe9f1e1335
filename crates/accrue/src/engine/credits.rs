use super::{Account, Call};
use crate::{
    CreditBlockId, CustomerId, Decimal, Error, IdOr, Page, PageRequest, PricingUnit,
    credit::{CreditBalance, CreditBlock, EntryKind, EntryStatus, LedgerEntry, NewLedgerEntry},
    page::Created,
};

/// Which blocks of a list of credits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CreditBlockFilter {
    /// When they become effective.
    pub effective: Created,
    /// Whether those are listed too that are expired or used up, and the overdraft.
    pub include_all_blocks: bool,
}

/// Which entries of a ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerFilter {
    /// When they were created.
    pub created: Created,
    /// What they are.
    pub entry_type: Option<EntryKind>,
    /// Whether they can still grow.
    pub entry_status: Option<EntryStatus>,
    /// At least how much they moved the balance, up or down.
    pub minimum_amount: Option<Decimal>,
}

impl Account {
    /// Adds an entry to a ledger of a customer (wire 4.4).
    pub fn create_ledger_entry(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        new: NewLedgerEntry,
    ) -> Call<LedgerEntry> {
        todo!()
    }

    /// Returns what a customer has of a currency or pricing unit.
    pub async fn credit_balance(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        currency: &PricingUnit,
    ) -> Result<CreditBalance, Error> {
        todo!()
    }

    /// Lists the blocks of a customer's credits, newest first (wire 4.4): those that have something
    /// left and have not expired, unless all are asked for.
    pub async fn list_credit_blocks(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        currency: &PricingUnit,
        filter: CreditBlockFilter,
        page: &PageRequest,
    ) -> Result<Page<CreditBlock>, Error> {
        todo!()
    }

    /// Lists the entries of a customer's ledger, newest first (wire 4.4).
    pub async fn list_ledger_entries(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        currency: &PricingUnit,
        filter: LedgerFilter,
        page: &PageRequest,
    ) -> Result<Page<LedgerEntry>, Error> {
        todo!()
    }

    /// Returns a block of credits.
    pub async fn fetch_credit_block(&self, id: CreditBlockId) -> Result<CreditBlock, Error> {
        todo!()
    }
}
