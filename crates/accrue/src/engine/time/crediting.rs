//! Credit notes: those that are made and taken back, and those that changes of terms bring (invoicing 10).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    CreditNoteId, Decimal, Description, Error, InvoiceId, PriceId, Timeframe, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{
            credit_notes,
            invoices::{self, Books},
            outbox, prices,
        },
        time::{collecting, due},
    },
    invoice::{
        BalanceTransaction, Credit, CreditNote, CreditNoteReason, CreditNoteSource, Crediting,
        Invoice, InvoiceLine, InvoiceSource, InvoiceStatus, Share,
    },
    rating::RateCard,
    subscription::SubscriptionEntry,
    time::INSTANT,
    webhook::Body,
};

/// Makes a credit note of an invoice.
pub(in crate::engine) async fn credit(
    tx: &mut Transaction<'_>,
    mut invoice: Invoice,
    credits: Vec<Credit>,
    (source, reason, memo): (CreditNoteSource, CreditNoteReason, Option<Description>),
    at: Timestamp,
) -> Result<CreditNote, Error> {
    let (before, customer_id) = (invoice.status, invoice.customer_id);
    let mut books = invoices::books(tx, customer_id).await?;
    let Books { entry, receivables } = &mut books;
    let crediting = Crediting {
        id: CreditNoteId::generate(at, tx.entropy()),
        source,
        reason,
        memo,
        customer: &mut entry.customer,
        receivables,
        transaction_id: invoices::transaction_id(tx),
        at,
    };
    let (note, transaction) = invoice.credit(credits, crediting);
    credit_notes::put_new(tx, &note).await?;
    let body = Body::CreditNoteIssued { credit_note_id: note.id };
    save(tx, before, invoice, &books, (body, transaction), at).await?;
    Ok(note)
}

/// Credits what is left of some lines of an invoice, since what they bill is due no more.
pub(super) async fn credit_lines(
    tx: &mut Transaction<'_>,
    invoice: Invoice,
    is_credited: impl Fn(&InvoiceLine) -> bool + Send,
) -> Result<(), Error> {
    invoice.check_credit()?;
    let customer_id = invoice.customer_id;
    let before = credit_notes::lines_that_count(tx, customer_id, &invoice.credit_notes).await?;
    let lines = invoice.lines.iter().filter(|line| is_credited(line));
    let left = lines.map(|line| (line, invoice.left_of(line, &before)));
    let left = left.filter(|(_, share)| !share.total().is_zero());
    let credits: Vec<_> = left.map(|(line, share)| Credit::of(line, line.period, share)).collect();
    if credits.is_empty() {
        return Ok(());
    }
    let why = (CreditNoteSource::Change, CreditNoteReason::OrderChange, None);
    let now = tx.now;
    credit(tx, invoice, credits, why, now).await.map(|_| ())
}

/// Makes a credit note of an invoice void.
pub(in crate::engine) async fn void(
    tx: &mut Transaction<'_>,
    note: &mut CreditNote,
    mut invoice: Invoice,
    at: Timestamp,
) -> Result<(), Error> {
    let before = invoice.status;
    let mut books = invoices::books(tx, invoice.customer_id).await?;
    let Books { entry, receivables } = &mut books;
    let id = invoices::transaction_id(tx);
    let transaction = invoice.void_credit_note(note, &mut entry.customer, receivables, id, at)?;
    credit_notes::save(tx, note).await?;
    let body = Body::CreditNoteMarkedAsVoid { credit_note_id: note.id };
    save(tx, before, invoice, &books, (body, transaction), at).await
}

/// Writes an invoice that a note has changed, and tells of the note and of what it moved.
async fn save(
    tx: &mut Transaction<'_>,
    before: InvoiceStatus,
    mut invoice: Invoice,
    books: &Books,
    (body, transaction): (Body, Option<BalanceTransaction>),
    at: Timestamp,
) -> Result<(), Error> {
    invoices::save_books(tx, books, transaction.as_ref()).await?;
    outbox::tell(tx, invoice.customer_id, at, body).await?;
    if let Some(transaction) = transaction {
        let body = Body::BalanceTransactionCreated { transaction: Box::new(transaction) };
        outbox::tell(tx, invoice.customer_id, at, body).await?;
    }
    collecting::conclude(tx, &mut invoice, at).await?;
    invoices::save(tx, before, &invoice).await
}

/// Takes those lines off an invoice that take back what others have billed in advance, and returns the
/// instant from which they do. A line of what was not issued yet stays.
pub(super) async fn take_off(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    invoice: &mut Invoice,
) -> Result<Option<Timestamp>, Error> {
    let date = invoice.invoice_date;
    let fees = prices::card(tx, entry).await?.in_advance_around(date);
    let takes_back =
        |line: &InvoiceLine| line.subtotal.is_negative() && fees.contains_key(&line.price_id);
    if !invoice.lines.iter().any(takes_back) {
        return Ok(None);
    }
    let billed = Billed::read(tx, entry, &fees, date).await?;
    let is_billed = |price: PriceId| billed.lines().any(|(_, line)| line.price_id == price);
    let all = std::mem::take(&mut invoice.lines).into_iter();
    let (off, lines): (Vec<_>, Vec<_>) =
        all.partition(|line| takes_back(line) && is_billed(line.price_id));
    let mut subtotal = invoice.subtotal.clone();
    off.iter().for_each(|line| subtotal -= &Share::of(line, invoice.currency).subtotal);
    invoice.show((lines, subtotal));
    Ok((!off.is_empty()).then_some(date))
}

/// Credits what fees in advance were billed for beyond what they come to now, from an instant on. Where they
/// come to more than what was billed nothing happens to that.
pub(super) async fn settle(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    since: Timestamp,
    at: Timestamp,
) -> Result<(), Error> {
    let fees = prices::card(tx, entry).await?.in_advance_around(since);
    let Some(excess) = Excess::read(tx, entry, &fees).await? else { return Ok(()) };
    let notes = excess.credit(tx, since, at).await?;
    // What has cut the fees short may be taken back.
    if let Some(invoicing) = &mut entry.invoicing {
        invoicing.cut.extend(notes);
    }
    Ok(())
}

/// Credits what the end of a subscription cuts short of fees in advance, once it has moved (invoicing 10.6):
/// notes of an end that counts no longer are void.
///
/// # Errors
///
/// A constraint violation where fees come to more than what was billed up to the last boundary: nothing
/// would bill the difference.
pub(in crate::engine) async fn settle_end(
    tx: &mut Transaction<'_>,
    before: Option<Timestamp>,
    entry: &mut SubscriptionEntry,
) -> Result<(), Error> {
    let after = entry.subscription.end_date;
    let Some(since) = [before, after].into_iter().flatten().min() else { return Ok(()) };
    let mut fees = prices::card(tx, entry).await?.in_advance_around(since);
    // Of a life that an end leaves nothing of, there were some.
    entry.subscription.end_date = before;
    let were = prices::card(tx, entry).await?.in_advance_around(since);
    entry.subscription.end_date = after;
    for (price, start) in were {
        let known = fees.entry(price).or_insert(start);
        *known = start.min(*known);
    }
    let short = take_back_notes(tx, entry, &fees).await?;
    if let Some((passed, _)) = entry.invoicing.as_ref().and_then(|of| of.passed).zip(short.first())
    {
        let detail = format!("fees were invoiced up to {passed}, which the change would not leave");
        return Err(Error::constraint(detail));
    }
    credit_cut(tx, entry, &fees, since).await
}

/// Makes the notes of what was cut short void, where some fees come to more now than what was billed for them, and
/// returns the cycles of those that do even then.
pub(super) async fn take_back_notes(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    fees: &BTreeMap<PriceId, Timestamp>,
) -> Result<BTreeSet<FeeCycle>, Error> {
    let now = tx.now;
    let mut short = short_cycles(tx, entry, fees).await?;
    let cut = entry.invoicing.as_ref().map(|of| of.cut.clone()).unwrap_or_default();
    if short.is_empty() || cut.is_empty() {
        return Ok(short);
    }
    let card = prices::card(tx, entry).await?;
    let mut kept = Vec::new();
    // What was cut last is taken back first, and no more than that comes to.
    for id in cut.into_iter().rev() {
        if short.is_empty() {
            kept.push(id);
            continue;
        }
        let mut note = credit_notes::credit_note(tx, id).await?;
        let invoice = invoices::invoice(tx, note.invoice_id).await?;
        if note.voided_at.is_some() || invoice.status == InvoiceStatus::Void {
            continue;
        }
        let is_of = |line: &InvoiceLine| note.lines.iter().any(|of| of.invoice_line_id == line.id);
        let is_short =
            |line: &InvoiceLine| short.contains(&card.cycle_of(line.price_id, line.period.start()));
        if invoice.lines.iter().any(|line| is_of(line) && is_short(line)) {
            void(tx, &mut note, invoice, now).await?;
            short = short_cycles(tx, entry, fees).await?;
        } else {
            kept.push(id);
        }
    }
    kept.reverse();
    if let Some(invoicing) = &mut entry.invoicing {
        invoicing.cut = kept;
    }
    Ok(short)
}

/// Cycles of fees that come to more than what was billed for them.
async fn short_cycles(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    fees: &BTreeMap<PriceId, Timestamp>,
) -> Result<BTreeSet<FeeCycle>, Error> {
    let excess = Excess::read(tx, entry, fees).await?;
    Ok(excess.map(|excess| excess.short()).unwrap_or_default())
}

/// Credits what some fees were billed for beyond what they come to, since they are cut short from an instant on.
pub(super) async fn credit_cut(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    fees: &BTreeMap<PriceId, Timestamp>,
    since: Timestamp,
) -> Result<(), Error> {
    let now = tx.now;
    let Some(excess) = Excess::read(tx, entry, fees).await? else { return Ok(()) };
    let notes = excess.credit(tx, since, now).await?;
    if let Some(invoicing) = &mut entry.invoicing {
        invoicing.cut.extend(notes);
    }
    Ok(())
}

/// Fees in advance that were billed, of periods that began at some instants or later.
struct Billed<'a> {
    fees: &'a BTreeMap<PriceId, Timestamp>,
    /// What was issued, by date.
    invoices: Vec<Invoice>,
    /// Boundaries whose charges no invoice asks for: it is a draft still, which follows the terms, or void.
    apart: BTreeSet<Timestamp>,
}

impl<'a> Billed<'a> {
    /// Reads what was billed at boundaries up to one.
    async fn read(
        tx: &mut Transaction<'_>,
        entry: &SubscriptionEntry,
        fees: &'a BTreeMap<PriceId, Timestamp>,
        until: Timestamp,
    ) -> Result<Self, Error> {
        let of = &entry.subscription;
        let from = fees.values().min().copied().unwrap_or(until);
        let mut invoices = invoices::of_subscription_from(tx, of, from).await?;
        invoices.retain(|of| !of.is_taken_back);
        let is_apart = |of: &&Invoice| {
            of.source == InvoiceSource::Subscription
                && matches!(of.status, InvoiceStatus::Draft | InvoiceStatus::Void)
        };
        let apart = invoices.iter().filter(is_apart).map(|of| of.invoice_date).collect();
        invoices.retain(|of| of.invoice_date <= until && of.status != InvoiceStatus::Draft);
        Ok(Self { fees, invoices, apart })
    }

    fn counts(&self, price: PriceId, period: Timeframe) -> bool {
        self.fees.get(&price).is_some_and(|start| *start <= period.start())
    }

    fn lines(&self) -> impl Iterator<Item = (&Invoice, &InvoiceLine)> {
        let all = self.invoices.iter().flat_map(|of| of.lines.iter().map(move |line| (of, line)));
        all.filter(|(_, line)| self.counts(line.price_id, line.period))
    }
}

/// Cycle of a fee: its price, and the start of the cycle.
pub(super) type FeeCycle = (PriceId, Timestamp);

/// What fees in advance were billed for beyond what they come to.
struct Excess {
    invoices: Vec<Invoice>,
    card: Arc<RateCard>,
    /// What it is of each cycle of each fee, with all adjustments.
    by: BTreeMap<FeeCycle, Decimal>,
    /// What may lie between two figures that were rounded with other lines beside them.
    rounding: Decimal,
}

impl Excess {
    async fn read(
        tx: &mut Transaction<'_>,
        entry: &SubscriptionEntry,
        fees: &BTreeMap<PriceId, Timestamp>,
    ) -> Result<Option<Self>, Error> {
        let passed = entry.invoicing.as_ref().and_then(|of| of.passed);
        let Some(passed) = passed else { return Ok(None) };
        let card = prices::card(tx, entry).await?;
        let Some(from) = fees.values().min().copied() else { return Ok(None) };
        let billed = Billed::read(tx, entry, fees, passed).await?;
        let mut by: BTreeMap<FeeCycle, Decimal> = BTreeMap::new();
        let cycle = |of: &InvoiceLine| card.cycle_of(of.price_id, of.period.start());
        let is_owed = |of: &Invoice| of.status != InvoiceStatus::Void;
        for (invoice, line) in billed.lines().filter(|(of, _)| is_owed(of)) {
            *by.entry(cycle(line)).or_default() += Share::of(line, invoice.currency).net();
        }
        for invoice in billed.invoices.iter().filter(|of| is_owed(of)) {
            let mut notes = invoice.credit_notes.clone();
            notes.retain(|of| of.source == CreditNoteSource::Change);
            let customer = invoice.customer_id;
            for line in credit_notes::lines_that_count(tx, customer, &notes).await? {
                let of = invoice.lines.iter().find(|of| of.id == line.invoice_line_id);
                if let Some(of) = of.filter(|of| billed.counts(of.price_id, of.period)) {
                    *by.entry(cycle(of)).or_default() -= Share::from(&line).net();
                }
            }
        }
        let currency = entry.subscription.currency;
        let mut rounding = Decimal::zero();
        let mut boundary = from.saturating_sub(INSTANT);
        while let Some(next) = card.next_due(Some(boundary)).filter(|next| *next <= passed) {
            boundary = next;
            rounding += &Decimal::last_place(currency.places());
            if billed.apart.contains(&boundary) {
                continue;
            }
            // Any id will do: lines are not kept.
            let id = InvoiceId::derived(boundary, &[]);
            let (lines, _) = due::lines(tx, entry, id, boundary).await?;
            for line in lines.iter().filter(|line| billed.counts(line.price_id, line.period)) {
                *by.entry(cycle(line)).or_default() -= Share::of(line, currency).net();
            }
        }
        let Billed { invoices, .. } = billed;
        Ok(Some(Self { invoices, card, by, rounding }))
    }

    /// Returns the cycles of fees that come to more than what was billed.
    fn short(&self) -> BTreeSet<FeeCycle> {
        let short = self.by.iter().filter(|(_, of)| (*of + &self.rounding).is_negative());
        short.map(|(cycle, _)| *cycle).collect()
    }

    /// Credits it, on the latest lines of each cycle first, and at most what is left of each: each with its own
    /// adjustments.
    async fn credit(
        self,
        tx: &mut Transaction<'_>,
        since: Timestamp,
        at: Timestamp,
    ) -> Result<Vec<CreditNoteId>, Error> {
        let Self { invoices, card, mut by, .. } = self;
        by.retain(|_, excess| *excess > Decimal::zero());
        let mut notes = Vec::new();
        for invoice in invoices.into_iter().rev() {
            if by.is_empty() || invoice.status == InvoiceStatus::Void {
                continue;
            }
            let customer = invoice.customer_id;
            let before =
                credit_notes::lines_that_count(tx, customer, &invoice.credit_notes).await?;
            let mut credits = Vec::new();
            for line in invoice.lines.iter().rev().filter(|line| since <= line.period.end()) {
                let cycle = card.cycle_of(line.price_id, line.period.start());
                let Some(excess) = by.get_mut(&cycle) else { continue };
                let mut left = invoice.left_of(line, &before);
                let net = excess.clone().min(left.net());
                if net <= Decimal::zero() {
                    continue;
                }
                let share = left.take_net(&net, invoice.currency);
                *excess -= &net;
                let unused = Timeframe::nothing_at(since.max(line.period.start()));
                credits.push(Credit::of(line, unused.until(line.period.end()), share));
                if excess.is_zero() {
                    by.remove(&cycle);
                }
            }
            if !credits.is_empty() {
                let why = (CreditNoteSource::Change, CreditNoteReason::OrderChange, None);
                notes.push(credit(tx, invoice, credits, why, at).await?.id);
            }
        }
        Ok(notes)
    }
}
