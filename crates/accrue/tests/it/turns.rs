//! A turn of a billing period and the changes to a plan's alerts are applied in the order of their
//! instants, whoever looks in between.

use std::cell::RefCell;

use accrue::{
    AlertId,
    alert::{AlertUpdate, NewAlert},
    price::{FilterOperator, FilterValues, PriceClass, PriceFilter},
    subscription::Cancellation,
};

use crate::support::{
    fixture::{Fixture, at, run, thresholds},
    priced::{Priced, cost_alert, priced, spend_alert},
};

/// What happens at an instant.
type Step = (&'static str, fn(&Story));

struct Story {
    priced: Priced,
    alerts: RefCell<Vec<AlertId>>,
}

impl Story {
    fn alert(&self, index: usize) -> AlertId {
        self.alerts.borrow()[index]
    }

    fn fixture(&self) -> &Fixture {
        &self.priced.fixture
    }

    fn create(&self, new: NewAlert) {
        self.alerts.borrow_mut().push(self.priced.plan_alert(new).id);
    }
}

/// Tells a story; after those steps that are chosen by a bit everything due is applied. At the end
/// it always is.
fn tell(steps: &[Step], looks: usize) -> Vec<String> {
    let priced = priced(|fixture, metric| {
        [fixture.usage_at("1", metric), fixture.advance_fee("5"), fixture.arrear_fee("7")]
    });
    let story = Story { priced, alerts: RefCell::default() };
    for (index, (now, step)) in steps.iter().enumerate() {
        story.fixture().set(now);
        step(&story);
        if looks & (1 << index) != 0 {
            story.fixture().tick();
        }
    }
    story.fixture().tick();
    story.fixture().dated()
}

/// Makes sure that a story is the same whoever looks in between, and what it is.
fn check(steps: &[Step], expect: &[&str]) {
    let lazy = tell(steps, 0);
    assert_eq!(lazy, expect);
    for looks in 1..1 << steps.len() {
        assert_eq!(tell(steps, looks), lazy, "applied after the steps {looks:b}");
    }
}

#[test]
fn an_alert_that_was_changed_after_a_turn_is_judged_at_it_as_it_was_before() {
    check(
        &[
            ("2026-03-20T00:00:00Z", |story| story.create(cost_alert(&["12"]))),
            ("2026-04-20T00:00:00Z", |story| {
                story.fixture().rethreshold(story.alert(0), &["13"]);
            }),
            ("2026-05-20T00:00:00Z", |_| {}),
        ],
        &["2026-04-10T12:00:00Z cost 12: 5 -> 12 by period 2026-04-10T12:00:00Z \
           of 2026-03-10T12:00:00Z"],
    );
}

#[test]
fn an_alert_that_was_created_after_a_turn_does_not_see_it() {
    check(
        &[
            ("2026-04-20T00:00:00Z", |story| story.create(cost_alert(&["12"]))),
            ("2026-05-20T00:00:00Z", |_| {}),
        ],
        &["2026-05-10T12:00:00Z cost 12: 5 -> 12 by period 2026-05-10T12:00:00Z \
           of 2026-04-10T12:00:00Z"],
    );
}

#[test]
fn an_alert_that_was_disabled_over_a_turn_does_not_fire_at_it() {
    check(
        &[
            ("2026-03-20T00:00:00Z", |story| story.create(cost_alert(&["12"]))),
            ("2026-04-01T00:00:00Z", |story| story.fixture().disable(story.alert(0))),
            ("2026-04-20T00:00:00Z", |story| story.fixture().enable(story.alert(0))),
            ("2026-05-20T00:00:00Z", |story| story.fixture().disable(story.alert(0))),
            ("2026-06-20T00:00:00Z", |_| {}),
        ],
        &["2026-05-10T12:00:00Z cost 12: 5 -> 12 by period 2026-05-10T12:00:00Z \
           of 2026-04-10T12:00:00Z"],
    );
}

#[test]
fn changes_and_turns_interleave_the_same_whoever_looks() {
    check(
        &[
            ("2026-03-15T00:00:00Z", |story| story.create(cost_alert(&["5", "12"]))),
            ("2026-03-20T00:00:00Z", |story| story.create(spend_alert("USD", &["4", "11"]))),
            ("2026-04-05T00:00:00Z", |story| story.fixture().disable(story.alert(1))),
            ("2026-04-12T00:00:00Z", |story| {
                story.fixture().rethreshold(story.alert(0), &["6", "13"]);
            }),
            ("2026-05-12T00:00:00Z", |story| story.fixture().enable(story.alert(1))),
            ("2026-05-13T00:00:00Z", |story| story.priced.use_now("a", "1.5")),
            ("2026-06-12T00:00:00Z", |story| story.fixture().disable(story.alert(0))),
            ("2026-07-12T00:00:00Z", |_| {}),
        ],
        &[
            "2026-03-15T00:00:00Z cost 5: 5 -> 5 by configuration of 2026-03-10T12:00:00Z",
            "2026-03-20T00:00:00Z spend 4: 5 -> 5 by configuration of 2026-03-10T12:00:00Z",
            "2026-04-10T12:00:00Z cost 12: 5 -> 12 by period 2026-04-10T12:00:00Z \
             of 2026-03-10T12:00:00Z",
            "2026-04-10T12:00:00Z cost 5: none -> 5 by period 2026-04-10T12:00:00Z \
             of 2026-04-10T12:00:00Z",
            "2026-05-10T12:00:00Z cost 6: 5 -> 12 by period 2026-05-10T12:00:00Z \
             of 2026-04-10T12:00:00Z",
            "2026-05-12T00:00:00Z spend 4: 5 -> 5 by configuration of 2026-05-10T12:00:00Z",
            "2026-05-13T00:00:00Z cost 6: 5 -> 6.5 by event a of 2026-05-10T12:00:00Z",
            "2026-06-10T12:00:00Z cost 13: 6.5 -> 13.5 by period 2026-06-10T12:00:00Z \
             of 2026-05-10T12:00:00Z",
            "2026-06-10T12:00:00Z spend 11: 6.5 -> 13.5 by period 2026-06-10T12:00:00Z \
             of 2026-05-10T12:00:00Z",
            "2026-06-10T12:00:00Z spend 4: none -> 5 by period 2026-06-10T12:00:00Z \
             of 2026-06-10T12:00:00Z",
            "2026-07-10T12:00:00Z spend 11: 5 -> 12 by period 2026-07-10T12:00:00Z \
             of 2026-06-10T12:00:00Z",
            "2026-07-10T12:00:00Z spend 4: none -> 5 by period 2026-07-10T12:00:00Z \
             of 2026-07-10T12:00:00Z",
        ],
    );
}

#[test]
fn filters_that_change_between_turns_are_those_of_the_instant() {
    check(
        &[
            ("2026-03-15T00:00:00Z", |story| story.create(spend_alert("USD", &["12"]))),
            ("2026-04-12T00:00:00Z", |story| filter(story, FilterOperator::Excludes)),
            ("2026-05-12T00:00:00Z", |story| filter(story, FilterOperator::Includes)),
            ("2026-06-12T00:00:00Z", |story| filter(story, FilterOperator::Excludes)),
        ],
        &[
            "2026-04-10T12:00:00Z spend 12: 5 -> 12 by period 2026-04-10T12:00:00Z \
             of 2026-03-10T12:00:00Z",
            "2026-06-10T12:00:00Z spend 12: 5 -> 12 by period 2026-06-10T12:00:00Z \
             of 2026-05-10T12:00:00Z",
        ],
    );
}

/// Lets the alert of a story count the fees alone, or all but the fees.
fn filter(story: &Story, operator: FilterOperator) {
    let values = FilterValues::PriceType([PriceClass::Fixed].into());
    let update = AlertUpdate {
        price_filters: Some(vec![PriceFilter { operator, values }]),
        ..AlertUpdate::from(thresholds(&["12"]))
    };
    run(story.fixture().account.update_alert(story.alert(0), update)).unwrap();
}

fn mute(story: &Story) {
    let id = story.priced.subscription.id;
    run(story.fixture().account.disable_alert_for(story.alert(0), id)).unwrap();
}

fn unmute(story: &Story) {
    let id = story.priced.subscription.id;
    run(story.fixture().account.enable_alert_for(story.alert(0), id)).unwrap();
}

#[test]
fn an_alert_that_is_muted_over_a_turn_is_silent_at_it() {
    check(
        &[
            ("2026-03-15T00:00:00Z", |story| story.create(cost_alert(&["5", "12"]))),
            ("2026-04-05T00:00:00Z", mute),
            ("2026-04-12T00:00:00Z", |story| {
                story.fixture().rethreshold(story.alert(0), &["4", "12"]);
            }),
            ("2026-04-20T00:00:00Z", unmute),
            ("2026-05-12T00:00:00Z", mute),
            ("2026-06-12T00:00:00Z", |_| {}),
        ],
        &[
            "2026-03-15T00:00:00Z cost 5: 5 -> 5 by configuration of 2026-03-10T12:00:00Z",
            "2026-04-20T00:00:00Z cost 4: 5 -> 5 by configuration of 2026-04-10T12:00:00Z",
            "2026-05-10T12:00:00Z cost 12: 5 -> 12 by period 2026-05-10T12:00:00Z \
             of 2026-04-10T12:00:00Z",
            "2026-05-10T12:00:00Z cost 4: none -> 5 by period 2026-05-10T12:00:00Z \
             of 2026-05-10T12:00:00Z",
        ],
    );
}

#[test]
fn an_end_between_changes_is_applied_between_them() {
    check(
        &[
            ("2026-03-15T00:00:00Z", |story| {
                let end = Cancellation::RequestedDate(at("2026-04-20T00:00:00Z"));
                let id = story.priced.subscription.id;
                run(story.fixture().account.cancel_subscription(id, end)).unwrap();
            }),
            ("2026-03-16T00:00:00Z", |story| story.create(cost_alert(&["12"]))),
            ("2026-04-12T00:00:00Z", |story| {
                story.fixture().rethreshold(story.alert(0), &["4"]);
            }),
            ("2026-04-21T00:00:00Z", |story| {
                story.fixture().rethreshold(story.alert(0), &["1"]);
            }),
            ("2026-05-12T00:00:00Z", |_| {}),
        ],
        &[
            "2026-03-15T00:00:00Z subscription.cancellation_scheduled",
            "2026-04-10T12:00:00Z cost 12: 5 -> 12 by period 2026-04-10T12:00:00Z \
             of 2026-03-10T12:00:00Z",
            "2026-04-20T00:00:00Z subscription.ended",
            "2026-04-20T00:00:00Z cost 4: 1.67 -> 4 by period 2026-04-20T00:00:00Z \
             of 2026-04-10T12:00:00Z",
        ],
    );
}

#[test]
fn the_subscriptions_own_alerts_are_judged_at_a_turn_as_they_were() {
    let story = |is_early: bool| {
        let priced = priced(|fixture, _| [fixture.advance_fee("5")]);
        let alert = priced.alert(cost_alert(&["6"]));
        let look = || {
            if is_early {
                priced.fixture.tick()
            }
        };
        priced.fixture.set("2026-04-11T00:00:00Z");
        look();
        priced.fixture.rethreshold(alert.id, &["4"]);
        priced.fixture.set("2026-05-11T00:00:00Z");
        look();
        priced.fixture.disable(alert.id);
        priced.fixture.set("2026-06-11T00:00:00Z");
        look();
        run(priced.fixture.account.delete_alert(alert.id)).unwrap();
        priced.fixture.dated()
    };
    let expect = [
        "2026-04-11T00:00:00Z cost 4: 5 -> 5 by configuration of 2026-04-10T12:00:00Z",
        "2026-05-10T12:00:00Z cost 4: none -> 5 by period 2026-05-10T12:00:00Z \
         of 2026-05-10T12:00:00Z",
    ];
    assert_eq!(story(false), expect);
    assert_eq!(story(true), expect);
}

#[test]
fn many_changes_between_turns_are_applied_in_their_places() {
    let story = |is_early: bool| {
        let priced = priced(|fixture, _| [fixture.advance_fee("5")]);
        let alert = priced.plan_alert(cost_alert(&["100"]));
        let fixture = &priced.fixture;
        for month in 4..=8 {
            for value in 0..100 {
                fixture.rethreshold(alert.id, &[&(value + 200).to_string()]);
            }
            let near = if month % 2 == 0 { "5" } else { "6" };
            fixture.set(&format!("2026-{month:02}-10T11:59:59Z"));
            fixture.rethreshold(alert.id, &[near]);
            fixture.set(&format!("2026-{month:02}-10T12:00:01Z"));
            if is_early {
                fixture.tick();
            }
        }
        fixture.tick();
        fixture.dated()
    };
    let lazy = story(false);
    let of_period = lazy.iter().filter(|told| told.contains("by period"));
    assert_eq!(of_period.count(), 3, "in April, June and August: {lazy:?}");
    assert_eq!(story(true), lazy);
}
