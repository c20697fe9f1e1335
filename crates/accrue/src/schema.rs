//! The catalogue: every table, its key layout and its document, by page: what is metered, its bills,
//! messages, and people.
//!
//! A row of `tables!` declares a table: the parts of its keys, the type of its documents, and what is
//! scanned and read of it. The functions come from the row (`schema/tables.rs` says how), and
//! nothing else names a table or builds key bytes. Documents that are no type of the domain stand in
//! `schema/`, by subject.
//!
//! A key begins with the account, ended by a zero byte (an account id has none), unless it is of
//! `api_key`, `deadline`, `record` or `record_part`, or of what is the host's: people, and the audit log; ids are their 16 bytes, instants 8 bytes of microseconds,
//! numbers their bytes from the greatest on. A currency, a pricing unit or the code of a coupon is ended by a
//! zero byte too, unless it stands last, as any other text of the caller does. So rows lie in the order in
//! which they are read. A name that is no longer used is retired, and never used again.

#[macro_use]
mod tables;

mod account;
mod alert;
mod backfill;
mod catalogue;
mod correction;
mod coupon;
mod credit;
mod customer;
mod deadline;
mod document;
mod documents;
mod index;
mod invoice;
mod key;
mod message;
mod plan;
mod record;
mod slot;
mod subscription;
mod usage;

pub use self::catalogue::TABLES;
pub(crate) use self::{
    catalogue::*,
    documents::*,
    index::{
        Index, hour_at, id_at, instant_at, number_at, place_at, place_of, position, position_of,
        position_of_hour,
    },
    key::{account_of, behind_account},
    slot::{Guards, Slot},
};
