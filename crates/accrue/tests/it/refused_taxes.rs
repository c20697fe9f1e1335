//! Taxes that are refused, and drafts that nobody issues any more (invoicing 4.4, 4.5).

use accrue::{
    Carried, CarriedUpdate, PageRequest, TaxProvider,
    invoice::{InvoiceStatus, TaxOutcome, TaxRequest},
    subscription::SubscriptionUpdate,
    webhook::Body,
};

use crate::{
    invoices::DRAFT,
    one_off::shop,
    support::fixture::{Fixture, at, number, run},
    taxes::{JUNE, Percent, Refuses, taxed, waiting},
};

/// Refuses what it is asked for, and says so of all that waits.
struct RefusesAll<'a>(&'a Fixture);

#[async_trait::async_trait]
impl TaxProvider for RefusesAll<'_> {
    async fn calculate(&self, asked: &TaxRequest) -> Option<TaxOutcome> {
        let account = &self.0.account;
        let page = PageRequest::default();
        for id in account.list_invoices_awaiting_tax(&page).await.unwrap().data {
            let reason = "said by another process".to_owned();
            if id != asked.invoice_id
                && let Some(request) = account.tax_request(id).await.unwrap()
            {
                account.report_taxes(request, TaxOutcome::Refused { reason }).await.unwrap();
            }
        }
        Refuses.calculate(asked).await
    }
}

#[test]
fn invoicing_4_5_a_refusal_is_told_and_tried_again_after_an_hour() {
    let (invoiced, draft) = waiting();
    let fixture = &invoiced.fixture;
    assert_eq!(fixture.calculate(&Refuses), 0);
    let told: Vec<_> = fixture.drain().into_iter().map(|message| message.body).collect();
    let reason = "the address is not known".to_owned();
    assert_eq!(told, [Body::InvoiceIssueFailed { invoice_id: draft.id, reason }]);
    let failed = invoiced.fetch(draft.id);
    assert_eq!((failed.status, failed.issue_failed_at), (InvoiceStatus::Draft, Some(at(JUNE))));
    assert!(failed.awaits_tax());
    fixture.set("2026-06-01T00:59:59Z");
    assert_eq!(fixture.awaiting_tax(), []);
    fixture.set("2026-06-01T01:00:00Z");
    assert_eq!(fixture.awaiting_tax(), [draft.id]);
    assert_eq!(fixture.calculate(&Percent("20")), 1);
    let issued = invoiced.fetch(draft.id);
    assert_eq!(
        (issued.issued_at, &issued.total),
        (Some(at("2026-06-01T01:00:00Z")), &number("96"))
    );
}

#[test]
fn invoicing_4_5_whoever_issues_it_tries_it_at_once() {
    let (invoiced, draft) = waiting();
    let fixture = &invoiced.fixture;
    fixture.calculate(&Refuses);
    assert_eq!(fixture.awaiting_tax(), []);
    let asked = run(fixture.account.issue_invoice(draft.id)).unwrap();
    assert!(asked.awaits_tax());
    assert_eq!(fixture.awaiting_tax(), [draft.id]);
    assert_eq!(fixture.calculate(&Percent("20")), 1);
}

#[test]
fn invoicing_4_5_what_is_issued_by_hand_is_not_tried_again_by_itself() {
    let invoiced = taxed(|fixture, _| vec![fixture.advance_fee("80")]);
    let by_hand = Carried::new([("auto_issuance", "false")]).unwrap();
    invoiced.subscribe_with(JUNE, |new| new.carried = by_hand);
    let fixture = &invoiced.fixture;
    assert_eq!(fixture.awaiting_tax(), [], "nobody has issued it");
    let drafts = fixture.invoices(DRAFT);
    let draft = drafts.iter().find(|of| of.invoice_date == at(JUNE)).unwrap().id;
    let waits = run(fixture.account.issue_invoice(draft)).unwrap();
    assert!(waits.awaits_tax());
    assert_eq!(waits.lines[0].amount, number("80"), "it is shown as the draft that it is");
    assert_eq!(fixture.calculate(&Refuses), 0);
    fixture.set("2026-06-02T00:00:00Z");
    assert_eq!(fixture.awaiting_tax(), []);
    assert!(!invoiced.fetch(draft).awaits_tax());
    run(fixture.account.issue_invoice(draft)).unwrap();
    assert_eq!(fixture.calculate(&Percent("20")), 1);
    assert_eq!(invoiced.fetch(draft).total, number("96"));
}

#[test]
fn invoicing_4_5_what_another_process_has_settled_is_not_issued() {
    let shop = shop();
    shop.fixture.calculates_taxes();
    let drafts = [(); 2].map(|()| {
        let draft = shop.create(shop.invoice_of("2026-03-10T00:00:00Z", &[("1", "45")]));
        run(shop.fixture.account.issue_invoice(draft.id)).unwrap()
    });
    assert_eq!(shop.fixture.awaiting_tax().len(), 2);
    assert_eq!(shop.fixture.calculate(&RefusesAll(&shop.fixture)), 0);
    assert!(drafts.iter().all(|draft| !shop.fetch(draft).awaits_tax()), "nobody has asked again");
    assert_eq!(shop.fixture.awaiting_tax(), []);
}

#[test]
fn invoicing_4_4_what_waits_is_left_to_somebody_once_issuing_is() {
    let invoiced = taxed(|fixture, _| vec![fixture.advance_fee("80")]);
    let of = invoiced.subscribe(JUNE);
    let fixture = &invoiced.fixture;
    let [draft] = fixture.awaiting_tax().try_into().unwrap();
    let carried = CarriedUpdate::new([("auto_issuance", "false")]).unwrap();
    let update = SubscriptionUpdate { carried, ..SubscriptionUpdate::default() };
    run(fixture.account.update_subscription(of.id, update)).unwrap();
    assert_eq!(fixture.calculate(&Percent("20")), 0);
    let left = invoiced.fetch(draft);
    assert_eq!((left.will_auto_issue, left.awaits_tax()), (false, false));
    assert_eq!(fixture.awaiting_tax(), []);
}
