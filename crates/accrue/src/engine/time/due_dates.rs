//! Recalculation of the due dates of an account's invoices, customer by customer (invoicing 5.2).

use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    CustomerId, Error, Timestamp,
    account::{AccountEntry, DueDateRecalculation},
    customer::{AttributeValue, PreviousAttributes},
    engine::{
        Account,
        kernel::{Command, Stop, Transaction, apply_step},
        rows::{self, invoices, outbox},
        time::current,
    },
    schema::{self, Deadline, Index, Owner},
    webhook::Body,
};

/// Number of customers that one part is of.
const CUSTOMERS_TOGETHER: usize = 100;

/// Number of invoices of a customer that one commit moves.
const INVOICES_TOGETHER: usize = 50;

/// Begins a recalculation: of an account whose row is to be written.
pub(in crate::engine) async fn start(
    tx: &mut Transaction<'_>,
    entry: &mut AccountEntry,
) -> Result<DueDateRecalculation, Error> {
    let (at, account, owner) = (tx.now, tx.account.clone(), Owner::DueDates);
    let slot = schema::deadline(at, tx.account, owner);
    tx.get(&slot).await?;
    tx.put(&slot, &Deadline { at, account, owner, cursor: None })?;
    let recalculation = DueDateRecalculation { started_at: at };
    entry.recalculation = Some(recalculation);
    let body = Body::DueDateRecalculationStarted { started_at: at };
    outbox::tell_of_account(tx, entry, body)?;
    Ok(recalculation)
}

/// Ends the one that is under way, and says so.
pub(in crate::engine) async fn end(
    tx: &mut Transaction<'_>,
    entry: &mut AccountEntry,
    body: impl FnOnce(Timestamp) -> Body + Send,
) -> Result<bool, Error> {
    let Some(DueDateRecalculation { started_at }) = entry.recalculation.take() else {
        return Ok(false);
    };
    let slot = schema::deadline(started_at, tx.account, Owner::DueDates);
    tx.get(&slot).await?;
    tx.delete(&slot);
    outbox::tell_of_account(tx, entry, body(started_at))?;
    Ok(true)
}

/// Recalculates the due dates of the next customers.
pub(in crate::engine) async fn recalculate_some(
    account: &Account,
    deadline: Deadline,
) -> Result<(), Error> {
    let index = Index::customers(account.id());
    let scan = index.scan(Timestamp::MIN, Timestamp::MAX, CUSTOMERS_TOGETHER);
    let scan = match &deadline.cursor {
        Some(cursor) => scan.after(&index.key_at(cursor)),
        None => scan,
    };
    let rows = account.reading().scan_now(&scan).await?;
    let places = rows.iter().map(|row| schema::position(&row.key));
    let places: Vec<_> = places.collect::<Result<_, _>>()?;
    let (shared, id) = (account.shared(), account.id());
    for place in &places {
        let customer = CustomerId::from_bytes(schema::id_at(place));
        let step = RecalculateCustomer { customer, started_at: deadline.at };
        while apply_step(shared, id, &step).await? {}
    }
    let cursor = places.last().map(|place| place.to_vec());
    apply_step(shared, id, &EndPart { deadline, cursor }).await
}

/// Recalculates due dates of a customer, and tells whether more are left.
struct RecalculateCustomer {
    customer: CustomerId,
    started_at: Timestamp,
}

#[async_trait]
impl Command for RecalculateCustomer {
    type Outcome = bool;

    fn name(&self) -> &'static str {
        "recalculate_due_dates_of_customer"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<bool, Stop> {
        let account = rows::account::account_entry(tx).await?;
        let own = DueDateRecalculation { started_at: self.started_at };
        if account.recalculation != Some(own) {
            return Ok(false);
        }
        current::current_head(tx, self.customer).await?;
        let customer = match rows::customers::customer(tx, &self.customer.into()).await {
            Err(error) if error.is_not_found() => return Ok(false),
            found => found?,
        };
        let (basis, now) = (account.configuration.due_date_basis, tx.now);
        let mut moved = 0;
        for head in invoices::heads_from(tx, customer.id, Timestamp::MIN).await? {
            let is_moved = head.clone().recalculate_due_date(basis, &customer.timezone, now);
            if is_moved.is_none() {
                continue;
            }
            if moved == INVOICES_TOGETHER {
                return Ok(true);
            }
            let mut invoice = invoices::invoice(tx, head.id).await?;
            let before = invoice.recalculate_due_date(basis, &customer.timezone, now);
            invoices::save(tx, invoice.status, &invoice).await?;
            let before = AttributeValue::Text(before.map(|at| at.to_string()));
            let previous_attributes = PreviousAttributes::from([("due_date".to_owned(), before)]);
            let body =
                Body::InvoiceEdited { invoice_id: invoice.id, previous_attributes, lines: None };
            outbox::tell(tx, customer.id, now, body).await?;
            moved += 1;
        }
        Ok(false)
    }
}

/// Keeps how far it has come, or ends it.
struct EndPart {
    deadline: Deadline,
    cursor: Option<Vec<u8>>,
}

#[async_trait]
impl Command for EndPart {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "end_part_of_due_dates"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        let Deadline { at, owner, .. } = self.deadline;
        let place = schema::deadline(at, tx.account, owner);
        if tx.get(&place).await?.as_ref() != Some(&self.deadline) {
            // Somebody else has ended this part, or all of it.
            return Ok(());
        }
        if self.cursor.is_some() {
            tx.put(&place, &Deadline { cursor: self.cursor.clone(), ..self.deadline.clone() })?;
            return Ok(());
        }
        let mut entry = Arc::unwrap_or_clone(rows::account::account_entry(tx).await?);
        let completed_at = tx.now;
        end(tx, &mut entry, |started_at| Body::DueDateRecalculationCompleted {
            started_at,
            completed_at,
        })
        .await?;
        rows::account::save(tx, &entry).await?;
        Ok(())
    }
}
