//! Credits: prepaid amounts of a currency or pricing unit, which usage draws down.
//!
//! A customer has a ledger for each currency and pricing unit that it was ever given credits in.
//! Its entries record each change of the balance; its blocks hold the credits that are left of each
//! grant, and their expiry. After every step the balance is the sum of the entries, and the sum of
//! the blocks less the overdraft.

mod balance;
mod block;
mod book;
mod draw_down;
mod drawn;
mod entry;
mod filter;
mod ledger;
mod new;
pub(crate) mod purchase;
mod shares;
mod top_up;

pub use self::{
    balance::CreditBalance,
    block::{BlockAllocation, BlockSource, BlockStatus, CreditBlock},
    entry::{EntryBlock, EntryKind, EntryStatus, EntryType, LedgerEntry, VoidReason},
    filter::{CreditBlockFilter, LedgerFilter},
    new::{LedgerChange, NewBlock, NewLedgerEntry},
    purchase::InvoiceSettings,
    top_up::{ExpiryUnit, NewTopUp, TopUp, TopUpExpiry, TopUpInvoice},
};
pub(crate) use self::{
    block::{Block, Origin, Purchase},
    book::{Book, Charge, Charged, Returned},
    draw_down::DrawDown,
    drawn::Drawn,
    entry::Booked,
    ledger::{Ledger, Pending, Unpaid},
    top_up::TopUpState,
};
