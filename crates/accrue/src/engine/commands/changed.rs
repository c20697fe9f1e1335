//! Invoices and credit notes that a command makes or takes back beside its outcome (invoicing 14.5).

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::{
    CreditNoteId, CustomerId, Error, InvoiceId, Timestamp,
    engine::{
        Call,
        commands::invoices,
        kernel::{Command, Request, Stop, Transaction, written},
        rows::{self, credit_notes},
    },
    idempotency::Fingerprint,
    invoice::{CreditNote, Invoice, InvoiceStatus},
    limits,
    related::{Names, Naming},
    schema::{self, CustomerHead, Index},
    subscription::{MadeByChange, Subscription},
};

/// Invoices and credit notes that a change of a subscription has made, and those that it has made void
/// (invoicing 14.5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangedResources {
    /// Invoices that it made: those that it issued, and drafts with the figures of now.
    pub created_invoices: Vec<Invoice>,
    /// Invoices that it made void.
    pub voided_invoices: Vec<Invoice>,
    /// Credit notes that it made.
    pub created_credit_notes: Vec<CreditNote>,
    /// Credit notes that it made void.
    pub voided_credit_notes: Vec<CreditNote>,
}

/// Names what its invoices and credit notes name.
impl Naming for ChangedResources {
    fn name(&self, names: &mut Names) {
        self.created_invoices.name(names);
        self.voided_invoices.name(names);
        self.created_credit_notes.name(names);
        self.voided_credit_notes.name(names);
    }
}

impl ChangedResources {
    /// Returns the ids of all that it has.
    pub(super) fn ids(&self) -> MadeByChange {
        MadeByChange {
            created_invoices: self.created_invoices.iter().map(|of| of.id).collect(),
            voided_invoices: self.voided_invoices.iter().map(|of| of.id).collect(),
            created_credit_notes: self.created_credit_notes.iter().map(|of| of.id).collect(),
            voided_credit_notes: self.voided_credit_notes.iter().map(|of| of.id).collect(),
        }
    }
}

impl Call<Subscription> {
    /// Returns the subscription with the invoices and credit notes that the change makes, or makes void.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Decimal, Email, Name, account::Configuration};
    /// # use accrue::{customer::NewCustomer, item::NewItem, plan::NewPlan, store::MemoryStore};
    /// # use accrue::{price::{Cadence, NewPrice}, subscription::NewSubscription};
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let mut configuration = Configuration::default();
    /// # configuration.features.invoices = true;
    /// # account.configure(configuration).await?;
    /// # let item = account.create_item(NewItem::new(Name::parse("seats")?)).await?;
    /// # let usd = Currency::parse("USD")?;
    /// # let mut plan = NewPlan::new(Name::parse("Pro")?, usd);
    /// # let seat = NewPrice::builder(Name::parse("seat")?, item.id).billed(Cadence::Monthly, usd);
    /// # plan.prices = vec![seat.fee_in_advance(Decimal::from(10)).into()];
    /// # let plan = account.create_plan(plan).await?;
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// let call = account.create_subscription(NewSubscription::new(ada.id, plan.id));
    /// let (pro, changed) = call.with_changed_resources().await?;
    /// assert!(changed.created_invoices.iter().all(|of| of.subscription_id == Some(pro.id)));
    /// assert_eq!(changed.created_invoices.len(), 2, "that of the fee, and the draft of the next one");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn with_changed_resources(self) -> Call<(Subscription, ChangedResources)> {
        let (account, request) = self.into_parts();
        Call::new(&account, WithChanged { request })
    }

    /// Refuses the change with a [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where an invoice
    /// that was issued would be void or credited by it (invoicing 6.2): for callers who expect that none is.
    pub fn leaving_invoices(self) -> Self {
        let (account, request) = self.into_parts();
        Self::new(&account, LeavingInvoices { request })
    }
}

struct WithChanged {
    request: Arc<dyn Request<Outcome = Subscription>>,
}

#[async_trait]
impl Command for WithChanged {
    type Outcome = (Subscription, ChangedResources);

    fn name(&self) -> &'static str {
        self.request.name()
    }

    fn subject(&self) -> Option<String> {
        self.request.subject()
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Self::Outcome, Stop> {
        let subscription = self.request.run(tx).await?;
        let changed = changed(tx, &subscription).await?;
        Ok((subscription, changed))
    }
}

impl Request for WithChanged {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        self.request.fingerprint()
    }

    fn written(&self) -> Result<Option<Value>, Error> {
        self.request.written()
    }
}

/// Name that a request of such a change is written under.
const LEAVING_INVOICES: &str = "leaving_invoices";

struct LeavingInvoices {
    request: Arc<dyn Request<Outcome = Subscription>>,
}

#[async_trait]
impl Command for LeavingInvoices {
    type Outcome = Subscription;

    fn name(&self) -> &'static str {
        self.request.name()
    }

    fn subject(&self) -> Option<String> {
        self.request.subject()
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Subscription, Stop> {
        let subscription = self.request.run(tx).await?;
        check_left(tx, &subscription).await?;
        Ok(subscription)
    }
}

/// Refuses a change that makes an issued invoice void, or credits it.
pub(super) async fn check_left(tx: &mut Transaction<'_>, of: &Subscription) -> Result<(), Error> {
    let changed = changed(tx, of).await?;
    let (voided, notes) = (changed.voided_invoices.iter(), &changed.created_credit_notes);
    let credited = notes.iter().chain(&changed.voided_credit_notes).map(|of| of.invoice_id);
    let mut ids = voided.map(|of| of.id).chain(credited);
    match ids.next() {
        Some(id) => {
            let detail = format!("the invoice {id} was issued, and would be void or credited");
            Err(Error::constraint(detail))
        }
        None => Ok(()),
    }
}

impl Request for LeavingInvoices {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        let own = self.request.fingerprint()?.to_string();
        Ok(Fingerprint::of([LEAVING_INVOICES, &own]))
    }

    fn written(&self) -> Result<Option<Value>, Error> {
        let of = self.request.written()?;
        of.map(|of| written(LEAVING_INVOICES, &of)).transpose()
    }
}

/// Refuses a change that credits a customer whose balance pays for nothing (invoicing 10.6).
pub(super) async fn check_credits_count(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
) -> Result<(), Error> {
    if made(tx, &Index::credit_notes(tx.account))?.is_empty() {
        return Ok(());
    }
    rows::customers::customer(tx, &customer.into()).await?.check_balance_counts()
}

/// Reads what the commit makes, and makes void.
pub(super) async fn changed(
    tx: &mut Transaction<'_>,
    of: &Subscription,
) -> Result<ChangedResources, Error> {
    let mut changed = ChangedResources::default();
    for id in made(tx, &Index::invoices_of_customer(tx.account, of.customer_id))? {
        let id = InvoiceId::from_bytes(id);
        // A draft that has moved to another date is no new one.
        if tx.was_there(&schema::invoice(tx.account, id)) {
            continue;
        }
        let mut invoice = rows::invoices::invoice(tx, id).await?;
        invoices::show(tx, &mut invoice).await?;
        changed.created_invoices.push(invoice);
    }
    changed.created_invoices.sort_by_key(|of| (of.due_date.is_none(), of.invoice_date));
    for id in made(tx, &Index::invoices_of_status(tx.account, InvoiceStatus::Void))? {
        let invoice = rows::invoices::invoice(tx, InvoiceId::from_bytes(id)).await?;
        changed.voided_invoices.extend(Some(invoice).filter(|of| of.status == InvoiceStatus::Void));
    }
    changed.voided_invoices.sort_by_key(|of| of.invoice_date);
    for id in made(tx, &Index::credit_notes(tx.account))? {
        let note = credit_notes::credit_note(tx, CreditNoteId::from_bytes(id)).await?;
        changed.created_credit_notes.push(note);
    }
    let index = Index::credit_notes_of_customer(tx.account, of.customer_id);
    let scan = index.scan(Timestamp::MIN, Timestamp::MAX, limits::SCAN_ROWS);
    let guard = tx.guard::<CustomerHead>(of.customer_id).await?;
    for (key, _) in guard.range_all(tx, scan).await? {
        let id = CreditNoteId::from_bytes(schema::id_at(&schema::position(&key)?));
        if tx.is_put(&schema::credit_note(tx.account, id)) {
            let note = credit_notes::credit_note(tx, id).await?;
            let is_void = note.voided_at == Some(tx.now);
            changed.voided_credit_notes.extend(Some(note).filter(|_| is_void));
        }
    }
    Ok(changed)
}

/// Returns the ids of what the commit adds to a list.
pub(super) fn made(tx: &Transaction<'_>, index: &Index) -> Result<Vec<[u8; 16]>, Error> {
    let keys = tx.keys_put(index.table());
    keys.map(|key| Ok(schema::id_at(&schema::position(key)?))).collect()
}
