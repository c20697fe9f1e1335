//! Takes the steps of a customer's corrections, one commit each
//! (`docs/decisions/corrections-come-first.md`).

use async_trait::async_trait;

use crate::{
    CustomerId, Error, IdOr, Timestamp,
    engine::{
        kernel::{Command, Stop, Transaction},
        rows::{self, active, metrics, usage_customers},
        time::{
            corrections::{build, clean_up, families, measure, publish, schedule},
            transitions,
        },
    },
    schema::{Corrections, CustomerHead, Progress},
};

/// Next step of the corrections of a customer: so much as fits one commit.
pub(in crate::engine) struct Step {
    pub(in crate::engine) customer: CustomerId,
}

/// What a step has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Stepped {
    /// There may be another one. It has done so much work.
    On { work: usize },
    /// The transitions of a customer up to an instant come first: of this one, or of one whose subscription counts its
    /// usage.
    First(CustomerId, Timestamp),
    /// Another customer of its family is to be corrected first.
    Other(CustomerId),
    /// Nothing was left to do.
    Done,
}

#[async_trait]
impl Command for Step {
    type Outcome = Stepped;

    fn name(&self) -> &'static str {
        "correct"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Stepped, Stop> {
        let customer = self.customer;
        tx.lock(&[customer.into()]).await?;
        let head = tx.guard::<CustomerHead>(customer).await?.head(tx)?;
        let subscribers = usage_customers::subscribers(tx, customer).await?;
        tx.lock(&subscribers.iter().copied().map(IdOr::Id).collect::<Vec<_>>()).await?;
        let corrections = rows::corrections::own(tx, customer).await?;
        let progress = match corrections.progress {
            Some(progress) => progress,
            None => match next_progress(tx, customer, &corrections).await? {
                Some(progress) => progress,
                None => {
                    let other = families::first_of_others(tx, customer).await?;
                    return Ok(other.map_or(Stepped::Done, Stepped::Other));
                }
            },
        };
        let progress = match progress {
            Progress::Measuring { revision, behind } => {
                if let Some(other) = families::unmeasured(tx, customer).await? {
                    return Ok(Stepped::Other(other));
                }
                measure::measure(tx, customer, &head, revision, behind).await?
            }
            Progress::Totalling { revision, behind } => {
                measure::total_anew(tx, customer, revision, behind).await?
            }
            Progress::Building { correction, behind } => {
                Some(build::build(tx, customer, &head, correction, behind).await?)
            }
            Progress::Built { correction, until } => {
                if let Some(other) = families::earlier(tx, customer, correction).await? {
                    return Ok(Stepped::Other(other));
                }
                for subscriber in subscribers {
                    if transitions::has_transitions_until(tx, subscriber, correction.at).await? {
                        return Ok(Stepped::First(subscriber, correction.at));
                    }
                }
                publish::publish(tx, customer, correction, until).await?
            }
            Progress::CleaningUp { correction, behind } => {
                clean_up::clean_up(tx, customer, correction, behind).await?
            }
        };
        // It was written where a correction was done.
        let corrections = rows::corrections::own(tx, customer).await?;
        let corrections = Corrections { progress, ..corrections };
        rows::corrections::put_own(tx, customer, &corrections).await?;
        active::reschedule(tx, customer).await?;
        Ok(Stepped::On { work: tx.pace.spent() })
    }
}

/// Finds what is to be begun for a customer.
async fn next_progress(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    corrections: &Corrections,
) -> Result<Option<Progress>, Error> {
    let head = tx.guard::<CustomerHead>(customer).await?.head(tx)?;
    if schedule::is_unmeasured(tx, &head).await? {
        let revision = metrics::catalogue(tx).await?.revision;
        return Ok(Some(Progress::Measuring { revision, behind: None }));
    }
    let own = corrections.scheduled.first().copied().filter(|of| of.at <= tx.now);
    let of_all = schedule::next_of_all(tx, customer).await?;
    let Some(correction) = own.into_iter().chain(of_all).min() else { return Ok(None) };
    if of_all == Some(correction) {
        schedule::begin_of_all(tx, correction).await?;
    }
    Ok(Some(Progress::Building { correction, behind: None }))
}
