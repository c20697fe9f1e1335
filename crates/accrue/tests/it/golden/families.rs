use std::collections::BTreeSet;

use accrue::{
    metric::Metric,
    plan::Plan,
    subscription::{NewPriceInterval, NewSubscription},
};

use crate::{
    price_intervals::adding,
    support::fixture::{Fixture, run},
    usage_customers::of,
};

/// A customer whose subscription counts its own usage and a child's, and for one price the child's alone.
pub(super) fn count(fixture: &Fixture, plan: &Plan, sum: &Metric) {
    let places = || fixture.waiting(1_000).iter().map(|of| of.place).collect::<BTreeSet<_>>();
    let before = places();
    let parent = fixture.customer("parent").id;
    let child = fixture.child("child", parent);
    let mut new = NewSubscription::new(parent, plan.id);
    new.usage_customers = Some(of(&[parent, child]));
    let subscription = fixture.create(new);
    let price = run(fixture.account.create_price(fixture.usage_at("1", sum))).unwrap().id;
    let mut interval = NewPriceInterval::new(price, subscription.start_date);
    interval.usage_customers = Some(of(&[child]));
    run(fixture.account.change_intervals(subscription.id, adding(interval))).unwrap();
    fixture.use_now("child", "of a child", "1");
    // What it tells is of kinds that wait already.
    let told: Vec<_> = places().difference(&before).copied().collect();
    run(fixture.account.acknowledge(told)).unwrap();
}
