//! Slots, scans and readers that come from one row agree.

use std::time::Duration;

use proptest::prelude::*;
use serde::Serialize;

use super::*;
use crate::{
    MetricId,
    schema::{id_at, place_at, position, position_of},
    webhook::Queue,
};

/// What keys consist of. Few accounts and ids, some of which begin others or end like others.
#[derive(Clone, Debug)]
struct Parts {
    account: AccountId,
    customer: CustomerId,
    backfill: BackfillId,
    cell: CellId,
    at: Timestamp,
    bucket_slot: BucketSlot,
    number: u64,
    digest: Digest,
}

fn parts() -> impl Strategy<Value = Parts> {
    let id = || prop_oneof![Just([0; 16]), Just([0xFF; 16]), any::<[u8; 16]>()];
    let account = prop::sample::select(vec!["a", "ab", "b"]);
    let at = prop_oneof![
        // Some share an hour, a window or a minute.
        instant(),
        (0..=Timestamp::MAX.micros()).prop_map(|micros| Timestamp::from_micros(micros).unwrap()),
    ];
    let bucket_slot = prop::sample::select(vec![BucketSlot::A, BucketSlot::B]);
    let digest = any::<[u8; 32]>();
    (account, id(), id(), id(), at, bucket_slot, any::<u64>(), digest).prop_map(
        |(account, customer, backfill, cell, at, bucket_slot, number, digest)| Parts {
            account: AccountId::parse(account).unwrap(),
            customer: CustomerId::from_bytes(customer),
            backfill: BackfillId::from_bytes(backfill),
            cell: MetricId::from_bytes(cell).into(),
            at,
            bucket_slot,
            number,
            digest,
        },
    )
}

fn instant() -> impl Strategy<Value = Timestamp> {
    (0..100_000_i64).prop_map(|seconds| Timestamp::from_micros(seconds * 1_000_000).unwrap())
}

fn timeframe() -> impl Strategy<Value = Timeframe> {
    let length = prop_oneof![Just(0), 0..10_000_u64].prop_map(Duration::from_secs);
    (instant(), length)
        .prop_map(|(start, length)| Timeframe::new(start, start.saturating_add(length)).unwrap())
}

fn written<T: Serialize, G>(slot: &Slot<T, G>, says: &T) -> Document {
    slot.encode(says, &mut Vec::new()).unwrap()
}

proptest! {
    #[test]
    fn a_key_gives_its_parts_back(of in parts()) {
        let Parts { account, customer, backfill, cell, at, bucket_slot, number, digest } = &of;
        let (window, minute) = (Window::of(*at), Minute::of(*at));

        let slot = bucket(account, *customer, *cell, window, *bucket_slot);
        prop_assert_eq!(bucket_place(slot.key()).unwrap(), (window, *bucket_slot));
        let slot = distinct_value(account, *customer, *cell, window, *bucket_slot, digest);
        let place = (window, *bucket_slot, *digest);
        prop_assert_eq!(distinct_place(slot.key()).unwrap(), place);
        let slot = event(account, *customer, minute, *number);
        prop_assert_eq!(event_minute(slot.key()).unwrap(), minute);
        let slot = backfill_share(account, *backfill, *customer);
        prop_assert_eq!(share_customer(slot.key()).unwrap(), *customer);
        let slot = event_volume(account, Hour::of(*at), *customer);
        prop_assert_eq!(volume_customer(slot.key()).unwrap(), *customer);
        let slot = overlay(account, *customer, Day::of(*at), *backfill);
        prop_assert_eq!(overlay_day(slot.key()).unwrap(), Day::of(*at));
    }

    #[test]
    fn a_row_gives_its_parts_and_its_document_back(of in parts()) {
        let Parts { account, customer, backfill, at, number, .. } = &of;
        let (day, hour, minute) = (Day::of(*at), Hour::of(*at), Minute::of(*at));

        let block = EventBlock { events: Vec::new() };
        let slot = event(account, *customer, minute, *number);
        let read = read_event(slot.key(), &written(&slot, &block)).unwrap();
        prop_assert_eq!(read, (minute, block.clone()));
        let slot = backfill_event(account, *backfill, *customer, minute, *number);
        let read = read_backfill_event(slot.key(), &written(&slot, &block)).unwrap();
        prop_assert_eq!(read, (minute, block));

        let (slot, entry) = (calendar(account, *customer, day), CalendarDay::default());
        let read = read_calendar_day(slot.key(), &written(&slot, &entry)).unwrap();
        prop_assert_eq!(read, (day, entry));
        let (slot, head) = (customer_head(account, *customer), CustomerHead::default());
        let read = read_customer_head(slot.key(), &written(&slot, &head)).unwrap();
        prop_assert_eq!(read, (*customer, head));
        let (slot, count) = (event_volume(account, hour, *customer), EventCount::of(7));
        let read = read_event_volume(slot.key(), &written(&slot, &count)).unwrap();
        prop_assert_eq!(read, (hour, count));
        let slot = overlay(account, *customer, day, *backfill);
        let entry = OverlayEntry { accepted: *number };
        let read = read_overlay(slot.key(), &written(&slot, &entry)).unwrap();
        prop_assert_eq!(read, (*backfill, entry));
    }

    #[test]
    fn a_range_holds_the_rows_of_its_owner_that_it_overlaps(
        own in parts(),
        other in parts(),
        is_alike in any::<bool>(),
        within in timeframe(),
        seconds in 0..1_800_u64,
    ) {
        let quarter = Duration::from_secs(900);
        let near = within.start().saturating_sub(quarter);
        let alike = Parts { at: near.saturating_add(Duration::from_secs(seconds)), ..own.clone() };
        let other = if is_alike { &alike } else { &other };
        let Parts { account, customer, cell, at, bucket_slot, number, .. } = other;
        let holds = |scan: Scan, key: &Key| scan.table == key.table() && scan.contains(key.bytes());
        let is_own = *account == own.account && *customer == own.customer;

        let scan = events(&own.account, own.customer, within, 1);
        let minute = Minute::of(*at);
        let slot = event(account, *customer, minute, *number);
        let expect = is_own && minute.timeframe().overlaps(within);
        prop_assert_eq!(holds(scan, slot.key()), expect);

        let scan = buckets(&own.account, own.customer, own.cell, within, 1);
        let window = Window::of(*at);
        let slot = bucket(account, *customer, *cell, window, *bucket_slot);
        let expect = is_own && *cell == own.cell && window.timeframe().overlaps(within);
        prop_assert_eq!(holds(scan, slot.key()), expect);

        let slot = customer_head(account, *customer);
        let scan = customer_heads(&own.account, 1);
        prop_assert_eq!(holds(scan, slot.key()), *account == own.account);

        let slot = deadline(*at, account, Owner::Customer(*customer));
        prop_assert_eq!(holds(deadlines(within, 1), slot.key()), within.contains(*at));
    }

    #[test]
    fn a_list_finds_its_rows_again(of in parts(), other in parts()) {
        let Parts { account, customer, at, number, .. } = of;
        let item = Item {
            id: ItemId::from_bytes(*customer.as_bytes()),
            name: crate::Name::parse("calls").unwrap(),
            created_at: at,
            metadata: Default::default(),
            external_connections: Vec::new(),
            archived_at: None,
        };
        let (slot, index) = (item_by_time(&account, &item), Index::items(&account));
        let found = position(slot.key()).unwrap();
        prop_assert_eq!(index.key_at(&found), slot.key().bytes());
        prop_assert_eq!(found, position_of(at, item.id.as_bytes()));
        prop_assert_eq!(id_at(&found), *item.id.as_bytes());
        let elsewhere = Index::items(&other.account).key_at(&found);
        prop_assert_eq!(elsewhere == slot.key().bytes(), account == other.account);

        for queue in [Queue::Customer(customer), Queue::Backfill(of.backfill), Queue::Account] {
            let slot = crate::schema::outbox(&account, crate::webhook::Place { queue, number });
            let behind = crate::schema::outbox(&account, place_at(&position(slot.key()).unwrap()));
            prop_assert_eq!(behind.key(), slot.key());
        }
    }
}

#[test]
fn only_a_key_of_the_table_is_read() {
    let account = AccountId::parse("acme").unwrap();
    let customer = CustomerId::from_bytes([1; 16]);
    let (day, id) = (Day::of(Timestamp::MIN), BackfillId::from_bytes([2; 16]));
    let key = overlay(&account, customer, day, id).key().clone();
    overlay_day(&key).unwrap();

    let bytes = key.bytes();
    let (_, shorter) = bytes.split_last().unwrap();
    let refuse = |table, bytes: &[u8]| {
        let error = overlay_day(&Key::new(table, bytes)).unwrap_err();
        assert!(error.is_corruption(), "{error}");
    };
    refuse(table::overlay, shorter);
    refuse(table::overlay, &[bytes, b"\0"].concat());
    refuse(table::calendar, bytes);
    refuse(table::overlay, b"");
}

#[test]
fn a_row_is_picked_by_its_table() {
    let account = AccountId::parse("acme").unwrap();
    let customer = CustomerId::from_bytes([1; 16]);
    let usd = PricingUnit::parse("USD").unwrap();
    let says = Ledger::new(customer, usd.clone(), crate::Zone::UTC);
    let slot = ledger(&account, customer, &usd);
    let document = written(&slot, &says);
    assert_eq!(written_ledger(slot.key(), &document).unwrap().unwrap(), says);
    let head = customer_head(&account, customer);
    assert!(written_ledger(head.key(), &document).is_none());
}
