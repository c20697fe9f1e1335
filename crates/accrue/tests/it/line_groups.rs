//! Lines that are broken down by a property of the events (invoicing 6.1).

use accrue::{
    Decimal, ErrorKind, EventKey, PropertyName, Timeframe, Timestamp, WrittenDecimal,
    backfill::NewBackfill,
    invoice::{Invoice, InvoiceLine},
    metric::Metric,
    price::{
        Charge, Discount, Matrix, MatrixCell, MatrixWithAllocation, MinimumTier, Model, NewPrice,
        Part, PartOf, Tier, Tiered, TieredWithMinimum,
    },
    usage::{Amendment, Event},
};

use crate::{
    invoices::{DRAFT, Invoiced, SETTLED, invoiced_with},
    support::fixture::{Fixture, NOON, at, event, external, number, refused, run},
};

const JUNE: &str = "2026-06-01T00:00:00Z";

fn key(text: &str) -> PropertyName {
    PropertyName::parse(text).unwrap()
}

fn by_region(price: NewPrice) -> NewPrice {
    NewPrice { invoice_grouping_key: Some(key("region")), ..price }
}

fn rated(fixture: &Fixture, metric: &Metric, model: Model) -> NewPrice {
    let charge = Charge::Usage { metric_id: metric.id, model }.into();
    by_region(NewPrice { charge, ..fixture.usage_at("2", metric) })
}

/// A customer from June on whose usage costs what a price says, by region.
fn used(prices: impl FnOnce(&Fixture, &Metric) -> NewPrice) -> Invoiced {
    let invoiced = invoiced_with(|fixture, metric| vec![prices(fixture, metric)]);
    invoiced.fixture.set(JUNE);
    invoiced.subscribe(JUNE);
    invoiced
}

fn in_region(name: &str, timestamp: Timestamp, n: &str, region: Option<&str>) -> Event {
    with(event("ada", name, timestamp, n), "region", region)
}

/// An event with a further property, if it has that.
fn with(mut event: Event, name: &str, value: Option<&str>) -> Event {
    let known = event.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
    let more = value.map(|value| (key(name), value.into()));
    event.properties = known.chain(more).collect();
    event
}

impl Invoiced {
    fn use_in(&self, name: &str, timestamp: &str, n: &str, region: Option<&str>) {
        run(self.fixture.account.ingest([in_region(name, at(timestamp), n, region)])).unwrap();
    }

    fn draft(&self) -> Invoice {
        self.fixture.invoices(DRAFT).remove(0)
    }

    /// The invoice of June, issued.
    fn issued(&self) -> Invoice {
        self.fixture.tick_at("2026-07-02T00:00:00Z");
        self.fixture.invoices(SETTLED).into_iter().find(|of| of.issued_at.is_some()).unwrap()
    }
}

/// What a person reads of the parts of a line: value, quantity, amount.
fn parts(line: &InvoiceLine) -> Vec<String> {
    let shown = |part: &Part| match &part.of {
        PartOf::Group { key, value } => {
            let value = value.as_deref().unwrap_or("-");
            format!("{}={value}: {} = {}", key.as_str(), part.quantity, part.amount)
        }
        other => format!("{other:?}"),
    };
    line.parts.iter().map(shown).collect()
}

#[test]
fn invoicing_6_1_a_line_says_what_each_value_of_its_property_comes_to() {
    let invoiced = used(|fixture, metric| {
        let mut price = by_region(fixture.usage_at("2", metric));
        price.adjustments.discounts = vec![Discount::Amount(number("1"))];
        price
    });
    invoiced.use_in("a", "2026-06-01T00:00:00Z", "3", Some("eu"));
    assert_eq!(parts(&invoiced.draft().lines[0]), ["region=eu: 3 = 6"]);
    invoiced.fixture.set("2026-06-11T10:00:00Z");
    invoiced.use_in("b", "2026-06-11T10:00:00Z", "4", Some("us"));
    invoiced.fixture.set("2026-06-20T10:00:00Z");
    invoiced.use_in("c", "2026-06-20T10:00:00Z", "5.5", None);
    invoiced.use_in("d", "2026-06-20T09:59:59Z", "1", Some("eu"));
    let expected = ["region=-: 5.5 = 11", "region=eu: 4 = 8", "region=us: 4 = 8"];
    assert_eq!(parts(&invoiced.draft().lines[0]), expected);

    // What is corrected is in its new group, and a group without usage is not shown.
    let account = &invoiced.fixture.account;
    let moved = in_region("b", at("2026-06-11T10:00:00Z"), "2", Some("eu"));
    let Event { idempotency_key, event_name, timestamp, properties, customer } = moved;
    let amendment = Amendment { event_name, timestamp, properties, customer };
    run(account.amend_event(idempotency_key, amendment)).unwrap();
    run(account.deprecate_event(EventKey::parse("c").unwrap())).unwrap();
    let period = Timeframe::new(at("2026-06-05T00:00:00Z"), at("2026-06-06T00:00:00Z")).unwrap();
    let mut new = NewBackfill::new(period);
    new.customer = Some(external("ada").into());
    let backfill = run(account.create_backfill(new)).unwrap();
    let lost = in_region("lost", at("2026-06-05T01:00:00Z"), "10", Some("asia"));
    run(account.ingest_backfill(backfill.id, [lost])).unwrap();
    run(account.close_backfill(backfill.id)).unwrap();
    invoiced.fixture.tick();
    let expected = ["region=asia: 10 = 20", "region=eu: 6 = 12"];
    assert_eq!(parts(&invoiced.draft().lines[0]), expected);

    let issued = invoiced.issued();
    assert_eq!(parts(&issued.lines[0]), expected);
    let [line] = issued.lines.as_slice() else { panic!("{issued:?}") };
    assert_eq!((&line.quantity, &line.subtotal), (&number("16"), &number("32")));
    assert_eq!(line.amount, number("31"), "parts are before adjustments");
    assert_eq!(line.parts[0].unit_amount, number("2"));
    assert_eq!(invoiced.fetch(issued.id), issued);
}

#[test]
fn invoicing_6_1_values_share_what_they_come_to_together() {
    let tier =
        |first, last: Option<&str>, each| Tier::new(number(first), last.map(number), number(each));
    let tiers = vec![tier("0", Some("10"), "1"), tier("10", None, "0.5")];
    let invoiced =
        used(|fixture, metric| rated(fixture, metric, Model::Tiered(Tiered::new(tiers))));
    for (name, n, region) in [("a", "9", "eu"), ("b", "9", "us"), ("c", "9", "us"), ("d", "3", "x")]
    {
        invoiced.use_in(name, JUNE, n, Some(region));
    }
    // 10 at 1 and 20 at 0.5 are 20, of which each has so much as it has of 30.
    let line = invoiced.issued().lines.remove(0);
    let sum: Decimal = line.parts.iter().map(|part| &part.amount).sum();
    assert_eq!((&line.subtotal, &sum), (&number("20"), &number("20")));
    let quantities: Vec<_> = line.parts.iter().map(|part| part.quantity.to_string()).collect();
    assert_eq!(quantities, ["9", "18", "3"]);
    let shown: Vec<_> = line.parts.iter().map(|part| part.amount.round(2).to_string()).collect();
    assert_eq!(shown, ["6", "12", "2"]);
}

#[test]
fn invoicing_6_1_a_matrix_is_broken_down_by_what_its_cells_cost() {
    let cell = |size: &str, each| MatrixCell::new(vec![Some(size.to_owned())], number(each));
    let cells = [cell("big", "10"), cell("small", "1")];
    let matrix = Matrix::new(vec![key("size")], number("5"), cells);
    let invoiced = used(|fixture, metric| rated(fixture, metric, Model::Matrix(matrix)));
    for (name, size, region) in
        [("a", "big", "eu"), ("b", "small", "eu"), ("c", "other", "us"), ("d", "big", "us")]
    {
        let event = with(in_region(name, at(JUNE), "2", Some(region)), "size", Some(size));
        run(invoiced.fixture.account.ingest([event])).unwrap();
    }
    let line = invoiced.issued().lines.remove(0);
    assert_eq!(parts(&line), ["region=eu: 4 = 22", "region=us: 4 = 30"]);
    assert_eq!(line.subtotal, number("52"));
}

fn shown(line: &InvoiceLine) -> Vec<String> {
    let sub_lines = line.sub_lines().into_iter();
    let sub_lines = sub_lines.map(|(part, amount)| match &part.of {
        PartOf::Group { value, .. } => format!("{} = {amount}", value.as_deref().unwrap_or("-")),
        _ => format!("{} = {amount}", part.name.as_deref().unwrap_or("?")),
    });
    sub_lines.collect()
}

#[test]
fn price_models_1_6_cells_that_share_an_allocation_share_by_what_they_would_cost() {
    let cell = |size: &str, each| MatrixCell::new(vec![Some(size.to_owned())], number(each));
    let cells = [cell("big", "10"), cell("small", "1")];
    let matrix = Matrix::new(vec![key("size")], number("5"), cells);
    let model = MatrixWithAllocation { matrix, allocation: WrittenDecimal::from(number("4")) };
    let invoiced =
        used(|fixture, metric| rated(fixture, metric, Model::MatrixWithAllocation(model)));
    for (name, n, size, region) in [("a", "9", "big", "eu"), ("b", "19", "small", "us")] {
        let event = with(in_region(name, at(JUNE), n, Some(region)), "size", Some(size));
        run(invoiced.fixture.account.ingest([event])).unwrap();
    }
    // 5 at 10 and 19 at 1 are 69: alone they would be 50 and 15.
    let line = invoiced.issued().lines.remove(0);
    assert_eq!(line.subtotal, number("69"));
    assert_eq!(shown(&line), ["eu = 53.08", "us = 15.92"]);
}

#[test]
fn price_models_1_6_what_a_minimum_adds_is_of_no_value() {
    let tier = |bound: &str, each: &str| MinimumTier {
        tier_lower_bound: number(bound).into(),
        unit_amount: number(each).into(),
        minimum_amount: number("20").into(),
    };
    let tiers = vec![tier("0", "1"), tier("100", "1")];
    let model = TieredWithMinimum { tiers, hide_zero_amount_tiers: false, prorate: false };
    let invoiced = used(|fixture, metric| rated(fixture, metric, Model::TieredWithMinimum(model)));
    invoiced.use_in("a", JUNE, "5", Some("eu"));
    invoiced.use_in("b", JUNE, "3", Some("us"));
    let line = invoiced.issued().lines.remove(0);
    assert_eq!(line.subtotal, number("20"));
    assert_eq!(shown(&line), ["eu = 5", "us = 3", "Minimum = 12"]);
}

#[test]
fn price_models_1_6_sub_lines_add_up_to_what_their_line_shows() {
    let invoiced = invoiced_with(|fixture, metric| {
        let price = || by_region(fixture.usage_at("0.335", metric));
        vec![price(), price(), price()]
    });
    invoiced.fixture.set(JUNE);
    invoiced.subscribe(JUNE);
    invoiced.use_in("a", JUNE, "0.5", Some("eu"));
    invoiced.use_in("b", JUNE, "0.5", Some("us"));
    let lines = invoiced.issued().lines;
    let subtotals: Vec<_> = lines.iter().map(|line| line.subtotal.to_string()).collect();
    assert_eq!(subtotals, ["0.34", "0.34", "0.33"], "lines are rounded together");
    for line in &lines {
        let sum: Decimal = line.sub_lines().into_iter().map(|(_, amount)| amount).sum();
        assert_eq!(sum, line.subtotal);
        assert_eq!(parts(line), ["region=eu: 0.5 = 0.1675", "region=us: 0.5 = 0.1675"]);
    }
}

#[test]
fn invoicing_6_1_as_many_values_as_there_may_be_fit_an_invoice() {
    let invoiced = used(|fixture, metric| by_region(fixture.usage_at("2", metric)));
    let long = "x".repeat(1_000);
    let region = |number: u64| format!("{number:04}{long}");
    for batch in 0..10 {
        let events = (0..100).map(|place| {
            let number = batch * 100 + place;
            in_region(&format!("e{number}"), at(JUNE), "1", Some(&region(number)))
        });
        run(invoiced.fixture.account.ingest(events)).unwrap();
    }
    let one_more = in_region("more", at(JUNE), "1", Some("more"));
    let account = &invoiced.fixture.account;
    let (kind, text) = refused(&invoiced.fixture, account.ingest([one_more]));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert!(text.contains("more than 1000 groups"), "{text}");
    let issued = invoiced.issued();
    assert_eq!((issued.lines.len(), issued.lines[0].parts.len()), (1, 1_000));
    assert_eq!(invoiced.fetch(issued.id), issued);
    let values = issued.lines[0].parts.iter().map(|part| match &part.of {
        PartOf::Group { value, .. } => value.clone().unwrap(),
        other => panic!("{other:?}"),
    });
    assert!(values.eq((0..1_000).map(region)));
}

#[test]
fn invoicing_6_1_a_price_breaks_down_what_was_used_before_it() {
    let invoiced = invoiced_with(|fixture, metric| {
        let early = in_region("early", at(NOON), "7", Some("eu"));
        run(fixture.account.ingest([early])).unwrap();
        vec![by_region(fixture.usage_at("2", metric))]
    });
    invoiced.subscribe(NOON);
    invoiced.use_in("late", NOON, "1", Some("us"));
    let expected = ["region=eu: 7 = 14", "region=us: 1 = 2"];
    assert_eq!(parts(&invoiced.draft().lines[0]), expected, "before it is measured");
    invoiced.fixture.tick();
    assert_eq!(parts(&invoiced.draft().lines[0]), expected);
}

#[test]
fn invoicing_6_1_only_what_adds_up_is_broken_down() {
    let fixture = Fixture::new();
    for sql in ["SELECT max(n) FROM events", "SELECT count(DISTINCT n) FROM events"] {
        let metric = fixture.metric(sql);
        let new = by_region(fixture.usage_at("2", &metric));
        let (kind, text) = refused(&fixture, fixture.account.create_price(new));
        assert_eq!(kind, ErrorKind::ConstraintViolation, "{sql}");
        assert!(text.contains("breaks down what a metric counts or sums"), "{text}");
    }
    let fee = by_region(fixture.advance_fee("5"));
    let (kind, text) = refused(&fixture, fixture.account.create_price(fee));
    assert_eq!(kind, ErrorKind::RequestValidation);
    assert!(text.contains("invoice_grouping_key: found a property on a fixed price"), "{text}");
}
