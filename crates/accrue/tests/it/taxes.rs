//! Taxes: what is asked for before an invoice is issued, and what is answered (invoicing 4.5, 7.2, 16.1).

use std::collections::BTreeMap;

use accrue::{
    Carried, CarriedUpdate, ErrorKind, InvoiceId, InvoiceLineId, PageRequest, TaxProvider,
    account::Configuration,
    coupon::{Redemption, RedemptionTiming},
    credit::{InvoiceSettings, LedgerChange},
    customer::CustomerUpdate,
    invoice::{
        BalanceDirection, CreditNoteReason, Invoice, InvoiceSource, InvoiceStatus, NewCreditNote,
        NewCreditNoteLine, Payment, PaymentTerms, TaxAmount, TaxOutcome, TaxReason, TaxRequest,
    },
    metric::Metric,
    price::{Charge, Model, NewPrice, Tier, Tiered},
    subscription::Cancellation,
    webhook::Body,
};

use crate::{
    bought_credits::buyer,
    coupons::percentage,
    invoices::{Invoiced, SETTLED, all, invoiced_with},
    one_off::shop,
    support::{
        credited::block,
        fixture::{Fixture, UNKNOWN, at, block_on, event, external, name, number, refused, run},
    },
    usage_customers::of as usage_of,
};

pub(crate) const JUNE: &str = "2026-06-01T00:00:00Z";

/// A percentage of every line.
#[derive(Clone, Copy)]
pub(crate) struct Percent(pub(crate) &'static str);

impl Percent {
    fn of(self, request: &TaxRequest) -> TaxOutcome {
        let taxes = request.lines.iter().map(|line| {
            let amount = &(&line.amount * &number(self.0)) * &number("0.01");
            let (percentage, reason) = (Some(number(self.0)), Some(TaxReason::Taxed));
            (line.id, vec![TaxAmount { description: name("VAT"), percentage, amount, reason }])
        });
        TaxOutcome::Calculated(taxes.collect())
    }
}

#[async_trait::async_trait]
impl TaxProvider for Percent {
    async fn calculate(&self, request: &TaxRequest) -> Option<TaxOutcome> {
        Some(self.of(request))
    }
}

/// Does not know where anybody lives.
pub(crate) struct Refuses;

#[async_trait::async_trait]
impl TaxProvider for Refuses {
    async fn calculate(&self, _: &TaxRequest) -> Option<TaxOutcome> {
        Some(TaxOutcome::Refused { reason: "the address is not known".to_owned() })
    }
}

/// Answers another time.
struct Thinks;

#[async_trait::async_trait]
impl TaxProvider for Thinks {
    async fn calculate(&self, _: &TaxRequest) -> Option<TaxOutcome> {
        None
    }
}

impl Fixture {
    pub(crate) fn calculates_taxes(&self) {
        let mut configuration = Configuration::default();
        (configuration.features.invoices, configuration.calculates_taxes) = (true, true);
        run(self.account.configure(configuration)).unwrap();
    }

    pub(crate) fn awaiting_tax(&self) -> Vec<InvoiceId> {
        let page = PageRequest::default();
        block_on(self.account.list_invoices_awaiting_tax(&page)).unwrap().data
    }

    fn asked(&self, id: InvoiceId) -> TaxRequest {
        block_on(self.account.tax_request(id)).unwrap().unwrap()
    }

    pub(crate) fn calculate(&self, provider: &dyn TaxProvider) -> usize {
        block_on(self.account.calculate_taxes(provider)).unwrap()
    }
}

/// A customer that is taxed.
pub(crate) fn taxed(prices: impl FnOnce(&Fixture, &Metric) -> Vec<NewPrice>) -> Invoiced {
    let invoiced = invoiced_with(prices);
    invoiced.fixture.calculates_taxes();
    invoiced.fixture.set(JUNE);
    invoiced
}

/// A customer with an invoice of 80 that waits for its tax.
pub(crate) fn waiting() -> (Invoiced, Invoice) {
    let invoiced = taxed(|fixture, _| vec![fixture.advance_fee("80")]);
    invoiced.subscribe(JUNE);
    invoiced.fixture.messages();
    let [id] = invoiced.fixture.awaiting_tax().try_into().unwrap();
    let invoice = invoiced.fetch(id);
    (invoiced, invoice)
}

fn carry(invoiced: &Invoiced, configuration: &str) {
    let carried = CarriedUpdate::new([("tax_configuration", configuration)]).unwrap();
    let update = CustomerUpdate { carried, ..CustomerUpdate::default() };
    run(invoiced.fixture.account.update_customer(external("ada"), update)).unwrap();
}

#[test]
fn invoicing_16_1_taxes_are_asked_for_before_an_invoice_is_issued() {
    let (invoiced, draft) = waiting();
    let fixture = &invoiced.fixture;
    assert_eq!((draft.status, draft.will_auto_issue), (InvoiceStatus::Draft, true));
    assert_eq!(draft.lines[0].tax_amounts, [], "a draft shows none (U61)");
    assert_eq!(draft.total, number("80"));
    let asked = fixture.asked(draft.id);
    assert_eq!((asked.invoice_id, asked.customer_id), (draft.id, draft.customer_id));
    assert_eq!((asked.currency, asked.invoice_date), (draft.currency, at(JUNE)));
    let [line] = asked.lines.as_slice() else { panic!("{asked:?}") };
    assert_eq!((line.id, line.price_id), (draft.lines[0].id, draft.lines[0].price_id));
    assert_eq!((&line.amount, line.period), (&number("80"), draft.lines[0].period));
    let prices = block_on(fixture.account.related(&draft)).unwrap();
    assert_eq!(Some(line.item_id), prices.price(line.price_id).map(|of| of.item_id));

    assert_eq!(fixture.calculate(&Thinks), 0);
    assert_eq!(fixture.message_types(), Vec::<String>::new());
    assert_eq!(fixture.calculate(&Percent("20")), 1);
    assert_eq!(fixture.message_types(), ["invoice.issued"]);
    let issued = invoiced.fetch(draft.id);
    assert_eq!((issued.status, issued.issued_at), (InvoiceStatus::Issued, Some(at(JUNE))));
    assert_eq!(
        [&issued.subtotal, &issued.total, &issued.amount_due],
        [&number("80"), &number("96"), &number("96")]
    );
    let tax = &issued.lines[0].tax_amounts[0];
    assert_eq!((tax.description.as_str(), &tax.amount), ("VAT", &number("16")));
    assert_eq!((&tax.percentage, tax.reason), (&Some(number("20")), Some(TaxReason::Taxed)));
    assert_eq!(issued.lines[0].amount, number("80"), "the amount is before taxes");
    assert_eq!(fixture.awaiting_tax(), []);
    assert_eq!(fixture.calculate(&Percent("20")), 0);
}

#[test]
fn invoicing_16_1_the_request_has_what_taxes_depend_on() {
    let (invoiced, draft) = waiting();
    let carried = [
        ("billing_address", r#"{"country":"GB"}"#),
        ("tax_id", r#"{"country":"GB"}"#),
        ("tax_configuration", r#"{"tax_provider":"anrok"}"#),
        ("email_delivery", "true"),
    ];
    let carried = CarriedUpdate::new(carried).unwrap();
    let update = CustomerUpdate { carried, ..CustomerUpdate::default() };
    run(invoiced.fixture.account.update_customer(external("ada"), update)).unwrap();
    let asked = invoiced.fixture.asked(draft.id);
    let names: Vec<_> = asked.addressee.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["billing_address", "tax_configuration", "tax_id"]);
    let text = serde_json::to_string(&asked).unwrap();
    assert_eq!(
        serde_json::from_str::<TaxRequest>(&text).unwrap(),
        asked,
        "it can be sent elsewhere"
    );
}

#[test]
fn invoicing_16_1_who_is_exempt_is_not_asked_for() {
    for configuration in [
        r#"{"tax_provider":"anrok","tax_exempt":true}"#,
        r#"{"tax_provider":"anrok","tax_exempt":false,"automatic_tax_enabled":false}"#,
    ] {
        let invoiced = taxed(|fixture, _| vec![fixture.advance_fee("80")]);
        carry(&invoiced, configuration);
        invoiced.subscribe(JUNE);
        assert_eq!(
            all(&invoiced.fixture.invoices(SETTLED)),
            ["00001 issued 2026-06-01: fee 80 = 80"]
        );
        assert_eq!(invoiced.fixture.awaiting_tax(), []);
    }
}

#[test]
fn invoicing_16_1_who_becomes_exempt_waits_no_longer() {
    let (invoiced, draft) = waiting();
    carry(&invoiced, r#"{"tax_provider":"anrok","tax_exempt":true}"#);
    assert_eq!(block_on(invoiced.fixture.account.tax_request(draft.id)).unwrap(), None);
    assert_eq!(invoiced.fixture.calculate(&Refuses), 1);
    assert_eq!(invoiced.fetch(draft.id).total, number("80"));
}

#[test]
fn invoicing_16_1_nothing_is_asked_for_an_invoice_of_nothing() {
    let invoiced = taxed(|fixture, _| vec![fixture.advance_fee("0")]);
    invoiced.subscribe(JUNE);
    assert_eq!(all(&invoiced.fixture.invoices(SETTLED)), ["00001 paid 2026-06-01: fee 0 = 0"]);
}

#[test]
fn invoicing_16_1_an_answer_counts_where_its_figures_still_do() {
    let invoiced = taxed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    invoiced.subscribe(JUNE);
    let fixture = &invoiced.fixture;
    fixture.set("2026-06-30T23:00:00Z");
    fixture.use_now("ada", "a", "10");
    fixture.tick_at("2026-07-02T00:00:00Z");
    let [id] = fixture.awaiting_tax().try_into().unwrap();
    let asked = fixture.asked(id);
    fixture.messages();

    let carried = CarriedUpdate::new([("billing_address", r#"{"country":"GB"}"#)]).unwrap();
    let update = CustomerUpdate { carried, ..CustomerUpdate::default() };
    run(fixture.account.update_customer(external("ada"), update)).unwrap();
    fixture.messages();
    let answered =
        run(fixture.account.report_taxes(asked.clone(), Percent("20").of(&asked))).unwrap();
    assert_eq!((answered.status, answered.awaits_tax()), (InvoiceStatus::Draft, true));
    assert_eq!(answered.lines[0].amount, number("20"));
    assert_eq!(fixture.message_types(), Vec::<String>::new());

    let asked = fixture.asked(id);
    let issued =
        run(fixture.account.report_taxes(asked.clone(), Percent("20").of(&asked))).unwrap();
    assert_eq!((issued.status, &issued.total), (InvoiceStatus::Issued, &number("24")));
    let again = run(fixture.account.report_taxes(asked.clone(), Percent("99").of(&asked))).unwrap();
    assert_eq!(again, issued, "what is issued waits no longer");
}

#[test]
fn invoicing_16_1_taxes_of_other_lines_are_refused() {
    let (invoiced, draft) = waiting();
    let fixture = &invoiced.fixture;
    let asked = fixture.asked(draft.id);
    let TaxOutcome::Calculated(taxes) = Percent("20").of(&asked) else { panic!() };
    let tax = taxes[&draft.lines[0].id][0].clone();
    let other: InvoiceLineId = UNKNOWN.parse().unwrap();
    let of_other = BTreeMap::from([(other, vec![tax.clone()])]);
    let too_many = BTreeMap::from([(draft.lines[0].id, vec![tax; 21])]);
    for (taxes, message) in [
        (of_other, format!("found {other}, expected a line of it")),
        (too_many, format!("found 21 taxes of {}, expected at most 20", draft.lines[0].id)),
    ] {
        let call = fixture.account.report_taxes(asked.clone(), TaxOutcome::Calculated(taxes));
        let (kind, found) = refused(fixture, call);
        assert_eq!(kind, ErrorKind::RequestValidation);
        assert!(found.contains(&message), "{found}");
    }
    assert!(invoiced.fetch(draft.id).awaits_tax());
    let reason = "x".repeat(501);
    run(fixture.account.report_taxes(asked, TaxOutcome::Refused { reason })).unwrap();
    let told = fixture.drain().remove(0).body;
    let Body::InvoiceIssueFailed { reason, .. } = told else { panic!("{told:?}") };
    assert_eq!(reason.len(), 500, "a long reason is cut");
}

#[test]
fn invoicing_16_1_a_line_has_twenty_taxes_with_the_longest_names() {
    let (invoiced, draft) = waiting();
    let asked = invoiced.fixture.asked(draft.id);
    let longest = name(&"\u{1f9fe}".repeat(accrue::limits::NAME_CHARACTERS));
    let tax = |cents: u64| TaxAmount {
        description: longest.clone(),
        percentage: None,
        amount: &accrue::Decimal::from(cents) * &number("0.01"),
        reason: None,
    };
    let taxes: Vec<_> = (1..=20).map(tax).collect();
    let taxes = TaxOutcome::Calculated(BTreeMap::from([(draft.lines[0].id, taxes)]));
    let issued = run(invoiced.fixture.account.report_taxes(asked, taxes)).unwrap();
    assert_eq!((issued.lines[0].tax(), &issued.total), (number("2.1"), &number("82.1")));
    assert_eq!(invoiced.fetch(draft.id), issued);
}

#[test]
fn invoicing_7_5_each_tax_is_rounded_by_itself() {
    let invoiced = taxed(|fixture, _| vec![fixture.advance_fee("45")]);
    invoiced.subscribe(JUNE);
    assert_eq!(invoiced.fixture.calculate(&Percent("8.25")), 1);
    let [issued] = invoiced.fixture.invoices(SETTLED).try_into().unwrap();
    assert_eq!(
        (&issued.lines[0].tax_amounts[0].amount, &issued.total),
        (&number("3.71"), &number("48.71"))
    );
}

/// The worked example: tiers, a coupon over the invoice, a tax and a balance.
#[test]
fn invoicing_7_2_the_example_with_its_credit_note_of_10_4() {
    let invoiced = taxed(|fixture, metric| {
        let tier = |from: &str, to: Option<&str>, unit_amount: &str| {
            Tier::new(number(from), to.map(number), number(unit_amount))
        };
        let tiers = vec![tier("0", Some("100"), "1"), tier("100", None, "0.5")];
        let mut price = fixture.usage_at("1", metric);
        let model = Model::Tiered(Tiered::new(tiers));
        price.charge = Charge::Usage { metric_id: metric.id, model }.into();
        vec![price]
    });
    let fixture = &invoiced.fixture;
    let of = invoiced.subscribe(JUNE);
    let coupon = fixture.coupon_for("WELCOME", percentage("0.1"), 12);
    let redemption = Redemption { coupon: coupon.id.into(), when: RedemptionTiming::Immediate };
    run(fixture.account.redeem_coupon(of.id, redemption)).unwrap();
    invoiced.move_balance("30", BalanceDirection::Increment);
    invoiced.use_at("june", JUNE, "160");
    fixture.tick_at("2026-07-02T00:00:00Z");
    assert_eq!(fixture.calculate(&Percent("20")), 1);
    let [invoice] = fixture.invoices(SETTLED).try_into().unwrap();
    let figures = [&invoice.subtotal, &invoice.total, &invoice.amount_due];
    assert_eq!(figures.map(ToString::to_string), ["130", "140.4", "110.4"]);
    let line = &invoice.lines[0];
    assert_eq!([&line.amount, &line.tax()].map(ToString::to_string), ["117", "23.4"]);
    assert_eq!(invoiced.balance(), "0");

    let lines =
        vec![NewCreditNoteLine { invoice_line_id: line.id, amount: number("65"), days: None }];
    let new = NewCreditNote { lines, reason: CreditNoteReason::Duplicate, memo: None, days: None };
    let note = run(fixture.account.create_credit_note(new.clone())).unwrap();
    assert_eq!([&note.subtotal, &note.total].map(ToString::to_string), ["65", "70.2"]);
    assert_eq!(note.lines[0].tax_amounts[0].amount, number("11.7"));
    assert_eq!(invoiced.fetch(invoice.id).amount_due, number("40.2"));
    let fetched = block_on(fixture.account.fetch_credit_note(note.id)).unwrap();
    assert_eq!(fetched, note);
    let rest = run(fixture.account.create_credit_note(new)).unwrap();
    assert_eq!(rest.total, number("70.2"), "shares add up");
    assert_eq!(invoiced.fetch(invoice.id).status, InvoiceStatus::Paid);
}

#[test]
fn invoicing_10_6_what_is_cut_short_is_credited_with_its_tax() {
    let invoiced = taxed(|fixture, _| vec![fixture.advance_fee("300")]);
    let of = invoiced.subscribe(JUNE);
    let fixture = &invoiced.fixture;
    fixture.calculate(&Percent("20"));
    fixture.set("2026-06-16T00:00:00Z");
    run(fixture.account.cancel_subscription(of.id, Cancellation::Immediate)).unwrap();
    let [invoice] = fixture.invoices(SETTLED).try_into().unwrap();
    let [note] = invoice.credit_notes.as_slice() else { panic!("{invoice:?}") };
    assert_eq!([&note.subtotal, &note.total].map(ToString::to_string), ["150", "180"]);
    assert_eq!(invoice.amount_due, number("180"));
}

#[test]
fn invoicing_16_1_one_off_invoices_wait_too() {
    let shop = shop();
    shop.fixture.calculates_taxes();
    let mut new = shop.invoice_of("2026-03-10T00:00:00Z", &[("3", "19.99")]);
    new.will_auto_issue = true;
    let draft = shop.create(new.clone());
    assert_eq!((draft.status, draft.awaits_tax()), (InvoiceStatus::Draft, true));
    new.invoice_date = at("2026-03-12T00:00:00Z");
    let ahead = shop.create(new);
    assert!(!ahead.awaits_tax(), "its date has not come");
    assert_eq!(shop.fixture.calculate(&Percent("10")), 1);
    assert_eq!(shop.fetch(&draft).total, number("65.97"));
    shop.fixture.tick_at("2026-03-12T00:00:00Z");
    assert_eq!(shop.fixture.awaiting_tax(), [ahead.id]);
    assert_eq!(shop.fixture.calculate(&Percent("10")), 1);
    assert_eq!(shop.fetch(&ahead).status, InvoiceStatus::Issued);
}

#[test]
fn invoicing_13_2_credits_wait_for_a_payment_with_its_tax() {
    let ada = buyer();
    ada.fixture.calculates_taxes();
    let mut new = block("100", "", "", "0.5");
    if let LedgerChange::Increment(block) = &mut new.change {
        let settings = InvoiceSettings::new(PaymentTerms::Days(14));
        block.invoice = Some(InvoiceSettings { require_successful_payment: true, ..settings });
    }
    let entry = ada.book(new).unwrap();
    let [id] = entry.created_invoices.clone().try_into().unwrap();
    assert_eq!(ada.fixture.awaiting_tax(), [id]);
    assert_eq!(ada.fixture.calculate(&Percent("20")), 1);
    let account = &ada.fixture.account;
    let issued = block_on(account.fetch_invoice(id)).unwrap();
    assert_eq!([&issued.total, &issued.amount_due].map(ToString::to_string), ["60", "60"]);
    assert_eq!(ada.pending().len(), 1);
    let payment =
        Payment { received_at: at("2026-03-10T00:00:00Z"), external_id: None, notes: None };
    run(account.mark_invoice_paid(id, payment)).unwrap();
    assert_eq!(ada.pending(), Vec::<String>::new());
}

#[test]
fn invoicing_15_threshold_invoices_wait_too() {
    let invoiced = taxed(|fixture, metric| vec![fixture.usage_at("1", metric)]);
    let carried = Carried::new([("invoicing_threshold", r#""50.00""#)]).unwrap();
    invoiced.subscribe_with(JUNE, |new| new.carried = carried);
    let fixture = &invoiced.fixture;
    invoiced.use_at("a", JUNE, "62");
    let [id] = fixture.awaiting_tax().try_into().unwrap();
    assert_eq!(invoiced.fetch(id).source, InvoiceSource::Partial);
    // More is used in the meantime: its lines stay as they were.
    invoiced.use_at("b", JUNE, "10");
    assert_eq!(fixture.calculate(&Percent("20")), 1);
    assert_eq!(invoiced.fetch(id).total, number("74.4"));
    fixture.tick_at("2026-07-02T00:00:00Z");
    assert_eq!(fixture.calculate(&Percent("20")), 1);
    let last = fixture.invoices(SETTLED).remove(0);
    assert_eq!([&last.lines[0].amount, &last.total].map(ToString::to_string), ["10", "12"]);
}

#[test]
fn invoicing_16_1_a_customer_who_waits_can_be_deleted() {
    let (invoiced, _) = waiting();
    let fixture = &invoiced.fixture;
    assert!(fixture.tables().contains(&"awaited_tax"));
    run(fixture.account.delete_customer(external("ada"))).unwrap();
    assert!(!fixture.tables().contains(&"awaited_tax"));
    assert_eq!(fixture.calculate(&Percent("20")), 0);
}

#[test]
fn subscriptions_1_5_9_usage_of_children_is_taxed_as_the_subscribers() {
    let configure = |invoiced: &Invoiced, who: &str, exempt: bool, address: &str| {
        let tax = format!(r#"{{"tax_provider":"anrok","tax_exempt":{exempt}}}"#);
        let carried = [("tax_configuration", tax.as_str()), ("billing_address", address)];
        let carried = CarriedUpdate::new(carried).unwrap();
        let update = CustomerUpdate { carried, ..CustomerUpdate::default() };
        run(invoiced.fixture.account.update_customer(external(who), update)).unwrap();
    };
    let billed = |subscriber_is_exempt: bool| {
        let of = taxed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
        let ada = block_on(of.fixture.account.fetch_customer(external("ada"))).unwrap().id;
        let [a, b] = ["a", "b"].map(|name| of.fixture.child(name, ada));
        configure(&of, "ada", subscriber_is_exempt, r#"{"country":"GB"}"#);
        configure(&of, "a", !subscriber_is_exempt, r#"{"country":"US"}"#);
        of.subscribe_with(JUNE, |new| new.usage_customers = Some(usage_of(&[a, b])));
        let events = [("a", "3"), ("b", "4"), ("ada", "100")];
        let events = events.map(|(customer, n)| event(customer, customer, at(JUNE), n));
        run(of.fixture.account.ingest(events)).unwrap();
        of.fixture.tick_at("2026-07-02T00:00:00Z");
        let asked = of.fixture.awaiting_tax().into_iter().map(|id| {
            let request = block_on(of.fixture.account.tax_request(id)).unwrap().unwrap();
            assert_eq!(request.customer_id, ada);
            let address = request.addressee.get("billing_address").map(str::to_owned);
            (address, request.lines.iter().map(|of| of.amount.to_string()).collect::<Vec<_>>())
        });
        let asked: Vec<_> = asked.collect();
        of.fixture.calculate(&Percent("20"));
        let [invoice] = of.fixture.invoices(SETTLED).try_into().unwrap();
        (asked, invoice.total.to_string())
    };
    let in_gb = (Some(r#"{"country":"GB"}"#.to_owned()), vec!["14".to_owned()]);
    assert_eq!(billed(false), (vec![in_gb], "16.8".to_owned()), "a child is exempt");
    assert_eq!(billed(true), (Vec::new(), "14".to_owned()), "the subscriber is");
}
