//! Ledgers of credits, squared with the invoices that are issued (invoicing 4.3, 7.3).

use std::collections::BTreeMap;

use accrue::{
    Carried, Decimal, PageRequest, PricingUnit,
    credit::{EntryType, LedgerFilter, NewBlock, NewLedgerEntry},
    invoice::{Invoice, InvoiceStatus},
    price::{
        Adjustments, Cadence, Charge, Discount, FilterOperator, FilterValues, Model, NewPrice,
        PriceFilter, Unit,
    },
    usage::Amendment,
};
use proptest::{collection::vec, prelude::*};

use crate::{
    invoices::{DRAFT, Invoiced, SETTLED, invoiced_with},
    invoicing_cycles::every,
    support::{
        fixture::{Fixture, at, block_on, event, external, number, run, usd},
        priced::unit,
    },
};

const JUNE: &str = "2026-06-01T00:00:00Z";
const ISSUED: &str = "2026-07-02T00:00:00Z";

/// From the first of June on, with prices.
fn from_june(prices: impl FnOnce(&Fixture, &accrue::metric::Metric) -> Vec<NewPrice>) -> Invoiced {
    let invoiced = invoiced_with(prices);
    invoiced.fixture.set(JUNE);
    invoiced
}

/// 1 token each, worth 0.02.
fn tokens(fixture: &Fixture, metric: &accrue::metric::Metric) -> NewPrice {
    let price = fixture.usage_at("1", metric);
    NewPrice { currency: unit("tokens"), conversion_rate: Some(number("0.02").into()), ..price }
}

fn off(fraction: &str, price: NewPrice) -> NewPrice {
    let fraction = accrue::Fraction::parse(fraction).unwrap();
    let discounts = vec![Discount::Percentage(fraction)];
    NewPrice { adjustments: Adjustments { discounts, ..Adjustments::default() }, ..price }
}

impl Invoiced {
    fn give(&self, unit: &PricingUnit, amount: &str) {
        let new = NewLedgerEntry::increment(unit.clone(), number(amount));
        run(self.fixture.account.create_ledger_entry(external("ada"), new)).unwrap();
    }

    fn left(&self, unit: &PricingUnit) -> String {
        let balance = self.fixture.account.credit_balance(external("ada"), unit);
        block_on(balance).unwrap().balance.unwrap_or_default().to_string()
    }

    /// Amounts and descriptions of amendments, newest first.
    fn amended(&self, unit: &PricingUnit) -> Vec<(String, Option<String>)> {
        let (filter, page) = (LedgerFilter::default(), PageRequest::first(100).unwrap());
        let account = &self.fixture.account;
        let listed = account.list_ledger_entries(external("ada"), unit, &filter, &page);
        let entries = block_on(listed).unwrap().data.into_iter();
        let amended = entries.filter(|of| matches!(of.entry_type, EntryType::Amendment));
        amended.map(|of| (of.amount.to_string(), of.description.map(|of| of.to_string()))).collect()
    }

    fn issued_at(&self, now: &str) -> Invoice {
        self.fixture.tick_at(now);
        self.fixture.invoices(SETTLED).remove(0)
    }
}

/// What each line shows of adjusted subtotals, credits and amounts.
fn figures(invoice: &Invoice) -> Vec<[String; 3]> {
    let lines = invoice.lines.iter();
    let figures = lines.map(|of| [&of.adjusted_subtotal, &of.credits_applied, &of.amount]);
    figures.map(|of| of.map(Decimal::to_string)).collect()
}

#[test]
fn invoicing_7_3_overage_that_is_billed_is_not_paid_off_once_more() {
    let invoiced = from_june(|fixture, metric| vec![tokens(fixture, metric)]);
    let tokens = unit("tokens");
    invoiced.give(&tokens, "1000");
    invoiced.subscribe(JUNE);
    invoiced.use_at("a", JUNE, "1500");
    assert_eq!(invoiced.left(&tokens), "-500");
    invoiced.fixture.set(ISSUED);
    assert_eq!(invoiced.left(&tokens), "0", "whoever reads sees what is due");
    let read = invoiced.amended(&tokens);
    let issued = invoiced.issued_at(ISSUED);
    assert_eq!(invoiced.amended(&tokens), read);
    assert_eq!(issued.subtotal, number("30"));
    assert_eq!(figures(&issued), [["1500", "1000", "10"]]);
    assert_eq!(invoiced.left(&tokens), "0");
    let said = format!("invoice {}", issued.invoice_number);
    assert_eq!(invoiced.amended(&tokens), [("500".to_owned(), Some(said))]);
    invoiced.give(&tokens, "200");
    assert_eq!(invoiced.left(&tokens), "200");
}

#[test]
fn invoicing_7_3_a_unit_that_is_worth_nothing_stays_overdrawn() {
    let invoiced = from_june(|fixture, metric| {
        vec![NewPrice { conversion_rate: None, ..tokens(fixture, metric) }]
    });
    let tokens = unit("tokens");
    invoiced.give(&tokens, "1000");
    invoiced.subscribe(JUNE);
    invoiced.use_at("a", JUNE, "1500");
    assert_eq!(figures(&invoiced.issued_at(ISSUED)), [["1500", "1000", "0"]]);
    assert_eq!(invoiced.left(&tokens), "-500");
    assert_eq!(invoiced.amended(&tokens), []);
}

#[test]
fn invoicing_7_3_what_discounts_spare_goes_back() {
    let invoiced = from_june(|fixture, metric| vec![off("0.2", fixture.usage_at("1", metric))]);
    let usd = usd().into();
    invoiced.give(&usd, "100");
    invoiced.subscribe(JUNE);
    invoiced.use_at("a", JUNE, "100");
    assert_eq!(invoiced.left(&usd), "0");
    let issued = invoiced.issued_at(ISSUED);
    assert_eq!(figures(&issued), [["80", "80", "0"]]);
    assert_eq!(invoiced.left(&usd), "20");
    let said = format!("invoice {}", issued.invoice_number);
    assert_eq!(invoiced.amended(&usd), [("20".to_owned(), Some(said))]);
}

#[test]
fn invoicing_7_3_what_an_increment_has_paid_off_is_not_billed() {
    let invoiced = from_june(|fixture, metric| vec![fixture.usage_at("1", metric)]);
    let usd = usd().into();
    invoiced.give(&usd, "15");
    invoiced.subscribe(JUNE);
    invoiced.use_at("a", JUNE, "20");
    invoiced.give(&usd, "3");
    assert_eq!(invoiced.left(&usd), "-2");
    assert_eq!(figures(&invoiced.fixture.invoices(DRAFT)[0]), [["20", "18", "2"]]);
    assert_eq!(figures(&invoiced.issued_at(ISSUED)), [["20", "18", "2"]]);
    assert_eq!(invoiced.left(&usd), "0");
}

#[test]
fn invoicing_7_3_credits_are_applied_to_the_price_that_drew_them() {
    let invoiced = from_june(|fixture, metric| {
        let cheap = off("0.2", fixture.usage_at("1", metric));
        let model = Model::Unit(Unit::new(number("0.5")));
        let half = NewPrice {
            charge: Charge::Usage { metric_id: metric.id, model }.into(),
            ..fixture.usage_at("1", metric)
        };
        vec![cheap, half]
    });
    let usd: PricingUnit = usd().into();
    let prices = invoiced.fixture.prices_of(&invoiced.plan);
    let filter = PriceFilter {
        operator: FilterOperator::Includes,
        values: FilterValues::PriceId([prices[1]].into()),
    };
    let block = NewBlock { filters: vec![filter], ..NewBlock::new(number("15")) };
    let change = accrue::credit::LedgerChange::Increment(block);
    let new = NewLedgerEntry::new(usd.clone(), change);
    run(invoiced.fixture.account.create_ledger_entry(external("ada"), new)).unwrap();
    invoiced.give(&usd, "30");
    invoiced.subscribe(JUNE);
    invoiced.use_at("a", JUNE, "40");
    // 40 and 20: the second takes 15 of its own block, the first 30 of the other; 15 are overdrawn, of which
    // the discount of 8 spares some.
    assert_eq!(invoiced.left(&usd), "-15");
    let issued = invoiced.issued_at(ISSUED);
    assert_eq!(figures(&issued), [["32", "30", "2"], ["20", "15", "5"]]);
    assert_eq!(invoiced.left(&usd), "0");
}

#[test]
fn invoicing_7_3_credits_follow_usage_to_another_price() {
    let invoiced = from_june(|fixture, _| {
        let of = |name: &str| {
            fixture.metric(&format!("SELECT sum(n) FROM events WHERE event_name = '{name}'"))
        };
        ["a", "b"].map(|name| fixture.usage_at("1", &of(name))).into()
    });
    let usd: PricingUnit = usd().into();
    invoiced.give(&usd, "10");
    invoiced.subscribe(JUNE);
    let named = |name: &str| {
        let mut event = event("ada", "key", at(JUNE), "8");
        event.event_name = accrue::EventName::parse(name).unwrap();
        event
    };
    run(invoiced.fixture.account.ingest([named("a")])).unwrap();
    assert_eq!(figures(&invoiced.fixture.invoices(DRAFT)[0]), [["8", "8", "0"], ["0", "0", "0"]]);
    let accrue::usage::Event { idempotency_key, event_name, timestamp, properties, customer } =
        named("b");
    let amendment = Amendment { event_name, timestamp, properties, customer };
    run(invoiced.fixture.account.amend_event(idempotency_key, amendment)).unwrap();
    invoiced.fixture.tick();
    let issued = invoiced.issued_at(ISSUED);
    assert_eq!(figures(&issued), [["0", "0", "0"], ["8", "8", "0"]]);
    assert_eq!((invoiced.left(&usd), invoiced.amended(&usd)), ("2".to_owned(), vec![]));
}

#[test]
fn invoicing_15_what_a_threshold_bills_of_the_overdraft_is_settled() {
    let invoiced = from_june(|fixture, metric| vec![fixture.usage_at("1", metric)]);
    let usd: PricingUnit = usd().into();
    invoiced.give(&usd, "15");
    invoiced.subscribe_with(JUNE, |new| {
        new.carried = Carried::new([("invoicing_threshold", "\"10\"".to_owned())]).unwrap();
    });
    // Both of one batch: the second is drawn behind what the first has settled.
    let events = [event("ada", "a", at(JUNE), "27"), event("ada", "b", at(JUNE), "4")];
    run(invoiced.fixture.account.ingest(events)).unwrap();
    assert_eq!(invoiced.left(&usd), "-4");
    invoiced.give(&usd, "6");
    assert_eq!(invoiced.left(&usd), "2");
    let issued = invoiced.issued_at(ISSUED);
    let line = &issued.lines[0];
    let shown = [&line.subtotal, &line.credits_applied, &line.partially_invoiced, &line.amount];
    assert_eq!(shown.map(Decimal::to_string), ["31", "19", "12", "0"]);
    assert_eq!(invoiced.left(&usd), "2");
}

#[test]
fn invoicing_15_a_boundary_within_the_period_bills_nothing_that_a_later_threshold_has() {
    let invoiced = from_june(|fixture, metric| {
        let mut price = every(1, "month", fixture.usage_at("1", metric));
        price.cadence = Cadence::Quarterly;
        vec![price]
    });
    let usd: PricingUnit = usd().into();
    invoiced.give(&usd, "30");
    invoiced.subscribe_with(JUNE, |new| {
        new.carried = Carried::new([("invoicing_threshold", "\"10\"".to_owned())]).unwrap();
    });
    invoiced.use_at("a", JUNE, "20");
    // The draft of the first of July waits for late events while the threshold is reached.
    invoiced.fixture.tick_at("2026-07-01T12:00:00Z");
    invoiced.use_at("b", "2026-07-01T12:00:00Z", "30");
    invoiced.fixture.tick_at("2026-09-02T00:00:00Z");
    let statuses = [InvoiceStatus::Issued, InvoiceStatus::Paid];
    let mut found: Vec<_> = invoiced
        .fixture
        .invoices(&statuses)
        .iter()
        .map(|of| format!("{} {}", &of.invoice_date.to_string()[..10], of.total))
        .collect();
    found.sort();
    assert_eq!(found, ["2026-07-01 0", "2026-07-01 20", "2026-08-01 0", "2026-09-01 0"]);
    assert_eq!(invoiced.left(&usd), "0");
}

#[test]
fn invoicing_7_3_the_period_of_another_price_is_not_over_with_this_one() {
    let invoiced = from_june(|fixture, metric| {
        let mut quarterly = off("0.2", every(1, "month", fixture.usage_at("1", metric)));
        quarterly.cadence = Cadence::Quarterly;
        quarterly.adjustments.minimum = Some(number("100"));
        let monthly = NewPrice { currency: unit("tokens"), ..fixture.usage_at("1", metric) };
        vec![quarterly, monthly]
    });
    let usd: PricingUnit = usd().into();
    let expires = at("2026-06-30T00:00:00Z");
    let given = NewLedgerEntry::expiring(usd.clone(), number("100"), expires);
    run(invoiced.fixture.account.create_ledger_entry(external("ada"), given)).unwrap();
    invoiced.subscribe(JUNE);
    invoiced.use_at("a", JUNE, "100");
    invoiced.fixture.tick_at("2026-07-02T00:00:00Z");
    assert_eq!(invoiced.amended(&usd), [], "the quarter goes on");
    let last = invoiced.issued_at("2026-09-02T00:00:00Z");
    assert_eq!(figures(&last)[0], ["100", "100", "0"]);
}

/// What happens to a customer who has credits.
#[derive(Clone, Debug)]
enum Happens {
    Use(u32),
    Undo(usize),
    Give(u32),
    Wait(u32),
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        4 => (1_u32..30).prop_map(Happens::Use),
        1 => (0_usize..9).prop_map(Happens::Undo),
        2 => (1_u32..40).prop_map(Happens::Give),
        2 => (1_u32..400).prop_map(Happens::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// In the end the invoices have applied what the ledger has lost, to the digit, and nothing is overdrawn:
    /// nobody pays twice, with credits or with money.
    #[test]
    fn invoicing_7_3_invoices_apply_what_the_ledger_has_lost(
        story in vec(happens(), 1..14),
        discount in prop::option::of(1_u32..4),
        threshold in prop::option::of(5_u32..60),
    ) {
        let invoiced = from_june(|fixture, metric| {
            let price = fixture.usage_at("1", metric);
            vec![match discount {
                Some(quarters) => off(&format!("0.{}", quarters * 25), price),
                None => price,
            }]
        });
        let usd: PricingUnit = usd().into();
        let mut given = number("10");
        invoiced.give(&usd, "10");
        invoiced.subscribe_with(JUNE, |new| {
            let threshold = threshold.map(|of| ("invoicing_threshold", format!("\"{of}\"")));
            new.carried = Carried::new(threshold).unwrap();
        });
        let (fixture, mut used) = (&invoiced.fixture, BTreeMap::new());
        for (index, happens) in story.into_iter().enumerate() {
            let now = accrue::Clock::now(&fixture.clock);
            match happens {
                Happens::Use(n) => {
                    let event = event("ada", &format!("key {index}"), now, &n.to_string());
                    run(fixture.account.ingest([event])).unwrap();
                    used.insert(index, now);
                }
                // What was billed within a period is not credited: only later usage is taken back.
                Happens::Undo(place) if threshold.is_none() => {
                    let key = accrue::EventKey::parse(format!("key {place}")).unwrap();
                    let before = fixture.invoices(SETTLED).iter().map(|of| of.invoice_date).max();
                    let used_at = used.get(&place);
                    if used_at.is_some_and(|used| before.is_none_or(|date| date <= *used)) {
                        let _ = run(fixture.account.deprecate_event(key));
                        fixture.tick();
                    }
                }
                Happens::Undo(_) => {}
                Happens::Give(n) => {
                    given += Decimal::from(u64::from(n));
                    invoiced.give(&usd, &n.to_string());
                }
                Happens::Wait(hours) => {
                    let by = std::time::Duration::from_secs(u64::from(hours) * 3_600);
                    fixture.clock.advance(by);
                    fixture.tick();
                }
            }
        }
        fixture.tick_at("2027-06-02T00:00:00Z");
        let statuses = [InvoiceStatus::Issued, InvoiceStatus::Paid];
        let mut page = PageRequest::first(100).unwrap();
        let filter = accrue::invoice::InvoiceFilter {
            statuses: statuses.to_vec(),
            ..accrue::invoice::InvoiceFilter::default()
        };
        let mut invoices = Vec::new();
        loop {
            let found = block_on(fixture.account.list_invoices(&filter, &page)).unwrap();
            invoices.extend(found.data);
            let Some(next) = found.next_cursor else { break };
            page = page.after(next);
        }
        let whole = invoices.iter().filter(|of| of.source != accrue::invoice::InvoiceSource::Partial);
        let applied: Decimal =
            whole.flat_map(|of| &of.lines).map(|line| &line.credits_applied).sum();
        prop_assert_eq!(invoiced.left(&usd), (given - applied).to_string());
        let balance = block_on(fixture.account.credit_balance(external("ada"), &usd)).unwrap();
        prop_assert_eq!(balance.overdraft, Decimal::zero());
    }
}
