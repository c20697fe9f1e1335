use crate::fixture::{Fixture, block_on, run};

#[test]
fn a_message_waits_until_it_is_acknowledged() {
    let fixture = Fixture::new();
    fixture.customer("ada");
    let first = block_on(fixture.account.messages(10)).unwrap();
    let again = block_on(fixture.account.messages(10)).unwrap();
    assert_eq!((first.len(), &first), (1, &again));
    assert_eq!(first[0].message_type(), "customer.created");
    run(fixture.account.acknowledge([first[0].place])).unwrap();
    run(fixture.account.acknowledge([first[0].place])).unwrap();
    assert_eq!(block_on(fixture.account.messages(10)).unwrap(), []);
}

#[test]
fn those_of_one_customer_are_read_in_order_and_none_of_another_account() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    let subscription = fixture.subscribe(ada.id, &fixture.plan());
    let messages = block_on(fixture.account.messages(2)).unwrap();
    assert_eq!(messages.len(), 2, "no more than asked for");
    let other = fixture.billing.account(accrue::AccountId::parse("acme2").unwrap());
    assert_eq!(block_on(other.messages(10)).unwrap(), []);
    let messages = fixture.messages();
    let types: Vec<_> = messages.iter().map(|message| message.message_type()).collect();
    assert_eq!(types, ["customer.created", "subscription.created", "subscription.started"]);
    assert_eq!(messages[1].subscription.as_ref(), Some(&subscription));
    assert_eq!(
        messages[1].customer.as_ref(),
        Some(&block_on(fixture.account.fetch_customer(ada.id)).unwrap())
    );
}

#[test]
fn a_message_that_cannot_be_delivered_holds_up_no_other() {
    let fixture = Fixture::new();
    for name in ["ada", "bob", "eve"] {
        fixture.customer(name);
    }
    let [first] = block_on(fixture.account.messages(1)).unwrap().try_into().unwrap();
    let rest = block_on(fixture.account.messages_after(first.place, 10)).unwrap();
    assert_eq!(rest.len(), 2);
    assert!(rest.iter().all(|message| message.customer != first.customer));
}
