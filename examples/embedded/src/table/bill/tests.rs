use accrue::{
    AccountId, Billing, Decimal, ManualClock, SeededEntropy, Timestamp,
    credit::NewLedgerEntry,
    invoice::{BalanceDirection, NewBalanceTransaction},
    plan::NewPlan,
    price::{Adjustments, Cadence, Discount, Model, NewPrice, Tier, Tiered, Unit},
    store::MemoryStore,
    subscription::NewSubscription,
};

use crate::{
    Bill,
    catch_up::catch_up,
    invoices::issued,
    setup::{
        Metrics, OUTPUT_TOKENS, REQUESTS, completion, create_item, decimal, external, name,
        new_customer, turn_invoices_on, usd,
    },
};

/// Bills ada for 30 requests, 1,500 output tokens and a fee: with discounts, a minimum, prepaid
/// dollars and a balance.
async fn bill() -> Bill {
    let at = |text| Timestamp::parse(text).unwrap();
    let clock = ManualClock::at(at("2026-03-01T00:00:00Z"));
    let billing = Billing::new(MemoryStore::new(), clock.clone(), SeededEntropy::new(1));
    let account = billing.account(AccountId::parse("bill").unwrap());
    turn_invoices_on(&account).await.unwrap();
    let item = create_item(&account).await.unwrap();
    let metrics = Metrics::create(&account, item).await.unwrap();
    let priced = |named: &str, adjustments| {
        let price = NewPrice::builder(name(named), item).billed(Cadence::Monthly, usd());
        move |metric, model| NewPrice { adjustments, ..price.usage(metric, model) }
    };
    let off = Discount::Percentage("0.125".parse().unwrap());
    let off = Adjustments { discounts: vec![off], ..Adjustments::default() };
    let tiers = [("0", Some("1000"), "0.01"), ("1000", None, "0.005")];
    let tiers = tiers
        .map(|(first, last, each)| Tier::new(decimal(first), last.map(decimal), decimal(each)));
    let least = Adjustments { minimum: Some(decimal("4")), ..Adjustments::default() };
    let mut plan = NewPlan::new(name("Pro"), usd());
    plan.external_plan_id = Some(external("pro"));
    let fee = NewPrice::builder(name("monthly fee"), item).billed(Cadence::Monthly, usd());
    plan.prices = vec![
        fee.fee_in_advance(decimal("20")).into(),
        priced("tokens", off)(metrics.id(OUTPUT_TOKENS), Model::Tiered(Tiered::new(tiers))).into(),
        priced("requests", least)(metrics.id(REQUESTS), Model::Unit(Unit::new(decimal("0.1"))))
            .into(),
    ];
    account.create_plan(plan).await.unwrap();
    let customer = account.create_customer(new_customer(external("ada"))).await.unwrap();
    let prepaid = NewLedgerEntry::increment(usd().into(), decimal("5"));
    account.create_ledger_entry(customer.id, prepaid).await.unwrap();
    account.create_subscription(NewSubscription::new(customer.id, external("pro"))).await.unwrap();
    let amount = decimal("2.5");
    let direction = BalanceDirection::Increment;
    let balance = NewBalanceTransaction { amount, direction, description: None };
    account.create_balance_transaction(customer.id, balance).await.unwrap();
    let event = |row: u64| {
        let tokens = [("output_tokens", 50)];
        completion(&format!("row-{row}"), at("2026-03-01T00:00:00Z"), external("ada"), tokens)
    };
    account.ingest((0..30).map(event)).await.unwrap();
    clock.set(at("2026-04-02T00:00:00Z"));
    catch_up(&billing).await.unwrap();
    let invoice = issued(&account, customer.id).await.unwrap().pop().unwrap();
    Bill { customer, invoice }
}

#[test]
fn what_is_on_a_line_stands_below_it_and_the_column_adds_up() {
    let bill = pollster::block_on(bill());
    let number = &bill.invoice.invoice_number;
    let text = bill.to_string();
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    let expect = "\
Invoice NUMBER
to           ada, ada@example.com
date         2026-04-01
issued       2026-04-02
due          2026-04-01
 service period          ┆ item                 ┆ quantity ┆ unit price ┆ exact ┆ USD
═════════════════════════╪══════════════════════╪══════════╪════════════╪═══════╪═══════
 2026-04-01 – 2026-05-01 ┆ monthly fee          ┆        1 ┆            ┆       ┆ 20.00
 2026-03-01 – 2026-04-01 ┆ tokens               ┆    1,500 ┆            ┆  12.5 ┆ 12.50
                         ┆   up to 1,000        ┆    1,000 ┆       0.01 ┆  10.0 ┆
                         ┆   above 1,000        ┆      500 ┆      0.005 ┆   2.5 ┆
                         ┆   12.5 % off         ┆          ┆            ┆       ┆ -1.56
                         ┆   prepaid            ┆          ┆            ┆       ┆ -4.20
                         ┆ requests             ┆       30 ┆        0.1 ┆   3.0 ┆  3.00
                         ┆   minimum of 4       ┆          ┆            ┆       ┆  1.00
                         ┆   prepaid            ┆          ┆            ┆       ┆ -0.80
                         ┆                      ┆          ┆            ┆       ┆
                         ┆ subtotal             ┆          ┆            ┆       ┆ 35.50
                         ┆ adjustments, prepaid ┆          ┆            ┆       ┆ -5.56
                         ┆ total                ┆          ┆            ┆       ┆ 29.94
                         ┆ from the balance     ┆          ┆            ┆       ┆ -2.50
                         ┆ amount due           ┆          ┆            ┆       ┆ 27.44";
    assert_eq!(lines.join("\n"), expect.replace("NUMBER", number));
    let lines: Decimal = bill.invoice.lines.iter().map(|line| &line.amount).sum();
    assert_eq!(lines, bill.invoice.total);
}
