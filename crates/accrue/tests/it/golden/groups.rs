use accrue::{
    PropertyName, WrittenDecimal,
    alert::{NewAlert, ThresholdOverride},
    metric::Metric,
    price::{Charge, GroupedTiered, LowerBoundTier, Model, NewPrice},
    subscription::NewSubscription,
};

use crate::{
    support::{
        fixture::{Fixture, event, run, thresholds},
        priced::{cost_alert, unit},
    },
    usage_customers::of,
};

/// A customer whose usage is priced by user, and watched: by one subscription as its own, and by another one as that of
/// a list.
pub(super) fn used(fixture: &Fixture, sum: &Metric) {
    let written = |text: &str| WrittenDecimal::parse(text).unwrap();
    let tier = |bound, amount| LowerBoundTier {
        tier_lower_bound: written(bound),
        unit_amount: written(amount),
    };
    let user = PropertyName::parse("user").unwrap();
    let model = Model::GroupedTiered(GroupedTiered {
        grouping_key: user.clone(),
        tiers: vec![tier("0", "2"), tier("10", "1")],
    });
    let charge = Charge::Usage { metric_id: sum.id, model }.into();
    let price = NewPrice { charge, ..fixture.usage_at("1", sum) };
    let plan = fixture.priced_plan([price.into()]);
    let customer = fixture.customer("groups").id;
    let mut listed = NewSubscription::new(customer, plan.id);
    listed.usage_customers = Some(of(&[customer]));
    for subscription in [fixture.subscribe(customer, &plan), fixture.create(listed)] {
        let alert = cost_alert(&["1000"]);
        run(fixture.account.create_subscription_alert(subscription.id, alert)).unwrap();
    }
    use_by(fixture, "groups", "of a user", &user);
}

/// Another one, of whom an alert watches each user by itself.
pub(super) fn watched(fixture: &Fixture, sum: &Metric) {
    let plan = fixture.priced_plan([fixture.usage_at("1", sum).into()]);
    let customer = fixture.customer("watched").id;
    let subscription = fixture.subscribe(customer, &plan);
    let user = PropertyName::parse("user").unwrap();
    let mut new =
        NewAlert::grouped_cost_exceeded([user.clone()], unit("USD"), thresholds(&["5", "10"]));
    let instead = |of: &str, thresholds| ThresholdOverride {
        group_keys: Some(vec![user.clone()]),
        group_values: vec![of.to_owned()],
        thresholds,
    };
    new.threshold_overrides = vec![instead("eve", Some(thresholds(&["20"]))), instead("ada", None)];
    run(fixture.account.create_subscription_alert(subscription.id, new)).unwrap();
    use_by(fixture, "watched", "of a watched user", &user);
}

fn use_by(fixture: &Fixture, customer: &str, key: &str, user: &PropertyName) {
    let now = accrue::Clock::now(&fixture.clock);
    let mut event = event(customer, key, now, "12");
    let known = event.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
    event.properties = known.chain([(user.clone(), "bob".into())]).collect();
    run(fixture.account.ingest([event])).unwrap();
}
