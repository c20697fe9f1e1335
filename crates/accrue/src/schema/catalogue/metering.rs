//! The rows of what is metered, priced and credited, and of whoever uses it.

#[cfg(test)]
mod tests;

use crate::{
    AccountId, AdjustmentId, AlertId, ApiKeyId, BackfillId, CreditBlockId, CustomerId, Error,
    EventKey, ExternalId, IdempotencyKey, ItemId, LicenseId, LicenseTypeId, MetricId, PlanId,
    PricingUnit, SubscriptionChangeId, SubscriptionId, Timeframe, Timestamp, TopUpId,
    account::AccountEntry,
    api_key::{ApiKey, ApiKeyEntry},
    backfill::{Backfill, BackfillStatus},
    credit::{Block, Booked, Drawn, EntryKind, Ledger, LedgerEntry, TopUpState},
    customer::Customer,
    idempotency::{Epoch, Record},
    item::Item,
    license::{License, LicenseType},
    meter::{CellHash, CellId, Meter, MeterId},
    metric::Metric,
    plan::PlanVersion,
    price::ScopedAdjustment,
    schema::{
        documents::*,
        index::Index,
        key::{KeyBytes, Part as _, ReadPart, read_key},
        slot::Slot,
    },
    store::{Document, Key, Scan, Table},
    subscription::{
        ChangeStatus, PeriodKey, SubscriptionChange, SubscriptionEntry, SubscriptionStatus,
    },
    usage::{
        BucketSlot, Day, Digest, DistinctIndex, EventBlock, EventKeyEntry, FourWeeks, Hour, Minute,
        Window,
    },
};

tables! {
    /// The configuration of an account.
    account(account) -> AccountEntry [guarded by AccountHead], read_often, resident;

    /// One change to an alert on every subscription of the account.
    account_alert_revision(account, number: u64) -> AlertRevision, read_often;

    /// Corrections of the figures of all customers.
    account_corrections(account)
        -> AccountCorrections [guarded by AccountHead], read_often, resident;

    /// Guard of what an account configures: every commit that changes any of it writes it.
    account_head(account) -> AccountHead {
        /// The heads of all accounts.
        scan account_heads();
    }

    /// Subscriptions of a customer that events may still count for.
    active_subscriptions(account, customer: CustomerId)
        -> ActiveIds [guarded by CustomerHead], read_often, resident;

    /// An adjustment that a plan or a subscription was given, to be given again.
    adjustment(account, adjustment: AdjustmentId) -> ScopedAdjustment;

    /// An alert of a subscription or on a balance, and the mark that deletes it.
    alert(account, alert: AlertId) -> AlertEntry [guarded by CustomerHead], read_often, resident;

    /// Thresholds of an alert that have fired in a billing period for a group.
    alert_group(
        account, subscription: SubscriptionId, period_start: Timestamp, alert: AlertId, group: CellHash
    ) -> AlertGroupEntry [guarded by CustomerHead], resident {
        /// The groups of an alert in a billing period that have fired.
        scan alert_groups(
            account, subscription: SubscriptionId, period_start: Timestamp, alert: AlertId
        );
        read read_alert_group();
    }

    /// How many groups an alert watches in a billing period.
    alert_group_count(
        account, subscription: SubscriptionId, period_start: Timestamp, alert: AlertId
    ) -> AlertGroupCount [guarded by CustomerHead], resident;

    /// One change to an alert of a plan version.
    alert_revision(account, plan: PlanId, version: PlanVersion, number: u64)
        -> AlertRevision, read_often;

    /// Thresholds of an alert that have fired in a billing period.
    alert_state(account, subscription: SubscriptionId, period_start: Timestamp, alert: AlertId)
        -> AlertState [guarded by CustomerHead], resident;

    /// Instants at which events of a customer were amended and deprecated.
    amendments(account, customer: CustomerId) -> Amendments;

    /// An API key, with its account: nobody knows whose it is before it was read.
    api_key(key: ApiKeyId) -> ApiKeyEntry {
        /// API keys of any account.
        scan api_keys();
    }

    /// API keys, by when they were made.
    api_key_by_time(account, key: &ApiKey) = (account, key.created_at, key.id) -> Nothing {
        list api_keys(account);
        /// The API keys of all accounts, account by account.
        scan api_keys_by_account();
    }

    /// A backfill.
    backfill(account, backfill: BackfillId) -> Backfill;

    /// Backfills for one customer, by when they were made.
    backfill_by_customer(account, customer: CustomerId, of: &Backfill)
        = (account, customer, of.created_at, of.id) -> Nothing {
        list backfills_of_customer(account, customer: CustomerId);
    }

    /// Backfills by where they stand, and by when they were made.
    backfill_by_status(account, of: &Backfill)
        = (account, of.status, of.created_at, of.id) -> Nothing {
        list backfills_of_status(account, status: BackfillStatus);
    }

    /// Backfills, by when they were made.
    backfill_by_time(account, of: &Backfill) = (account, of.created_at, of.id) -> Nothing {
        list backfills(account);
    }

    /// Events of a minute that a backfill has brought.
    backfill_event(
        account, backfill: BackfillId, customer: CustomerId, minute: Minute, number: u64
    ) -> EventBlock<'static> [guarded by CustomerHead] {
        /// The events of a customer in a backfill.
        range backfill_events(account, backfill: BackfillId, customer: CustomerId) by Minute;
        read read_backfill_event(minute: Minute);
    }

    /// The share of each customer in a backfill that it has events of, or was reflected for.
    backfill_share(account, backfill: BackfillId, customer: CustomerId)
        -> BackfillShare [guarded by CustomerHead] {
        /// The shares of all customers of a backfill.
        scan backfill_shares(account, backfill: BackfillId);
        key share_customer(customer: CustomerId);
        read read_share();
    }

    /// Thresholds of an alert on a balance that are in alert.
    balance_alert_state(account, alert: AlertId)
        -> BalanceAlertState [guarded by CustomerHead], resident;

    /// The aggregate of the events of 15 minutes.
    bucket(
        account, customer: CustomerId, cell: CellId, window: Window, bucket_slot: BucketSlot
    ) -> Bucket [guarded by CustomerHead], resident {
        /// The buckets of a customer's cell, of both slots.
        range buckets(account, customer: CustomerId, cell: CellId) by Window;
        key bucket_place(window: Window, bucket_slot: BucketSlot);
        read read_bucket();
    }

    /// Slot of the figures of a day that count. Without a row it is slot A, and no other is built.
    calendar(account, customer: CustomerId, day: Day) -> CalendarDay [guarded by CustomerHead] {
        /// The calendar of a customer.
        range calendar_days(account, customer: CustomerId) by Day;
        read read_calendar_day(day: Day);
    }

    /// Aggregates of a stretch of a subscription's life, by cell of its matrices.
    cell_total(account, subscription: SubscriptionId, period: PeriodKey)
        = (account, subscription, period.start, period.end)
        -> CellTotalEntry [guarded by CustomerHead], resident;

    /// Corrections of the figures of a customer.
    corrections(account, customer: CustomerId)
        -> Corrections [guarded by CustomerHead], read_often, resident;

    /// A block of credits.
    credit_block(account, block: CreditBlockId) -> Block [guarded by CustomerHead], resident;

    /// The blocks of a ledger, by when they were made.
    credit_block_by_time(account, of: &Block)
        = (account, of.customer_id, of.block.currency, of.block.created_at, of.block.id) -> Nothing {
        list credit_blocks(account, customer: CustomerId, unit: &PricingUnit);
    }

    /// The metadata of a block, where it has any. It is apart, so that usage moves a small row.
    credit_block_metadata(account, block: CreditBlockId) -> BlockMetadata [guarded by CustomerHead];

    /// Currencies and pricing units in which a customer has a ledger, or alerts on one.
    credits(account, customer: CustomerId)
        -> Credits [guarded by CustomerHead], read_often, resident;

    /// A customer, and the mark that deletes it.
    customer(account, customer: CustomerId)
        -> CustomerEntry [guarded by CustomerHead], read_often, resident;

    /// Customers, by when they were created.
    customer_by_time(account, of: &Customer) = (account, of.created_at, of.id) -> Nothing {
        list customers(account);
    }

    /// A customer by its alias.
    customer_external(account, alias: &ExternalId)
        -> CustomerAlias [guarded by CustomerHead], read_often, resident;

    /// Guard and counters of a customer: each commit for its events, figures, credits or terms writes it.
    customer_head(account, customer: CustomerId) -> CustomerHead, read_often {
        /// The heads of all customers, those of customers that are yet to be created included.
        scan customer_heads(account);
        /// Those of all accounts.
        scan customer_heads_by_account();
        read read_customer_head(customer: CustomerId);
    }

    /// The next thing that time brings for an owner.
    deadline(at: Timestamp, account, owner: Owner) -> Deadline {
        /// The deadlines within a timeframe, of all accounts.
        range deadlines();
        read read_deadline();
    }

    /// An index of when a distinct value was seen.
    distinct_index(account, customer: CustomerId, cell: CellId, digest: &Digest) -> DistinctIndex [guarded by CustomerHead];

    /// A distinct value of a bucket.
    distinct_value(
        account, customer: CustomerId, cell: CellId, window: Window, bucket_slot: BucketSlot,
        digest: &Digest
    ) -> Nothing [guarded by CustomerHead] {
        /// The distinct values of a customer's cell, of both slots.
        range distinct_values(account, customer: CustomerId, cell: CellId) by Window;
        /// The bucket of a distinct value, and the value.
        key distinct_place(window: Window, bucket_slot: BucketSlot, digest: Digest);
    }

    /// Credits that the usage of a billing period has drawn from a ledger.
    drawn(
        account, subscription: SubscriptionId, period_start: Timestamp, unit: &PricingUnit
    ) = (account, subscription, period_start, unit.as_str()) -> Drawn [guarded by CustomerHead], resident;

    /// Events of a minute.
    event(account, customer: CustomerId, minute: Minute, number: u64) -> EventBlock<'static> [guarded by CustomerHead] {
        /// The events of a customer.
        range events(account, customer: CustomerId) by Minute;
        key event_minute(minute: Minute);
        read read_event(minute: Minute);
    }

    /// The slot of an event, and the hash of its content.
    event_key(account, key: &EventKey) -> EventKeyEntry;

    /// The number of events of an hour that count for a customer.
    event_volume(account, hour: Hour, customer: CustomerId)
        -> EventCount [guarded by CustomerHead], resident {
        /// The numbers of events of all customers.
        range event_volumes(account) by Hour;
        key volume_customer(customer: CustomerId);
        read read_event_volume(hour: Hour);
    }

    /// Rows that an ingest has asked for, by the name that it has for the customer: a guess of what the next one asks for.
    footprint(account, name: &str) -> Footprint;

    /// A group of a meter that a customer has events of in four weeks.
    group(
        account, customer: CustomerId, meter: MeterId, weeks: FourWeeks, group: CellHash
    ) -> GroupEntry [guarded by CustomerHead] {
        /// The groups of a meter that a customer has.
        range groups(account, customer: CustomerId, meter: MeterId) by FourWeeks;
        read read_group();
    }

    /// How many groups of a meter a customer has in four weeks.
    group_count(
        account, customer: CustomerId, meter: MeterId, weeks: FourWeeks
    ) -> GroupCount [guarded by CustomerHead];

    /// How many groups there are in a stretch of a subscription's life, and what prices make of them.
    group_sums(account, subscription: SubscriptionId, start: Timestamp, end: Timestamp)
        -> GroupSumsEntry [guarded by CustomerHead], resident;

    /// What a group adds up to in a stretch of a subscription's life.
    group_total(
        account, subscription: SubscriptionId, start: Timestamp, end: Timestamp, meter: MeterId,
        group: CellHash
    ) -> GroupTotalEntry [guarded by CustomerHead], resident {
        /// The groups of a stretch.
        scan group_totals(
            account, subscription: SubscriptionId, start: Timestamp, end: Timestamp
        );
        read read_group_total();
    }

    /// An item.
    item(account, item: ItemId) -> Item, read_often;

    /// Items that are not archived, by what their names come to.
    item_by_name(account, of: &Item) = (account, of.name_digest(), of.created_at, of.id) -> Nothing {
        list items_of_name(account, name: &Digest);
    }

    /// Items, by when they were created.
    item_by_time(account, of: &Item) = (account, of.created_at, of.id) -> Nothing {
        list items(account);
    }

    /// A ledger of credits, without its blocks and entries.
    ledger(account, customer: CustomerId, unit: &PricingUnit)
        = (account, customer, unit.as_str()) -> Ledger [guarded by CustomerHead], resident {
        pick written_ledger();
    }

    /// An entry of a ledger.
    ledger_entry(account, customer: CustomerId, unit: &PricingUnit, number: u64) -> Booked [guarded by CustomerHead], resident;

    /// The entries of a ledger, by kind, and by when they were made.
    ledger_entry_by_kind(account, of: &LedgerEntry)
        = (
            account, of.customer_id, of.currency, of.entry_type.kind(), of.created_at,
            u128::from(of.ledger_sequence_number)
        ) -> Nothing {
        list ledger_entries_of_kind(
            account, customer: CustomerId, unit: &PricingUnit, kind: EntryKind
        );
    }

    /// The entries of a ledger, by when they were made.
    ledger_entry_by_time(account, of: &LedgerEntry)
        = (
            account, of.customer_id, of.currency, of.created_at,
            u128::from(of.ledger_sequence_number)
        ) -> Nothing {
        list ledger_entries(account, customer: CustomerId, unit: &PricingUnit);
    }

    /// A license.
    license(account, license: LicenseId) -> License [guarded by CustomerHead];

    /// The licenses of a subscription, by when they end: behind all others those without an end.
    license_by_end(account, of: &License)
        = (account, of.subscription_id, of.license_type_id, of.ends_at(), of.id)
        -> Nothing [guarded by CustomerHead] {
        list licenses_by_end(account, subscription: SubscriptionId, license_type: LicenseTypeId);
    }

    /// The licenses of an external id, by when they start.
    license_by_external_id(account, of: &License)
        = (
            account, of.subscription_id, of.license_type_id,
            &License::digest(&of.external_license_id), of.start_date, of.id
        ) -> Nothing [guarded by CustomerHead] {
        list licenses_of_external_id(
            account, subscription: SubscriptionId, license_type: LicenseTypeId, external: &Digest
        );
    }

    /// The licenses of a subscription, by when they were created.
    license_by_time(account, of: &License)
        = (account, of.subscription_id, of.created_at, of.id)
        -> Nothing [guarded by CustomerHead] {
        list licenses(account, subscription: SubscriptionId);
    }

    /// A license type.
    license_type(account, license_type: LicenseTypeId) -> LicenseType, read_often;

    /// License types, by when they were created.
    license_type_by_time(account, of: &LicenseType) = (account, of.created_at, of.id) -> Nothing {
        list license_types(account);
    }

    /// A meter that divides a metric.
    meter(account, meter: MeterId) -> Meter [guarded by AccountHead], read_often, resident;

    /// A metric.
    metric(account, metric: MetricId) -> Metric [guarded by AccountHead], read_often, resident;

    /// Metrics, by when they were created.
    metric_by_time(account, of: &Metric) = (account, of.created_at, of.id) -> Nothing {
        list metrics(account);
    }

    /// Metrics, and the meters that divide them, that every event is held against.
    metric_catalogue(account) -> Catalogue [guarded by AccountHead], read_often, resident;

    /// Backfills that are pending, or about to be reverted, which none may overlap.
    open_backfills(account) -> OpenBackfills;

    /// A backfill that is reflected for a customer, on each day that it touches.
    overlay(account, customer: CustomerId, day: Day, backfill: BackfillId) -> OverlayEntry [guarded by CustomerHead] {
        /// The overlays of a customer.
        range overlays(account, customer: CustomerId) by Day;
        key overlay_day(day: Day);
        read read_overlay(backfill: BackfillId);
    }

    /// The record of a keyed operation (§4.5), by the epoch in which it completed.
    record(epoch: Epoch, account, key: &IdempotencyKey) -> Record {
        /// The records of epochs, of all accounts.
        range records() by Epoch;
    }

    /// A piece of an answer that does not fit its record.
    record_part(epoch: Epoch, account, number: u32, key: &IdempotencyKey) -> RecordPart {
        /// The pieces of the answers of epochs, of all accounts.
        range record_parts() by Epoch;
    }

    /// A subscription, without its terms.
    subscription(account, subscription: SubscriptionId)
        -> SubscriptionEntry [guarded by CustomerHead], read_often, resident;

    /// Subscriptions, by when time brings them another status.
    subscription_by_change(account, at: Timestamp, of: &SubscriptionEntry)
        = (account, at, of.subscription.created_at, of.subscription.id) -> Nothing {
        /// The subscriptions whose status has changed within a timeframe, and was not written since.
        range changed_subscriptions(account);
    }

    /// The subscriptions of a customer, by when they were created.
    subscription_by_customer(account, of: &SubscriptionEntry)
        = (account, of.subscription.customer_id, of.subscription.created_at, of.subscription.id)
        -> SubscriptionOf {
        list subscriptions_of_customer(account, customer: CustomerId);
    }

    /// The subscriptions to a plan, by when they were created.
    subscription_by_plan(account, plan_id: PlanId, of: &SubscriptionEntry)
        = (account, plan_id, of.subscription.created_at, of.subscription.id)
        -> SubscriptionOf {
        list subscriptions_of_plan(account, plan: PlanId);
    }

    /// Subscriptions by where they stood when they were written last, and by when they were created.
    subscription_by_status(account, of: &SubscriptionEntry)
        = (account, of.status_notified(), of.subscription.created_at, of.subscription.id)
        -> Nothing {
        list subscriptions_of_status(account, status: SubscriptionStatus);
    }

    /// Subscriptions, by when they were created.
    subscription_by_time(account, of: &SubscriptionEntry)
        = (account, of.subscription.created_at, of.subscription.id) -> SubscriptionOf {
        list subscriptions(account);
    }

    /// A change of a subscription that waits to be applied, or has waited.
    subscription_change(account, change: SubscriptionChangeId)
        -> SubscriptionChange [guarded by CustomerHead];

    /// The changes of the subscriptions of a customer, by when they were staged.
    subscription_change_by_customer(account, of: &SubscriptionChange)
        = (account, of.customer_id, of.created_at, of.id) -> Nothing {
        list subscription_changes_of_customer(account, customer: CustomerId);
    }

    /// Changes by where they stood when they were written last, and by when they were staged.
    subscription_change_by_status(account, of: &SubscriptionChange)
        = (account, of.status_written(), of.created_at, of.id) -> Nothing {
        list subscription_changes_of_status(account, status: ChangeStatus);
    }

    /// Changes, by when they were staged.
    subscription_change_by_time(account, of: &SubscriptionChange)
        = (account, of.created_at, of.id) -> Nothing {
        list subscription_changes(account);
    }

    /// A part of the request of a change that waits.
    subscription_change_request(account, change: SubscriptionChangeId, part: u16)
        -> RequestPart [guarded by CustomerHead];

    /// Price intervals and adjustment intervals of a subscription, as many as fit a row.
    terms(account, subscription: SubscriptionId, part: u16)
        -> Terms [guarded by CustomerHead], read_often, resident;

    /// A top-up, and where it stands.
    top_up(account, top_up: TopUpId) -> TopUpState [guarded by CustomerHead], resident;

    /// Aggregates of a billing period, or of another stretch of a subscription's life, by metric.
    total(account, subscription: SubscriptionId, period: PeriodKey)
        = (account, subscription, period.start, period.end)
        -> TotalEntry [guarded by CustomerHead], resident;
}
