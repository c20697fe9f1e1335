//! Top-ups: when they buy, and how often (invoicing 13.4).

use accrue::{
    Error, ErrorKind, PageRequest,
    credit::{BlockSource, BlockStatus, ExpiryUnit, NewTopUp, TopUp, TopUpExpiry, TopUpInvoice},
    invoice::{Invoice, InvoiceStatus},
};

use crate::{
    bought_credits::{buyer, by_hand},
    invoices::{DRAFT, SETTLED},
    support::{
        credited::{CREDITS, decrement, depleted, dropped, recovered},
        fixture::{at, block_on, event, number, run},
        priced::{Priced, unit},
    },
};

fn at_five() -> NewTopUp {
    NewTopUp::new(unit(CREDITS), number("5"), number("50"), "1.00".parse().unwrap(), on_credit())
}

fn on_credit() -> TopUpInvoice {
    TopUpInvoice { net_terms: 30, ..TopUpInvoice::default() }
}

pub(crate) fn once_paid(new: NewTopUp) -> NewTopUp {
    let invoice = TopUpInvoice { require_successful_payment: true, ..new.invoice };
    NewTopUp { invoice, ..new }
}

impl Priced {
    pub(crate) fn top_up(&self, new: NewTopUp) -> TopUp {
        run(self.fixture.account.create_top_up(self.customer, new)).unwrap()
    }

    fn refuse_top_up(&self, new: NewTopUp) -> ErrorKind {
        run(self.fixture.account.create_top_up(self.customer, new)).unwrap_err().kind()
    }

    fn delete_top_up(&self, of: &TopUp) -> Result<(), Error> {
        run(self.fixture.account.delete_top_up(self.customer, of.id))
    }

    fn top_ups(&self) -> Vec<TopUp> {
        let page = PageRequest::default();
        block_on(self.fixture.account.list_top_ups(self.customer, &page)).unwrap().data
    }

    /// The totals of what was issued, oldest first.
    fn totals(&self) -> Vec<String> {
        let mut found = self.fixture.invoices(SETTLED);
        found.sort_by_key(|invoice| invoice.invoice_number.clone());
        found.iter().map(|invoice| invoice.total.to_string()).collect()
    }

    fn last_invoice(&self) -> Invoice {
        let found = self.fixture.invoices(SETTLED);
        found.into_iter().max_by_key(|invoice| invoice.invoice_number.clone()).unwrap()
    }
}

/// The customer `ada` with so many credits and a top-up.
fn topped_up(credits: &str, new: NewTopUp) -> (Priced, TopUp) {
    let ada = buyer();
    ada.give(credits);
    let top_up = ada.top_up(new);
    ada.fixture.drain();
    (ada, top_up)
}

#[test]
fn invoicing_13_4_a_balance_of_3_is_topped_up_to_53() {
    let (ada, top_up) = topped_up("12", at_five());
    for new in [dropped(&["5"]), depleted(), recovered()] {
        ada.watch(new);
    }
    ada.use_now("1", "9");
    assert_eq!(ada.balance().unwrap(), "53");
    assert_eq!(ada.totals(), ["50"]);
    let invoice = ada.last_invoice();
    assert_eq!(invoice.status, InvoiceStatus::Issued);
    assert_eq!(invoice.invoice_date, at("2026-03-10T00:00:00Z"));
    assert_eq!(invoice.due_date, Some(at("2026-04-09T00:00:00Z")));
    let told = ada.fixture.message_types();
    let expected =
        ["customer.credit_balance_dropped", "invoice.issued", "customer.credit_ledger_incremented"];
    assert_eq!(told, expected);
    let sources: Vec<_> = ada.blocks().iter().map(|block| block.source).collect();
    assert!(sources.contains(&BlockSource::TopUp), "{sources:?}");
    assert_eq!(ada.top_ups(), [top_up]);
}

#[test]
fn invoicing_13_4_a_balance_of_minus_110_takes_three() {
    let (ada, _) = topped_up("40", at_five());
    ada.watch(depleted());
    ada.watch(recovered());
    ada.use_now("1", "150");
    assert_eq!(ada.balance().unwrap(), "40");
    assert_eq!(ada.totals(), ["50", "50", "50"]);
    let told = ada.fixture.message_types();
    assert_eq!(
        (told.first(), told.last()),
        (Some(&"customer.credit_balance_depleted"), Some(&"customer.credit_balance_recovered"),)
    );
}

#[test]
fn invoicing_13_4_nothing_is_bought_before_the_first_is_paid() {
    let (ada, _) = topped_up("12", once_paid(at_five()));
    ada.use_now("1", "9");
    assert_eq!(ada.balance().unwrap(), "3");
    ada.use_now("2", "10");
    assert_eq!((ada.balance().unwrap(), ada.totals()), ("-7".into(), vec!["50".into()]));
    ada.mark_paid(&ada.last_invoice());
    assert_eq!(ada.balance().unwrap(), "43");
    ada.use_now("3", "40");
    assert_eq!((ada.balance().unwrap(), ada.totals().len()), ("3".into(), 2));
}

#[test]
fn invoicing_13_4_it_is_judged_again_when_paid() {
    let (ada, _) = topped_up("12", once_paid(at_five()));
    ada.use_now("1", "200");
    ada.mark_paid(&ada.last_invoice());
    assert_eq!((ada.balance().unwrap(), ada.totals().len()), ("-138".into(), 2));
}

#[test]
fn invoicing_13_4_a_void_invoice_ends_it() {
    let (ada, top_up) = topped_up("12", once_paid(at_five()));
    ada.use_now("1", "9");
    ada.void_invoice(&ada.last_invoice());
    assert_eq!((ada.top_ups(), ada.balance().unwrap()), (Vec::new(), "3".into()));
    ada.use_now("2", "10");
    assert_eq!((ada.balance().unwrap(), ada.blocks()), ("-7".into(), Vec::new()));
    assert!(ada.delete_top_up(&top_up).unwrap_err().is_not_found());
}

#[test]
fn invoicing_13_4_at_most_ten_in_a_commit() {
    let (ada, _) = topped_up("12", at_five());
    ada.use_now("1", "1012");
    assert_eq!((ada.balance().unwrap(), ada.totals().len()), ("-500".into(), 10));
    // The rest comes with whatever moves the balance next.
    ada.give("1");
    assert_eq!((ada.balance().unwrap(), ada.totals().len()), ("1".into(), 20));
    ada.book(decrement("1")).unwrap();
    assert_eq!(ada.balance().unwrap(), "50");
}

#[test]
fn invoicing_13_4_it_buys_when_it_is_created() {
    let ada = buyer();
    let top_up = ada.top_up(at_five());
    assert_eq!((ada.balance().unwrap(), ada.totals()), ("50".into(), vec!["50".into()]));
    // Another one takes its place.
    let more = NewTopUp { threshold: number("60"), ..at_five() };
    let other = ada.top_up(more);
    assert_ne!(other.id, top_up.id);
    assert_eq!((ada.top_ups(), ada.balance().unwrap()), (vec![other], "100".into()));
}

#[test]
fn invoicing_13_4_it_begins_when_it_is_to() {
    let ada = buyer();
    ada.give("3");
    let new = NewTopUp { active_from: Some(at("2026-03-12T00:00:00Z")), ..at_five() };
    ada.top_up(new);
    ada.book(decrement("1")).unwrap();
    assert_eq!(ada.balance().unwrap(), "2");
    ada.fixture.set("2026-03-15T00:00:00Z");
    assert_eq!(ada.balance().unwrap(), "52", "whoever looks sees it");
    ada.fixture.tick();
    assert_eq!(ada.last_invoice().invoice_date, at("2026-03-12T00:00:00Z"));
    assert_eq!(ada.totals(), ["50"]);
    // There is no ledger yet, whose balance counts as zero.
    let ben = buyer();
    ben.top_up(NewTopUp { active_from: Some(at("2026-03-12T00:00:00Z")), ..at_five() });
    ben.fixture.set("2026-03-15T00:00:00Z");
    ben.fixture.tick();
    assert_eq!(ben.balance().unwrap(), "50");
}

#[test]
fn invoicing_13_4_what_expires_is_replaced() {
    let expires_after = Some(TopUpExpiry { after: 1, unit: ExpiryUnit::Day });
    let ada = buyer();
    ada.top_up(NewTopUp { expires_after, ..at_five() });
    assert_eq!(ada.blocks()[0].expiry_date, Some(at("2026-03-11T00:00:00Z")));
    ada.fixture.set("2026-03-12T06:00:00Z");
    ada.fixture.tick();
    // Those of the 10th, the 11th and the 12th.
    assert_eq!((ada.balance().unwrap(), ada.totals().len()), ("50".into(), 3));
    assert_eq!(ada.blocks()[0].expiry_date, Some(at("2026-03-13T00:00:00Z")));
}

#[test]
fn invoicing_13_4_what_costs_nothing_has_no_invoice() {
    let free = NewTopUp { per_unit_cost_basis: "0".parse().unwrap(), ..once_paid(at_five()) };
    let (ada, _) = topped_up("12", free);
    ada.use_now("1", "9");
    assert_eq!((ada.balance().unwrap(), ada.totals()), ("53".into(), Vec::new()));
}

#[test]
fn invoicing_13_4_a_deleted_one_takes_what_waits_along() {
    let (ada, top_up) = topped_up("12", once_paid(at_five()));
    ada.use_now("1", "9");
    let invoice = ada.last_invoice();
    ada.delete_top_up(&top_up).unwrap();
    assert_eq!(ada.invoice(&invoice).status, InvoiceStatus::Void);
    assert_eq!((ada.top_ups(), ada.blocks().len()), (Vec::new(), 1));
    assert!(ada.delete_top_up(&top_up).unwrap_err().is_not_found());
}

#[test]
fn invoicing_13_4_bounds() {
    let ada = buyer();
    let bad = [
        NewTopUp { threshold: number("-1"), ..at_five() },
        NewTopUp { amount: number("0"), ..at_five() },
        NewTopUp { per_unit_cost_basis: "-1".parse().unwrap(), ..at_five() },
        NewTopUp { active_from: Some(at("2026-02-28T11:59:59Z")), ..at_five() },
        NewTopUp {
            expires_after: Some(TopUpExpiry { after: 0, unit: ExpiryUnit::Month }),
            ..at_five()
        },
    ];
    for new in bad {
        assert_eq!(ada.refuse_top_up(new), ErrorKind::RequestValidation);
    }
    let euros = NewTopUp { currency: unit("EUR"), ..at_five() };
    assert_eq!(ada.refuse_top_up(euros), ErrorKind::ConstraintViolation);
    let back = NewTopUp { active_from: Some(at("2026-02-28T12:00:00Z")), ..at_five() };
    ada.top_up(back);
}

#[test]
fn invoicing_13_4_batches_are_as_their_events() {
    let [one_by_one, together] = [1, 8].map(|size| {
        let (ada, _) = topped_up("12", at_five());
        ada.watch(dropped(&["5"]));
        ada.watch(recovered());
        let now = at("2026-03-10T12:00:00Z");
        let events: Vec<_> = (0..16).map(|n: u32| event("ada", &n.to_string(), now, "7")).collect();
        for batch in events.chunks(size) {
            run(ada.fixture.account.ingest(batch.to_vec())).unwrap();
        }
        let told: Vec<_> = ada.fixture.drain().iter().map(|of| of.message_type()).collect();
        (ada.standing(), ada.all_blocks(), ada.totals(), told)
    });
    assert_eq!(one_by_one, together);
}

#[test]
fn invoicing_13_4_a_draft_of_what_waits_goes_with_its_block_or_its_top_up() {
    for by_block in [true, false] {
        let ada = buyer();
        by_hand(&ada);
        ada.give("12");
        let top_up = ada.top_up(once_paid(at_five()));
        ada.use_now("1", "9");
        let [draft] = ada.fixture.invoices(DRAFT).try_into().unwrap();
        let pending = ada.blocks().into_iter().find(|of| of.status == BlockStatus::PendingPayment);
        if by_block {
            run(ada.fixture.account.delete_credit_block(pending.unwrap().id)).unwrap();
            assert_eq!(ada.top_ups(), [], "it buys no more");
        } else {
            ada.delete_top_up(&top_up).unwrap();
        }
        let gone = block_on(ada.fixture.account.fetch_invoice(draft.id)).unwrap_err();
        assert_eq!(gone.kind(), ErrorKind::ResourceNotFound);
        ada.top_up(at_five());
        assert_eq!(ada.balance().unwrap(), "53", "another one buys");
    }
}

#[test]
fn invoicing_1_money_of_a_top_up_has_the_digits_of_its_currency() {
    let ada = buyer();
    let usd = |threshold: &str, amount: &str| NewTopUp {
        currency: crate::support::fixture::usd().into(),
        threshold: number(threshold),
        amount: number(amount),
        ..at_five()
    };
    assert_eq!(ada.refuse_top_up(usd("5", "50.005")), ErrorKind::RequestValidation);
    assert_eq!(ada.refuse_top_up(usd("0.001", "50")), ErrorKind::RequestValidation);
    let tokens = NewTopUp { amount: number("50.005"), ..at_five() };
    assert_eq!(ada.top_up(tokens).amount, number("50.005"), "a pricing unit has its own");
}
