//! Fields that the engine accepts and has no use for are stored and given back.

use accrue::{
    Carried, CarriedUpdate, Email,
    customer::{AttributeValue, CustomerUpdate, NewCustomer},
    plan::NewPlan,
    price::Cadence,
    subscription::NewSubscription,
    webhook::Body,
};

use crate::support::fixture::{Fixture, block_on, name, run, usd};

const EXACT: &str = "1.10000000000000000000000000001e0";

fn exact() -> Carried {
    Carried::new([("rate", EXACT)]).unwrap()
}

#[test]
fn every_resource_gives_them_back_as_they_came() {
    let fixture = Fixture::new();
    let account = &fixture.account;
    let mut new = NewCustomer::new(name("ada"), Email::parse("a@example.com").unwrap());
    new.carried = exact();
    let ada = run(account.create_customer(new)).unwrap().id;
    assert_eq!(block_on(account.fetch_customer(ada)).unwrap().carried.get("rate"), Some(EXACT));

    let mut price = fixture.fee(Cadence::Monthly);
    price.carried = exact();
    let mut new = NewPlan::new(name("plan"), usd());
    new.carried = exact();
    new.prices = vec![price.into()];
    let plan = run(account.create_plan(new)).unwrap();
    assert_eq!(block_on(account.fetch_plan(plan.id)).unwrap().carried, exact());
    let version = block_on(account.fetch_plan_version(plan.id, plan.version)).unwrap();
    assert_eq!(version.prices[0].carried, exact());
    assert_eq!(block_on(account.fetch_price(version.prices[0].id)).unwrap().carried, exact());

    let mut new = NewSubscription::new(ada, plan.id);
    new.carried = exact();
    let subscription = run(account.create_subscription(new)).unwrap().id;
    assert_eq!(block_on(account.fetch_subscription(subscription)).unwrap().carried, exact());
}

#[test]
fn an_edit_tells_what_they_were() {
    let fixture = Fixture::new();
    let mut new = NewCustomer::new(name("ada"), Email::parse("a@example.com").unwrap());
    new.carried = Carried::new([("kept", "true"), ("gone", "[1]"), ("name", "0")]).unwrap();
    let ada = run(fixture.account.create_customer(new)).unwrap();
    fixture.messages();

    let fields = [("kept", "true"), ("gone", "null"), ("came", "{}"), ("name", "1")];
    let carried = CarriedUpdate::new(fields).unwrap();
    let update = CustomerUpdate { name: Some(name("Ada")), carried, ..Default::default() };
    let after = run(fixture.account.update_customer(ada.id, update.clone())).unwrap();
    let left: Vec<_> = after.carried.iter().collect();
    assert_eq!(left, [("came", "{}"), ("kept", "true"), ("name", "1")]);

    let messages = fixture.messages();
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    let Body::CustomerEdited { previous_attributes } = &message.body else { panic!() };
    let json = |text: Option<&str>| AttributeValue::Json(text.map(str::to_owned));
    let expected = [
        ("came", json(None)),
        ("gone", json(Some("[1]"))),
        ("name", AttributeValue::Text(Some("ada".to_owned()))),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value)).into();
    assert_eq!(*previous_attributes, expected);

    run(fixture.account.update_customer(ada.id, update)).unwrap();
    assert_eq!(fixture.message_types(), Vec::<&str>::new(), "nothing changed");
}
