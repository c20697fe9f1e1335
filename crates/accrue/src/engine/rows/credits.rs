//! What a customer has of credits: in which units, and the alerts on them.

use crate::{
    Error,
    engine::kernel::{Guard, Transaction},
    limits,
    schema::{self, Credits, CustomerHead},
};

/// Writes what a customer has of credits, which was read.
pub(in crate::engine) fn put_credits(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    credits: &Credits,
) -> Result<(), Error> {
    let (found, most) = (credits.units.len(), limits::LEDGERS);
    if found > most {
        let detail = format!(
            "the customer would have credits and alerts on them in {found} currencies and \
             pricing units, expected at most {most}"
        );
        return Err(Error::constraint(detail));
    }
    guard.put(tx, &schema::credits(tx.account, guard.of()), credits)
}
