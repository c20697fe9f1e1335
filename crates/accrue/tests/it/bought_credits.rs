//! Credits that are bought: their invoices, and what those do to the blocks (invoicing 13.1 to 13.3).

use accrue::{
    Currency, Error, ErrorKind,
    credit::{
        BlockStatus, CreditBlock, EntryStatus, InvoiceSettings, LedgerChange, LedgerEntry,
        LedgerFilter,
    },
    customer::CustomerUpdate,
    invoice::{
        CreditNoteReason, Invoice, InvoiceStatus, NewCreditNote, NewCreditNoteLine, Payment,
        PaymentTerms,
    },
};

use crate::{
    invoices::SETTLED,
    support::{
        credited::{block, credited, depleted, extension, recovered, show, void},
        fixture::{at, block_on, number, refused, run},
        priced::Priced,
    },
};

/// The customer `ada`, who is invoiced in dollars, on a day at noon, with the message of before read.
pub(crate) fn buyer() -> Priced {
    let priced = credited();
    priced.fixture.set("2026-03-10T12:00:00Z");
    let currency = Some(Currency::parse("USD").unwrap());
    let update = CustomerUpdate { currency, ..CustomerUpdate::default() };
    run(priced.fixture.account.update_customer(priced.customer, update)).unwrap();
    priced.fixture.tick();
    priced.fixture.drain();
    priced
}

fn due_in(days: u32) -> InvoiceSettings {
    InvoiceSettings::new(PaymentTerms::Days(days))
}

fn when_paid() -> InvoiceSettings {
    InvoiceSettings { require_successful_payment: true, ..due_in(14) }
}

impl Priced {
    fn buy_with(
        &self,
        amount: &str,
        basis: &str,
        settings: InvoiceSettings,
    ) -> Result<LedgerEntry, Error> {
        let mut new = block(amount, "", "", basis);
        if let LedgerChange::Increment(block) = &mut new.change {
            block.invoice = Some(settings);
        }
        self.book(new)
    }

    fn buy(&self, amount: &str, basis: &str, settings: InvoiceSettings) -> (LedgerEntry, Invoice) {
        let entry = self.buy_with(amount, basis, settings).unwrap();
        let invoice = self.made_with(&entry);
        (entry, invoice)
    }

    /// The invoice that was made with an entry.
    fn made_with(&self, entry: &LedgerEntry) -> Invoice {
        let [id] = entry.created_invoices.clone().try_into().unwrap();
        let related = block_on(self.fixture.account.related(entry)).unwrap();
        related.invoice(id).unwrap().clone()
    }

    pub(crate) fn invoice(&self, of: &Invoice) -> Invoice {
        block_on(self.fixture.account.fetch_invoice(of.id)).unwrap()
    }

    pub(crate) fn mark_paid(&self, of: &Invoice) -> Invoice {
        let received_at = at("2026-03-10T00:00:00Z");
        let payment = Payment { received_at, external_id: None, notes: None };
        run(self.fixture.account.mark_invoice_paid(of.id, payment)).unwrap()
    }

    pub(crate) fn void_invoice(&self, of: &Invoice) -> Invoice {
        run(self.fixture.account.void_invoice(of.id)).unwrap()
    }

    fn delete_bought(&self, of: &LedgerEntry) -> Result<(), Error> {
        run(self.fixture.account.delete_credit_block(of.credit_block.id))
    }

    fn invoices_of(&self, of: &LedgerEntry) -> Vec<Invoice> {
        let id = of.credit_block.id;
        block_on(self.fixture.account.list_credit_block_invoices(id)).unwrap().invoices
    }

    pub(crate) fn pending(&self) -> Vec<String> {
        let entry_status = Some(EntryStatus::Pending);
        let filter = LedgerFilter { entry_status, ..LedgerFilter::default() };
        self.fixture.entries(self.customer, filter).iter().map(show).collect()
    }
}

fn statuses(blocks: &[CreditBlock]) -> Vec<BlockStatus> {
    blocks.iter().map(|block| block.status).collect()
}

#[test]
fn invoicing_13_1_credits_are_bought_with_an_invoice() {
    let ada = buyer();
    let (entry, invoice) = ada.buy("333.333", "0.015", due_in(14));
    assert_eq!(show(&entry), "increment 333.333 = 333.333");
    assert_eq!((invoice.status, invoice.subscription_id), (InvoiceStatus::Issued, None));
    assert_eq!((&invoice.total, &invoice.amount_due), (&number("5"), &number("5")));
    let [line] = invoice.lines.as_slice() else { panic!("{invoice:?}") };
    assert_eq!((line.name.as_str(), &line.quantity), ("Credits", &number("333.333")));
    assert_eq!((line.period.start(), line.period.end()), (at(NOON), at(NOON)));
    assert_eq!(invoice.invoice_date, at("2026-03-10T00:00:00Z"));
    assert_eq!(invoice.due_date, Some(at("2026-03-24T00:00:00Z")));
    assert!(!invoice.auto_collection.enabled);
    assert_eq!(ada.invoice(&invoice), invoice);
    assert_eq!(ada.invoices_of(&entry), [invoice]);
    let told = ["invoice.issued", "customer.credit_ledger_incremented"];
    assert_eq!(ada.fixture.message_types(), told);
    assert_eq!(ada.entries()[0].created_invoices, [], "whoever asked for it was told");
}

const NOON: &str = "2026-03-10T12:00:00Z";

#[test]
fn invoicing_13_1_the_item_is_made_once() {
    let ada = buyer();
    let (_, first) = ada.buy("10", "1", due_in(0));
    let (_, second) = ada.buy("10", "1", due_in(0));
    let related = |of: &Invoice| block_on(ada.fixture.account.related(of)).unwrap();
    let item = |of: &Invoice| related(of).price(of.lines[0].price_id).unwrap().item_id;
    assert_eq!(item(&first), item(&second));
}

#[test]
fn invoicing_13_1_the_line_has_the_dates_of_the_block() {
    let ada = buyer();
    let mut new = block("10", "2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z", "1");
    let LedgerChange::Increment(block) = &mut new.change else { panic!("{new:?}") };
    block.invoice = Some(InvoiceSettings {
        terms: PaymentTerms::DueDate(at("2026-04-20T00:00:00Z")),
        ..due_in(0)
    });
    let entry = ada.book(new).unwrap();
    let invoice = &ada.made_with(&entry);
    let period = invoice.lines[0].period;
    assert_eq!(period.start(), at("2026-04-01T00:00:00Z"));
    assert_eq!(period.end(), at("2026-05-01T00:00:00Z"));
    // It bears the date of the block, and is issued then.
    assert_eq!((invoice.status, invoice.will_auto_issue), (InvoiceStatus::Draft, true));
    ada.fixture.set("2026-04-01T00:00:00Z");
    ada.fixture.tick();
    let issued = ada.invoice(invoice);
    assert_eq!(issued.status, InvoiceStatus::Issued);
    assert_eq!(issued.due_date, Some(at("2026-04-20T00:00:00Z")));
}

#[test]
fn invoicing_13_1_marked_as_paid() {
    let ada = buyer();
    let settings = InvoiceSettings { mark_as_paid: true, ..when_paid() };
    let (entry, invoice) = ada.buy("10", "2", settings);
    assert_eq!((invoice.status, &invoice.amount_due), (InvoiceStatus::Paid, &number("20")));
    assert_eq!(invoice.payment_received_at, None);
    assert_eq!(invoice.balance_transactions, []);
    assert_eq!((entry.entry_status, ada.balance().unwrap()), (EntryStatus::Committed, "10".into()));
}

#[test]
fn invoicing_13_1_credits_that_cost_nothing_have_no_invoice() {
    let ada = buyer();
    let entry = ada.buy_with("10", "0", when_paid()).unwrap();
    assert_eq!(entry.created_invoices, []);
    assert_eq!((ada.balance().unwrap(), ada.invoices_of(&entry)), ("10".into(), Vec::new()));
}

#[test]
fn invoicing_13_1_settings_without_a_price_are_refused() {
    let ada = buyer();
    let refused = ada.buy_with("10", "", due_in(0)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::RequestValidation);
    // Nor does anything say in which currency to invoice.
    let priced = credited();
    let other = priced.fixture.customer("ben");
    let mut new = block("10", "", "", "1");
    if let LedgerChange::Increment(block) = &mut new.change {
        block.invoice = Some(due_in(0));
    }
    let call = priced.fixture.account.create_ledger_entry(other.id, new);
    assert_eq!(refused_kind(&priced, call), ErrorKind::ConstraintViolation);
}

fn refused_kind(priced: &Priced, call: accrue::Call<LedgerEntry>) -> ErrorKind {
    refused(&priced.fixture, call).0
}

#[test]
fn invoicing_13_2_credits_wait_for_their_payment() {
    let ada = buyer();
    ada.give("12");
    ada.watch(recovered());
    let alert = ada.watch(depleted());
    ada.use_now("1", "13");
    ada.fixture.drain();
    let (bought, invoice) = ada.buy("50", "1", when_paid());
    assert_eq!(
        (bought.entry_status, show(&bought)),
        (EntryStatus::Pending, "increment 50 = -1".into())
    );
    assert_eq!(ada.fixture.message_types(), ["invoice.issued"]);
    assert_eq!(statuses(&ada.blocks()), [BlockStatus::PendingPayment]);
    assert_eq!(
        (ada.standing(), ada.pending()),
        ("-1: 0, 1".into(), vec!["increment 50 = -1".into()])
    );
    ada.use_now("2", "3");
    assert_eq!(ada.standing(), "-4: 0, 4", "nothing is drawn from it");
    ada.mark_paid(&invoice);
    assert_eq!(ada.standing(), "46: 46, 0");
    assert_eq!((statuses(&ada.blocks()), ada.pending()), (vec![BlockStatus::Active], Vec::new()));
    let last = ada.entries().pop().unwrap();
    assert_eq!((last.id, last.entry_status), (bought.id, EntryStatus::Committed));
    assert_eq!((show(&last), last.starting_balance), ("increment 50 = 46".into(), number("-4")));
    let told = [
        "invoice.manually_marked_as_paid",
        "customer.credit_ledger_incremented",
        "customer.credit_balance_recovered",
    ];
    assert_eq!(ada.fixture.message_types(), told);
    assert!(alert.enabled);
    // Taking the mark back leaves what it has activated.
    run(ada.fixture.account.undo_mark_invoice_paid(invoice.id)).unwrap();
    ada.mark_paid(&invoice);
    assert_eq!(ada.standing(), "46: 46, 0");
}

#[test]
fn invoicing_13_2_pending_credits_begin_no_ledger() {
    let ada = buyer();
    let (_, invoice) = ada.buy("50", "1", when_paid());
    ada.use_now("1", "10");
    assert_eq!(ada.standing(), "none: 0, 0");
    ada.mark_paid(&invoice);
    assert_eq!(ada.standing(), "50: 50, 0");
}

#[test]
fn invoicing_13_2_the_balance_pays_at_once() {
    let ada = buyer();
    let of_balance = accrue::invoice::NewBalanceTransaction {
        amount: number("100"),
        direction: accrue::invoice::BalanceDirection::Increment,
        description: None,
    };
    run(ada.fixture.account.create_balance_transaction(ada.customer, of_balance)).unwrap();
    let (entry, invoice) = ada.buy("50", "1", when_paid());
    assert_eq!((invoice.status, entry.entry_status), (InvoiceStatus::Paid, EntryStatus::Committed));
    assert_eq!(ada.standing(), "50: 50, 0");
}

#[test]
fn invoicing_13_2_a_note_to_zero_pays() {
    let ada = buyer();
    let (_, invoice) = ada.buy("50", "1", when_paid());
    let line = NewCreditNoteLine {
        invoice_line_id: invoice.lines[0].id,
        amount: number("50"),
        days: None,
    };
    let new = NewCreditNote {
        lines: vec![line],
        reason: CreditNoteReason::Duplicate,
        memo: None,
        days: None,
    };
    run(ada.fixture.account.create_credit_note(new)).unwrap();
    assert_eq!(ada.standing(), "50: 50, 0");
}

#[test]
fn invoicing_13_2_they_expire_paid_or_not() {
    let ada = buyer();
    let mut new = block("50", "", "2026-03-11T00:00:00Z", "1");
    if let LedgerChange::Increment(block) = &mut new.change {
        block.invoice = Some(when_paid());
    }
    let entry = ada.book(new).unwrap();
    let invoice = ada.made_with(&entry);
    ada.fixture.set("2026-03-12T00:00:00Z");
    assert_eq!(ada.blocks(), []);
    ada.mark_paid(&invoice);
    assert_eq!(ada.ledger(), ["increment 50 = 50", "credit_block_expiry -50 = 0"]);
}

#[test]
fn invoicing_13_2_nobody_else_touches_them() {
    let ada = buyer();
    let (entry, _) = ada.buy("50", "1", when_paid());
    let refused = ada.book(void("10", entry.credit_block.id)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConstraintViolation);
}

#[test]
fn invoicing_8_6_a_void_invoice_takes_its_credits() {
    let ada = buyer();
    let (_, invoice) = ada.buy("50", "1", due_in(14));
    ada.use_now("1", "20");
    ada.void_invoice(&invoice);
    let ledger =
        ["increment 50 = 50", "decrement -20 = 30", "void_initiated 0 = 30", "void -30 = 0"];
    assert_eq!(ada.ledger(), ledger);

    let (pending, invoice) = ada.buy("40", "1", when_paid());
    ada.void_invoice(&invoice);
    assert_eq!((ada.ledger(), ada.pending()), (ledger.map(str::to_owned).to_vec(), Vec::new()));
    let gone = ada.delete_bought(&pending).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::ResourceNotFound);
}

#[test]
fn invoicing_8_6_a_part_with_another_expiry_date_goes_too() {
    let ada = buyer();
    let (entry, invoice) = ada.buy("50", "1", due_in(14));
    ada.book(extension(entry.credit_block.id, "2026-06-01T00:00:00Z")).unwrap();
    ada.void_invoice(&invoice);
    assert_eq!((ada.balance().unwrap(), ada.blocks()), ("0".into(), Vec::new()));
}

#[test]
fn invoicing_13_3_a_deleted_block_takes_its_invoice_back() {
    let ada = buyer();
    let (entry, invoice) = ada.buy("50", "1", due_in(14));
    ada.delete_bought(&entry).unwrap();
    assert_eq!(
        (ada.invoice(&invoice).status, ada.balance()),
        (InvoiceStatus::Void, Some("0".into()))
    );

    let (entry, invoice) = ada.buy("50", "1", due_in(14));
    ada.mark_paid(&invoice);
    ada.delete_bought(&entry).unwrap();
    let credited = ada.invoice(&invoice);
    assert_eq!(credited.status, InvoiceStatus::Paid);
    assert_eq!(credited.credit_notes[0].total, number("50"));
    let customer = block_on(ada.fixture.account.fetch_customer(ada.customer)).unwrap();
    assert_eq!(customer.balance, number("50"));

    let later = InvoiceSettings { invoice_date: Some(at("2026-04-01T00:00:00Z")), ..due_in(14) };
    let (entry, draft) = ada.buy("50", "1", later);
    assert_eq!(draft.status, InvoiceStatus::Draft);
    ada.delete_bought(&entry).unwrap();
    assert!(block_on(ada.fixture.account.fetch_invoice(draft.id)).unwrap_err().is_not_found());

    let (entry, invoice) = ada.buy("30", "10", when_paid());
    ada.delete_bought(&entry).unwrap();
    assert_eq!(ada.invoice(&invoice).status, InvoiceStatus::Void);
    assert_eq!((ada.pending(), ada.blocks()), (Vec::new(), Vec::new()));
    assert_eq!(ada.fixture.invoices(SETTLED).len(), 1);
}

/// Turns issuance by itself off.
pub(crate) fn by_hand(ada: &Priced) {
    let carried = accrue::CarriedUpdate::new([("auto_issuance", "false")]).unwrap();
    let off = CustomerUpdate { carried, ..CustomerUpdate::default() };
    run(ada.fixture.account.update_customer(ada.customer, off)).unwrap();
    ada.fixture.drain();
}

#[test]
fn invoicing_9_6_the_line_of_credits_stays() {
    let ada = buyer();
    by_hand(&ada);
    let (entry, draft) = ada.buy("10", "1", when_paid());
    let account = &ada.fixture.account;
    let (kind, text) =
        refused(&ada.fixture, account.delete_invoice_line(draft.id, draft.lines[0].id));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert!(text.contains("the line is of credits that are bought"), "{text}");
    let issued = run(account.issue_invoice(draft.id)).unwrap();
    assert_eq!((issued.status, &issued.total), (InvoiceStatus::Issued, &number("10")));
    assert_eq!(ada.pending().len(), 1, "{entry:?}");
}

#[test]
fn invoicing_4_4_what_is_turned_off_is_issued_by_hand_for_credits_too() {
    let ada = buyer();
    let later = InvoiceSettings { invoice_date: Some(at("2026-03-20T00:00:00Z")), ..due_in(14) };
    let (_, draft) = ada.buy("10", "1", later);
    assert!(draft.will_auto_issue);
    by_hand(&ada);
    assert!(!ada.invoice(&draft).will_auto_issue);
    ada.fixture.tick_at("2026-03-21T00:00:00Z");
    assert_eq!(ada.invoice(&draft).status, InvoiceStatus::Draft);
    let issued = run(ada.fixture.account.issue_invoice(draft.id)).unwrap();
    assert_eq!(issued.status, InvoiceStatus::Issued);
}

#[test]
fn invoicing_4_7_the_account_has_a_memo_for_credits_too() {
    let ada = buyer();
    let account = &ada.fixture.account;
    let mut configuration = block_on(account.configuration()).unwrap();
    let memo = |text: &str| Some(accrue::Description::parse(text).unwrap());
    configuration.default_invoice_memo = memo("thanks");
    run(account.configure(configuration)).unwrap();
    assert_eq!(ada.buy("10", "1", due_in(14)).1.memo.as_deref(), Some("thanks"));
    let own = InvoiceSettings { memo: memo("own"), ..due_in(14) };
    assert_eq!(ada.buy("10", "1", own).1.memo.as_deref(), Some("own"));
}

#[test]
fn invoicing_10_6_a_block_is_not_credited_to_a_balance_that_pays_for_nothing() {
    let ada = buyer();
    let paid = InvoiceSettings { mark_as_paid: true, ..due_in(14) };
    let (entry, _) = ada.buy("10", "1", paid);
    let update = CustomerUpdate {
        payment_provider: accrue::Patch::Set(accrue::customer::PaymentProvider::Quickbooks),
        payment_provider_id: accrue::Patch::Set(crate::support::fixture::name("qb_1")),
        ..CustomerUpdate::default()
    };
    run(ada.fixture.account.update_customer(ada.customer, update)).unwrap();
    let call = ada.fixture.account.delete_credit_block(entry.credit_block.id);
    let (kind, text) = refused(&ada.fixture, call);
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert!(text.contains("pays for nothing"), "{text}");
}
