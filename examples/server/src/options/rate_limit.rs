use accrue_http::Quotas;
use clap::ValueEnum;

/// How much each account may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RateLimitPlan {
    /// The quotas of the published API for live accounts
    Live,
    /// Those for test accounts
    Test,
    /// Those for trials
    Trial,
    /// No limit
    None,
}

impl RateLimitPlan {
    /// Returns the quotas, where there are any.
    #[must_use]
    pub const fn quotas(self) -> Option<Quotas> {
        match self {
            Self::Live => Some(Quotas::live()),
            Self::Test => Some(Quotas::test()),
            Self::Trial => Some(Quotas::trial()),
            Self::None => None,
        }
    }
}
