//! Draws usage from ledgers, and gives back (`docs/decisions/usage-that-draws.md`).

use std::collections::btree_map::Entry;

use crate::{
    CustomerId, Decimal, Error, Timestamp,
    alert::Cause,
    credit::{Book, DrawDown, Drawn, Returned},
    engine::{
        kernel::Transaction,
        rows::ledgers::{self, Ledgers, OpenLedger},
        time::balances,
    },
    schema::{self, CustomerHead},
};

/// Gives back what usage costs less, and draws what it costs more, all of it for one cause, at an instant: what goes back
/// is there for what is drawn.
pub(in crate::engine) async fn draw(
    tx: &mut Transaction<'_>,
    ledgers: &mut Ledgers,
    draw_downs: &[DrawDown],
    cause: &Cause,
    at: Timestamp,
) -> Result<(), Error> {
    for (currency, ledger) in ledgers {
        let before = ledger.book.balance().cloned();
        let own = || draw_downs.iter().filter(|draw_down| draw_down.currency == *currency);
        let mut returned = Returned::default();
        for draw_down in own().filter(|draw_down| draw_down.amount() < Decimal::zero()) {
            let (book, drawn) = drawn(tx, ledger, draw_down).await?;
            add_missing(tx, book, drawn).await?;
            book.hand_back(&draw_down.prices, drawn, &mut returned);
        }
        ledger.book.book_returned(returned, at);
        for draw_down in own().filter(|draw_down| !draw_down.amount().is_negative()) {
            if ledger.has_credits {
                let (book, drawn) = drawn(tx, ledger, draw_down).await?;
                if draw_down.has_fallen() {
                    add_missing(tx, book, drawn).await?;
                }
                book.draw(&draw_down.prices, drawn, at);
            }
        }
        balances::judge_at(tx, ledger, before, cause, at).await?;
    }
    Ok(())
}

/// Reads the blocks that something may be given back to.
pub(super) async fn add_missing(
    tx: &mut Transaction<'_>,
    book: &mut Book,
    drawn: &Drawn,
) -> Result<(), Error> {
    let mut missing = book.missing(drawn);
    while !missing.is_empty() {
        let guard = tx.guard(book.ledger().customer_id).await?;
        book.insert(ledgers::blocks(tx, &guard, &missing).await?);
        let before = std::mem::replace(&mut missing, book.missing(drawn));
        if missing == before {
            return Err(Error::corrupt("a block of credits is of another ledger"));
        }
    }
    Ok(())
}

/// Draws what some events cost together, none of it below zero, where that comes to the same as event by
/// event: it goes to entries that are there, of one block that has enough, and the balance comes to no
/// level that is watched. Tells whether it does; where it does not, nothing has moved, and what was read is at
/// hand for the events one by one.
pub(in crate::engine) async fn draw_together(
    tx: &mut Transaction<'_>,
    ledgers: &mut Ledgers,
    draw_downs: &[DrawDown],
    at: Timestamp,
) -> Result<bool, Error> {
    let mut moved = Vec::new();
    for (currency, ledger) in ledgers.iter_mut().filter(|(_, ledger)| ledger.has_credits) {
        let mut book = ledger.book.clone();
        let mut all_drawn = Vec::new();
        for draw_down in draw_downs.iter().filter(|draw_down| draw_down.currency == *currency) {
            let mut drawn = drawn(tx, ledger, draw_down).await?.1.clone();
            if drawn.has_spared() || draw_down.has_fallen() {
                return Ok(false);
            }
            book.draw(&draw_down.prices, &mut drawn, at);
            all_drawn.push(((draw_down.subscription_id, draw_down.period_start), drawn));
        }
        if !book.has_only_grown_from(&ledger.book)
            || !ledger.watch.is_quiet_between(ledger.book.balance(), book.balance())
            || ledger.top_up.as_ref().is_some_and(|of| of.may_buy(book.balance(), at))
        {
            return Ok(false);
        }
        moved.push((ledger, book, all_drawn));
    }
    for (ledger, book, all_drawn) in moved {
        ledger.book = book;
        ledger.drawn.extend(all_drawn);
    }
    Ok(true)
}

/// Reads what the billing period of a draw-down has drawn.
async fn drawn<'l>(
    tx: &mut Transaction<'_>,
    ledger: &'l mut OpenLedger,
    draw_down: &DrawDown,
) -> Result<(&'l mut Book, &'l mut Drawn), Error> {
    let DrawDown { subscription_id, period_start, currency, .. } = draw_down;
    let drawn = match ledger.drawn.entry((*subscription_id, *period_start)) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(unknown) => {
            let slot = schema::drawn(tx.account, *subscription_id, *period_start, currency);
            let customer_id = ledger.book.ledger().customer_id;
            let guard = tx.guard::<CustomerHead>(customer_id).await?;
            unknown.insert(guard.get(tx, &slot).await?.unwrap_or_default())
        }
    };
    Ok((&mut ledger.book, drawn))
}

/// Draws draw-downs that stand on their own, at an instant, and saves the ledgers.
pub(in crate::engine) async fn draw_alone(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    draw_downs: &[DrawDown],
    cause: &Cause,
    at: Timestamp,
) -> Result<(), Error> {
    let mut ledgers = Ledgers::new();
    for DrawDown { currency, .. } in draw_downs {
        if !ledgers.contains_key(currency)
            && let Some(ledger) = ledgers::ledger(tx, customer, currency).await?
        {
            ledgers.insert(currency.clone(), ledger);
        }
    }
    draw(tx, &mut ledgers, draw_downs, cause, at).await?;
    ledgers::save_ledgers(tx, customer, ledgers.values()).await
}
