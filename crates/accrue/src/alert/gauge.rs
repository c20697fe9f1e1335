use super::Condition;
use crate::{
    Decimal,
    price::Worth,
    rating::{Moved, Running},
};

/// Cost that an alert watches, kept up while events are added: an event moves it by as much as the
/// lines that the event moves.
#[derive(Clone, Debug)]
pub(crate) struct Gauge {
    condition: Condition,
    /// Worth of each line's amounts, in the alert's unit; none where a line does not count.
    worth: Vec<Option<Worth>>,
    value: Option<Decimal>,
}

impl Gauge {
    pub(crate) fn new(condition: &Condition, running: &Running) -> Self {
        let worth =
            running.lines().map(|(price, _)| condition.worth(price, running.card().invoiced_in));
        let (worth, value) = (worth.collect(), condition.cost(running));
        Self { condition: condition.clone(), worth, value }
    }

    /// Returns the value; none before the first event or fee that counts.
    pub(crate) const fn value(&self) -> Option<&Decimal> {
        self.value.as_ref()
    }

    /// Follows lines that have moved.
    pub(crate) fn follow(&mut self, moved: &[Moved]) {
        for (index, amounts) in moved {
            let Some(Some(worth)) = self.worth.get(*index) else { continue };
            let Some(change) = self.condition.amount(amounts, worth) else { continue };
            *self.value.get_or_insert_default() += change;
        }
    }
}
