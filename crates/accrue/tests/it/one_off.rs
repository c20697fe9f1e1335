//! One-off invoices (invoicing 9.1, 9.4).

use accrue::{
    CivilDate, Description, ErrorKind, InvoiceLineId, ItemId, Patch, Zone,
    customer::{Customer, CustomerUpdate},
    invoice::{
        BalanceDirection, CreditNoteReason, Invoice, InvoiceFilter, InvoiceSource, InvoiceStatus,
        InvoiceUpdate, NewCreditNote, NewCreditNoteLine, NewInvoice, NewInvoiceDiscount,
        NewOneOffLine, Payment, PaymentTerms,
    },
    item::NewItem,
    price::{Discount, DiscountTier, FilterOperator, FilterValues, PriceClass, PriceFilter},
};

use crate::{
    invoices::{DRAFT, Invoiced, SETTLED, all, invoiced, shown},
    support::fixture::{Fixture, UNKNOWN, at, block_on, external, name, number, refused, run, usd},
};

const NOW: &str = "2026-03-10T12:00:00Z";

/// An account with a customer `ada`, on a day at noon.
pub(crate) struct Shop {
    pub(crate) fixture: Fixture,
    pub(crate) ada: Customer,
    pub(crate) item: ItemId,
}

pub(crate) fn shop() -> Shop {
    let fixture = Fixture::new();
    fixture.set(NOW);
    let ada = fixture.customer("ada");
    let item = fixture.item().id;
    fixture.messages();
    Shop { fixture, ada, item }
}

impl Shop {
    /// Prepares an invoice of lines of a quantity and an amount for each unit.
    pub(crate) fn invoice_of(&self, date: &str, lines: &[(&str, &str)]) -> NewInvoice {
        let mut new = NewInvoice::new(self.ada.id, usd(), at(date));
        let line = |(quantity, unit_amount): &(&str, &str)| NewOneOffLine {
            name: name("work"),
            item_id: self.item,
            start_date: day("2026-03-01"),
            end_date: day("2026-03-10"),
            quantity: number(quantity),
            unit_amount: number(unit_amount),
        };
        new.lines = lines.iter().map(line).collect();
        new
    }

    pub(crate) fn create(&self, new: NewInvoice) -> Invoice {
        run(self.fixture.account.create_invoice(new)).unwrap()
    }

    fn refuse(&self, new: NewInvoice) -> (ErrorKind, String) {
        refused(&self.fixture, self.fixture.account.create_invoice(new))
    }

    pub(crate) fn fetch(&self, of: &Invoice) -> Invoice {
        block_on(self.fixture.account.fetch_invoice(of.id)).unwrap()
    }
}

pub(crate) fn day(text: &str) -> CivilDate {
    CivilDate::parse(text).unwrap()
}

pub(crate) fn discount(discount: Discount) -> Option<NewInvoiceDiscount> {
    Some(NewInvoiceDiscount { discount, filters: Vec::new(), reason: None })
}

pub(crate) fn percent(text: &str) -> Discount {
    Discount::Percentage(accrue::Fraction::parse(text).unwrap())
}

pub(crate) fn amounts(invoice: &Invoice) -> Vec<String> {
    invoice.lines.iter().map(|line| line.amount.to_string()).collect()
}

#[test]
fn invoicing_9_1_a_draft_is_issued_by_hand() {
    let shop = shop();
    let mut new = shop.invoice_of("2026-03-10T00:00:00Z", &[("3", "19.99")]);
    new.discount = discount(percent("0.1"));
    new.memo = Some(Description::parse("thank you").unwrap());
    let draft = shop.create(new);
    assert_eq!(shown(&draft), "DRAFT draft 2026-03-10: work 53.97 = 53.97");
    assert_eq!((draft.subtotal.clone(), draft.source), (number("59.97"), InvoiceSource::OneOff));
    let line = &draft.lines[0];
    assert_eq!(line.adjustments[0].amount, number("-6"));
    assert!(line.adjustments[0].is_invoice_level());
    assert_eq!(line.period.start(), at("2026-03-01T00:00:00Z"));
    assert_eq!(line.period.end(), at("2026-03-10T00:00:00Z"));
    assert_eq!(draft.memo.as_deref(), Some("thank you"));
    assert!(!draft.will_auto_issue);
    assert_eq!(draft.eligible_to_issue_at, Some(draft.invoice_date));
    assert_eq!((draft.subscription_id, draft.due_date), (None, None));
    assert_eq!(shop.fetch(&draft), draft);
    assert_eq!(shop.fixture.message_types(), [""; 0]);

    let issued = run(shop.fixture.account.issue_invoice(draft.id)).unwrap();
    assert_eq!(shown(&issued), "00001 issued 2026-03-10: work 53.97 = 53.97");
    assert_eq!(issued.due_date, Some(at("2026-03-10T00:00:00Z")), "no terms: its own day");
    assert_eq!(issued.issued_at, Some(at(NOW)));
    assert_eq!(shop.fetch(&issued), issued);
    assert_eq!(shop.fixture.message_types(), ["invoice.issued"]);
    let (_, text) = refused(&shop.fixture, shop.fixture.account.issue_invoice(draft.id));
    assert!(text.contains("the invoice is issued, expected draft"), "{text}");
}

#[test]
fn invoicing_9_1_one_that_issues_by_itself_is_issued_in_the_answer() {
    let shop = shop();
    let balance = accrue::invoice::NewBalanceTransaction {
        amount: number("12.50"),
        direction: BalanceDirection::Increment,
        description: None,
    };
    let billed_in = CustomerUpdate { currency: Some(usd()), ..CustomerUpdate::default() };
    run(shop.fixture.account.update_customer(shop.ada.id, billed_in)).unwrap();
    run(shop.fixture.account.create_balance_transaction(external("ada"), balance)).unwrap();
    shop.fixture.messages();
    // Later on the same day counts as today.
    let mut new = shop.invoice_of("2026-03-10T20:00:00Z", &[("2", "20")]);
    new.will_auto_issue = true;
    new.auto_collection = Some(true);
    new.terms = Some(PaymentTerms::Days(30));
    let issued = shop.create(new);
    assert_eq!(shown(&issued), "00001 issued 2026-03-10: work 40 = 40");
    assert_eq!(issued.amount_due, number("27.5"));
    assert_eq!(issued.due_date, Some(at("2026-04-09T00:00:00Z")));
    assert_eq!(issued.auto_collection.next_attempt_at, issued.due_date);
    assert!(!issued.will_auto_issue);
    let types = ["invoice.issued", "customer.balance_transaction_created"];
    assert_eq!(shop.fixture.message_types(), types);
    let mut paid = shop.invoice_of("2026-02-01T00:00:00Z", &[("1", "0")]);
    paid.will_auto_issue = true;
    assert_eq!(shop.create(paid).status, InvoiceStatus::Paid, "nothing is left to pay");
}

#[test]
fn invoicing_4_4_one_that_is_dated_ahead_is_issued_on_its_date() {
    let shop = shop();
    let of = |is_automatic| {
        let mut new = shop.invoice_of("2026-04-01T09:00:00Z", &[("1", "10")]);
        new.will_auto_issue = is_automatic;
        shop.create(new)
    };
    let (automatic, manual) = (of(true), of(false));
    assert!(automatic.will_auto_issue);
    let next = block_on(shop.fixture.account.billing().next_deadline()).unwrap();
    assert_eq!(next, Some(at("2026-04-01T00:00:00Z")));
    let (_, text) = refused(&shop.fixture, shop.fixture.account.issue_invoice(manual.id));
    assert!(text.contains("may be issued from 2026-04-01T00:00:00.000000Z on"), "{text}");
    let (_, text) = refused(&shop.fixture, shop.fixture.account.issue_invoice(automatic.id));
    assert!(text.contains("is issued by itself"), "{text}");
    shop.fixture.tick_at("2026-03-31T23:59:59Z");
    assert_eq!(shop.fixture.message_types(), [""; 0]);
    shop.fixture.tick_at("2026-04-03T00:00:00Z");
    let types = ["invoice.invoice_date_elapsed"; 2];
    let mut found = shop.fixture.message_types();
    found.sort_unstable();
    assert_eq!(found, [&types[..], &["invoice.issued"]].concat());
    let issued = shop.fetch(&automatic);
    assert_eq!(
        (issued.status, issued.issued_at),
        (InvoiceStatus::Issued, Some(issued.invoice_date))
    );
    assert_eq!(shop.fetch(&manual).status, InvoiceStatus::Draft);
    shop.fixture.tick_at("2026-05-01T00:00:00Z");
    assert_eq!(shop.fixture.message_types(), [""; 0], "a date passes once");
    assert_eq!(block_on(shop.fixture.account.billing().next_deadline()).unwrap(), None);
    run(shop.fixture.account.issue_invoice(manual.id)).unwrap();
}

#[test]
fn invoicing_9_1_what_is_refused() {
    let shop = shop();
    let ten = || shop.invoice_of("2026-03-10T00:00:00Z", &[("1", "10")]);
    let check = |change: &dyn Fn(&mut NewInvoice), kind, expect: &str| {
        let mut new = ten();
        change(&mut new);
        let (found, text) = shop.refuse(new);
        assert_eq!(found, kind, "{text}");
        assert!(text.contains(expect), "{text}");
    };
    use ErrorKind::{ConstraintViolation, RequestValidation, ResourceNotFound};
    check(&|new| new.lines.clear(), RequestValidation, "found 0 lines, expected 1 to 200");
    check(&|new| new.lines[0].item_id = UNKNOWN.parse().unwrap(), ResourceNotFound, "item");
    check(&|new| new.customer = external("nobody").into(), ResourceNotFound, "customer");
    check(&|new| new.lines[0].end_date = day("2026-02-28"), RequestValidation, "end_date");
    check(&|new| new.lines[0].quantity = number("-1"), RequestValidation, "expected 0 or more");
    check(&|new| new.invoice_date = at("2027-03-10T13:00:00Z"), RequestValidation, "a year ahead");
    let early = Some(PaymentTerms::DueDate(at("2026-03-09T00:00:00Z")));
    check(&|new| new.terms = early, ConstraintViolation, "before the invoice's date");
    let units = Discount::Usage(number("1"));
    check(&|new| new.discount = discount(units.clone()), ConstraintViolation, "of units");
    let fine = Discount::Amount(number("0.001"));
    check(&|new| new.discount = discount(fine.clone()), RequestValidation, "at most 2 digits");
    let prices = FilterValues::PriceId([UNKNOWN.parse().unwrap()].into());
    let filter = PriceFilter { operator: FilterOperator::Includes, values: prices };
    let filtered = |new: &mut NewInvoice| {
        new.discount = discount(percent("0.1"));
        new.discount.as_mut().unwrap().filters = vec![filter.clone()];
    };
    check(&filtered, ResourceNotFound, "price");
    shop.create(ten());
    let euros = |new: &mut NewInvoice| new.currency = accrue::Currency::parse("EUR").unwrap();
    check(&euros, ConstraintViolation, "the invoice is in EUR, expected USD of the customer");
    let ada = block_on(shop.fixture.account.fetch_customer(shop.ada.id)).unwrap();
    assert_eq!(ada.currency, Some(usd()), "the first one has decided that (U39)");
}

#[test]
fn invoicing_9_1_a_discount_reaches_the_lines_that_pass() {
    let shop = shop();
    let other = run(shop.fixture.account.create_item(NewItem::new(name("other")))).unwrap();
    let check = |given: Discount, values: Option<FilterValues>, expect: [&str; 3]| {
        let mut new =
            shop.invoice_of("2026-03-10T00:00:00Z", &[("1", "20"), ("1", "10"), ("1", "3.33")]);
        new.lines[0].item_id = other.id;
        new.discount = discount(given);
        let filter = |values| PriceFilter { operator: FilterOperator::Includes, values };
        new.discount.as_mut().unwrap().filters = values.into_iter().map(filter).collect();
        assert_eq!(amounts(&shop.create(new)), expect);
    };
    let ten = || Discount::Amount(number("10"));
    check(ten(), None, ["14", "7", "2.33"]);
    check(ten(), Some(FilterValues::ItemId([other.id].into())), ["10", "10", "3.33"]);
    check(ten(), Some(FilterValues::Currency([usd().into()].into())), ["14", "7", "2.33"]);
    let euro = accrue::PricingUnit::parse("EUR").unwrap();
    check(ten(), Some(FilterValues::Currency([euro].into())), ["20", "10", "3.33"]);
    check(ten(), Some(FilterValues::PriceType([PriceClass::Fixed].into())), ["14", "7", "2.33"]);
    check(Discount::Amount(number("50")), None, ["0", "0", "0"]);
    check(percent("0.5"), None, ["10", "5", "1.67"]);
    let tier = |from: &str, to: Option<&str>, off: &str| DiscountTier {
        lower_bound: number(from),
        upper_bound: to.map(number),
        percentage: accrue::Fraction::parse(off).unwrap(),
    };
    let tiers = vec![tier("0", Some("13.33"), "0"), tier("13.33", None, "0.5")];
    check(Discount::TieredPercentage(tiers), None, ["14", "7", "2.33"]);
}

#[test]
fn invoicing_9_1_amounts_may_be_negative() {
    let shop = shop();
    let mut new = shop.invoice_of("2026-03-10T00:00:00Z", &[("1", "-8"), ("1", "0.001")]);
    new.will_auto_issue = true;
    let issued = shop.create(new);
    assert_eq!((issued.total.clone(), issued.status), (number("-8"), InvoiceStatus::Paid));
    let ada = block_on(shop.fixture.account.fetch_customer(shop.ada.id)).unwrap();
    assert_eq!(ada.balance, number("8"));
}

#[test]
fn invoicing_9_4_a_draft_is_dated_anew() {
    let shop = shop();
    let mut new = shop.invoice_of("2026-04-01T00:00:00Z", &[("1", "10")]);
    new.will_auto_issue = true;
    let draft = shop.create(new);
    let update = |invoice_date: &str| {
        let invoice_date = Some(at(invoice_date));
        let update = InvoiceUpdate { invoice_date, ..InvoiceUpdate::default() };
        shop.fixture.account.update_invoice(draft.id, update)
    };
    let later = run(update("2026-05-01T10:00:00Z")).unwrap();
    assert_eq!(later.invoice_date, at("2026-05-01T00:00:00Z"));
    assert_eq!(later.eligible_to_issue_at, Some(later.invoice_date));
    assert_eq!(shop.fixture.message_types(), ["invoice.edited"]);
    assert_eq!(all(&shop.fixture.invoices(DRAFT)), ["DRAFT draft 2026-05-01: work 10 = 10"]);
    let (kind, _) = refused(&shop.fixture, update("2027-03-11T00:00:00Z"));
    assert_eq!(kind, ErrorKind::RequestValidation);
    shop.fixture.tick_at("2026-04-02T00:00:00Z");
    assert_eq!(shop.fixture.message_types(), [""; 0]);
    let issued = run(update("2026-04-02T00:00:00Z")).unwrap();
    assert_eq!(issued.issued_at, Some(at("2026-04-02T00:00:00Z")));
    assert_eq!(shop.fixture.message_types(), ["invoice.edited", "invoice.issued"]);
    assert_eq!(all(&shop.fixture.invoices(SETTLED)), ["00001 issued 2026-04-02: work 10 = 10"]);
    assert_eq!(block_on(shop.fixture.account.billing().next_deadline()).unwrap(), None);
    let (kind, _) = refused(&shop.fixture, update("2026-04-03T00:00:00Z"));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
}

#[test]
fn invoicing_9_4_a_subscription_dates_its_own_invoices() {
    let invoiced = invoiced();
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-07-12T00:00:00Z");
    let draft = invoiced.upcoming(&invoiced.subscribe("2026-07-12T00:00:00Z"));
    let invoice_date = Some(draft.invoice_date);
    let update = InvoiceUpdate { invoice_date, ..InvoiceUpdate::default() };
    let (kind, text) = refused(fixture, fixture.account.update_invoice(draft.id, update));
    assert_eq!(kind, ErrorKind::ConstraintViolation, "{text}");
}

#[test]
fn invoicing_9_2_lists_tell_sources_apart() {
    let invoiced = invoiced();
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-07-12T00:00:00Z");
    invoiced.subscribe("2026-07-12T00:00:00Z");
    let ada = block_on(fixture.account.fetch_customer(external("ada"))).unwrap();
    let mut new = NewInvoice::new(ada.id, usd(), at("2026-07-12T00:00:00Z"));
    new.will_auto_issue = true;
    new.lines.push(NewOneOffLine {
        name: name("work"),
        item_id: fixture.item().id,
        start_date: day("2026-07-12"),
        end_date: day("2026-07-12"),
        quantity: number("1"),
        unit_amount: number("9"),
    });
    run(fixture.account.create_invoice(new)).unwrap();
    let listed = |sources: &[InvoiceSource]| {
        let filter = InvoiceFilter { sources: sources.to_vec(), ..InvoiceFilter::default() };
        let page = block_on(fixture.account.list_invoices(&filter, &Default::default())).unwrap();
        page.data.iter().map(|of| of.total.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(listed(&[]).len(), 2);
    assert_eq!(listed(&[InvoiceSource::OneOff]), ["9"]);
    assert_eq!(listed(&[InvoiceSource::Subscription]), ["200"]);
}

#[test]
fn invoicing_8_a_one_off_invoice_lives_as_others_do() {
    let shop = shop();
    let account = &shop.fixture.account;
    let issued = || {
        let mut new = shop.invoice_of("2026-03-10T00:00:00Z", &[("2", "10")]);
        new.will_auto_issue = true;
        new.discount = discount(percent("0.25"));
        shop.create(new)
    };
    let void = run(account.void_invoice(issued().id)).unwrap();
    assert_eq!(void.status, InvoiceStatus::Void);
    let paid = run(account.mark_invoice_paid(issued().id, Payment::new(at(NOW)))).unwrap();
    assert_eq!(paid.status, InvoiceStatus::Paid);
    let token = Some("token".to_owned());
    let paying = run(account.pay_invoice(issued().id, token)).unwrap();
    assert!(paying.payment_started_at.is_some());

    let credited = issued();
    let note = |line: InvoiceLineId, amount: &str| {
        let line = NewCreditNoteLine { invoice_line_id: line, amount: number(amount), days: None };
        NewCreditNote {
            lines: vec![line],
            reason: CreditNoteReason::Duplicate,
            memo: None,
            days: None,
        }
    };
    let note = run(account.create_credit_note(note(credited.lines[0].id, "8"))).unwrap();
    assert_eq!((note.subtotal.clone(), note.total.clone()), (number("8"), number("6")));
    let related = block_on(account.related(&note)).unwrap();
    assert_eq!(related.price(note.lines[0].price_id).unwrap().item_id, shop.item);
    assert_eq!(shop.fetch(&credited).amount_due, number("9"));
}

#[test]
fn a_customer_is_deleted_with_its_drafts() {
    let shop = shop();
    let account = &shop.fixture.account;
    let mut new = shop.invoice_of("2026-04-01T00:00:00Z", &[("2", "10")]);
    new.will_auto_issue = true;
    new.memo = Some(Description::parse("Thank you").unwrap());
    let draft = shop.create(new);
    let of_invoices = ["collection", "invoice", "invoice_lines", "invoice_texts", "line_price"];
    let tables = || {
        let mut tables = shop.fixture.tables();
        tables.retain(|table| of_invoices.contains(table));
        tables
    };
    assert_eq!(tables(), of_invoices);
    run(account.delete_customer(shop.ada.id)).unwrap();
    let gone = block_on(account.fetch_invoice(draft.id)).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::ResourceNotFound);
    assert_eq!(block_on(account.billing().next_deadline()).unwrap(), None);
    assert_eq!(tables(), [""; 0]);
}

#[test]
fn invoicing_5_1_dates_are_days_of_the_customer() {
    let fixture = Fixture::new();
    let mut configuration = accrue::account::Configuration::default();
    configuration.timezone = Zone::parse("America/New_York").unwrap();
    run(fixture.account.configure(configuration)).unwrap();
    fixture.set(NOW);
    let ada = fixture.customer("ada");
    let shop = Shop { item: fixture.item().id, ada, fixture };
    let mut new = shop.invoice_of("2026-03-01T12:00:00Z", &[("1", "10")]);
    new.terms = Some(PaymentTerms::Days(30));
    let draft = shop.create(new);
    assert_eq!(draft.invoice_date, at("2026-03-01T05:00:00Z"));
    let update = InvoiceUpdate { net_terms: Patch::Clear, ..InvoiceUpdate::default() };
    let issued = run(shop.fixture.account.issue_invoice(draft.id)).unwrap();
    assert_eq!(issued.due_date, Some(at("2026-03-31T04:00:00Z")), "daylight saving began");
    let (kind, _) = refused(&shop.fixture, shop.fixture.account.update_invoice(draft.id, update));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
}
