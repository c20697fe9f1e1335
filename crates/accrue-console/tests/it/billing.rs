//! Invoices, ledgers and plans, as a person reads them, and what is done to an invoice.

use std::time::Duration;

use accrue::{
    CivilDate, Clock as _, CustomerId, Decimal, InvoiceId, PlanId, PricingUnit,
    credit::NewLedgerEntry,
    invoice::{InvoiceFilter, InvoiceStatus, NewInvoice, NewOneOffLine},
    person::Role,
    plan::{DefaultVersion, NewPlanVersion, PlanFilter},
    price::{Bulk, BulkTier, Cadence, Model, NewPrice, Package, Tier, Tiered},
};
use accrue::{Currency, PageRequest};
use http::StatusCode;

use crate::support::{Desk, block_on, name};

/// A customer whose first billing period is over, and its invoice of that.
fn billed(desk: &Desk) -> (CustomerId, InvoiceId) {
    let mut configuration = block_on(desk.account.configuration()).unwrap();
    configuration.features.invoices = true;
    block_on(desk.account.configure(configuration).into_future()).unwrap();
    let (customer, _) = desk.customer("Tokens");
    desk.clock.advance(Duration::from_secs(60 * 24 * 60 * 60));
    while block_on(desk.billing.tick(100)).unwrap().more {}
    let filter = InvoiceFilter {
        statuses: vec![InvoiceStatus::Draft, InvoiceStatus::Issued, InvoiceStatus::Paid],
        ..InvoiceFilter::default()
    };
    let found = block_on(desk.account.list_invoices(&filter, &PageRequest::default())).unwrap();
    let oldest = found.data.iter().min_by_key(|of| of.invoice_date).unwrap();
    (customer, oldest.id)
}

#[test]
fn an_invoice_is_read_line_by_line() {
    let desk = Desk::new();
    let (customer, invoice) = billed(&desk);
    let session = desk.session_of(Role::Read);
    let path = format!("/a/acme/invoices/{invoice}");
    let page = desk.get(&path, Some(&session)).body;
    for text in ["Tokens", "<td class=\"number\">600</td>", "6.00\u{a0}USD", "Paid with credits"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("Make it void"), "a reader changes nothing");
    for list in ["/a/acme/invoices", &*format!("/a/acme/customers/{customer}")] {
        let list = desk.get(list, Some(&session)).body;
        assert!(list.contains(&format!("/console{path}")));
    }
    let none = desk.get("/a/acme/invoices?status=void", Some(&session)).body;
    assert!(none.contains("No invoices") && none.contains("value=\"void\" selected"));
    let of_another = "07070707-0707-7707-8707-070707070707";
    let none = desk.get(&format!("/a/acme/invoices?customer={of_another}"), Some(&session));
    assert_eq!(none.status, StatusCode::OK);
    assert!(none.body.contains("No invoices"));
}

#[test]
fn an_invoice_is_made_void_once_and_a_reader_makes_none() {
    let desk = Desk::new();
    let (_, invoice) = billed(&desk);
    let path = format!("/a/acme/invoices/{invoice}");
    let reader = desk.session_of(Role::Read);
    let refused = desk.post(&format!("{path}/void"), Some(&reader), &[]);
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let session = desk.session_of(Role::Operate);
    let page = desk.get(&path, Some(&session)).body;
    assert!(page.contains("Make it void"), "{page}");
    let done = desk.post(&format!("{path}/void"), Some(&session), &[]);
    assert_eq!(done.location(), format!("/console{path}?done=invoice-void"));
    let page = desk.get(done.location(), Some(&session)).body;
    assert!(page.contains("nobody owes it") && page.contains("</span>Void</span>"));
    let due = r#"Amount due</th><td></td><td></td><td class="number">–<"#;
    assert!(page.contains(due), "{page}");
    for action in ["void", "issue"] {
        let again = desk.post(&format!("{path}/{action}"), Some(&session), &[]);
        assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY, "{action}");
        assert!(again.body.contains("class=\"alert bad\""), "why is said");
    }
}

#[test]
fn a_draft_is_issued() {
    let desk = Desk::new();
    let (customer, _) = desk.customer("Tokens");
    let page = PageRequest::default();
    let plan = block_on(desk.account.list_plans(&PlanFilter::default(), &page)).unwrap().data;
    let version = block_on(desk.account.fetch_plan_version(plan[0].id, plan[0].version)).unwrap();
    let usd = Currency::parse("USD").unwrap();
    let mut new = NewInvoice::new(customer, usd, desk.clock.now());
    let day = |text| CivilDate::parse(text).unwrap();
    new.lines.push(NewOneOffLine {
        name: name("<script>alert(1)</script>"),
        item_id: version.prices[0].item_id,
        start_date: day("2026-03-01"),
        end_date: day("2026-03-09"),
        quantity: Decimal::from(3),
        unit_amount: Decimal::parse("1.5").unwrap(),
    });
    let draft = block_on(desk.account.create_invoice(new).into_future()).unwrap();
    let session = desk.session_of(Role::Operate);
    let path = format!("/a/acme/invoices/{}", draft.id);
    let page = desk.get(&path, Some(&session)).body;
    assert!(
        page.contains("Draft")
            && page.contains("Issue the invoice")
            && page.contains("4.50\u{a0}USD")
    );
    assert_eq!(page.matches("<script").count(), 1);
    let reader = desk.session_of(Role::Read);
    assert!(!desk.get(&path, Some(&reader)).body.contains("Issue the invoice"));
    let done = desk.post(&format!("{path}/issue"), Some(&session), &[]);
    assert_eq!(done.location(), format!("/console{path}?done=invoice-issued"));
    let page = desk.get(done.location(), Some(&session)).body;
    assert!(
        page.contains("The invoice was issued") && page.contains("</span>Issued</span>"),
        "{page}"
    );
}

#[test]
fn credits_that_are_off_hide_no_customer() {
    let desk = Desk::new();
    let (customer, _) = desk.customer("Tokens");
    let mut configuration = block_on(desk.account.configuration()).unwrap();
    configuration.features.credits = false;
    configuration.features.alerts = false;
    block_on(desk.account.configure(configuration).into_future()).unwrap();
    let session = desk.session_of(Role::Read);
    let page = desk.get(&format!("/a/acme/customers/{customer}"), Some(&session));
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    let list = desk.get("/a/acme/invoices", Some(&session)).body;
    assert!(list.contains("Invoices of subscriptions are off in this account"));
}

#[test]
fn a_ledger_is_shown_with_its_blocks_and_entries() {
    let desk = Desk::new();
    let (customer, _) = desk.customer("Tokens");
    let unit = PricingUnit::parse("USD").unwrap();
    for _ in 0..60 {
        let entry = NewLedgerEntry::increment(unit.clone(), Decimal::parse("1.5").unwrap());
        block_on(desk.account.create_ledger_entry(customer, entry).into_future()).unwrap();
    }
    let session = desk.session_of(Role::Read);
    let path = format!("/a/acme/customers/{customer}/credits/USD");
    assert!(
        desk.get(&format!("/a/acme/customers/{customer}"), Some(&session)).body.contains(&path)
    );
    let page = desk.get(&path, Some(&session)).body;
    for text in ["Credits in USD", "Balance of USD after each entry", "Blocks", "1.50\u{a0}USD"] {
        assert!(page.contains(text), "{text}");
    }
    let next = page.split("Pages\"><a class=\"button\" href=\"").nth(1).expect("another page");
    let next = next.split('"').next().unwrap().replace("&amp;", "&");
    let older = desk.get(&next, Some(&session)).body;
    assert!(older.contains("5.00\u{a0}USD"), "the first entry");
    let empty = desk.get(&path.replace("USD", "tokens"), Some(&session)).body;
    assert!(empty.contains("No entries"));
}

#[test]
fn a_plan_is_shown_version_by_version() {
    let desk = Desk::new();
    desk.customer("Tokens");
    let account = &desk.account;
    let page = PageRequest::default();
    let plan = block_on(account.list_plans(&PlanFilter::default(), &page)).unwrap().data;
    let id: PlanId = plan[0].id;
    let shown = block_on(account.fetch_plan_version(id, plan[0].version)).unwrap();
    let item = shown.prices[0].item_id;
    let metric = match &shown.prices[0].charge {
        accrue::price::Charge::Usage { metric_id, .. } => *metric_id,
        _ => panic!("a price of usage"),
    };
    let decimal = |text: &str| Decimal::parse(text).unwrap();
    let tiers = [
        Tier::new(decimal("0"), Some(decimal("10")), decimal("0.5")),
        Tier::new(decimal("10"), None, decimal("0.25")),
    ];
    let volumes =
        [BulkTier::new(Some(decimal("100")), decimal("2")), BulkTier::new(None, decimal("1.125"))];
    let models = [
        ("Tiers", Model::Tiered(Tiered::new(tiers))),
        ("Volume", Model::Bulk(Bulk::new(volumes))),
        ("Package", Model::Package(Package::new(decimal("9.99"), 1_000))),
    ];
    let usd = Currency::parse("USD").unwrap();
    let prices = models.into_iter().map(|(called, model)| {
        let price = NewPrice::builder(name(called), item).billed(Cadence::Annual, usd);
        price.usage(metric, model).into()
    });
    let mut version = NewPlanVersion::new(prices);
    version.default = DefaultVersion::Keep;
    block_on(account.create_plan_version(id, version).into_future()).unwrap();

    let session = desk.session_of(Role::Read);
    let path = format!("/a/acme/plans/{id}");
    assert!(desk.get("/a/acme/plans", Some(&session)).body.contains(&path));
    let first = desk.get(&path, Some(&session)).body;
    assert!(first.contains("Each unit") && first.contains("0.01\u{a0}USD"), "{first}");
    assert!(first.contains("every month") && first.contains("Usage: Tokens"));
    let second = desk.get(&format!("{path}?version=2"), Some(&session)).body;
    for text in [
        "Each unit above 0 up to 10",
        "0.50\u{a0}USD",
        "0.25\u{a0}USD",
        "Each unit of up to 100",
        "1.125\u{a0}USD",
        "Each package of 1,000",
        "every year",
    ] {
        assert!(second.contains(text), "{text}");
    }
    for version in ["3", "0", "x", "-1", "99999999999"] {
        let missing = desk.get(&format!("{path}?version={version}"), Some(&session));
        assert_eq!(missing.status, StatusCode::NOT_FOUND, "{version}");
    }
    let metrics = desk.get("/a/acme/metrics", Some(&session)).body;
    assert!(metrics.contains("SELECT sum(tokens) FROM events"));
}
