use std::fmt;

/// A condition that no event meets, and each goes through to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Condition {
    /// What the first comparison is with: conditions that differ in it are not equal.
    pub(super) first: usize,
    /// How many comparisons there are.
    pub(super) comparisons: usize,
}

const OR: &str = " OR ";

impl Condition {
    /// Returns how many comparisons fit so many bytes, with a first one below 1,000.
    pub(super) fn fitting(bytes: usize) -> usize {
        let [first, next] = ["n=100", "n=1"].map(str::len);
        1 + bytes.saturating_sub(first) / (OR.len() + next)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n={}", self.first)?;
        (1..self.comparisons).try_for_each(|nth| write!(f, "{OR}n={}", 1 + nth % 9))
    }
}
