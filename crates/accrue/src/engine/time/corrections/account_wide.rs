//! Corrections of all customers of an account, part by part.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;

use crate::{
    AccountId, BackfillId, CustomerId, Error,
    backfill::{Backfill, Correction, Effect},
    engine::{
        kernel::{Command, Patience, Shared, Stop, Transaction, apply_step},
        rows,
        time::{
            corrections::{publish, schedule},
            in_order::correct,
        },
    },
    limits,
    schema::{self, AccountCorrection, Deadline, Owner},
    usage::Hours,
};

/// Reflects or reverts a backfill for all customers where its time has come: customer by customer, and then
/// for good.
pub(in crate::engine) async fn correct_all(
    shared: &Shared,
    account: &AccountId,
    id: BackfillId,
    patience: &mut Patience,
) -> Result<(), Error> {
    while correct_some(shared, account, id, patience).await? {}
    Ok(())
}

/// Does the next part of it, and tells whether more is left.
pub(in crate::engine) async fn correct_some(
    shared: &Shared,
    account: &AccountId,
    id: BackfillId,
    patience: &mut Patience,
) -> Result<bool, Error> {
    let Some(part) = apply_step(shared, account, &FindPart { id }).await? else { return Ok(false) };
    for customer in &part.customers {
        correct(shared, account, *customer, patience).await?;
    }
    apply_step(shared, account, &EndPart { part: &part }).await?;
    Ok(true)
}

/// Some customers that a backfill concerns, and where the next ones are found.
struct Part {
    correction: Correction,
    deadline: Deadline,
    customers: BTreeSet<CustomerId>,
    /// None where there are no more.
    cursor: Option<Vec<u8>>,
}

/// Begins the correction of a backfill, or goes on: finds the next customers.
struct FindPart {
    id: BackfillId,
}

#[async_trait]
impl Command for FindPart {
    type Outcome = Option<Part>;

    fn name(&self) -> &'static str {
        "find_correction_part"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Option<Part>, Stop> {
        let all = rows::corrections::of_all(tx).await?;
        let now = tx.now;
        let own = all.corrections.iter().find(|of| {
            of.correction.backfill_id == self.id && (of.has_begun || of.correction.at <= now)
        });
        let Some(AccountCorrection { correction, .. }) = own.cloned() else { return Ok(None) };
        let owner = Owner::Backfill(self.id);
        let place = schema::deadline(correction.at, tx.account, owner);
        let deadline = tx.get(&place).await?;
        let deadline = deadline.ok_or_else(|| Error::corrupt("a correction has no deadline"))?;
        if schedule::begin_of_all(tx, correction).await? {
            // Customers are looked for once nobody ingests into it any more.
            let cursor = Some(vec![SHARES]);
            return Ok(Some(Part { correction, deadline, customers: BTreeSet::new(), cursor }));
        }
        let backfill = rows::backfills::backfill(tx, correction.backfill_id).await?;
        let cursor = deadline.cursor.clone();
        let (customers, cursor) = concerned(tx, &backfill, correction.effect, cursor).await?;
        Ok(Some(Part { correction, deadline, customers, cursor }))
    }
}

/// Keeps how far it has come, or ends it.
struct EndPart<'a> {
    part: &'a Part,
}

#[async_trait]
impl Command for EndPart<'_> {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "end_correction_part"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        let Part { correction, deadline, cursor, .. } = self.part;
        let place = schema::deadline(deadline.at, tx.account, deadline.owner);
        if tx.get(&place).await?.as_ref() != Some(deadline) {
            // Somebody else has ended this part.
            return Ok(());
        }
        if cursor.is_some() {
            tx.put(&place, &Deadline { cursor: cursor.clone(), ..deadline.clone() })?;
            return Ok(());
        }
        tx.delete(&place);
        let mut all = Arc::unwrap_or_clone(rows::corrections::of_all(tx).await?);
        all.corrections.retain(|of| of.correction != *correction);
        rows::corrections::put_of_all(tx, &all).await?;
        let backfill = rows::backfills::backfill(tx, correction.backfill_id).await?;
        publish::end_backfill(tx, &backfill, *correction).await?;
        Ok(())
    }
}

/// What the first byte of a cursor says: where customers are looked for.
const SHARES: u8 = 0;
const VOLUMES: u8 = 1;

/// Finds some customers that a backfill concerns, and where the next ones are found: those that it
/// has events of, or was reflected for; where it replaces events, those that have any.
pub(in crate::engine) async fn concerned(
    tx: &mut Transaction<'_>,
    backfill: &Backfill,
    effect: Effect,
    cursor: Option<Vec<u8>>,
) -> Result<(BTreeSet<CustomerId>, Option<Vec<u8>>), Error> {
    let (source, behind) = match cursor.as_deref().and_then(<[u8]>::split_first) {
        Some((source, behind)) => (*source, behind),
        None => (SHARES, [].as_slice()),
    };
    let hours = Hours::touched_by(backfill.timeframe).timeframe();
    let limit = limits::SCAN_ROWS;
    let scan = match source {
        SHARES => schema::backfill_shares(tx.account, backfill.id, limit),
        _ => schema::event_volumes(tx.account, hours, limit),
    };
    let scan = if behind.is_empty() { scan } else { scan.after(behind) };
    let rows = tx.range_now(&scan).await?.rows;
    let customers = rows.iter().map(|(key, _)| match source {
        SHARES => schema::share_customer(key),
        _ => schema::volume_customer(key),
    });
    let customers = customers.collect::<Result<_, _>>()?;
    let looks_further = effect == Effect::Reflect && backfill.replace_existing_events;
    let last = rows.last().map(|(key, _)| key.bytes());
    let next = match (source, last) {
        (_, Some(last)) => Some([&[source], last].concat()),
        (SHARES, None) if looks_further => Some(vec![VOLUMES]),
        _ => None,
    };
    Ok((customers, next))
}

/// Measures the events of all customers of an account by the metrics that it has, where they are not:
/// some of them, where a deadline says so.
pub(in crate::engine) async fn measure_all(
    shared: &Shared,
    account: &AccountId,
    deadline: Deadline,
) -> Result<(), Error> {
    let found = apply_step(shared, account, &FindUnmeasured { deadline: &deadline }).await?;
    for customer in &found.customers {
        correct(shared, account, *customer, &mut Patience::endless()).await?;
    }
    apply_step(shared, account, &EndUnmeasured { deadline: &deadline, found: &found }).await
}

/// Customers whose events are to be measured by more metrics, and where the next ones are found.
struct Unmeasured {
    /// The metrics that there were.
    revision: u64,
    customers: Vec<CustomerId>,
    cursor: Option<Vec<u8>>,
}

struct FindUnmeasured<'a> {
    deadline: &'a Deadline,
}

#[async_trait]
impl Command for FindUnmeasured<'_> {
    type Outcome = Unmeasured;

    fn name(&self) -> &'static str {
        "find_unmeasured"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Unmeasured, Stop> {
        let scan = schema::customer_heads(tx.account, limits::SCAN_ROWS);
        let scan = match &self.deadline.cursor {
            Some(cursor) => scan.after(cursor),
            None => scan,
        };
        let rows = tx.scan_now(&scan).await?;
        let mut customers = Vec::new();
        for row in &rows {
            let (customer, head) = schema::read_customer_head(&row.key, &row.document)?;
            if schedule::is_unmeasured(tx, &head).await? {
                customers.push(customer);
            }
        }
        let revision = rows::metrics::catalogue(tx).await?.revision;
        let cursor = rows.last().map(|row| row.key.bytes().to_vec());
        Ok(Unmeasured { revision, customers, cursor })
    }
}

/// Keeps how far it has come, or ends it. Another metric since then has begun it anew.
struct EndUnmeasured<'a> {
    deadline: &'a Deadline,
    found: &'a Unmeasured,
}

#[async_trait]
impl Command for EndUnmeasured<'_> {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "end_unmeasured"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        let place = schema::deadline(self.deadline.at, tx.account, self.deadline.owner);
        let guard = rows::account::guard(tx).await?;
        let mut catalogue = Arc::unwrap_or_clone(rows::metrics::catalogue(tx).await?);
        let has_begun_anew = catalogue.revision != self.found.revision;
        if has_begun_anew || tx.get(&place).await?.as_ref() != Some(self.deadline) {
            return Ok(());
        }
        if let Some(cursor) = &self.found.cursor {
            let deadline = Deadline { cursor: Some(cursor.clone()), ..self.deadline.clone() };
            tx.put(&place, &deadline)?;
            return Ok(());
        }
        tx.delete(&place);
        catalogue.deadline = None;
        guard.put(tx, &schema::metric_catalogue(tx.account), &catalogue)?;
        Ok(())
    }
}
