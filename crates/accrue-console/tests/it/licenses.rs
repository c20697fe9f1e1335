//! Alerts on the pools of licenses, and what their messages say.

use accrue::{
    Currency, Decimal, ExternalId, PageRequest, PricingUnit, PropertyName,
    alert::{NewAlert, Thresholds},
    customer::NewCustomer,
    item::NewItem,
    license::{NewLicense, NewLicenseType},
    metric::{MetricQuery, NewMetric},
    person::Role,
    plan::NewPlan,
    price::{Cadence, LicenseAllocation, Model, NewPrice, Unit},
    subscription::NewSubscription,
};

use crate::support::{Desk, block_on, email, name};

#[test]
fn an_alert_on_licenses_is_shown_and_its_message_that_waits() {
    let desk = Desk::new();
    let (account, usd) = (&desk.account, Currency::parse("USD").unwrap());
    let item = block_on(account.create_item(NewItem::new(name("Model"))).into_future()).unwrap();
    let sql = MetricQuery::parse("SELECT sum(tokens) FROM events").unwrap();
    let metric = NewMetric::new(name("Tokens"), item.id, sql);
    let metric = block_on(account.create_metric(metric).into_future()).unwrap();
    let grouping_key = PropertyName::parse("tokens").unwrap();
    let new = NewLicenseType { name: name("Seat"), grouping_key };
    let seat = block_on(account.create_license_type(new).into_future()).unwrap();
    let price = || NewPrice::builder(name("Seats"), item.id).billed(Cadence::Monthly, usd);
    let mut seats = price().fee_in_advance(Decimal::from(10));
    seats.license_allocations =
        vec![LicenseAllocation::new(PricingUnit::from(usd), Decimal::from(40))];
    let mut usage = price().usage(metric.id, Model::Unit(Unit::new(Decimal::from(1))));
    (seats.license_type_id, usage.license_type_id) = (Some(seat.id), Some(seat.id));
    let mut plan = NewPlan::new(name("Seats"), usd);
    plan.prices = vec![seats.into(), usage.into()];
    let plan = block_on(account.create_plan(plan).into_future()).unwrap();
    let new = NewCustomer::new(name("Ada"), email("c@example.com"));
    let ada = block_on(account.create_customer(new).into_future()).unwrap();
    let new = NewSubscription::new(ada.id, plan.id);
    let subscription = block_on(account.create_subscription(new).into_future()).unwrap().id;
    let new = NewLicense::new(subscription, seat.id, ExternalId::parse("30").unwrap());
    block_on(account.create_license(new).into_future()).unwrap();
    let half = || Thresholds::new([Decimal::from(50)]).unwrap();
    for of in [None, Some(seat.id)] {
        let new = NewAlert::license_balance_threshold_reached(of, half());
        block_on(account.create_subscription_alert(subscription, new).into_future()).unwrap();
    }
    let session = desk.session_of(Role::Read);
    let page = desk.get(&format!("/a/acme/subscriptions/{subscription}"), Some(&session)).body;
    for text in ["by license, of all types, in percent", &seat.id.to_string()] {
        assert!(page.contains(text), "{text}: {page}");
    }
    desk.event("event-1", ada.id, 30);
    let all = PageRequest::first_of_messages(100).unwrap();
    let waiting = block_on(account.list_messages(&all)).unwrap().data;
    let kind = "subscription.license_balance_threshold_reached";
    let message = waiting.iter().find(|of| of.message_type() == kind).unwrap();
    let page = desk.get(&format!("/a/acme/messages/{}", message.id), Some(&session)).body;
    for text in ["Licenses that reached it", "Nothing yet", "75 %", "50 %", ">30<"] {
        assert!(page.contains(text), "{text}: {page}");
    }
}
