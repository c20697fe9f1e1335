use accrue::{ListFilter, PageRequest};

use crate::support::fixture::{Fixture, block_on, run};

#[test]
fn a_message_waits_until_it_is_acknowledged() {
    let fixture = Fixture::new();
    fixture.customer("ada");
    let first = fixture.waiting(10);
    let again = fixture.waiting(10);
    assert_eq!((first.len(), &first), (1, &again));
    assert_eq!(first[0].message_type(), "customer.created");
    run(fixture.account.acknowledge([first[0].place])).unwrap();
    run(fixture.account.acknowledge([first[0].place])).unwrap();
    assert_eq!(fixture.waiting(10), []);
}

#[test]
fn those_of_one_customer_are_read_in_order_and_none_of_another_account() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    let subscription = fixture.subscribe(ada.id, &fixture.plan());
    let messages = fixture.waiting(2);
    assert_eq!(messages.len(), 2, "no more than asked for");
    let other = fixture.billing.account(accrue::AccountId::parse("acme2").unwrap());
    assert_eq!(block_on(other.list_messages(&PageRequest::default())).unwrap().data, []);
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
    let one = PageRequest::first_of_messages(1).unwrap();
    let page = block_on(fixture.account.list_messages(&one)).unwrap();
    let (first, cursor) = (page.data, page.next_cursor.unwrap());
    let behind = PageRequest::default().after(cursor);
    let rest = block_on(fixture.account.list_messages(&behind)).unwrap();
    assert_eq!((rest.data.len(), rest.next_cursor), (2, None));
    assert!(rest.data.iter().all(|message| message.customer != first[0].customer));
    run(fixture.account.acknowledge([first[0].place])).unwrap();
    let again = block_on(fixture.account.list_messages(&behind)).unwrap();
    assert_eq!(again.data, rest.data, "a cursor stays good");
}

#[test]
fn a_page_has_at_most_a_thousand_and_a_cursor_is_for_this_list() {
    let fixture = Fixture::new();
    fixture.customer("ada");
    fixture.customer("bob");
    for limit in [0, 1_001] {
        let error = PageRequest::first_of_messages(limit).unwrap_err();
        assert_eq!(error.violations()[0].field, "limit");
    }
    let one = PageRequest::first(1).unwrap();
    let customers = block_on(fixture.account.list_customers(&ListFilter::default(), &one)).unwrap();
    let other = one.after(customers.next_cursor.unwrap());
    let error = block_on(fixture.account.list_messages(&other)).unwrap_err();
    assert_eq!(error.violations()[0].field, "cursor");
}
