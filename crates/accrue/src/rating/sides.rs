use super::step::Step;
use crate::Decimal;

/// Amounts before and after an instant, while steps are applied to both: what falls due is the
/// difference. What is in arrears has no before.
pub(super) struct Sides {
    pub(super) before: Option<Vec<Decimal>>,
    pub(super) after: Vec<Decimal>,
}

impl Sides {
    fn moved(&self) -> Vec<Decimal> {
        match &self.before {
            Some(before) => self.after.iter().zip(before).map(|(to, from)| to - from).collect(),
            None => self.after.clone(),
        }
    }

    /// Applies a step, to the side before too where it counted then, and returns what it adds to what falls
    /// due.
    pub(super) fn apply(&mut self, step: &Step, counts_before: bool) -> Vec<Decimal> {
        let unmoved = self.moved();
        if let Some(before) = self.before.as_mut().filter(|_| counts_before) {
            step.apply(before);
        }
        step.apply(&mut self.after);
        self.moved().into_iter().zip(unmoved).map(|(to, from)| to - from).collect()
    }
}
