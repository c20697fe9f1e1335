//! Figures equal a naive recomputation, in whatever order and batches events come.

use std::time::Duration;

use accrue::{
    Clock as _,
    account::Configuration,
    store::MemoryStore,
    subscription::{Cancellation, NewSubscription},
};
use accrue_tests::{
    cases,
    host::{Host, customer, event},
    script, world,
};
use pollster::block_on;
use proptest::prelude::*;

/// Near the end of a short month, so that months are crossed and clamped.
const BEGINNINGS: &[&str] =
    &["2026-03-10T09:07:31.000001Z", "2028-02-28T23:50:00Z", "2025-01-31T00:00:00Z"];

proptest! {
    #![proptest_config(cases(400))]

    /// §5: an aggregate always equals a recomputation from the events.
    #[test]
    fn figures_equal_a_recomputation(
        beginning in prop::sample::select(BEGINNINGS),
        script in script::metering(),
        manner in script::manner(),
    ) {
        world::run(beginning, &script, &manner);
    }

    /// §5: membership of distinct values is stored once per customer and metric, whatever
    /// subscriptions there are, and however short they live.
    #[test]
    fn distinct_values_are_told_at_the_edges_of_short_lives(
        beginning in prop::sample::select(BEGINNINGS),
        script in script::short_lives(),
        manner in script::manner(),
    ) {
        world::run(beginning, &script, &manner);
    }
}

/// §5: "An event counts for every subscription of its customer with start <= timestamp < end."
///
/// A cancellation may be moved to a later date, and then the subscription covers an event that lay
/// behind its end when it was accepted: up to five minutes in the future.
#[test]
fn an_end_that_is_moved_to_later_lets_events_before_it_count() {
    let host = Host::on(MemoryStore::new());
    let metric = host.metric("SELECT count(*) FROM events");
    let now = host.clock.now();
    let minutes = |minutes: u64| now.saturating_add(Duration::from_secs(60 * minutes));
    block_on(async {
        let ada = host.account.create_customer(customer("ada")).await.unwrap();
        let new = NewSubscription::new(ada.id, host.plan().id);
        let subscription = host.account.create_subscription(new).await.unwrap().id;
        let cancel = |at| {
            let date = Cancellation::RequestedDate(at);
            host.account.cancel_subscription(subscription, date)
        };
        cancel(minutes(1)).await.unwrap();
        host.account.ingest([event("ada", "k", minutes(3), &[])]).await.unwrap();
        cancel(minutes(60)).await.unwrap();
        let usage = host.account.subscription_usage(subscription).await.unwrap();
        let between = host.account.usage_between(ada.id, metric.id, usage.timeframe).await;
        assert_eq!(usage.metrics[0].quantity, between.unwrap());
    });
}

/// The usage of a subscription that has ended is that of its last period; an event counts for every
/// subscription of its customer with start <= timestamp < end (§5), also for one that is created
/// when no event of its life is taken any more.
#[test]
fn a_subscription_that_is_created_when_it_is_long_past_has_its_usage() {
    let host = Host::on(MemoryStore::new());
    let metric = host.metric("SELECT count(*) FROM events");
    let began = host.clock.now();
    block_on(async {
        let ada = host.account.create_customer(customer("ada")).await.unwrap();
        host.account.ingest([event("ada", "k", began, &[])]).await.unwrap();
        host.clock.advance(Duration::from_secs(3 * 24 * 60 * 60));
        let mut new = NewSubscription::new(ada.id, host.plan().id);
        new.start_date = Some(began);
        new.end_date = Some(began.saturating_add(Duration::from_secs(60 * 60)));
        let subscription = host.account.create_subscription(new).await.unwrap().id;
        let usage = host.account.subscription_usage(subscription).await.unwrap();
        let between = host.account.usage_between(ada.id, metric.id, usage.timeframe).await;
        assert_eq!(usage.metrics[0].quantity, between.unwrap());
    });
}

/// §5, as above: what the grace period was in between makes no difference to an event that is taken
/// now.
#[test]
fn a_grace_period_that_grows_lets_late_events_count_for_ended_subscriptions() {
    let host = Host::on(MemoryStore::new());
    let metric = host.metric("SELECT count(*) FROM events");
    let began = host.clock.now();
    let hours = |hours: u64| Duration::from_secs(hours * 60 * 60);
    let grace = |period| {
        let mut configuration = Configuration::default();
        configuration.grace_period = period;
        host.account.configure(configuration)
    };
    block_on(async {
        let ada = host.account.create_customer(customer("ada")).await.unwrap();
        grace(hours(1)).await.unwrap();
        let mut new = NewSubscription::new(ada.id, host.plan().id);
        new.end_date = Some(began.saturating_add(hours(2)));
        let subscription = host.account.create_subscription(new).await.unwrap().id;
        host.clock.advance(hours(10));
        // Applies the end, when no event of that life is taken.
        host.tick();
        grace(hours(24)).await.unwrap();
        let at = began.saturating_add(hours(1));
        host.account.ingest([event("ada", "k", at, &[])]).await.unwrap();
        let usage = host.account.subscription_usage(subscription).await.unwrap();
        let between = host.account.usage_between(ada.id, metric.id, usage.timeframe).await;
        assert_eq!(usage.metrics[0].quantity, between.unwrap());
    });
}
