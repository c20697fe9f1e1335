use accrue::{
    Account, CustomerId, Decimal, IdOr, PageRequest,
    credit::{EntryKind, LedgerEntry, LedgerFilter},
    limits,
};
use serde::{Serialize, Serializer};

use crate::{pages::oldest_first, setup::credits};

/// What one customer has of the credits that it was given, and what has become of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CustomerCredits {
    /// What is left; below zero where more was drawn than there was.
    pub balance: Decimal,
    /// What moved the balance, oldest first.
    pub ledger: Vec<LedgerLine>,
}

/// An entry of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LedgerLine {
    /// What it is.
    #[serde(serialize_with = "name")]
    pub entry_type: EntryKind,
    /// By how much it moved the balance.
    pub amount: Decimal,
    /// The balance after it.
    pub ending_balance: Decimal,
}

impl CustomerCredits {
    pub(crate) async fn of(
        account: &Account,
        customer: impl Into<IdOr<CustomerId>>,
    ) -> Result<Self, accrue::Error> {
        let customer = customer.into();
        let balance = account.credit_balance(customer.clone(), &credits()).await?.balance;
        let entries = entries(account, &customer).await?;
        let ledger = entries.into_iter().map(|entry| LedgerLine {
            entry_type: entry.entry_type.kind(),
            amount: entry.amount,
            ending_balance: entry.ending_balance,
        });
        Ok(Self { balance: balance.unwrap_or_default(), ledger: ledger.collect() })
    }

    /// Returns how much the entries of one kind have moved the balance.
    #[must_use]
    pub fn moved_by(&self, kind: EntryKind) -> Decimal {
        let of_kind = self.ledger.iter().filter(|line| line.entry_type == kind);
        of_kind.map(|line| line.amount.clone()).sum()
    }
}

/// Lists all entries of a customer's ledger of credits, oldest first.
pub(crate) async fn entries(
    account: &Account,
    customer: &IdOr<CustomerId>,
) -> Result<Vec<LedgerEntry>, accrue::Error> {
    let (unit, filter) = (credits(), LedgerFilter::default());
    let first = PageRequest::first_of_ledger(limits::LEDGER_PAGE_ROWS)?;
    oldest_first(first, async |page| {
        account.list_ledger_entries(customer.clone(), &unit, &filter, page).await
    })
    .await
}

fn name<S: Serializer>(kind: &EntryKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.name())
}
