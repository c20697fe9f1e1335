//! Meters that events of an account are held against from now on: of earlier events too, where they were not before.

use std::sync::Arc;

use crate::{
    Error, Timeframe,
    alert::Alert,
    engine::{
        kernel::{Guard, Transaction},
        rows::{self, sources},
    },
    expression::Expression,
    limits,
    meter::Meter,
    period::Watches,
    price::Price,
    rating::RateCard,
    schema::{self, AccountHead, Deadline, Owner},
    subscription::SubscriptionEntry,
    usage::{KnownGroups, Meters},
};

/// Makes sure that the meters of prices are kept, each with a condition on the events.
pub(in crate::engine) async fn keep_meters(
    tx: &mut Transaction<'_>,
    prices: &[(&Price, Option<&Expression>)],
) -> Result<(), Error> {
    if prices.is_empty() {
        return Ok(());
    }
    let of = |revision| {
        let all = prices.iter().flat_map(|(price, filter)| price.meters(*filter, revision));
        all.collect()
    };
    keep_new(tx, &of, prices.iter().any(|(_, filter)| filter.is_some())).await
}

/// Makes sure that meters of prices are kept, of which some have a condition on the events.
async fn keep_new(
    tx: &mut Transaction<'_>,
    of: &(dyn Fn(u64) -> Vec<Meter> + Send + Sync),
    is_filtered: bool,
) -> Result<(), Error> {
    let Some(changed) = keep(tx, of).await? else { return Ok(()) };
    let known = rows::metrics::meters(tx).await?;
    check_number(&known, &changed)?;
    if is_filtered {
        check_terms(known.terms(), terms_of_new(&known, &changed))?;
    }
    save(tx, &changed).await
}

/// Makes sure that the meters are kept that tell the usage of licenses apart, where prices that are together have
/// allocations of such; each is given with a condition on the events.
pub(in crate::engine) async fn keep_licensed(
    tx: &mut Transaction<'_>,
    prices: &[(&Price, Option<&Expression>)],
) -> Result<(), Error> {
    if prices.iter().all(|(fee, _)| fee.license_allocations.is_empty()) {
        return Ok(());
    }
    let of = |revision| {
        let licensed = prices.iter().filter_map(|(price, filter)| {
            let key = price.license_key(prices.iter().map(|(of, _)| *of))?;
            price.licensed_meter(*filter, &key, revision)
        });
        licensed.collect()
    };
    keep_new(tx, &of, prices.iter().any(|(_, filter)| filter.is_some())).await
}

/// Makes sure that the meters are kept by which alerts watch groups. How many there may be was checked when the alerts
/// were made.
pub(in crate::engine) async fn keep_watched(
    tx: &mut Transaction<'_>,
    alerts: &[Alert],
    card: &RateCard,
) -> Result<(), Error> {
    let of = |revision| {
        let all = alerts.iter().filter(|alert| alert.enabled);
        all.flat_map(|alert| alert.condition.watched_meters(card, revision)).collect()
    };
    match keep(tx, &of).await? {
        Some(changed) => save(tx, &changed).await,
        None => Ok(()),
    }
}

/// Refuses meters for a new alert on groups, where the account has too many or each event would take too much.
pub(in crate::engine) async fn check_watched(
    tx: &mut Transaction<'_>,
    meters: &[Meter],
) -> Result<(), Error> {
    let known = rows::metrics::meters(tx).await?;
    let watched = known.divided.iter().filter(|of| of.is_watched()).count();
    let is_new = |of: &&Meter| !known.divided.iter().any(|own| own.id == of.id);
    let (new, most) = (meters.iter().filter(is_new).count(), limits::WATCHED_METERS);
    if new > 0 && watched.saturating_add(new) > most {
        let detail =
            format!("alerts of the account group usage in {watched} ways already, at most {most}");
        return Err(Error::constraint(detail));
    }
    check_terms(known.terms(), terms_of_new(&known, meters))
}

/// Finds what is to be written so that some meters are kept, by the revision that they are of; none where they are.
async fn keep(
    tx: &mut Transaction<'_>,
    of: &(dyn Fn(u64) -> Vec<Meter> + Send + Sync),
) -> Result<Option<Vec<Meter>>, Error> {
    let guard = rows::account::guard(tx).await?;
    let catalogue = rows::metrics::catalogue(tx).await?;
    let mut changed: Vec<Meter> = Vec::new();
    for meter in of(catalogue.revision.saturating_add(1)) {
        if let Some(known) = changed.iter_mut().find(|known| known.id == meter.id) {
            known.extend(&meter)?;
        } else if !catalogue.meters.contains(&meter.id) {
            changed.push(meter);
        } else if let Some(more) = with_combination(tx, &guard, &meter).await? {
            changed.push(more);
        }
    }
    Ok((!changed.is_empty()).then_some(changed))
}

async fn save(tx: &mut Transaction<'_>, changed: &[Meter]) -> Result<(), Error> {
    let guard = rows::account::guard(tx).await?;
    let mut catalogue = Arc::unwrap_or_clone(rows::metrics::catalogue(tx).await?);
    catalogue.revision = catalogue.revision.saturating_add(1);
    for meter in changed {
        if !catalogue.meters.contains(&meter.id) {
            catalogue.meters.push(meter.id);
        }
    }
    schedule_measuring(tx, &mut catalogue).await?;
    guard.put(tx, &schema::metric_catalogue(tx.account), &catalogue)?;
    let mut changed = changed.iter();
    changed.try_for_each(|meter| guard.put(tx, &schema::meter(tx.account, meter.id), meter))
}

/// Says that the account has more metrics than its customers' events are measured by: from now on
/// those are looked for, from the first one. `catalogue` is to be written.
pub(in crate::engine) async fn schedule_measuring(
    tx: &mut Transaction<'_>,
    catalogue: &mut schema::Catalogue,
) -> Result<(), Error> {
    if tx.scan_now(&schema::customer_heads(tx.account, 1)).await?.is_empty() {
        // Nobody has events yet: who gets some is measured by all that there are.
        return Ok(());
    }
    let at = *catalogue.deadline.get_or_insert(tx.now);
    let (account, owner) = (tx.account.clone(), Owner::Metrics);
    let slot = schema::deadline(at, tx.account, owner);
    tx.get(&slot).await?;
    tx.put(&slot, &Deadline { at, account, owner, cursor: None })
}

/// Sums the groups that alerts watch of a stretch: by all that is known of the events, as no price asks for them.
pub(in crate::engine) async fn summed_groups(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    timeframe: Timeframe,
    watched: &Watches,
) -> Result<KnownGroups, Error> {
    if !watched.need_meters() {
        return Ok(KnownGroups::new());
    }
    let meters = rows::metrics::meters(tx).await?.only_divided(&watched.parts());
    let total = sources::total_between(tx, &entry.subscription, &meters, timeframe).await?;
    let groups = total.groups.known.into_iter();
    Ok(groups.filter(|(meter, _)| watched.has(*meter)).collect())
}

/// Refuses more meters than an account can have: of some conditions, and of all events.
fn check_number(known: &Meters, changed: &[Meter]) -> Result<(), Error> {
    let new = changed.iter().filter(|of| !known.divided.iter().any(|own| own.id == of.id));
    let all = known.divided.iter().chain(new).filter(|of| !of.is_watched());
    let all: Vec<_> = all.collect();
    let filtered = all.iter().filter(|of| of.has_filter()).count();
    let detail = if filtered > limits::FILTERED_METERS {
        let most = limits::FILTERED_METERS;
        format!("prices of the account have counted by {most} conditions on events already")
    } else if all.len().saturating_sub(filtered) > limits::METERS {
        format!("prices divide the usage of the account in {} ways already", limits::METERS)
    } else {
        return Ok(());
    };
    Err(Error::constraint(detail))
}

/// Refuses more conditions, of a metric or of a price, with which each event of the account would take too many
/// comparisons.
pub(in crate::engine) fn check_terms(there: usize, own: usize) -> Result<(), Error> {
    let most = limits::METRIC_TERMS;
    if there.saturating_add(own) <= most {
        return Ok(());
    }
    Err(Error::constraint(format!(
        "with {own} comparisons beside {there} of others, an event would take more than {most}: a shorter \
         condition helps"
    )))
}

fn terms_of_new(known: &Meters, meters: &[Meter]) -> usize {
    let new = meters.iter().filter(|of| !known.divided.iter().any(|own| own.id == of.id));
    new.map(Meter::terms).fold(0, usize::saturating_add)
}

/// Returns a meter that is kept with the combination of another one that is the same otherwise; none where it has
/// that.
async fn with_combination(
    tx: &mut Transaction<'_>,
    guard: &Guard<AccountHead>,
    other: &Meter,
) -> Result<Option<Meter>, Error> {
    let kept = guard.get(tx, &schema::meter(tx.account, other.id)).await?;
    let mut kept = kept.ok_or_else(|| Error::corrupt("the catalogue of metrics names nothing"))?;
    Ok(kept.extend(other)?.then_some(kept))
}
