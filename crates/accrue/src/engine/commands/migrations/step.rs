//! Steps of migrations, which ticks take: each plans, or takes back, the moves of some subscriptions.

use std::collections::{BTreeMap, btree_map::Entry};

use async_trait::async_trait;

use crate::{
    Error, ErrorKind, MigrationId, PlanId, PriceId, SubscriptionId, Timestamp,
    engine::{
        Account,
        commands::{plan_changes, prices},
        kernel::{Command, Stop, Transaction, apply_step},
        rows::{self, migrations},
        time::current,
    },
    plan::{Migration, Moved, PlanVersion},
    schema::{self, Deadline, Index, Owner},
    subscription::{Replaced, Subscription, SubscriptionEntry, VersionMove},
    time::INSTANT,
};

/// Number of subscriptions that one step plans.
const TOGETHER: usize = 100;

/// Plans the moves of the next subscriptions of a migration, or takes them back where it is canceled.
pub(in crate::engine) async fn migrate_some(
    account: &Account,
    id: MigrationId,
    deadline: Deadline,
) -> Result<(), Error> {
    let mut tx = account.reading();
    let found = tx.get(&schema::migration(account.id(), id)).await?;
    let migration = found.ok_or_else(|| Error::corrupt("a migration that is due is missing"))?;
    let (ids, cursor) = next(&mut tx, &migration, deadline.cursor.as_deref()).await?;
    let mut found = Vec::with_capacity(ids.len());
    for subscription in ids {
        let step = Move { plan: migration.plan_id, id, subscription };
        found.push(match apply_step(account.shared(), account.id(), &step).await {
            Ok(moved) => moved,
            // Of all that are there, one whose customer is deleted is none.
            Err(error) if error.is_not_found() && migration.subscriptions.is_none() => Moved::No,
            Err(error) if is_of_subscription(&error) => Moved::Refused,
            Err(error) => return Err(error),
        });
    }
    let Migration { plan_id: plan, canceled_at, .. } = migration;
    let step = End { plan, id, canceled_at, deadline, cursor, found };
    apply_step(account.shared(), account.id(), &step).await
}

/// Returns the next subscriptions from a place on, and the place behind them where there may be more.
async fn next(
    tx: &mut Transaction<'_>,
    migration: &Migration,
    cursor: Option<&[u8]>,
) -> Result<(Vec<SubscriptionId>, Option<Vec<u8>>), Error> {
    if let Some(named) = &migration.subscriptions {
        let done =
            cursor.and_then(|bytes| bytes.first_chunk().copied()).map_or(0, u32::from_be_bytes);
        let done = usize::try_from(done).unwrap_or(usize::MAX);
        let ids: Vec<_> = named.iter().skip(done).take(TOGETHER).copied().collect();
        let until = done.saturating_add(ids.len());
        let cursor = (until < named.len()).then(|| u32::try_from(until).unwrap_or(u32::MAX));
        return Ok((ids, cursor.map(|until| until.to_be_bytes().to_vec())));
    }
    let index = Index::subscriptions_of_plan(tx.account, migration.plan_id);
    let until = migration.created_at.saturating_add(INSTANT);
    let scan = index.scan(Timestamp::MIN, until, TOGETHER);
    let scan = match cursor {
        Some(cursor) => scan.after(&index.key_at(cursor)),
        None => scan,
    };
    let keys = tx.keys_now(&scan).await?;
    let places = keys.iter().map(schema::position).collect::<Result<Vec<_>, _>>()?;
    let ids = places.iter().map(|at| SubscriptionId::from_bytes(schema::id_at(at)));
    let last = places.last().filter(|_| places.len() >= TOGETHER).map(|at| at.to_vec());
    Ok((ids.collect(), last))
}

/// Tells whether an error says that one subscription cannot move, and not that something is wrong.
fn is_of_subscription(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConstraintViolation
            | ErrorKind::RequestValidation
            | ErrorKind::ResourceNotFound
            | ErrorKind::ResourceTooLarge
    )
}

/// Plans the move of one subscription, or takes it back.
struct Move {
    plan: PlanId,
    id: MigrationId,
    subscription: SubscriptionId,
}

#[async_trait]
impl Command for Move {
    type Outcome = Moved;

    fn name(&self) -> &'static str {
        "migrate_subscription"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Moved, Stop> {
        let migration = migrations::migration(tx, self.plan, self.id).await?;
        if migration.canceled_at.is_some() {
            return stay(tx, self.id, self.subscription).await;
        }
        let entry = rows::subscriptions::subscription_entry(tx, self.subscription).await?;
        if let Some(at) = entry.subscription.moves_with(self.id) {
            return Ok(moved(&entry, at, tx.now));
        }
        let before = current::subscription_to_change(tx, self.subscription).await?;
        move_one(tx, &migration, &before).await
    }
}

async fn move_one(
    tx: &mut Transaction<'_>,
    migration: &Migration,
    before: &SubscriptionEntry,
) -> Result<Moved, Stop> {
    let now = tx.now;
    // Of several that are still to come the last one that was asked for counts.
    if before.subscription.pending_move(now).is_some_and(|pending| migration.id < pending) {
        return Ok(Moved::No);
    }
    let mut entry = before.clone();
    entry.subscription.stay_from(now.saturating_add(INSTANT));
    let of = &entry.subscription;
    let decided = migration.when.decide(of, (migration.created_at, now))?;
    let Some(at) = decided else { return Ok(Moved::No) };
    let plan = of.plan_at(at);
    let plan_id = migration.plan_id;
    if plan.plan_id != Some(plan_id) {
        return Ok(Moved::No);
    }
    if plan.plan_version == migration.version {
        // It is there already, and stays: a move that was still to come is dropped.
        if entry.subscription != before.subscription {
            prices::note_usage(tx, &mut entry).await?;
            plan_changes::save_differences(tx, before, &mut entry).await?;
        }
        return Ok(Moved::No);
    }
    let leaves = rows::plans::plan_version(tx, plan_id, plan.plan_version).await?;
    let comes = rows::plans::plan_version(tx, plan_id, migration.version).await?;
    let prices = rows::prices::prices(tx, &comes.prices).await?;
    let mut known = rows::prices::prices_of(tx, of).await?;
    known.retain(|price| !comes.prices.contains(&price.id));
    known.extend(prices.iter().cloned());
    let replaced = replaced(tx, plan_id, [plan.plan_version, migration.version]).await?;
    let overridden = overridden(tx, plan_id, of, migration.version).await?;
    let to = VersionMove {
        migration_id: migration.id,
        seed: SubscriptionId::generate(tx.now, tx.entropy()),
        version: migration.version,
        at,
        leaves: &leaves.prices,
        prices: &prices,
        known: &known,
        replaced: &replaced,
        overridden: &overridden,
        leaves_adjustments: &leaves.adjustments,
        adjustments: &comes.adjustments,
    };
    entry.subscription.move_version(&to, now)?;
    prices::note_usage(tx, &mut entry).await?;
    plan_changes::save_plan_from(tx, before, &mut entry, at).await?;
    Ok(moved(&entry, at, now))
}

/// Notes a move: one with the start of the subscription is done.
fn moved(entry: &SubscriptionEntry, at: Timestamp, now: Timestamp) -> Moved {
    Moved::At(if at <= entry.subscription.start_date { now } else { at })
}

async fn stay(
    tx: &mut Transaction<'_>,
    id: MigrationId,
    subscription: SubscriptionId,
) -> Result<Moved, Stop> {
    let before = current::current_subscription(tx, subscription).await?;
    if before.subscription.moves_with(id).is_none_or(|at| at <= tx.now) {
        return Ok(Moved::No);
    }
    let mut entry = before.clone();
    entry.subscription.stay(id);
    prices::note_usage(tx, &mut entry).await?;
    plan_changes::save_differences(tx, &before, &mut entry).await?;
    Ok(Moved::No)
}

/// Returns the overrides of prices that a subscription has, and what each is of in a version.
async fn overridden(
    tx: &mut Transaction<'_>,
    plan: PlanId,
    of: &Subscription,
    to: PlanVersion,
) -> Result<BTreeMap<PriceId, PriceId>, Error> {
    let (mut found, mut by_version) = (BTreeMap::new(), BTreeMap::new());
    for own in of.overrides().filter(|own| of.plan_at(own.start_date).plan_id == Some(plan)) {
        let Some(old) = own.replaces_price_id else { continue };
        let replaced = match by_version.entry(own.plan_version) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                unknown.insert(replaced(tx, plan, [own.plan_version, to]).await?)
            }
        };
        found.insert(own.price_id, replaced.now(old));
    }
    Ok(found)
}

/// Returns what takes the place of what from one version of a plan to another: through the versions between them.
async fn replaced(
    tx: &mut Transaction<'_>,
    plan: PlanId,
    [from, to]: [PlanVersion; 2],
) -> Result<Replaced, Error> {
    let (low, high) = (from.number().min(to.number()), from.number().max(to.number()));
    let mut numbers: Vec<_> = (low.saturating_add(1)..=high).map(PlanVersion::new).collect();
    let is_back = to < from;
    if is_back {
        numbers.reverse();
    }
    let mut replaced = Replaced::default();
    for version in numbers {
        let entry = rows::plans::plan_version(tx, plan, version).await?;
        for (new, old) in entry.replaces {
            let (old, new) = if is_back { (new, old) } else { (old, new) };
            replaced.price(old, new);
        }
        for of in entry.adjustments.into_iter().map(|of| of.scope) {
            let Some(old) = of.replaces_adjustment_id else { continue };
            let (old, new) = if is_back { (of.id, old) } else { (old, of.id) };
            replaced.adjustment(old, new);
        }
    }
    Ok(replaced)
}

/// Keeps the progress of a migration.
struct End {
    plan: PlanId,
    id: MigrationId,
    /// When the migration was canceled, as the step has seen it.
    canceled_at: Option<Timestamp>,
    deadline: Deadline,
    cursor: Option<Vec<u8>>,
    found: Vec<Moved>,
}

#[async_trait]
impl Command for End {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "end_migration_step"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        let mut migration = migrations::migration(tx, self.plan, self.id).await?;
        let place = schema::deadline(self.deadline.at, tx.account, Owner::Migration(self.id));
        let known = tx.get(&place).await?;
        if known.as_ref() != Some(&self.deadline) {
            // Another process has taken this step.
            return Ok(());
        }
        if migration.canceled_at != self.canceled_at {
            // It was canceled meanwhile: the moves are taken back from the first one on.
            if migration.canceled_at != Some(self.deadline.at) {
                tx.delete(&place);
            }
            return Ok(());
        }
        match &self.cursor {
            Some(_) => {
                let deadline = Deadline { cursor: self.cursor.clone(), ..self.deadline.clone() };
                tx.put(&place, &deadline)?;
            }
            None => {
                tx.delete(&place);
                migration.is_planned = true;
            }
        }
        if migration.canceled_at.is_none() {
            self.found.iter().for_each(|moved| migration.note(*moved));
        }
        migrations::save(tx, &migration)?;
        Ok(())
    }
}
