//! Families of customers, and lists of whose usage counts that change (subscriptions 1.5).

use accrue::{
    CustomerId, Patch,
    customer::{Customer, CustomerUpdate, HierarchyChange},
    subscription::NewPriceInterval,
};

use crate::{
    price_intervals::{adding, constraint},
    support::{
        fixture::{at, block_on, refused, run, usage_alert},
        priced::NOTHING,
    },
    usage_customers::{Family, family, of as list},
};

impl Family {
    /// Makes customers children of the parent, beside those that are.
    fn take_in(&self, children: &[CustomerId]) -> Customer {
        let hierarchy = HierarchyChange { parent: Patch::Keep, children: children.to_vec() };
        let update = CustomerUpdate { hierarchy, ..CustomerUpdate::default() };
        run(self.fixture.account.update_customer(self.parent, update)).unwrap()
    }

    fn children(&self) -> Vec<CustomerId> {
        let parent = self.fixture.account.fetch_customer(self.parent);
        block_on(parent).unwrap().hierarchy.children
    }
}

#[test]
fn subscriptions_1_5_11_a_list_has_the_order_of_the_ids_and_each_once() {
    let of = family();
    let made = of.subscribe(Some(&[of.b, of.a, of.b]));
    let mut sorted = [of.a, of.b];
    sorted.sort_unstable();
    let shown = made.price_intervals[0].usage_customers.as_ref().unwrap();
    assert_eq!(shown.ids(), sorted);
    of.use_now("b", "1", "100");
    assert_eq!(of.total(&made), "1", "once");
}

#[test]
fn subscriptions_1_5_12_usage_is_that_of_the_list_in_force_and_costs_follow_each_interval() {
    let of = family();
    let made = of.subscribe(Some(&[of.a]));
    let metric = block_on(of.fixture.account.fetch_metric(of.metric)).unwrap();
    let price = run(of.fixture.account.create_price(of.fixture.usage_at("1", &metric))).unwrap();
    let new = NewPriceInterval::new(price.id, at("2026-03-01T00:00:00Z"));
    let others = NewPriceInterval { usage_customers: Some(list(&[of.b])), ..new };
    run(of.fixture.account.change_intervals(made.id, adding(others))).unwrap();
    let alert = usage_alert(of.metric, &["250"]);
    run(of.fixture.account.create_subscription_alert(made.id, alert)).unwrap();
    of.fixture.messages();
    of.use_now("b", "1", "400");
    assert_eq!(of.fixture.told(), NOTHING, "it is of a list of one interval");
    of.use_now("a", "2", "300");
    assert_eq!(of.fixture.told(), ["usage 250: none -> 300 by event 2"]);
    assert_eq!(of.fixture.usage(&made, &metric).as_deref(), Some("300"));
    assert_eq!(of.total(&made), "403", "300 at 0.01, and 400 at 1");
}

#[test]
fn subscriptions_1_5_15_children_are_added_and_leave_one_by_one() {
    let of = family();
    let [c, d] = ["c", "d"].map(|name| of.fixture.customer(name).id);
    assert_eq!(of.take_in(&[c]).hierarchy.children, [of.a, of.b, c]);
    assert_eq!(of.take_in(&[d]).hierarchy.children, [of.a, of.b, c, d], "none has gone");
    run(of.fixture.parent_of(of.b, Patch::Clear)).unwrap();
    assert_eq!(of.children(), [of.a, c, d]);
    let below = refused(&of.fixture, of.fixture.parent_of(of.b, Patch::Set(c)));
    assert!(constraint(below).contains("can have no children"), "there is one level");
}

#[test]
fn subscriptions_1_5_16_an_edit_counts_the_past_of_the_interval() {
    let of = family();
    let made = of.subscribe(Some(&[of.a]));
    of.use_now("a", "1", "300");
    of.use_now("b", "2", "200");
    assert_eq!(of.total(&made), "3");
    of.fixture.set("2026-03-20T12:00:00Z");
    run(of.edit(&made, Patch::Set(list(&[of.b])))).unwrap();
    assert_eq!(of.total(&made), "2", "as if it had always been so");
}

#[test]
fn subscriptions_1_5_example_of_a_parent_with_two_children() {
    let of = family();
    let made = of.subscribe(Some(&[of.a, of.b]));
    for (customer, n) in [("a", "300"), ("b", "200"), ("parent", "50")] {
        of.use_now(customer, customer, n);
    }
    assert_eq!(of.total(&made), "5");
}
