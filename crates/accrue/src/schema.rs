//! The catalogue: every table, its key layout and its document, on one page.
//!
//! Nothing else builds key bytes or documents. A key begins with the account, ended by a zero byte
//! (an account id has none), unless it is of `api_key`, `deadline` or `record_expiry`; ids are their
//! 16 bytes, instants 8 bytes of microseconds, numbers their bytes from the greatest on; a text of the
//! caller stands last, or is ended by a zero byte where it can have none. So rows lie in the order in
//! which they are read. A name that is no longer used is retired, and never used again. Documents that
//! are no type of the domain stand in `schema/`, by subject.

mod alert;
mod backfill;
mod correction;
mod credit;
mod customer;
mod deadline;
mod document;
mod key;
mod message;
mod plan;
mod record;
mod slot;
mod subscription;
mod usage;

use serde::{Deserialize, Serialize};

use self::key::KeyBytes;
pub(crate) use self::{
    alert::{AlertEntry, AlertRevision, AlertState, BalanceAlertState},
    backfill::{BackfillShare, OpenBackfill, OpenBackfills},
    correction::{
        AccountCorrection, AccountCorrections, CalendarDay, CleanUpPlace, Corrections,
        OverlayEntry, Progress,
    },
    credit::{BlockMetadata, Credits, CreditsIn},
    customer::{ActiveIds, CustomerAlias, CustomerEntry, CustomerHead},
    deadline::{Deadline, Owner},
    message::OutboxEntry,
    plan::{Catalogue, PlanAlias, PlanVersionEntry, PriceAlias},
    record::{Expiry, RecordPart},
    slot::Slot,
    subscription::{SubscriptionOf, Terms},
    usage::{Amendments, Bucket, CellTotalEntry, EventCount, TotalEntry},
};
use crate::{
    AccountId, AlertId, ApiKeyId, BackfillId, CreditBlockId, CustomerId, Error, EventKey,
    ExternalId, IdempotencyKey, ItemId, MetricId, PlanId, PriceId, PricingUnit, SubscriptionId,
    Timeframe, Timestamp,
    account::AccountEntry,
    api_key::{ApiKey, ApiKeyEntry},
    backfill::{Backfill, BackfillStatus},
    credit::{Block, Booked, Drawn, EntryKind, Ledger, LedgerEntry},
    customer::Customer,
    idempotency::Record,
    item::Item,
    limits,
    metric::Metric,
    page::Position,
    plan::{Plan, PlanVersion},
    price::Price,
    store::{Document, Key, Row, Scan, Table},
    subscription::{SubscriptionEntry, SubscriptionStatus},
    usage::{
        BucketSlot, Day, Digest, DistinctIndex, EventBlock, EventKeyEntry, Hour, MeterId, Minute,
        Split, SplitId, Window,
    },
    webhook::Place,
};

/// Declares the tables, and lists them for backends that want to know them beforehand.
macro_rules! tables {
    ($($name:ident = $text:literal,)*) => {
        $(const $name: Table = Table::new($text);)*

        /// Every table that the engine writes.
        pub const TABLES: &[Table] = &[$($name,)*];
    };
}

tables! {
    ACCOUNT = "account",
    ACCOUNT_CORRECTIONS = "account_corrections",
    ACTIVE_SUBSCRIPTIONS = "active_subscriptions",
    ALERT = "alert",
    ALERT_REVISION = "alert_revision",
    ALERT_STATE = "alert_state",
    AMENDMENTS = "amendments",
    API_KEY = "api_key",
    API_KEY_BY_TIME = "api_key_by_time",
    BACKFILL = "backfill",
    BACKFILL_BY_CUSTOMER = "backfill_by_customer",
    BACKFILL_BY_STATUS = "backfill_by_status",
    BACKFILL_BY_TIME = "backfill_by_time",
    BACKFILL_EVENT = "backfill_event",
    BACKFILL_SHARE = "backfill_share",
    BALANCE_ALERT_STATE = "balance_alert_state",
    BUCKET = "bucket",
    CALENDAR = "calendar",
    CELL_TOTAL = "cell_total",
    CORRECTIONS = "corrections",
    CREDIT_BLOCK = "credit_block",
    CREDIT_BLOCK_BY_TIME = "credit_block_by_time",
    CREDIT_BLOCK_METADATA = "credit_block_metadata",
    CREDITS = "credits",
    CUSTOMER = "customer",
    CUSTOMER_BY_TIME = "customer_by_time",
    CUSTOMER_EXTERNAL = "customer_external",
    CUSTOMER_HEAD = "customer_head",
    DEADLINE = "deadline",
    DISTINCT_INDEX = "distinct_index",
    DISTINCT_VALUE = "distinct_value",
    DRAWN = "drawn",
    EVENT = "event",
    EVENT_KEY = "event_key",
    EVENT_VOLUME = "event_volume",
    ITEM = "item",
    ITEM_BY_TIME = "item_by_time",
    LEDGER = "ledger",
    LEDGER_ENTRY = "ledger_entry",
    LEDGER_ENTRY_BY_KIND = "ledger_entry_by_kind",
    LEDGER_ENTRY_BY_TIME = "ledger_entry_by_time",
    METRIC = "metric",
    METRIC_BY_TIME = "metric_by_time",
    METRIC_CATALOGUE = "metric_catalogue",
    OPEN_BACKFILLS = "open_backfills",
    OUTBOX = "outbox",
    OVERLAY = "overlay",
    PLAN = "plan",
    PLAN_BY_TIME = "plan_by_time",
    PLAN_EXTERNAL = "plan_external",
    PLAN_VERSION = "plan_version",
    PRICE = "price",
    PRICE_BY_TIME = "price_by_time",
    PRICE_EXTERNAL = "price_external",
    RECORD = "record",
    RECORD_EXPIRY = "record_expiry",
    RECORD_PART = "record_part",
    SPLIT = "split",
    SUBSCRIPTION = "subscription",
    SUBSCRIPTION_BY_CHANGE = "subscription_by_change",
    SUBSCRIPTION_BY_CUSTOMER = "subscription_by_customer",
    SUBSCRIPTION_BY_PLAN = "subscription_by_plan",
    SUBSCRIPTION_BY_STATUS = "subscription_by_status",
    SUBSCRIPTION_BY_TIME = "subscription_by_time",
    TERMS = "terms",
    TOTAL = "total",
}

/// A row that only its key says something with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Nothing {}

// Accounts.

/// `account (account)`: what it configures.
pub(crate) fn account(account: &AccountId) -> Slot<AccountEntry> {
    KeyBytes::of(account).slot(ACCOUNT).read_often()
}

// API keys.

/// `api_key (key id)`: whose it is, which nobody knows before it was read.
pub(crate) fn api_key(id: ApiKeyId) -> Slot<ApiKeyEntry> {
    KeyBytes::default().bytes(id.as_bytes()).slot(API_KEY)
}

/// One row of `api_key`, where there is any.
pub(crate) fn any_api_key() -> Scan {
    Scan::prefix(API_KEY, &[], 1)
}

/// `api_key_by_time (account, created at, key id)`
pub(crate) fn api_key_by_time(account: &AccountId, key: &ApiKey) -> Slot<Nothing> {
    KeyBytes::of(account).listed(key.created_at, key.id.as_bytes()).slot(API_KEY_BY_TIME)
}

// Idempotency (§4.5).

/// `record (account, key)`: what is kept of a keyed operation.
pub(crate) fn record(account: &AccountId, key: &IdempotencyKey) -> Slot<Record> {
    KeyBytes::of(account).text(key).slot(RECORD)
}

/// `record_part (account, number, key)`: a piece of an answer that does not fit its record.
pub(crate) fn record_part(
    account: &AccountId,
    number: u32,
    key: &IdempotencyKey,
) -> Slot<RecordPart> {
    KeyBytes::of(account).bytes(&number.to_be_bytes()).text(key).slot(RECORD_PART)
}

/// `record_expiry (hour, account, key)`: in which hour a record is no longer good.
pub(crate) fn record_expiry(
    at: Timestamp,
    account: &AccountId,
    key: &IdempotencyKey,
) -> Slot<Expiry> {
    KeyBytes::default().instant(Hour::of(at).start()).account(account).text(key).slot(RECORD_EXPIRY)
}

/// The records that are no longer good in the hour of `now`.
pub(crate) fn expired_records(now: Timestamp, limit: usize) -> Scan {
    let until = KeyBytes::default().instant(Hour::of(now).start());
    Scan::range(RECORD_EXPIRY, &[], &until.into_vec(), limit)
}

/// Reads whose record it is that a scan found.
pub(crate) fn read_expiry(row: &Row) -> Result<Expiry, Error> {
    Slot::new(row.key.clone()).decode(&row.document)
}

// Time.

/// `deadline (instant, account, owner)`: when time brings the next thing for an owner.
pub(crate) fn deadline(at: Timestamp, account: &AccountId, owner: Owner) -> Slot<Deadline> {
    KeyBytes::default().instant(at).account(account).owner(owner).slot(DEADLINE)
}

/// Reads a deadline that a scan found.
pub(crate) fn read_deadline(row: &Row) -> Result<Deadline, Error> {
    Slot::new(row.key.clone()).decode(&row.document)
}

/// The earliest deadlines, up to and including `until`.
pub(crate) fn deadlines(until: Timestamp, limit: usize) -> Scan {
    let next = until.saturating_add(std::time::Duration::from_micros(1));
    Scan::range(DEADLINE, &[], &KeyBytes::default().instant(next).into_vec(), limit)
}

// Customers.

/// `customer (account, customer)`
pub(crate) fn customer(account: &AccountId, id: CustomerId) -> Slot<CustomerEntry> {
    KeyBytes::of(account).bytes(id.as_bytes()).slot(CUSTOMER).read_often()
}

/// `customer_by_time (account, created at, customer)`
pub(crate) fn customer_by_time(account: &AccountId, customer: &Customer) -> Slot<Nothing> {
    let Customer { created_at, id, .. } = customer;
    KeyBytes::of(account).listed(*created_at, id.as_bytes()).slot(CUSTOMER_BY_TIME)
}

/// `customer_external (account, external id)`: whose alias it is.
pub(crate) fn customer_external(account: &AccountId, id: &ExternalId) -> Slot<CustomerAlias> {
    KeyBytes::of(account).text(id).slot(CUSTOMER_EXTERNAL).read_often()
}

/// `customer_head (account, customer)`: every commit that touches the customer's events, figures, credits or
/// subscriptions writes it, so it guards every scan over them.
pub(crate) fn customer_head(account: &AccountId, id: CustomerId) -> Slot<CustomerHead> {
    KeyBytes::of(account).bytes(id.as_bytes()).slot(CUSTOMER_HEAD)
}

/// The heads of all customers of an account, those of customers that are yet to be created included.
pub(crate) fn customer_heads(account: &AccountId, limit: usize) -> Scan {
    Scan::prefix(CUSTOMER_HEAD, &KeyBytes::of(account).into_vec(), limit)
}

/// Reads a head that a scan found.
pub(crate) fn read_customer_head(row: &Row) -> Result<CustomerHead, Error> {
    Slot::new(row.key.clone()).decode(&row.document)
}

/// Reads whose row it is from the last bytes of its key.
pub(crate) fn customer_of(key: &Key) -> Result<CustomerId, Error> {
    let id = key.bytes().last_chunk::<16>().copied().map(CustomerId::from_bytes);
    id.ok_or_else(|| Error::corrupt(format!("the key {key} names no customer")))
}

/// `active_subscriptions (account, customer)`: the subscriptions that events may still count for.
pub(crate) fn active_subscriptions(account: &AccountId, id: CustomerId) -> Slot<ActiveIds> {
    KeyBytes::of(account).bytes(id.as_bytes()).slot(ACTIVE_SUBSCRIPTIONS).read_often()
}

/// `outbox (account, customer or backfill, number)`: a message that waits.
pub(crate) fn outbox(account: &AccountId, place: Place) -> Slot<OutboxEntry> {
    let Place { queue, number } = place;
    KeyBytes::of(account).bytes(queue.as_bytes()).bytes(&number.to_be_bytes()).slot(OUTBOX)
}

/// Reads a message that is to be written, where the key is that of one.
pub(crate) fn written_message(key: &Key, of: &Document) -> Option<Result<OutboxEntry, Error>> {
    (key.table() == OUTBOX).then(|| Slot::new(key.clone()).decode(of))
}

/// Reads a message that a scan found.
pub(crate) fn read_outbox(row: &Row) -> Result<OutboxEntry, Error> {
    Slot::new(row.key.clone()).decode(&row.document)
}

/// The messages of an account, by queue and number.
pub(crate) fn waiting_messages(account: &AccountId, limit: usize) -> Scan {
    Scan::prefix(OUTBOX, &KeyBytes::of(account).into_vec(), limit)
}

// Items.

/// `item (account, item)`
pub(crate) fn item(account: &AccountId, id: ItemId) -> Slot<Item> {
    KeyBytes::of(account).bytes(id.as_bytes()).slot(ITEM).read_often()
}

/// `item_by_time (account, created at, item)`
pub(crate) fn item_by_time(account: &AccountId, item: &Item) -> Slot<Nothing> {
    KeyBytes::of(account).listed(item.created_at, item.id.as_bytes()).slot(ITEM_BY_TIME)
}

// Metrics.

/// `metric (account, metric)`
pub(crate) fn metric(account: &AccountId, id: MetricId) -> Slot<Metric> {
    KeyBytes::of(account).bytes(id.as_bytes()).slot(METRIC).read_often()
}

/// `metric_by_time (account, created at, metric)`
pub(crate) fn metric_by_time(account: &AccountId, metric: &Metric) -> Slot<Nothing> {
    KeyBytes::of(account).listed(metric.created_at, metric.id.as_bytes()).slot(METRIC_BY_TIME)
}

/// `metric_catalogue (account)`: the metrics, and the splits of them, that every event is held
/// against.
pub(crate) fn metric_catalogue(account: &AccountId) -> Slot<Catalogue> {
    KeyBytes::of(account).slot(METRIC_CATALOGUE).read_often()
}

/// `split (account, split)`: a metric split into the cells of a matrix.
pub(crate) fn split(account: &AccountId, id: SplitId) -> Slot<Split> {
    KeyBytes::of(account).bytes(id.as_bytes()).slot(SPLIT).read_often()
}

// Prices.

/// `price (account, price)`
pub(crate) fn price(account: &AccountId, id: PriceId) -> Slot<Price> {
    KeyBytes::of(account).bytes(id.as_bytes()).slot(PRICE).read_often()
}

/// `price_by_time (account, created at, price)`
pub(crate) fn price_by_time(account: &AccountId, price: &Price) -> Slot<Nothing> {
    KeyBytes::of(account).listed(price.created_at, price.id.as_bytes()).slot(PRICE_BY_TIME)
}

/// `price_external (account, external id)`: whose alias it is.
pub(crate) fn price_external(account: &AccountId, id: &ExternalId) -> Slot<PriceAlias> {
    KeyBytes::of(account).text(id).slot(PRICE_EXTERNAL).read_often()
}

// Plans.

/// `plan (account, plan)`
pub(crate) fn plan(account: &AccountId, id: PlanId) -> Slot<Plan> {
    KeyBytes::of(account).bytes(id.as_bytes()).slot(PLAN).read_often()
}

/// `plan_by_time (account, created at, plan)`
pub(crate) fn plan_by_time(account: &AccountId, plan: &Plan) -> Slot<Nothing> {
    KeyBytes::of(account).listed(plan.created_at, plan.id.as_bytes()).slot(PLAN_BY_TIME)
}

/// `plan_external (account, external id)`: whose alias it is.
pub(crate) fn plan_external(account: &AccountId, id: &ExternalId) -> Slot<PlanAlias> {
    KeyBytes::of(account).text(id).slot(PLAN_EXTERNAL).read_often()
}

/// `plan_version (account, plan, version)`: the prices and the alerts of a version of a plan.
pub(crate) fn plan_version(
    account: &AccountId,
    id: PlanId,
    version: PlanVersion,
) -> Slot<PlanVersionEntry> {
    KeyBytes::of(account).plan_version(id, version).slot(PLAN_VERSION).read_often()
}

/// `alert_revision (account, plan, version, number)`: one change to an alert of a plan version.
pub(crate) fn alert_revision(
    account: &AccountId,
    id: PlanId,
    version: PlanVersion,
    number: u64,
) -> Slot<AlertRevision> {
    KeyBytes::of(account)
        .plan_version(id, version)
        .bytes(&number.to_be_bytes())
        .slot(ALERT_REVISION)
        .read_often()
}

// Subscriptions.

/// `subscription (account, subscription)`
pub(crate) fn subscription(account: &AccountId, id: SubscriptionId) -> Slot<SubscriptionEntry> {
    KeyBytes::of(account).bytes(id.as_bytes()).slot(SUBSCRIPTION).read_often()
}

/// `subscription_by_time (account, created at, subscription)`
pub(crate) fn subscription_by_time(
    account: &AccountId,
    of: &SubscriptionEntry,
) -> Slot<SubscriptionOf> {
    KeyBytes::of(account).subscription(of).slot(SUBSCRIPTION_BY_TIME)
}

/// `subscription_by_customer (account, customer, created at, subscription)`
pub(crate) fn subscription_by_customer(
    account: &AccountId,
    of: &SubscriptionEntry,
) -> Slot<SubscriptionOf> {
    KeyBytes::of(account)
        .bytes(of.subscription.customer_id.as_bytes())
        .subscription(of)
        .slot(SUBSCRIPTION_BY_CUSTOMER)
}

/// `subscription_by_plan (account, plan, created at, subscription)`
pub(crate) fn subscription_by_plan(
    account: &AccountId,
    of: &SubscriptionEntry,
) -> Slot<SubscriptionOf> {
    KeyBytes::of(account)
        .bytes(of.subscription.plan_id.as_bytes())
        .subscription(of)
        .slot(SUBSCRIPTION_BY_PLAN)
}

/// `subscription_by_status (account, status, created at, subscription)`: where it stood when it was
/// written last.
pub(crate) fn subscription_by_status(account: &AccountId, of: &SubscriptionEntry) -> Slot<Nothing> {
    KeyBytes::of(account)
        .subscription_status(of.status_notified())
        .subscription(of)
        .slot(SUBSCRIPTION_BY_STATUS)
}

/// `subscription_by_change (account, instant, created at, subscription)`: when time brings it another
/// status, where it does.
pub(crate) fn subscription_by_change(
    account: &AccountId,
    of: &SubscriptionEntry,
) -> Option<Slot<Nothing>> {
    let (at, _) = of.next_notified()?;
    Some(KeyBytes::of(account).instant(at).subscription(of).slot(SUBSCRIPTION_BY_CHANGE))
}

/// The subscriptions of an account whose status has changed up to an instant, and was not written since.
pub(crate) fn changed_subscriptions(account: &AccountId, until: Timestamp, limit: usize) -> Scan {
    let next = until.saturating_add(std::time::Duration::from_micros(1));
    let (from, until) = (KeyBytes::of(account), KeyBytes::of(account).instant(next));
    Scan::range(SUBSCRIPTION_BY_CHANGE, &from.into_vec(), &until.into_vec(), limit)
}

/// `terms (account, subscription, part)`: what it is charged, so much as fits a row.
pub(crate) fn terms(account: &AccountId, id: SubscriptionId, part: u16) -> Slot<Terms> {
    KeyBytes::of(account).bytes(id.as_bytes()).bytes(&part.to_be_bytes()).slot(TERMS).read_often()
}

// Alerts.

/// `alert (account, alert)`
pub(crate) fn alert(account: &AccountId, id: AlertId) -> Slot<AlertEntry> {
    KeyBytes::of(account).bytes(id.as_bytes()).slot(ALERT).read_often()
}

/// `alert_state (account, subscription, period start, alert)`: which thresholds have fired.
pub(crate) fn alert_state(
    account: &AccountId,
    id: SubscriptionId,
    period_start: Timestamp,
    alert: AlertId,
) -> Slot<AlertState> {
    KeyBytes::of(account)
        .bytes(id.as_bytes())
        .instant(period_start)
        .bytes(alert.as_bytes())
        .slot(ALERT_STATE)
}

/// `balance_alert_state (account, alert)`: which thresholds of an alert on a balance are in alert.
pub(crate) fn balance_alert_state(account: &AccountId, alert: AlertId) -> Slot<BalanceAlertState> {
    KeyBytes::of(account).bytes(alert.as_bytes()).slot(BALANCE_ALERT_STATE)
}

// Credits.

/// `credits (account, customer)`: the currencies and pricing units in which a customer has a ledger,
/// or alerts on one.
pub(crate) fn credits(account: &AccountId, id: CustomerId) -> Slot<Credits> {
    KeyBytes::of(account).bytes(id.as_bytes()).slot(CREDITS)
}

/// `ledger (account, customer, unit)`
pub(crate) fn ledger(account: &AccountId, id: CustomerId, unit: &PricingUnit) -> Slot<Ledger> {
    KeyBytes::of(account).bytes(id.as_bytes()).text(unit).slot(LEDGER)
}

/// Reads a ledger that is to be written, where the key is that of one.
pub(crate) fn written_ledger(key: &Key, of: &Document) -> Option<Result<Ledger, Error>> {
    (key.table() == LEDGER).then(|| Slot::new(key.clone()).decode(of))
}

/// `ledger_entry (account, customer, unit, number)`
pub(crate) fn ledger_entry(
    account: &AccountId,
    id: CustomerId,
    unit: &PricingUnit,
    number: u64,
) -> Slot<Booked> {
    KeyBytes::of(account).ledger(id, unit).bytes(&number.to_be_bytes()).slot(LEDGER_ENTRY)
}

/// `ledger_entry_by_time (account, customer, unit, created at, number)`
pub(crate) fn ledger_entry_by_time(account: &AccountId, entry: &LedgerEntry) -> Slot<Nothing> {
    KeyBytes::of(account)
        .ledger(entry.customer_id, &entry.currency)
        .entry(entry)
        .slot(LEDGER_ENTRY_BY_TIME)
}

/// `ledger_entry_by_kind (account, customer, unit, kind, created at, number)`
pub(crate) fn ledger_entry_by_kind(account: &AccountId, entry: &LedgerEntry) -> Slot<Nothing> {
    KeyBytes::of(account)
        .ledger(entry.customer_id, &entry.currency)
        .kind(entry.entry_type.kind())
        .entry(entry)
        .slot(LEDGER_ENTRY_BY_KIND)
}

/// `credit_block (account, block)`
pub(crate) fn credit_block(account: &AccountId, id: CreditBlockId) -> Slot<Block> {
    KeyBytes::of(account).bytes(id.as_bytes()).slot(CREDIT_BLOCK)
}

/// `credit_block_metadata (account, block)`: where it has any. It is apart, so that usage moves a
/// small row.
pub(crate) fn credit_block_metadata(account: &AccountId, id: CreditBlockId) -> Slot<BlockMetadata> {
    KeyBytes::of(account).bytes(id.as_bytes()).slot(CREDIT_BLOCK_METADATA)
}

/// `credit_block_by_time (account, customer, unit, created at, block)`
pub(crate) fn credit_block_by_time(account: &AccountId, of: &Block) -> Slot<Nothing> {
    KeyBytes::of(account)
        .ledger(of.customer_id, &of.block.currency)
        .listed(of.block.created_at, of.block.id.as_bytes())
        .slot(CREDIT_BLOCK_BY_TIME)
}

/// `drawn (account, subscription, period start, unit)`: what the usage of a billing period has drawn
/// from a ledger.
pub(crate) fn drawn(
    account: &AccountId,
    id: SubscriptionId,
    period_start: Timestamp,
    unit: &PricingUnit,
) -> Slot<Drawn> {
    KeyBytes::of(account).bytes(id.as_bytes()).instant(period_start).text(unit).slot(DRAWN)
}

// Usage.

/// `event_key (account, key)`: that there is such an event, and with which content.
pub(crate) fn event_key(account: &AccountId, key: &EventKey) -> Slot<EventKeyEntry> {
    KeyBytes::of(account).text(key).slot(EVENT_KEY)
}

/// `event (account, customer, minute, number)`: events of a minute.
pub(crate) fn event<'p>(
    account: &AccountId,
    customer: CustomerId,
    minute: Minute,
    number: u64,
) -> Slot<EventBlock<'p>> {
    KeyBytes::of(account).bytes(customer.as_bytes()).event_block(minute, number).slot(EVENT)
}

/// The events of a customer in the minutes that a timeframe touches.
pub(crate) fn events(
    account: &AccountId,
    customer: CustomerId,
    timeframe: Timeframe,
    limit: usize,
) -> Scan {
    let of = |at| KeyBytes::of(account).bytes(customer.as_bytes()).instant(at).into_vec();
    let minutes = Minute::covering(timeframe);
    Scan::range(EVENT, &of(minutes.start()), &of(minutes.end()), limit)
}

/// Reads the minute of a row of events, of a backfill or of none.
pub(crate) fn minute_of(key: &Key) -> Option<Minute> {
    let (rest, _number) = key.bytes().split_last_chunk::<8>()?;
    let at = Timestamp::from_micros(i64::from_be_bytes(*rest.last_chunk::<8>()?)).ok()?;
    Some(Minute::of(at))
}

/// `amendments (account, customer)`: when events of it were amended and deprecated.
pub(crate) fn amendments(account: &AccountId, id: CustomerId) -> Slot<Amendments> {
    KeyBytes::of(account).bytes(id.as_bytes()).slot(AMENDMENTS)
}

/// `event_volume (account, hour, customer)`: how many events of an hour count for a customer.
pub(crate) fn event_volume(
    account: &AccountId,
    hour: Hour,
    customer: CustomerId,
) -> Slot<EventCount> {
    KeyBytes::of(account).instant(hour.start()).bytes(customer.as_bytes()).slot(EVENT_VOLUME)
}

/// The numbers of events of all customers, from one hour up to another.
pub(crate) fn event_volumes(account: &AccountId, hours: Timeframe) -> Scan {
    let key = |at| KeyBytes::of(account).instant(at).into_vec();
    Scan::range(EVENT_VOLUME, &key(hours.start()), &key(hours.end()), limits::SCAN_ROWS)
}

/// Reads the hour of a number of events that a scan found, and the number.
pub(crate) fn read_event_volume(account: &AccountId, row: &Row) -> Result<(Hour, u64), Error> {
    let place = row.key.bytes().get(account.len().saturating_add(1)..);
    let at = place.and_then(<[u8]>::first_chunk::<8>).map(|bytes| i64::from_be_bytes(*bytes));
    let at = at.and_then(|micros| Timestamp::from_micros(micros).ok());
    let at = at.ok_or_else(|| Error::corrupt(format!("the key {} has no hour", row.key)))?;
    let EventCount { events } = Slot::new(row.key.clone()).decode(&row.document)?;
    Ok((Hour::of(at), events))
}

/// `bucket (account, customer, meter, window, slot)`: what the events of 15 minutes add up to.
pub(crate) fn bucket(
    account: &AccountId,
    customer: CustomerId,
    meter: MeterId,
    window: Window,
    bucket_slot: BucketSlot,
) -> Slot<Bucket> {
    KeyBytes::of(account).meter_of(customer, meter).window(window, bucket_slot).slot(BUCKET)
}

/// The buckets of a customer's meter from one window up to another, of both slots.
pub(crate) fn buckets(
    account: &AccountId,
    customer: CustomerId,
    meter: MeterId,
    windows: Timeframe,
) -> Scan {
    of_meter(BUCKET, account, customer, meter, windows)
}

fn of_meter(
    table: Table,
    account: &AccountId,
    customer: CustomerId,
    meter: MeterId,
    windows: Timeframe,
) -> Scan {
    let key = |at| KeyBytes::of(account).meter_of(customer, meter).instant(at).into_vec();
    Scan::range(table, &key(windows.start()), &key(windows.end()), limits::SCAN_ROWS)
}

/// Reads a bucket that a scan found.
pub(crate) fn read_bucket(key: &Key, document: &Document) -> Result<Bucket, Error> {
    Slot::new(key.clone()).decode(document)
}

/// `distinct_value (account, customer, meter, window, slot, digest)`: a distinct value of a bucket.
pub(crate) fn distinct_value(
    account: &AccountId,
    customer: CustomerId,
    meter: MeterId,
    window: Window,
    bucket_slot: BucketSlot,
    digest: &Digest,
) -> Slot<Nothing> {
    KeyBytes::of(account)
        .meter_of(customer, meter)
        .window(window, bucket_slot)
        .bytes(digest)
        .slot(DISTINCT_VALUE)
}

/// The distinct values of a customer's meter from one window up to another, of both slots.
pub(crate) fn distinct_values(
    account: &AccountId,
    customer: CustomerId,
    meter: MeterId,
    windows: Timeframe,
) -> Scan {
    of_meter(DISTINCT_VALUE, account, customer, meter, windows)
}

/// Reads the window and the slot of a bucket or of a distinct value from the bytes of its row's
/// key.
pub(crate) fn bucket_place(account: &AccountId, bytes: &[u8]) -> Option<(Window, BucketSlot)> {
    let rest = bytes.get(account.len().saturating_add(1 + 16 + 16)..)?;
    let (instant, rest) = rest.split_first_chunk::<8>()?;
    let at = Timestamp::from_micros(i64::from_be_bytes(*instant)).ok()?;
    let bucket_slots = [BucketSlot::A, BucketSlot::B];
    let bucket_slot = bucket_slots.into_iter().find(|of| rest.first() == Some(&of.byte()))?;
    Some((Window::of(at), bucket_slot))
}

/// Reads the digest of a distinct value from the bytes of its row's key.
pub(crate) fn distinct_digest(bytes: &[u8]) -> Option<Digest> {
    bytes.last_chunk::<32>().copied()
}

/// `distinct_index (account, customer, meter, digest)`: when a distinct value was seen.
pub(crate) fn distinct_index(
    account: &AccountId,
    customer: CustomerId,
    meter: MeterId,
    digest: &Digest,
) -> Slot<DistinctIndex> {
    KeyBytes::of(account).meter_of(customer, meter).bytes(digest).slot(DISTINCT_INDEX)
}

/// `total (account, subscription, period start)`: what a billing period adds up to, but for the
/// cells of matrices.
pub(crate) fn total(
    account: &AccountId,
    id: SubscriptionId,
    period_start: Timestamp,
) -> Slot<TotalEntry> {
    KeyBytes::of(account).bytes(id.as_bytes()).instant(period_start).slot(TOTAL)
}

/// `cell_total (account, subscription, period start)`: what the cells of its matrices add up to.
pub(crate) fn cell_total(
    account: &AccountId,
    id: SubscriptionId,
    period_start: Timestamp,
) -> Slot<CellTotalEntry> {
    KeyBytes::of(account).bytes(id.as_bytes()).instant(period_start).slot(CELL_TOTAL)
}

// Backfills.

/// `backfill (account, backfill)`
pub(crate) fn backfill(account: &AccountId, id: BackfillId) -> Slot<Backfill> {
    KeyBytes::of(account).bytes(id.as_bytes()).slot(BACKFILL)
}

/// `backfill_by_time (account, created at, backfill)`
pub(crate) fn backfill_by_time(account: &AccountId, of: &Backfill) -> Slot<Nothing> {
    KeyBytes::of(account).listed(of.created_at, of.id.as_bytes()).slot(BACKFILL_BY_TIME)
}

/// `backfill_by_customer (account, customer, created at, backfill)`: those for one customer.
pub(crate) fn backfill_by_customer(
    account: &AccountId,
    customer: CustomerId,
    of: &Backfill,
) -> Slot<Nothing> {
    KeyBytes::of(account)
        .bytes(customer.as_bytes())
        .listed(of.created_at, of.id.as_bytes())
        .slot(BACKFILL_BY_CUSTOMER)
}

/// `backfill_by_status (account, status, created at, backfill)`
pub(crate) fn backfill_by_status(account: &AccountId, of: &Backfill) -> Slot<Nothing> {
    KeyBytes::of(account)
        .backfill_status(of.status)
        .listed(of.created_at, of.id.as_bytes())
        .slot(BACKFILL_BY_STATUS)
}

/// `open_backfills (account)`: those that are pending, or about to be reverted, which none may
/// overlap.
pub(crate) fn open_backfills(account: &AccountId) -> Slot<OpenBackfills> {
    KeyBytes::of(account).slot(OPEN_BACKFILLS)
}

/// `backfill_event (account, backfill, customer, minute, number)`: events of a minute.
pub(crate) fn backfill_event<'p>(
    account: &AccountId,
    id: BackfillId,
    customer: CustomerId,
    minute: Minute,
    number: u64,
) -> Slot<EventBlock<'p>> {
    KeyBytes::of(account)
        .bytes(id.as_bytes())
        .bytes(customer.as_bytes())
        .event_block(minute, number)
        .slot(BACKFILL_EVENT)
}

/// The events of a customer in a backfill, in the minutes that a timeframe touches.
pub(crate) fn backfill_events(
    account: &AccountId,
    id: BackfillId,
    customer: CustomerId,
    timeframe: Timeframe,
    limit: usize,
) -> Scan {
    let of = |at| KeyBytes::of(account).bytes(id.as_bytes()).bytes(customer.as_bytes()).instant(at);
    let minutes = Minute::covering(timeframe);
    let (from, until) = (of(minutes.start()).into_vec(), of(minutes.end()).into_vec());
    Scan::range(BACKFILL_EVENT, &from, &until, limit)
}

/// `backfill_share (account, backfill, customer)`: what a customer has of a backfill. There is one for
/// each customer that the backfill has events of, or was reflected for.
pub(crate) fn backfill_share(
    account: &AccountId,
    id: BackfillId,
    customer: CustomerId,
) -> Slot<BackfillShare> {
    KeyBytes::of(account).bytes(id.as_bytes()).bytes(customer.as_bytes()).slot(BACKFILL_SHARE)
}

/// The shares of all customers of a backfill.
pub(crate) fn backfill_shares(account: &AccountId, id: BackfillId, limit: usize) -> Scan {
    Scan::prefix(BACKFILL_SHARE, &KeyBytes::of(account).bytes(id.as_bytes()).into_vec(), limit)
}

/// Reads a share that a scan found.
pub(crate) fn read_share(key: &Key, document: &Document) -> Result<BackfillShare, Error> {
    Slot::new(key.clone()).decode(document)
}

/// `account_corrections (account)`: what corrects the figures of all customers.
pub(crate) fn account_corrections(account: &AccountId) -> Slot<AccountCorrections> {
    KeyBytes::of(account).slot(ACCOUNT_CORRECTIONS)
}

/// `corrections (account, customer)`: what corrects its figures.
pub(crate) fn corrections(account: &AccountId, id: CustomerId) -> Slot<Corrections> {
    KeyBytes::of(account).bytes(id.as_bytes()).slot(CORRECTIONS)
}

/// `overlay (account, customer, day, backfill)`: that a backfill is reflected for it, on each day that
/// the backfill touches.
pub(crate) fn overlay(
    account: &AccountId,
    customer: CustomerId,
    day: Day,
    id: BackfillId,
) -> Slot<OverlayEntry> {
    KeyBytes::of(account)
        .bytes(customer.as_bytes())
        .instant(day.start())
        .bytes(id.as_bytes())
        .slot(OVERLAY)
}

/// The overlays of a customer from one day up to another.
pub(crate) fn overlays(account: &AccountId, customer: CustomerId, days: Timeframe) -> Scan {
    let key = |at| KeyBytes::of(account).bytes(customer.as_bytes()).instant(at).into_vec();
    Scan::range(OVERLAY, &key(days.start()), &key(days.end()), limits::SCAN_ROWS)
}

/// Reads the backfill of an overlay that a scan found, and what is kept of it.
pub(crate) fn read_overlay(
    key: &Key,
    document: &Document,
) -> Result<(BackfillId, OverlayEntry), Error> {
    let id = key.bytes().last_chunk::<16>().copied().map(BackfillId::from_bytes);
    let id = id.ok_or_else(|| Error::corrupt(format!("the key {key} names no backfill")))?;
    Ok((id, Slot::new(key.clone()).decode(document)?))
}

/// Reads the day of an overlay from its key.
pub(crate) fn overlay_day(account: &AccountId, key: &Key) -> Result<Day, Error> {
    let rest = key.bytes().get(account.len().saturating_add(1 + 16)..);
    let at = rest.and_then(<[u8]>::first_chunk::<8>).map(|bytes| i64::from_be_bytes(*bytes));
    let at = at.and_then(|micros| Timestamp::from_micros(micros).ok());
    Ok(Day::of(at.ok_or_else(|| Error::corrupt(format!("the key {key} has no day")))?))
}

/// `calendar (account, customer, day)`: which of its figures count. A day without has those of
/// slot A, and none that are built.
pub(crate) fn calendar(account: &AccountId, customer: CustomerId, day: Day) -> Slot<CalendarDay> {
    KeyBytes::of(account).bytes(customer.as_bytes()).instant(day.start()).slot(CALENDAR)
}

/// The calendar of a customer from one day up to another.
pub(crate) fn calendar_days(account: &AccountId, customer: CustomerId, days: Timeframe) -> Scan {
    let key = |at| KeyBytes::of(account).bytes(customer.as_bytes()).instant(at).into_vec();
    Scan::range(CALENDAR, &key(days.start()), &key(days.end()), limits::SCAN_ROWS)
}

/// Reads a day of a calendar that a scan found.
pub(crate) fn read_calendar_day(
    key: &Key,
    document: &Document,
) -> Result<(Day, CalendarDay), Error> {
    let at = key.bytes().last_chunk::<8>().map(|bytes| i64::from_be_bytes(*bytes));
    let at = at.and_then(|micros| Timestamp::from_micros(micros).ok());
    let at = at.ok_or_else(|| Error::corrupt(format!("the key {key} has no day")))?;
    Ok((Day::of(at), Slot::new(key.clone()).decode(document)?))
}

// Lists.

/// Where the rows of a list are: a table, and the bytes that their keys begin with.
pub(crate) struct Index {
    table: Table,
    prefix: Vec<u8>,
}

impl Index {
    pub(crate) fn api_keys(account: &AccountId) -> Self {
        Self { table: API_KEY_BY_TIME, prefix: KeyBytes::of(account).into_vec() }
    }

    pub(crate) fn credit_blocks(account: &AccountId, id: CustomerId, unit: &PricingUnit) -> Self {
        let prefix = KeyBytes::of(account).ledger(id, unit).into_vec();
        Self { table: CREDIT_BLOCK_BY_TIME, prefix }
    }

    pub(crate) fn ledger_entries(account: &AccountId, id: CustomerId, unit: &PricingUnit) -> Self {
        let prefix = KeyBytes::of(account).ledger(id, unit).into_vec();
        Self { table: LEDGER_ENTRY_BY_TIME, prefix }
    }

    pub(crate) fn ledger_entries_of_kind(
        account: &AccountId,
        id: CustomerId,
        unit: &PricingUnit,
        kind: EntryKind,
    ) -> Self {
        let prefix = KeyBytes::of(account).ledger(id, unit).kind(kind).into_vec();
        Self { table: LEDGER_ENTRY_BY_KIND, prefix }
    }

    pub(crate) fn backfills(account: &AccountId) -> Self {
        Self { table: BACKFILL_BY_TIME, prefix: KeyBytes::of(account).into_vec() }
    }

    pub(crate) fn backfills_of_customer(account: &AccountId, id: CustomerId) -> Self {
        let prefix = KeyBytes::of(account).bytes(id.as_bytes()).into_vec();
        Self { table: BACKFILL_BY_CUSTOMER, prefix }
    }

    pub(crate) fn backfills_of_status(account: &AccountId, status: BackfillStatus) -> Self {
        let prefix = KeyBytes::of(account).backfill_status(status).into_vec();
        Self { table: BACKFILL_BY_STATUS, prefix }
    }

    pub(crate) fn customers(account: &AccountId) -> Self {
        Self { table: CUSTOMER_BY_TIME, prefix: KeyBytes::of(account).into_vec() }
    }

    pub(crate) fn items(account: &AccountId) -> Self {
        Self { table: ITEM_BY_TIME, prefix: KeyBytes::of(account).into_vec() }
    }

    pub(crate) fn metrics(account: &AccountId) -> Self {
        Self { table: METRIC_BY_TIME, prefix: KeyBytes::of(account).into_vec() }
    }

    pub(crate) fn plans(account: &AccountId) -> Self {
        Self { table: PLAN_BY_TIME, prefix: KeyBytes::of(account).into_vec() }
    }

    pub(crate) fn prices(account: &AccountId) -> Self {
        Self { table: PRICE_BY_TIME, prefix: KeyBytes::of(account).into_vec() }
    }

    pub(crate) fn subscriptions(account: &AccountId) -> Self {
        Self { table: SUBSCRIPTION_BY_TIME, prefix: KeyBytes::of(account).into_vec() }
    }

    pub(crate) fn subscriptions_of_customer(account: &AccountId, id: CustomerId) -> Self {
        let prefix = KeyBytes::of(account).bytes(id.as_bytes()).into_vec();
        Self { table: SUBSCRIPTION_BY_CUSTOMER, prefix }
    }

    pub(crate) fn subscriptions_of_plan(account: &AccountId, id: PlanId) -> Self {
        let prefix = KeyBytes::of(account).bytes(id.as_bytes()).into_vec();
        Self { table: SUBSCRIPTION_BY_PLAN, prefix }
    }

    pub(crate) fn subscriptions_of_status(account: &AccountId, status: SubscriptionStatus) -> Self {
        let prefix = KeyBytes::of(account).subscription_status(status).into_vec();
        Self { table: SUBSCRIPTION_BY_STATUS, prefix }
    }

    /// The rows created from one instant up to another, oldest first.
    pub(crate) fn scan(&self, from: Timestamp, until: Timestamp, limit: usize) -> Scan {
        let key = |at: Timestamp| [self.prefix.as_slice(), &at.micros().to_be_bytes()].concat();
        Scan::range(self.table, &key(from), &key(until), limit)
    }

    /// The key of a row that stands at a position.
    pub(crate) fn key_at(&self, position: &[u8]) -> Vec<u8> {
        [self.prefix.as_slice(), position].concat()
    }
}

/// Where a row stands in a list, by the bytes of its key.
pub(crate) fn position(bytes: &[u8]) -> Option<Position> {
    bytes.last_chunk::<24>().copied()
}

/// Where a row stands in a list.
pub(crate) fn position_of(created_at: Timestamp, id: &[u8; 16]) -> Position {
    let mut position = [0; 24];
    let bytes = created_at.micros().to_be_bytes().into_iter().chain(*id);
    position.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
    position
}

/// Where an hour stands in the list of event volumes.
pub(crate) fn position_of_hour(hour: Hour) -> Position {
    position_of(hour.start(), &[0; 16])
}

/// The hour that stands at a position.
pub(crate) fn hour_at(position: &Position) -> Option<Hour> {
    let micros = position.first_chunk::<8>().copied().map(i64::from_be_bytes)?;
    Timestamp::from_micros(micros).ok().map(Hour::of)
}

/// The id of the row that stands at a position.
pub(crate) fn id_at(position: &Position) -> [u8; 16] {
    position.last_chunk::<16>().copied().unwrap_or_default()
}

/// Where an entry stands in its ledger.
pub(crate) fn place_of(entry: &LedgerEntry) -> Position {
    position_of(entry.created_at, &u128::from(entry.ledger_sequence_number).to_be_bytes())
}

/// The number of the ledger's entry that stands at a position.
pub(crate) fn number_at(position: &Position) -> u64 {
    position.last_chunk::<8>().copied().map_or(0, u64::from_be_bytes)
}
