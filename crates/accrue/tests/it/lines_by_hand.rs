//! Lines by hand, on drafts of any source (invoicing 9.6).

use accrue::{
    ErrorKind,
    invoice::{InvoiceStatus, LineSubject, NewInvoiceLine},
    item::{ItemUpdate, NewItem},
    subscription::Cancellation,
};

use crate::{
    invoices::{DRAFT, Invoiced, SETTLED, all, invoiced, invoiced_with, shown},
    one_off::{amounts, day, discount, percent, shop},
    support::fixture::{UNKNOWN, block_on, name, number, refused, run},
};

fn by_hand(subject: LineSubject, quantity: &str, amount: &str) -> NewInvoiceLine {
    NewInvoiceLine {
        subject,
        start_date: day("2026-03-01"),
        end_date: day("2026-03-01"),
        quantity: number(quantity),
        amount: number(amount),
    }
}

#[test]
fn invoicing_9_6_lines_are_added_and_removed() {
    let shop = shop();
    let account = &shop.fixture.account;
    let mut new = shop.invoice_of("2026-03-10T00:00:00Z", &[("1", "10")]);
    new.discount = discount(percent("0.5"));
    let draft = shop.create(new);
    let add = |subject, quantity: &str, amount: &str| {
        account.create_invoice_line(draft.id, by_hand(subject, quantity, amount))
    };
    let line = run(add(LineSubject::Item(shop.item), "3", "10")).unwrap();
    let found = [&line.subtotal, &line.adjusted_subtotal, &line.amount];
    assert_eq!(found.map(ToString::to_string), ["10", "10", "10"], "before the discount");
    let item = block_on(account.fetch_item(shop.item)).unwrap();
    assert_eq!((&line.name, line.period.start()), (&item.name, line.period.end()));
    let messages = shop.fixture.messages();
    assert!(format!("{messages:?}").contains("InvoiceEdited"), "{messages:?}");
    let shown = shop.fetch(&draft);
    assert_eq!((amounts(&shown), shown.total.clone()), (vec!["5".into(); 2], number("10")));
    assert_eq!(shown.lines[1].id, line.id);

    let related = block_on(account.related(&shown)).unwrap();
    let price = related.price(line.price_id).unwrap();
    let model = price.charge.model();
    assert!(format!("{model:?}").contains("3.3333333333"), "{model:?}");
    assert_eq!(price.item_id, shop.item);
    let unlisted = block_on(account.fetch_price(line.price_id));
    assert_eq!(unlisted.unwrap_err().kind(), ErrorKind::ResourceNotFound);

    let (kind, text) = refused(&shop.fixture, add(LineSubject::Item(shop.item), "0", "1"));
    assert_eq!(kind, ErrorKind::RequestValidation, "{text}");
    let (kind, _) = refused(&shop.fixture, add(LineSubject::Item(shop.item), "1", "0.001"));
    assert_eq!(kind, ErrorKind::RequestValidation);
    let unknown = UNKNOWN.parse().unwrap();
    let (kind, _) = refused(&shop.fixture, add(LineSubject::Item(unknown), "1", "1"));
    assert_eq!(kind, ErrorKind::ResourceNotFound);

    for of in &shown.lines {
        run(account.delete_invoice_line(draft.id, of.id)).unwrap();
    }
    let types = ["invoice.edited"; 2];
    assert_eq!(shop.fixture.message_types(), types);
    let empty = shop.fetch(&draft);
    assert_eq!((empty.lines.len(), empty.total), (0, number("0")));
    let again = account.delete_invoice_line(draft.id, line.id);
    assert_eq!(refused(&shop.fixture, again).0, ErrorKind::ResourceNotFound);
    let paid = run(account.issue_invoice(draft.id)).unwrap();
    assert_eq!(paid.status, InvoiceStatus::Paid);
    let (kind, text) = refused(&shop.fixture, add(LineSubject::Item(shop.item), "1", "1"));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert!(text.contains("the invoice is paid, expected draft"), "{text}");
}

#[test]
fn invoicing_9_6_a_name_finds_its_item_or_makes_it() {
    let shop = shop();
    let account = &shop.fixture.account;
    let draft = shop.create(shop.invoice_of("2026-03-10T00:00:00Z", &[("1", "10")]));
    let item_of = |subject| {
        let line = run(account.create_invoice_line(draft.id, by_hand(subject, "1", "1"))).unwrap();
        let related = block_on(account.related(&line)).unwrap();
        (related.price(line.price_id).unwrap().item_id, line.name.to_string())
    };
    let named = |text: &str| item_of(LineSubject::Named(name(text))).0;
    let made = named("setup");
    assert_eq!(block_on(account.fetch_item(made)).unwrap().name, name("setup"));
    assert_eq!(named("setup"), made);
    shop.fixture.set("2026-03-10T13:00:00Z");
    let second = run(account.create_item(NewItem::new(name("setup")))).unwrap();
    assert_eq!(named("setup"), made, "the oldest");
    let renamed = ItemUpdate { name: Some(name("other")), ..ItemUpdate::default() };
    run(account.update_item(made, renamed)).unwrap();
    assert_eq!((named("setup"), named("other")), (second.id, made));
    run(account.archive_item(second.id)).unwrap();
    assert!(named("setup") != second.id);
    let other = item_of(LineSubject::ItemNamed(second.id, name("by another name")));
    assert_eq!(other, (second.id, "by another name".to_owned()));
}

#[test]
fn invoicing_9_6_a_draft_of_a_subscription_takes_lines() {
    let invoiced = invoiced();
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-07-12T00:00:00Z");
    let subscription = invoiced.subscribe("2026-07-12T00:00:00Z");
    let draft = invoiced.upcoming(&subscription);
    let add = |id, amount: &str| {
        let new = by_hand(LineSubject::Named(name("setup")), "1", amount);
        fixture.account.create_invoice_line(id, new)
    };
    let line = run(add(draft.id, "-4.50")).unwrap();
    let expect = "DRAFT draft 2026-08-01: usage 0, fee 310, setup -4.5 = 305.5";
    assert_eq!(shown(&invoiced.upcoming(&subscription)), expect);
    assert_eq!(all(&fixture.invoices(DRAFT)), [expect]);
    let fee = invoiced.fetch(draft.id).lines[1].id;
    let of_subscription = fixture.account.delete_invoice_line(draft.id, fee);
    let (kind, text) = refused(fixture, of_subscription);
    assert_eq!(kind, ErrorKind::ConstraintViolation, "{text}");
    // Usage is taken for another day, and so are lines.
    fixture.tick_at("2026-08-01T12:00:00Z");
    run(add(draft.id, "2")).unwrap();
    fixture.tick_at("2026-08-02T00:00:00Z");
    let issued = invoiced.fetch(draft.id);
    let expect = "00002 issued 2026-08-01: usage 0, fee 310, setup -4.5, setup 2 = 307.5";
    assert_eq!(shown(&issued), expect);
    assert_eq!(issued.lines[2].id, line.id);
    assert_eq!(
        shown(&invoiced.upcoming(&subscription)),
        "DRAFT draft 2026-09-01: usage 0, fee 310 = 310"
    );
}

#[test]
fn invoicing_9_6_lines_go_with_a_draft_whose_boundary_moves() {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.usage_at("2", metric), fixture.arrear_fee("300")]
    });
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-06-01T00:00:00Z");
    let subscription = invoiced.subscribe("2026-06-01T00:00:00Z");
    let draft = invoiced.upcoming(&subscription);
    let new = by_hand(LineSubject::Named(name("setup")), "1", "7");
    run(fixture.account.create_invoice_line(draft.id, new)).unwrap();
    fixture.set("2026-06-10T10:00:00Z");
    run(fixture.account.cancel_subscription(subscription.id, Cancellation::Immediate)).unwrap();
    let expect = "DRAFT draft 2026-06-10: usage 0, fee 100, setup 7 = 107";
    assert_eq!(all(&fixture.invoices(DRAFT)), [expect]);
    fixture.tick_at("2026-06-12T00:00:00Z");
    let issued = invoiced.fetch(draft.id);
    assert_eq!(shown(&issued), "00001 issued 2026-06-10: usage 0, fee 100, setup 7 = 107");
}

#[test]
fn invoicing_9_6_a_draft_without_a_boundary_keeps_its_lines() {
    let of = || {
        let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("310")]);
        let fixture = &invoiced.fixture;
        fixture.set("2026-07-12T00:00:00Z");
        let subscription = invoiced.subscribe("2026-07-12T00:00:00Z");
        let draft = invoiced.upcoming(&subscription);
        let new = by_hand(LineSubject::Named(name("setup")), "1", "7");
        let line = run(fixture.account.create_invoice_line(draft.id, new)).unwrap();
        let end = Cancellation::EndOfSubscriptionTerm;
        run(fixture.account.cancel_subscription(subscription.id, end)).unwrap();
        assert_eq!(all(&fixture.invoices(DRAFT)), ["DRAFT draft 2026-08-01: setup 7 = 7"]);
        (invoiced, subscription, draft, line)
    };
    let (invoiced, _, draft, _) = of();
    invoiced.fixture.messages();
    invoiced.fixture.tick_at("2026-08-03T00:00:00Z");
    assert_eq!(shown(&invoiced.fetch(draft.id)), "00002 issued 2026-08-01: setup 7 = 7");
    let types = ["subscription.ended", "invoice.invoice_date_elapsed", "invoice.issued"];
    assert_eq!(invoiced.fixture.message_types(), types);

    let (invoiced, subscription, draft, _) = of();
    run(invoiced.fixture.account.unschedule_cancellation(subscription.id)).unwrap();
    let expect = ["DRAFT draft 2026-08-01: fee 310, setup 7 = 317"];
    assert_eq!(all(&invoiced.fixture.invoices(DRAFT)), expect);
    assert_eq!(invoiced.upcoming(&subscription).id, draft.id);

    let (invoiced, _, draft, line) = of();
    run(invoiced.fixture.account.delete_invoice_line(draft.id, line.id)).unwrap();
    assert_eq!(invoiced.fixture.invoices(DRAFT), [], "it was there for the line");
    invoiced.fixture.tick_at("2026-09-01T00:00:00Z");
    assert_eq!(invoiced.fixture.invoices(SETTLED).len(), 1);
}
