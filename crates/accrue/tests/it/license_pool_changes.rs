//! Pools of licenses where licenses and events change: what was drawn before follows (subscriptions 7.4).

use std::collections::{BTreeMap, BTreeSet};

use accrue::{
    IdempotencyKey, PropertyName,
    alert::NewAlert,
    backfill::NewBackfill,
    cost::CostQuery,
    subscription::{PlanChange, UsageCustomers},
    usage::{Amendment, Event, PropertyValue},
    webhook::Body,
};

use crate::{
    license_pools::{calls, pooled, pooled_of},
    licenses::START,
    support::{
        credited::CREDITS,
        fixture::{at, block_on, external, number, run, thresholds},
        priced::{between, unit},
    },
};

#[test]
fn subscriptions_7_4_9_another_begin_or_end_of_a_license_corrects_what_was_drawn() {
    let of = pooled(false);
    of.give_credits("1000");
    of.take([
        calls("alice", "2026-03-08T03:00:00Z", "30"),
        calls("alice", "2026-03-09T03:00:00Z", "90"),
    ]);
    assert_eq!(of.left(), "880: 880, 0");
    let alice = of.give(of.between("alice", "2026-03-09", ""));
    assert_eq!(of.left(), "970: 970, 0", "the second day is active");
    of.end(alice.id, "2026-03-20").unwrap();
    assert_eq!(of.left(), "970: 970, 0", "nothing was used behind it");
    let shorter = of.end(alice.id, "2026-03-09").unwrap();
    assert_eq!(shorter.end_date, Some(at("2026-03-09T00:00:00Z")));
    assert_eq!(of.left(), "880: 880, 0");
    of.give(of.between("alice", "2026-03-08", ""));
    assert_eq!((of.left(), of.cost()), ("980: 980, 0".to_owned(), "20".to_owned()));
}

#[test]
fn subscriptions_7_4_9_a_corrected_event_corrects_what_was_drawn() {
    let of = pooled(false);
    of.give_credits("1000");
    of.give(of.between("alice", "2026-03-01", ""));
    of.take([
        calls("alice", "2026-03-09T03:00:00Z", "90"),
        calls("alice", "2026-03-10T03:00:00Z", "40"),
    ]);
    assert_eq!(of.left(), "970: 970, 0");
    let amended = |user: &str, n: &str| {
        let Event { event_name, timestamp, properties, .. } =
            calls(user, "2026-03-09T03:00:00Z", n);
        let amendment =
            Amendment { event_name, timestamp, properties, customer: external("ada").into() };
        let key = calls("alice", "2026-03-09T03:00:00Z", n).idempotency_key;
        run(of.fixture.account.amend_event(key, amendment)).unwrap();
    };
    amended("alice", "50");
    assert_eq!(of.left(), "1000: 1000, 0");
    amended("bob", "50");
    assert_eq!(of.left(), "950: 950, 0", "it is of nobody's license");
    amended("alice", "90");
    assert_eq!(of.left(), "970: 970, 0");
    let hour = between("2026-03-09T00:00:00Z", "2026-03-10T00:00:00Z");
    let backfill = run(of.fixture.account.create_backfill(NewBackfill::new(hour))).unwrap();
    let event = calls("alice", "2026-03-09T05:00:00Z", "200");
    run(of.fixture.account.ingest_backfill(backfill.id, [event])).unwrap();
    run(of.fixture.account.close_backfill(backfill.id)).unwrap();
    of.fixture.tick();
    // It has taken the place of the ninety.
    assert_eq!((of.left(), of.cost()), ("860: 860, 0".to_owned(), "140".to_owned()));
    run(of.fixture.account.revert_backfill(backfill.id)).unwrap();
    of.fixture.tick();
    assert_eq!((of.left(), of.cost()), ("970: 970, 0".to_owned(), "30".to_owned()));
}

#[test]
fn subscriptions_7_4_9_distinct_values_are_those_of_each_license() {
    let of = pooled_of("SELECT count(DISTINCT n) FROM events", |allocation| {
        allocation.amount = number("2");
    });
    of.give_credits("1000");
    of.give(of.between("alice", "2026-03-09", ""));
    let mut left = Vec::new();
    for (user, instant, n) in [
        ("alice", "2026-03-09T01:00:00Z", "1"),
        ("bob", "2026-03-09T02:00:00Z", "1"),
        ("alice", "2026-03-09T03:00:00Z", "2"),
        ("alice", "2026-03-10T04:00:00Z", "1"),
        ("alice", "2026-03-10T05:00:00Z", "3"),
        ("bob", "2026-03-10T06:00:00Z", "1"),
        ("alice", "2026-03-08T07:00:00Z", "3"),
        ("alice", "2026-03-10T08:00:00Z", "3"),
    ] {
        of.take([calls(user, instant, n)]);
        left.push(of.left().split(':').next().unwrap().to_owned());
    }
    assert_eq!(left, ["1000", "999", "999", "999", "998", "998", "997", "997"]);
    assert_eq!(of.cost(), "3");
    let together = pooled_of("SELECT count(DISTINCT n) FROM events", |allocation| {
        allocation.amount = number("2");
    });
    together.give_credits("1000");
    together.take([
        calls("alice", "2026-03-10T01:00:00Z", "1"),
        calls("alice", "2026-03-10T02:00:00Z", "2"),
        calls("alice", "2026-03-10T03:00:00Z", "1"),
        calls("alice", "2026-03-10T04:00:00Z", "3"),
    ]);
    assert_eq!(together.left(), "997: 997, 0");
    together.give(together.between("alice", "2026-03-10", ""));
    assert_eq!(together.left(), "999: 999, 0");
}

#[test]
fn subscriptions_7_4_5_usage_of_other_customers_is_of_the_licenses_that_it_names() {
    let of = pooled(false);
    of.give_credits("1000");
    let child = of.fixture.child("child", of.customer());
    let customers = UsageCustomers::new([of.customer(), child]).unwrap();
    let mut change = PlanChange::immediate(of.subscription.plan_id.unwrap());
    change.usage_customers = Some(customers);
    run(of.fixture.account.schedule_plan_change(of.subscription.id, change)).unwrap();
    of.give(of.between("alice", "2026-03-10", ""));
    let of_child = |instant: &str, n: &str| {
        let mut event = calls("alice", instant, n);
        event.customer = external("child").into();
        event.idempotency_key = accrue::EventKey::parse(format!("child/{instant}")).unwrap();
        event
    };
    of.fixture.set("2026-03-11T12:00:00Z");
    of.take([calls("alice", "2026-03-11T01:00:00Z", "70")]);
    of.take([of_child("2026-03-11T02:00:00Z", "50")]);
    assert_eq!(of.left(), "980: 980, 0");
    assert_eq!(of.cost(), "20");
}

#[test]
fn subscriptions_7_4_what_a_preview_tells_is_what_happens() {
    let of = pooled(false);
    of.give_credits("1000");
    of.take([calls("alice", "2026-03-09T03:00:00Z", "90")]);
    let new = of.between("alice", "2026-03-09", "");
    let preview = block_on(of.fixture.account.create_license(new.clone()).preview()).unwrap();
    assert_eq!(of.left(), "910: 910, 0");
    assert_eq!(preview.balances.len(), 1);
    assert_eq!(preview.balances[0].after, number("1000"));
    run(of.fixture.account.create_license(new)).unwrap();
    assert_eq!(of.left(), "1000: 1000, 0");
}

/// A license of a story: its name, its first day, and the first one after it.
type Window = (String, String, String);

/// What each license of a story has used in a month, told anew from its events, and what was used by no license.
fn used(events: &[Event], windows: &[Window]) -> (BTreeMap<(usize, String), i64>, i64) {
    let mut of_license = BTreeMap::<(usize, String), i64>::new();
    let mut others = 0;
    for event in events {
        let property = |name: &str| event.properties.get(&PropertyName::parse(name).unwrap());
        let Some(PropertyValue::Number(n)) = property("n") else { continue };
        let n: i64 = n.to_string().parse().unwrap();
        let day = event.timestamp.to_string()[..10].to_owned();
        let active = windows.iter().position(|(name, start, end)| {
            let is_own =
                matches!(property("user"), Some(PropertyValue::Text(user)) if **user == **name);
            is_own && *start <= day && (end.is_empty() || day < *end)
        });
        match active {
            Some(place) => *of_license.entry((place, day[..7].to_owned())).or_default() += n,
            None => others += n,
        }
    }
    (of_license, others)
}

/// What the events of a story cost.
fn charged(events: &[Event], windows: &[Window]) -> i64 {
    let (of_license, others) = used(events, windows);
    others + of_license.values().map(|n| (n - 100).max(0)).sum::<i64>()
}

/// The percents of its pool that an alert watches of each license.
const WATCHED: [i64; 3] = [25, 60, 100];

/// Which percents each license has crossed, as a step of a story tells: of those months that are judged, and once.
fn crossed(
    (before, after): (&[Event], &[Event]),
    windows: (&[Window], &[Window]),
    fired: &mut BTreeSet<(usize, String, i64)>,
) -> BTreeSet<(String, i64)> {
    let is_license = windows.0 != windows.1;
    let known = used(before, windows.0).0;
    let mut told = BTreeSet::new();
    for ((license, month), now) in used(after, windows.1).0 {
        // A change of licenses judges the present month alone: one that is over is told of what events bring.
        if is_license && month != "2026-04" {
            continue;
        }
        let earlier = known.get(&(license, month.clone()));
        for percent in WATCHED {
            let is_crossed = percent <= now && earlier.is_none_or(|of| *of < percent);
            if is_crossed && fired.insert((license, month.clone(), percent)) {
                told.insert((windows.1[license].0.clone(), percent));
            }
        }
    }
    told
}

#[test]
fn subscriptions_7_4_whatever_comes_in_whatever_order_costs_what_it_costs_anew() {
    for seed in 1..=6_u64 {
        let of = pooled(false);
        of.give_credits("100000");
        of.fixture.set("2026-04-06T12:00:00Z");
        of.fixture.tick();
        let mut state = seed;
        let mut draw = |most: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % most
        };
        let date = |day: u64| format!("2026-{:02}-{:02}", 3 + day / 31, day % 31 + 1);
        let (mut events, mut windows) = (Vec::new(), Vec::<Window>::new());
        let (mut ids, mut fired) = (Vec::new(), BTreeSet::new());
        let on_pools = WATCHED.map(|of| of.to_string());
        let on_pools = thresholds(&on_pools.each_ref().map(String::as_str));
        let on_pools = NewAlert::license_balance_threshold_reached(None, on_pools);
        let account = &of.fixture.account;
        run(match seed % 2 {
            0 => account.create_account_alert(on_pools),
            _ => account.create_subscription_alert(of.subscription.id, on_pools),
        })
        .unwrap();
        of.fixture.tick();
        of.fixture.messages();
        for step in 0..60_u64 {
            let before = (events.clone(), windows.clone());
            let name = ["alice", "bob", "carol", "dave"][usize::try_from(draw(4)).unwrap()];
            match draw(6) {
                0 => {
                    let start = date(9 + draw(26));
                    let end = if draw(2) == 0 { String::new() } else { date(12 + draw(24)) };
                    let new = of.between(name, &start, &end);
                    if let Ok(license) = run(of.fixture.account.create_license(new)) {
                        windows.push((name.to_owned(), start, end));
                        ids.push(license.id);
                    }
                }
                1 if !ids.is_empty() => {
                    let place = usize::try_from(draw(u64::try_from(ids.len()).unwrap())).unwrap();
                    let end = date(12 + draw(24));
                    if of.end(ids[place], &end).is_ok() {
                        windows[place].2 = end;
                    }
                }
                2 if !events.is_empty() => {
                    let place =
                        usize::try_from(draw(u64::try_from(events.len()).unwrap())).unwrap();
                    let known: &mut Event = &mut events[place];
                    let instant = known.timestamp;
                    let other = calls(name, &instant.to_string(), &draw(90).to_string());
                    known.properties = other.properties.clone();
                    let amendment = Amendment {
                        event_name: other.event_name,
                        timestamp: instant,
                        properties: other.properties,
                        customer: external("ada").into(),
                    };
                    run(of.fixture.account.amend_event(known.idempotency_key.clone(), amendment))
                        .unwrap();
                }
                _ => {
                    let many = (0..=draw(3)).map(|more| {
                        let instant =
                            format!("{}T{:02}:{:02}:0{more}Z", date(9 + draw(26)), draw(24), step);
                        calls(name, &instant, &draw(90).to_string())
                    });
                    let many: Vec<_> = many.collect();
                    of.take(many.clone());
                    events.extend(many);
                }
            }
            let expect = charged(&events, &windows);
            let left = 100_000 - expect;
            assert_eq!(of.left(), format!("{left}: {left}, 0"), "seed {seed}, step {step}");
            let expect = crossed((&before.0, &events), (&before.1, &windows), &mut fired);
            let mut told = BTreeSet::new();
            for message in of.fixture.drain() {
                let Body::LicenseBalanceThresholdReached(of) = message.body else { continue };
                for license in of.licenses {
                    let name = license.external_license_id.to_string();
                    let thresholds = license.thresholds.into_iter();
                    told.extend(
                        thresholds.map(|of| (name.clone(), of.to_string().parse().unwrap())),
                    );
                }
            }
            assert_eq!(told, expect, "seed {seed}, step {step}");
        }
        let query = CostQuery {
            currency: Some(unit(CREDITS)),
            timeframe: between(START, "2026-05-01T00:00:00Z").into(),
            ..CostQuery::default()
        };
        let cost = of.fixture.cost(&of.subscription, &query).subtotal;
        assert_eq!(cost.to_string(), charged(&events, &windows).to_string(), "seed {seed}");
        assert!(fired.len() > 3, "seed {seed} tells of too little");
    }
}

#[test]
fn an_idempotency_key_of_a_license_draws_once() {
    let of = pooled(false);
    of.give_credits("1000");
    of.take([calls("alice", "2026-03-09T03:00:00Z", "90")]);
    for _ in 0..2 {
        let key = IdempotencyKey::parse("alice").unwrap();
        let call = of.fixture.account.create_license(of.between("alice", "2026-03-09", ""));
        block_on(call.keyed(key)).unwrap();
        assert_eq!(of.left(), "1000: 1000, 0");
    }
}
