//! What the golden story bills.

use std::collections::BTreeMap;

use accrue::{
    Description, PageRequest, Patch,
    coupon::{CouponDiscount, NewCoupon, Redemption, RedemptionTiming},
    credit::{
        ExpiryUnit, InvoiceSettings, LedgerChange, NewBlock, NewLedgerEntry, NewTopUp, TopUpExpiry,
        TopUpInvoice,
    },
    customer::{
        CustomerUpdate, ListedPaymentMethod, ListedPaymentMethods, NewCustomer, PaymentMethodType,
        PaymentProvider,
    },
    invoice::{
        BalanceDirection, CreditNoteReason, NewBalanceTransaction, NewCreditNote,
        NewCreditNoteLine, NewInvoice, NewInvoiceDiscount, NewOneOffLine, PaidElsewhere, Payment,
        PaymentOutcome, PaymentTerms, SyncOutcome, TaxAmount, TaxOutcome, TaxReason,
    },
    metric::Metric,
    portal::NewPortalSession,
    price::{Discount, FilterValues, NewPrice, PriceClass},
    subscription::{FeeQuantityChange, NewSubscription, SubscriptionFilter},
};

use crate::support::{
    credited::CREDITS,
    fixture::{Fixture, at, block_on, external, name, number, run, usd},
    priced::unit,
};

/// A subscription that is invoiced: its balance pays for a part, one invoice has a credit note and is being
/// paid, the next is a draft.
pub(super) fn invoice(fixture: &Fixture, sum: &Metric) {
    let mut configuration = block_on(fixture.account.configuration()).unwrap();
    configuration.features.invoices = true;
    run(fixture.account.configure(configuration)).unwrap();
    let plan =
        fixture.priced_plan([fixture.advance_fee("31").into(), fixture.usage_at("2", sum).into()]);
    let mut bob = NewCustomer::new(name("Bob"), accrue::Email::parse("bob@example.com").unwrap());
    bob.external_customer_id = Some(external("invoiced"));
    bob.currency = Some(crate::support::fixture::usd());
    let bob = run(fixture.account.create_customer(bob)).unwrap();
    let owed = NewBalanceTransaction {
        amount: number("1.25"),
        direction: BalanceDirection::Increment,
        description: Some(Description::parse("goodwill").unwrap()),
    };
    run(fixture.account.create_balance_transaction(bob.id, owed)).unwrap();
    fixture.subscribe(bob.id, &plan);
    let issued = fixture.invoices(crate::invoices::SETTLED).remove(0);
    let line = NewCreditNoteLine {
        invoice_line_id: issued.lines[0].id,
        amount: number("0.75"),
        days: None,
    };
    let note = NewCreditNote {
        lines: vec![line],
        reason: CreditNoteReason::ProductUnsatisfactory,
        memo: Some(Description::parse("an hour of outage").unwrap()),
        days: None,
    };
    run(fixture.account.create_credit_note(note)).unwrap();
    let pay = || run(fixture.account.pay_invoice(issued.id, Some("spt".to_owned()))).unwrap();
    let declined = PaymentOutcome::Declined { transaction_id: Some("pi_1".to_owned()) };
    let first = pay().started_payment().unwrap().attempt_id;
    run(fixture.account.report_payment(first, declined)).unwrap();
    pay();
    fixture.use_now("invoiced", "billed", "0.5");
}

/// A coupon that a subscription has redeemed and that was archived, and one that nobody has.
pub(super) fn redeem(fixture: &Fixture) {
    let code = |text| accrue::RedemptionCode::parse(text).unwrap();
    let mut new = NewCoupon::new(
        code("SPRING"),
        CouponDiscount::Percentage(accrue::Fraction::parse("0.25").unwrap()),
    );
    (new.duration_in_months, new.max_redemptions) = (Some(2), Some(10));
    let spring = run(fixture.account.create_coupon(new)).unwrap();
    let invoiced = block_on(fixture.account.fetch_customer(external("invoiced"))).unwrap();
    let filter = SubscriptionFilter { customers: vec![invoiced.id.into()], ..Default::default() };
    let page = PageRequest::default();
    let found = block_on(fixture.account.list_subscriptions(&filter, &page)).unwrap().data;
    let when = RedemptionTiming::EndOfSubscriptionTerm;
    let redemption = Redemption { coupon: spring.id.into(), when };
    run(fixture.account.redeem_coupon(found[0].id, redemption)).unwrap();
    run(fixture.account.archive_coupon(spring.id)).unwrap();
    let five = NewCoupon::new(code("FIVE"), CouponDiscount::Amount(number("5")));
    run(fixture.account.create_coupon(five)).unwrap();
}

/// A one-off draft that is dated ahead, with a discount and a line by hand.
pub(super) fn bill_by_hand(fixture: &Fixture) {
    let (item, customer) = (fixture.item().id, fixture.customer("by hand").id);
    let day = |text| accrue::CivilDate::parse(text).unwrap();
    let mut new = NewInvoice::new(customer, usd(), at("2026-06-01T00:00:00Z"));
    new.will_auto_issue = true;
    new.memo = Some(Description::parse("Thank you").unwrap());
    let half = Discount::Percentage(accrue::Fraction::parse("0.5").unwrap());
    new.discount = Some(NewInvoiceDiscount { discount: half, filters: Vec::new(), reason: None });
    new.lines.push(NewOneOffLine {
        name: name("work"),
        item_id: item,
        start_date: day("2026-05-01"),
        end_date: day("2026-05-02"),
        quantity: number("3"),
        unit_amount: number("19.99"),
    });
    run(fixture.account.create_invoice(new)).unwrap();
}

/// A plan with an adjustment, and a subscription with one of its own that has reached its threshold: with an
/// invoice that somebody is to issue.
pub(super) fn bill_at_a_threshold(fixture: &Fixture, sum: &Metric) {
    let mut new = accrue::plan::NewPlan::new(name("adjusted"), usd());
    let grouping = Some(accrue::PropertyName::parse("region").unwrap());
    let price = NewPrice { invoice_grouping_key: grouping, ..fixture.usage_at("2", sum) };
    new.prices = vec![price.into()];
    new.adjustments = vec![crate::adjustments::percentage_off("0.25")];
    let plan = run(fixture.account.create_plan(new)).unwrap();
    let adjusted = block_on(fixture.account.fetch_plan_version(plan.id, plan.version)).unwrap();
    let customer = fixture.customer("threshold").id;
    let mut new = NewSubscription::new(customer, plan.id);
    let most = crate::adjustments::at_most("90.50");
    let usage = FilterValues::PriceType([PriceClass::Usage].into());
    let most = crate::adjustments::over(usage, most);
    new.adjustments.replace = vec![(adjusted.adjustments[0].scope.id, most)];
    let carried = [("invoicing_threshold", "\"50.00\""), ("auto_issuance", "false")];
    new.carried = accrue::Carried::new(carried).unwrap();
    fixture.create(new);
    fixture.use_now("threshold", "much", "30");
}

/// A block that was bought, and a top-up whose block waits for its payment.
pub(super) fn buy_credits(fixture: &Fixture) {
    let buyer = fixture.customer("buyer").id;
    let billed_in = CustomerUpdate { currency: Some(usd()), ..CustomerUpdate::default() };
    run(fixture.account.update_customer(buyer, billed_in)).unwrap();
    let block = NewBlock {
        per_unit_cost_basis: Some(number("1.5").into()),
        invoice: Some(InvoiceSettings::new(PaymentTerms::Days(14))),
        ..NewBlock::new(number("20"))
    };
    let new = NewLedgerEntry::new(unit(CREDITS), LedgerChange::Increment(block));
    run(fixture.account.create_ledger_entry(buyer, new)).unwrap();
    let invoice = TopUpInvoice { require_successful_payment: true, ..TopUpInvoice::default() };
    let (threshold, amount) = (number("40"), number("50"));
    let mut new = NewTopUp::new(unit(CREDITS), threshold, amount, number("1").into(), invoice);
    new.expires_after = Some(TopUpExpiry { after: 1, unit: ExpiryUnit::Month });
    run(fixture.account.create_top_up(buyer, new)).unwrap();
    run(fixture.account.create_portal_session(buyer, NewPortalSession::default())).unwrap();
}

/// A one-off invoice with a tax and a credit note, and one that waits for its tax.
pub(super) fn tax(fixture: &Fixture) {
    let mut configuration = block_on(fixture.account.configuration()).unwrap();
    configuration.calculates_taxes = true;
    run(fixture.account.configure(configuration)).unwrap();
    let (item, customer) = (fixture.item().id, fixture.customer("taxed").id);
    let day = |text| accrue::CivilDate::parse(text).unwrap();
    let create = || {
        let mut new = NewInvoice::new(customer, usd(), at("2026-05-12T00:00:00Z"));
        new.will_auto_issue = true;
        new.lines.push(NewOneOffLine {
            name: name("work"),
            item_id: item,
            start_date: day("2026-05-01"),
            end_date: day("2026-05-02"),
            quantity: number("1"),
            unit_amount: number("45"),
        });
        run(fixture.account.create_invoice(new)).unwrap().id
    };
    let issued = create();
    let request = block_on(fixture.account.tax_request(issued)).unwrap().unwrap();
    let line = request.lines[0].id;
    let vat = TaxAmount {
        description: name("VAT"),
        percentage: Some(number("8.25")),
        amount: number("3.7125"),
        reason: Some(TaxReason::Taxed),
    };
    let taxes = TaxOutcome::Calculated(BTreeMap::from([(line, vec![vat])]));
    run(fixture.account.report_taxes(request, taxes)).unwrap();
    let line = NewCreditNoteLine { invoice_line_id: line, amount: number("15"), days: None };
    let note = NewCreditNote {
        lines: vec![line],
        reason: CreditNoteReason::Duplicate,
        memo: None,
        days: None,
    };
    run(fixture.account.create_credit_note(note)).unwrap();
    let waits = create();
    let request = block_on(fixture.account.tax_request(waits)).unwrap().unwrap();
    let refused = TaxOutcome::Refused { reason: "no address".to_owned() };
    run(fixture.account.report_taxes(request, refused)).unwrap();
}

/// A customer that is invoiced through a provider, which has not taken its invoice.
pub(super) fn sync(fixture: &Fixture) {
    let customer = fixture.customer("synced").id;
    let update = CustomerUpdate {
        currency: Some(usd()),
        payment_provider: Patch::Set(PaymentProvider::Netsuite),
        ..CustomerUpdate::default()
    };
    run(fixture.account.update_customer(customer, update)).unwrap();
    let plan = fixture.priced_plan([fixture.advance_fee("9").into()]);
    fixture.subscribe(customer, &plan);
    let page = PageRequest::default();
    let waiting = block_on(fixture.account.list_invoices_awaiting_sync(&page)).unwrap().data;
    run(fixture.account.report_sync(waiting[0], SyncOutcome::Failed)).unwrap();
}

/// A customer whose gateway lists a card.
pub(super) fn list_payment_methods(fixture: &Fixture) {
    let payer = fixture.customer("payer").id;
    let update = CustomerUpdate {
        payment_provider: Patch::Set(PaymentProvider::StripeCharge),
        payment_provider_id: Patch::Set(name("cus_1")),
        ..CustomerUpdate::default()
    };
    run(fixture.account.update_customer(payer, update)).unwrap();
    let card = ListedPaymentMethod {
        external_id: external("pm_1"),
        method_type: PaymentMethodType::Card,
        is_default: true,
    };
    let of = block_on(fixture.account.gateway_account(payer)).unwrap();
    let listed = ListedPaymentMethods::new(of, vec![card]).unwrap();
    run(fixture.account.sync_payment_methods(listed)).unwrap();
}

/// Changes that wait: one is applied, and paid as soon as its tax is known.
pub(super) fn stage(fixture: &Fixture) {
    let plan = fixture.priced_plan([fixture.advance_fee("12").into()]);
    let new = || {
        let mut new = NewSubscription::new(external("taxed"), plan.id);
        new.start_date = Some(at("2026-05-12T00:00:00Z"));
        fixture.account.create_subscription(new).leaving_invoices()
    };
    let (pro, applied) = run(new().staged()).unwrap();
    let paid = Payment {
        received_at: at("2026-05-11T00:00:00Z"),
        external_id: Some("till 7".to_owned()),
        notes: None,
    };
    let mut how = PaidElsewhere::default();
    (how.collected, how.paid) = (Some(number("13")), Some(paid));
    run(fixture.account.apply_subscription_change(applied.id, how)).unwrap();
    let fee = FeeQuantityChange::immediate(fixture.prices_of(&plan)[0], number("2.50"));
    run(fixture.account.update_fixed_fee_quantity(pro.id, fee).staged()).unwrap();
    run(new().staged()).unwrap();
    let (_, cancelled) = run(new().staged()).unwrap();
    run(fixture.account.cancel_subscription_change(cancelled.id)).unwrap();
}
