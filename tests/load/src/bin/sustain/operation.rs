//! What is asked for, in which proportion.

use accrue_crash_tests::Dice;

/// Operations, and how many of a hundred requests they are.
const SHARES: [(usize, Operation); 13] = [
    (50, Operation::Ingest),
    (10, Operation::FetchCustomer),
    (8, Operation::Usage),
    (6, Operation::Costs),
    (6, Operation::LedgerEntry),
    (4, Operation::Credits),
    (4, Operation::Subscriptions),
    (3, Operation::Alerts),
    (3, Operation::Search),
    (2, Operation::UpdateCustomer),
    (2, Operation::NewCustomer),
    (1, Operation::Volume),
    (1, Operation::Customers),
];

/// What a connection asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Ingest,
    FetchCustomer,
    Usage,
    Costs,
    LedgerEntry,
    Credits,
    Subscriptions,
    Alerts,
    Search,
    UpdateCustomer,
    NewCustomer,
    Volume,
    Customers,
}

impl Operation {
    /// Draws one.
    pub(crate) fn draw(dice: &mut Dice) -> Self {
        let mut left = dice.below(SHARES.iter().map(|(share, _)| share).sum());
        for (share, operation) in SHARES {
            match left.checked_sub(share) {
                Some(rest) => left = rest,
                None => return operation,
            }
        }
        Self::Ingest
    }
}
