/// A customer of the year, as it is written out.
#[derive(Debug)]
pub(super) struct Profile {
    pub(super) name: &'static str,
    pub(super) zone: &'static str,
    /// Its first and its last instant: New Year there, and the next one.
    pub(super) year: [&'static str; 2],
    /// The credits that it is given.
    pub(super) grant: u64,
    /// How many months what it is given lasts.
    pub(super) grant_months: usize,
    /// Whether it is given the same again when that time is over.
    pub(super) is_renewed: bool,
    /// What it buys when its credits run low, if it does.
    pub(super) top_up: Option<u64>,
    /// How many days after an invoice is issued it pays.
    pub(super) pays_after_days: u32,
    /// When it complains of an hour without service, if it does.
    pub(super) complains: Option<&'static str>,
    /// When it says so, the instant at which it leaves.
    pub(super) leaves: Option<[&'static str; 2]>,
    /// How many requests it makes in a day, month by month.
    pub(super) requests: [u64; 12],
}

/// The customers: one whose credits last for a month, two that buy more when they run low, one that
/// leaves in September, and one that nobody touches from March to October.
pub(super) const PROFILES: [Profile; 5] = [
    Profile {
        name: "pacific",
        zone: "America/Los_Angeles",
        year: ["2026-01-01T00:00:00-08:00", "2027-01-01T00:00:00-08:00"],
        grant: 100,
        grant_months: 1,
        is_renewed: true,
        top_up: None,
        pays_after_days: 10,
        complains: None,
        leaves: None,
        requests: [2, 3, 2, 3, 2, 3, 2, 1, 2, 3, 3, 2],
    },
    Profile {
        name: "spree",
        zone: "Europe/Berlin",
        year: ["2026-01-01T00:00:00+01:00", "2027-01-01T00:00:00+01:00"],
        grant: 200,
        grant_months: 3,
        is_renewed: true,
        top_up: Some(50),
        pays_after_days: 3,
        complains: Some("2026-05-10T10:00:00+02:00"),
        leaves: None,
        requests: [1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6],
    },
    Profile {
        name: "ganga",
        zone: "Asia/Kolkata",
        year: ["2026-01-01T00:00:00+05:30", "2027-01-01T00:00:00+05:30"],
        grant: 60,
        grant_months: 1,
        is_renewed: true,
        top_up: Some(40),
        pays_after_days: 35,
        complains: None,
        leaves: None,
        requests: [1, 2, 4, 1, 1, 5, 2, 1, 3, 2, 6, 1],
    },
    Profile {
        name: "moana",
        zone: "Pacific/Auckland",
        year: ["2026-01-01T00:00:00+13:00", "2027-01-01T00:00:00+13:00"],
        grant: 150,
        grant_months: 3,
        is_renewed: true,
        top_up: None,
        pays_after_days: 20,
        complains: Some("2026-07-05T10:00:00+12:00"),
        leaves: Some(["2026-08-20T09:00:00+12:00", "2026-09-15T00:00:00+12:00"]),
        requests: [2, 2, 2, 3, 2, 2, 1, 1, 1, 0, 0, 0],
    },
    Profile {
        name: "thames",
        zone: "Europe/London",
        year: ["2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"],
        grant: 120,
        grant_months: 6,
        is_renewed: false,
        top_up: None,
        pays_after_days: 7,
        complains: None,
        leaves: None,
        requests: [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1],
    },
];
