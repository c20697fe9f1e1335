//! What watches a balance of credits, judged when it has moved: alerts, and the top-up that buys more.

use crate::{
    Decimal, Error, Timestamp,
    alert::Cause,
    engine::{
        kernel::Transaction,
        rows::{account, ledgers::OpenLedger, outbox, top_ups},
        time::buying,
    },
    limits,
    schema::CustomerHead,
};

/// Judges a balance that an operation has moved.
pub(in crate::engine) async fn judge(
    tx: &mut Transaction<'_>,
    ledger: &mut OpenLedger,
    before: Option<Decimal>,
    cause: &Cause,
) -> Result<(), Error> {
    let now = tx.now;
    judge_at(tx, ledger, before, cause, now).await
}

/// Judges a balance that has moved at an instant: first alerts, then the top-up where it has fallen, which
/// lets alerts recover (invoicing 13.4).
pub(in crate::engine) async fn judge_at(
    tx: &mut Transaction<'_>,
    ledger: &mut OpenLedger,
    before: Option<Decimal>,
    cause: &Cause,
    at: Timestamp,
) -> Result<(), Error> {
    let has_more = ledger.top_up.as_ref().is_some_and(|of| of.has_more);
    let has_fallen = balance(ledger) < before.clone().unwrap_or_default();
    judge_alerts(tx, ledger, before, cause, at).await?;
    let is_watched = ledger.top_up.is_some() && (has_fallen || has_more);
    // It is rare: whoever has no top-up carries none of its state.
    if is_watched { Box::pin(top_up(tx, ledger, at)).await } else { Ok(()) }
}

/// Buys credits for as long as the balance is at or below the threshold of the ledger's top-up, so often
/// that a commit stays bounded; a block that waits for its payment ends it.
pub(in crate::engine) async fn top_up(
    tx: &mut Transaction<'_>,
    ledger: &mut OpenLedger,
    at: Timestamp,
) -> Result<(), Error> {
    let watching = ledger.top_up.clone().filter(|of| of.is_watching(at));
    let Some(mut state) = watching else { return Ok(()) };
    state.has_more = false;
    while state.awaits.is_none() && state.is_reached_by(&balance(ledger)) {
        if ledger.bought == limits::TOP_UPS_AT_ONCE || !ledger.book.takes_block() {
            state.has_more = true;
            break;
        }
        ledger.bought = ledger.bought.saturating_add(1);
        let before = ledger.book.balance().cloned();
        let entry = buying::top_up(tx, ledger, &state, at).await?;
        if ledger.book.number_of_unpaid(entry.credit_block.id).is_some() {
            state.awaits = Some(entry.credit_block.id);
        } else {
            judge_alerts(tx, ledger, before, &Cause::Credit { entry_id: entry.id }, at).await?;
        }
    }
    if ledger.top_up.as_ref() != Some(&state) {
        let guard = tx.guard::<CustomerHead>(state.top_up.customer_id).await?;
        top_ups::save(tx, &guard, &state)?;
        ledger.top_up = Some(state);
    }
    Ok(())
}

/// Returns the balance of a ledger: zero where nothing was booked.
fn balance(ledger: &OpenLedger) -> Decimal {
    ledger.book.balance().cloned().unwrap_or_default()
}

async fn judge_alerts(
    tx: &mut Transaction<'_>,
    ledger: &mut OpenLedger,
    before: Option<Decimal>,
    cause: &Cause,
    at: Timestamp,
) -> Result<(), Error> {
    let fires = match at < tx.now {
        true => account::had_alerts_until(tx, at).await?,
        false => ledger.has_alerts,
    };
    let OpenLedger { book, watch, .. } = ledger;
    let Some(after) = book.balance().filter(|after| before.as_ref() != Some(*after)) else {
        return Ok(());
    };
    let customer_id = book.ledger().customer_id;
    for crossed in watch.judge(customer_id, before.as_ref(), after, cause, fires) {
        outbox::tell(tx, customer_id, at, crossed.into()).await?;
    }
    Ok(())
}
