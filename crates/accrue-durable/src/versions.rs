use accrue::store::Version;

/// How many versions one written ceiling covers.
const STEP: u64 = 1 << 20;

/// The versions given out: never one twice, not after reopening either.
///
/// The ceiling lies in the database and is never below a version in use. It is raised in steps, by
/// the batch that uses the first version above it, so that an ordinary commit does not rewrite it;
/// a store that is opened again goes on above the ceiling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Versions {
    last: u64,
    ceiling: u64,
}

/// A version for one commit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Next {
    /// The version.
    pub(crate) version: Version,
    /// What has to be written as the ceiling by the batch that uses the version.
    pub(crate) ceiling: Option<u64>,
}

impl Versions {
    /// The versions above a ceiling that was stored.
    pub(crate) const fn above(ceiling: u64) -> Self {
        Self { last: ceiling, ceiling }
    }

    /// The version given last.
    pub(crate) const fn last(self) -> Version {
        Version::new(self.last)
    }

    /// Gives the next version; none where all 2^64 are used up.
    pub(crate) fn next(&mut self) -> Option<Next> {
        self.last = self.last.checked_add(1)?;
        let version = Version::new(self.last);
        if self.last <= self.ceiling {
            return Some(Next { version, ceiling: None });
        }
        self.ceiling = self.ceiling.saturating_add(STEP);
        Some(Next { version, ceiling: Some(self.ceiling) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ceiling_is_raised_by_the_first_version_above_it() {
        let mut versions = Versions::above(5);
        let next = versions.next();
        assert_eq!(next, Some(Next { version: Version::new(6), ceiling: Some(5 + STEP) }));
        for number in 7..=5 + STEP {
            let next = versions.next();
            assert_eq!(next, Some(Next { version: Version::new(number), ceiling: None }));
        }
        let next = versions.next().unwrap();
        assert_eq!(next.version, Version::new(6 + STEP));
        assert_eq!(next.ceiling, Some(5 + 2 * STEP));
    }

    #[test]
    fn no_version_follows_the_greatest() {
        assert!(Versions::above(u64::MAX - 1).next().is_some());
        assert_eq!(Versions::above(u64::MAX).next(), None);
    }
}
