use accrue::subscription::Cancellation;

use crate::support::fixture::{COUNT, Fixture, at, block_on, run, usage_alert};

#[test]
fn applied_late_or_early_the_messages_are_the_same() {
    let story = |ticks: &[&str]| {
        let fixture = Fixture::new();
        let ada = fixture.customer("ada");
        let plan = fixture.plan();
        let first = fixture.subscribe(ada.id, &plan);
        fixture.subscribe_from(ada.id, &plan, Some("2026-03-11T00:00:00Z"));
        let cancel = Cancellation::RequestedDate(at("2026-03-13T00:00:00Z"));
        run(fixture.account.cancel_subscription(first.id, cancel)).unwrap();
        for now in ticks {
            fixture.set(now);
            while block_on(fixture.billing.tick(1)).unwrap().more {}
        }
        fixture.set("2026-03-20T00:00:00Z");
        fixture.use_now("ada", "a", "");
        let messages = fixture.messages();
        let told = messages
            .iter()
            .map(|message| format!("{} {}", message.created_at, message.message_type()));
        told.collect::<Vec<_>>()
    };
    let lazy = story(&[]);
    assert_eq!(lazy.len(), 7);
    assert_eq!(story(&["2026-03-14T00:00:00Z"]), lazy);
    let eager = ["2026-03-11T00:00:00Z", "2026-03-12T00:00:00Z", "2026-03-13T00:00:00Z"];
    assert_eq!(story(&eager), lazy);
}

#[test]
fn it_costs_what_is_due_and_says_when_to_come_again() {
    let fixture = Fixture::new();
    let plan = fixture.plan();
    for name in ["ada", "bob", "eve"] {
        let customer = fixture.customer(name);
        fixture.subscribe_from(customer.id, &plan, Some("2026-03-12T00:00:00Z"));
    }
    let before = fixture.dump();
    let idle = block_on(fixture.billing.tick(10)).unwrap();
    assert_eq!((idle.applied, idle.more), (0, false));
    assert_eq!(fixture.dump(), before);
    fixture.set("2026-03-12T00:00:00Z");
    let some = block_on(fixture.billing.tick(2)).unwrap();
    assert_eq!((some.applied, some.more), (2, true));
    let rest = block_on(fixture.billing.tick(2)).unwrap();
    assert_eq!((rest.applied, rest.more), (1, false));
    assert_eq!(
        block_on(fixture.billing.next_deadline()).unwrap(),
        Some(at("2026-04-12T00:00:00Z"))
    );
}

#[test]
fn a_change_to_a_plan_with_many_subscriptions_is_applied_in_steps() {
    let fixture = Fixture::new();
    let metric = fixture.metric(COUNT);
    let plan = fixture.plan();
    for number in 0..250 {
        let external = format!("customer-{number}");
        let customer = fixture.customer(&external);
        fixture.subscribe(customer.id, &plan);
        fixture.use_now(&external, &external, "");
    }
    while !fixture.messages().is_empty() {}
    run(fixture.account.create_plan_alert(plan.id, usage_alert(metric.id, &["1"]))).unwrap();
    let mut ticks = 0;
    while block_on(fixture.billing.tick(1)).unwrap().more {
        ticks += 1;
    }
    assert!(ticks >= 2, "{ticks} ticks");
    assert_eq!(fixture.fired().len(), 250);
    let leftovers = fixture.dump().into_iter().filter(|row| row.contains("plan_generation:"));
    assert_eq!(leftovers.count(), 0, "changes that all have seen are gone");
}
