//! What the library does with invoices beside requests: each of its calls of the store fails in each way. Whoever
//! asks again, in a new process, has one effect (invoicing 4.3, 8.2, 16).

use std::{collections::BTreeMap, sync::Arc};

use accrue::{
    CivilDate, Currency, Decimal, Error, IdempotencyKey, InvoiceId, InvoicingProvider, PageRequest,
    Patch, PaymentGateway, TaxProvider,
    account::Configuration,
    customer::{CustomerUpdate, PaymentProvider},
    invoice::{
        BalanceDirection, CreditNoteReason, InvoiceFilter, InvoiceStatus, NewBalanceTransaction,
        NewCreditNote, NewCreditNoteLine, NewInvoice, NewOneOffLine, Payment, PaymentOutcome,
        StartedPayment, SyncOutcome, SyncRequest, TaxAmount, TaxOutcome, TaxRequest,
    },
    item::NewItem,
    store::MemoryStore,
};
use accrue_conformance::{Calls, Fault, FaultyStore};
use accrue_tests::{
    host::{BEGINNING, Host, customer, instant, key, name, number},
    stores::dump,
};
use pollster::block_on;

const FAULTS: [Fault; 4] = [Fault::Refused, Fault::Lost, Fault::Dropped, Fault::Corrupt];
const TOMORROW: &str = "2026-03-11T09:00:00Z";

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ask {
    IssueByTime,
    CalculateTaxes,
    RefuseTaxes,
    CollectByTime,
    Pay,
    ReportPaid,
    ReportDeclined,
    ReportTooLate,
    Collect,
    Sync,
    FailToSync,
    MarkPaid,
    Undo,
    Void,
    Credit,
}

const ASKS: [Ask; 15] = [
    Ask::IssueByTime,
    Ask::CalculateTaxes,
    Ask::RefuseTaxes,
    Ask::CollectByTime,
    Ask::Pay,
    Ask::ReportPaid,
    Ask::ReportDeclined,
    Ask::ReportTooLate,
    Ask::Collect,
    Ask::Sync,
    Ask::FailToSync,
    Ask::MarkPaid,
    Ask::Undo,
    Ask::Void,
    Ask::Credit,
];

/// Answers as it is asked to.
struct Provider(Ask);

#[async_trait::async_trait]
impl PaymentGateway for Provider {
    async fn charge(&self, of: &StartedPayment) -> Option<PaymentOutcome> {
        let transaction_id = Some(of.attempt_id.to_string());
        Some(match self.0 {
            Ask::ReportDeclined => PaymentOutcome::Declined { transaction_id },
            _ => PaymentOutcome::Succeeded { received_at: of.started_at, transaction_id },
        })
    }
}

#[async_trait::async_trait]
impl TaxProvider for Provider {
    async fn calculate(&self, of: &TaxRequest) -> Option<TaxOutcome> {
        if self.0 == Ask::RefuseTaxes {
            return Some(TaxOutcome::Refused { reason: "no address".to_owned() });
        }
        let tax = |amount: &Decimal| TaxAmount {
            description: name("VAT"),
            percentage: Some(number("20")),
            amount: amount * &number("0.2"),
            reason: None,
        };
        let taxes = of.lines.iter().map(|line| (line.id, vec![tax(&line.amount)]));
        Some(TaxOutcome::Calculated(taxes.collect()))
    }
}

#[async_trait::async_trait]
impl InvoicingProvider for Provider {
    async fn sync(&self, _: &SyncRequest) -> Option<SyncOutcome> {
        Some(match self.0 {
            Ask::FailToSync => SyncOutcome::Failed,
            _ => SyncOutcome::Succeeded,
        })
    }
}

/// A customer to whom 5 is owed, with an invoice of 60, and what comes before what is asked for.
struct Scene {
    store: Arc<FaultyStore<MemoryStore>>,
    host: Host,
    ask: Ask,
    invoice: InvoiceId,
    payment: Option<StartedPayment>,
}

impl Scene {
    fn set(ask: Ask) -> Self {
        let store = Arc::new(FaultyStore::new(MemoryStore::new()));
        let host = Host::on(Arc::clone(&store));
        let account = &host.account;
        let mut configuration = Configuration::default();
        configuration.features.invoices = true;
        configuration.calculates_taxes = matches!(ask, Ask::CalculateTaxes | Ask::RefuseTaxes);
        block_on(account.configure(configuration).into_future()).unwrap();
        let mut ada = customer("ada");
        let usd = Currency::parse("USD").unwrap();
        ada.currency = Some(usd);
        let ada = block_on(account.create_customer(ada).into_future()).unwrap();
        let owed = NewBalanceTransaction {
            amount: number("5"),
            direction: BalanceDirection::Increment,
            description: None,
        };
        block_on(account.create_balance_transaction(ada.id, owed).into_future()).unwrap();
        let pays = CustomerUpdate {
            payment_provider: Patch::Set(match ask {
                Ask::Sync | Ask::FailToSync => PaymentProvider::Quickbooks,
                _ => PaymentProvider::Adyen,
            }),
            payment_provider_id: Patch::Set(name("shopper")),
            ..CustomerUpdate::default()
        };
        block_on(account.update_customer(ada.id, pays).into_future()).unwrap();
        let item = block_on(account.create_item(NewItem::new(name("work"))).into_future()).unwrap();
        let day = CivilDate::parse("2026-03-01").unwrap();
        let date = if ask == Ask::IssueByTime { TOMORROW } else { BEGINNING };
        let mut new = NewInvoice::new(ada.id, usd, instant(date));
        new.will_auto_issue = true;
        new.auto_collection = Some(ask == Ask::CollectByTime);
        new.lines.push(NewOneOffLine {
            name: name("work"),
            item_id: item.id,
            start_date: day,
            end_date: day,
            quantity: number("3"),
            unit_amount: number("20"),
        });
        let invoice = block_on(account.create_invoice(new).into_future()).unwrap().id;
        let mut scene = Self { store, host, ask, invoice, payment: None };
        scene.prepare();
        scene
    }

    fn prepare(&mut self) {
        let account = &self.host.account;
        match self.ask {
            Ask::ReportPaid | Ask::ReportDeclined | Ask::ReportTooLate | Ask::Collect => {
                let paying = account.pay_invoice(self.invoice, Some("token".to_owned()));
                let paying = block_on(paying.into_future()).unwrap();
                self.payment = paying.started_payment();
            }
            Ask::Undo => {
                let paid =
                    account.mark_invoice_paid(self.invoice, Payment::new(instant(BEGINNING)));
                block_on(paid.into_future()).unwrap();
            }
            Ask::IssueByTime | Ask::CollectByTime => {
                self.host.clock.set(instant("2026-03-12T09:00:00Z"))
            }
            _ => {}
        }
        if self.ask == Ask::ReportTooLate {
            let paid = account.mark_invoice_paid(self.invoice, Payment::new(instant(BEGINNING)));
            block_on(paid.into_future()).unwrap();
        }
    }

    /// Asks once, in one process.
    async fn ask(&self, host: &Host) -> Result<(), Error> {
        let (account, id, key) = (&host.account, self.invoice, key("k"));
        let provider = Provider(self.ask);
        match self.ask {
            Ask::IssueByTime | Ask::CollectByTime => {
                while host.billing.tick(10).await?.more {}
                Ok(())
            }
            Ask::CalculateTaxes | Ask::RefuseTaxes => {
                account.calculate_taxes(&provider).await.map(drop)
            }
            Ask::Pay => {
                account.pay_invoice(id, Some("token".to_owned())).keyed(key).await.map(drop)
            }
            Ask::ReportPaid | Ask::ReportDeclined | Ask::ReportTooLate => {
                let payment = self.payment.as_ref().unwrap();
                let outcome = provider.charge(payment).await.unwrap();
                account.report_payment(payment.attempt_id, outcome).await.map(drop)
            }
            Ask::Collect => account.collect_payments(&provider).await.map(drop),
            Ask::Sync | Ask::FailToSync => account.sync_invoices(&provider).await.map(drop),
            Ask::MarkPaid => {
                let payment = Payment::new(instant(BEGINNING));
                account.mark_invoice_paid(id, payment).keyed(key).await.map(drop)
            }
            Ask::Undo => account.undo_mark_invoice_paid(id).keyed(key).await.map(drop),
            Ask::Void => account.void_invoice(id).keyed(key).await.map(drop),
            Ask::Credit => self.credit(host, key).await,
        }
    }

    async fn credit(&self, host: &Host, key: IdempotencyKey) -> Result<(), Error> {
        let invoice = host.account.fetch_invoice(self.invoice).await?;
        let invoice_line_id = invoice.lines[0].id;
        let line = NewCreditNoteLine { invoice_line_id, amount: number("20"), days: None };
        let note = NewCreditNote {
            lines: vec![line],
            reason: CreditNoteReason::OrderChange,
            memo: None,
            days: None,
        };
        host.account.create_credit_note(note).keyed(key).await.map(drop)
    }

    /// What there is afterwards: how many rows, what is shown of invoices and balance, and what was told.
    fn shape(&self) -> String {
        let account = &self.host.account;
        let mut counts = BTreeMap::<String, usize>::new();
        for row in dump(&*self.host.store).into_keys() {
            *counts.entry(row.split(':').next().unwrap().to_owned()).or_default() += 1;
        }
        let customer =
            block_on(account.fetch_customer(accrue_tests::host::external("ada"))).unwrap();
        let filter = InvoiceFilter { statuses: all_statuses().to_vec(), ..Default::default() };
        let invoices = block_on(account.list_invoices(&filter, &PageRequest::default())).unwrap();
        let shown = invoices.data.iter().map(|of| {
            let attempts: Vec<_> = of.payment_attempts.iter().map(|of| of.succeeded).collect();
            let moved: Vec<_> = of.balance_transactions.iter().map(|of| of.action).collect();
            format!(
                "{} {} {}: {} due {}, {attempts:?} {moved:?} {} notes, paying {}, waits {} {}",
                of.invoice_number,
                of.status.name(),
                of.subtotal,
                of.total,
                of.amount_due,
                of.credit_notes.len(),
                of.started_payment().is_some(),
                of.awaits_tax(),
                of.awaits_sync(),
            )
        });
        let shown: Vec<_> = shown.collect();
        let mut told: Vec<_> =
            self.host.waiting().iter().map(|message| message.message_type()).collect();
        told.sort_unstable();
        format!("{counts:#?}\n{}\n{shown:#?}\n{told:#?}", customer.balance)
    }
}

const fn all_statuses() -> [InvoiceStatus; 5] {
    use InvoiceStatus::{Draft, Issued, Paid, Synced, Void};
    [Draft, Issued, Paid, Synced, Void]
}

#[test]
fn what_is_done_with_an_invoice_has_one_effect_whatever_call_fails() {
    let mut tried = 0;
    for ask in ASKS {
        let smooth = Scene::set(ask);
        let (untouched, before) = (smooth.shape(), smooth.store.calls(Calls::All));
        block_on(smooth.ask(&smooth.host)).unwrap();
        let calls = smooth.store.calls(Calls::All) - before;
        let expected = smooth.shape();
        assert_ne!(untouched, expected, "{ask:?} does nothing");
        for nth in 0..calls {
            for fault in FAULTS {
                let scene = Scene::set(ask);
                scene.store.fail_nth(Calls::All, scene.store.calls(Calls::All) + nth, fault);
                // Whatever it answers: the process ends, and others go on.
                let _ = block_on(scene.ask(&scene.host));
                block_on(scene.ask(&scene.host.another(2))).unwrap();
                assert_eq!(scene.shape(), expected, "{ask:?}, call {nth} of {calls}, {fault:?}");
                block_on(scene.ask(&scene.host.another(3))).unwrap();
                assert_eq!(scene.shape(), expected, "{ask:?}, once more after {fault:?} of {nth}");
                tried += 1;
            }
        }
    }
    assert!(tried > 300, "only {tried} were tried");
}
