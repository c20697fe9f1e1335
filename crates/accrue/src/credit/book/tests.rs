mod by_price;
mod caller;
mod deletion;
mod desk;
mod giving_back;
mod oracle;
mod properties;
mod shelf;
mod together;
mod usage;

use std::sync::Arc;

use super::*;
use crate::{
    ItemId, Name, PriceId,
    credit::{EntryKind, EntryType, NewBlock},
    error::ErrorKind,
    price::{Cadence, FilterOperator, FilterValues, NewPrice, Price, PriceFilter},
    rating::PriceMove,
    subscription::InForce,
};

/// So many tenths.
fn tenths(number: i64) -> Decimal {
    Decimal::parse(&format!("{number}e-1")).unwrap()
}

/// So many credits.
fn credits(number: i64) -> Decimal {
    tenths(number * 10)
}

/// One of several prices, each of an item of its own.
fn price(place: usize) -> Arc<Price> {
    let name = Name::parse("price").unwrap();
    let new = NewPrice::builder(name, item(place)).billed(Cadence::Monthly, unit());
    let id = PriceId::from_bytes([u8::try_from(place + 1).unwrap(); 16]);
    Arc::new(new.fee_in_advance(credits(1)).decide(id, None, hour(0)).unwrap())
}

/// What the usage of one of them is known by.
fn in_force(place: usize) -> InForce {
    price(place).id.into()
}

/// So much more of one of them.
fn more(place: usize, amount: Decimal) -> PriceMove {
    PriceMove { price: price(place), in_force: in_force(place), amount }
}

fn item(place: usize) -> ItemId {
    ItemId::from_bytes([u8::try_from(place + 1).unwrap(); 16])
}

/// Filters of a block that pays for one of the prices only.
fn only(place: usize) -> Vec<PriceFilter> {
    let values = FilterValues::ItemId([item(place)].into());
    vec![PriceFilter { operator: FilterOperator::Includes, values }]
}

fn unit() -> PricingUnit {
    PricingUnit::parse("credits").unwrap()
}

fn customer() -> CustomerId {
    CustomerId::from_bytes([7; 16])
}

fn zone() -> Zone {
    Zone::parse("America/New_York").unwrap()
}

/// So many hours after the midnight of 1 March 2026 in New York, a week before its clocks change.
fn hour(hours: i64) -> Timestamp {
    let midnight = Timestamp::parse("2026-03-01T05:00:00Z").unwrap();
    Timestamp::from_micros(midnight.micros() + hours * 3_600_000_000).unwrap()
}

fn empty() -> Book {
    Book::new(customer(), unit(), zone())
}

fn entry(change: LedgerChange) -> NewLedgerEntry {
    NewLedgerEntry::new(unit(), change)
}

/// Checks what holds of the rows of a ledger after every step.
fn check_ledger(shelf: &shelf::Shelf) {
    let shelf::Shelf { ledger, blocks, entries } = shelf;
    let amounts = entries.values().map(|booked| booked.entry.amount.clone());
    assert_eq!(amounts.sum::<Decimal>(), ledger.balance);
    let left = blocks.values().map(|block| block.block.balance.clone());
    assert_eq!(left.sum::<Decimal>(), ledger.balance);
    let mut balance = Decimal::zero();
    let mut latest = Timestamp::MIN;
    for (number, booked) in (1..).zip(entries.values()) {
        let entry = &booked.entry;
        assert_eq!(entry.ledger_sequence_number, number);
        assert_eq!(entry.starting_balance, balance);
        balance += entry.amount.clone();
        assert_eq!(entry.ending_balance, balance);
        assert!(latest <= entry.created_at);
        latest = entry.created_at;
    }
    assert_eq!((ledger.balance.clone(), ledger.latest), (balance, latest));
    assert_eq!(Ok(ledger.entries), entries.len().try_into());
    blocks.values().for_each(|block| check_block(block, entries));
}

/// Checks that what was given is left, drawn or lost.
fn check_block(block: &Block, entries: &BTreeMap<u64, Booked>) {
    let Block { block, drawn, .. } = block;
    assert!(*drawn >= Decimal::zero());
    if block.is_overdraft() {
        assert_eq!(-&block.balance, *drawn);
        return;
    }
    assert!(block.balance >= Decimal::zero());
    let of_block = entries.values().map(|booked| &booked.entry);
    let of_block = of_block.filter(|entry| entry.credit_block.id == block.id);
    let lost = of_block.map(|entry| match &entry.entry_type {
        EntryType::ExpirationChange { moved, .. } => moved.clone(),
        other => match other.kind() {
            EntryKind::Void | EntryKind::CreditBlockExpiry => -&entry.amount,
            _ => Decimal::zero(),
        },
    });
    let accounted = &block.balance + drawn + lost.sum::<Decimal>();
    assert_eq!(block.maximum_initial_balance, Some(accounted));
}
