//! What holds of the billing periods of every life, in every zone.

use proptest::prelude::*;

use super::{
    oracle::{Oracle, first_showing},
    *,
};

/// Zones whose clocks change by an hour, by half of one, at midnight, by a whole date, or never.
const ZONES: [&str; 15] = [
    "UTC",
    "Africa/Cairo",
    "America/Asuncion",
    "America/Havana",
    "America/New_York",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Asia/Beirut",
    "Asia/Kathmandu",
    "Atlantic/Azores",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Pacific/Apia",
    "Pacific/Kiritimati",
    "Pacific/Kwajalein",
];

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

#[derive(Clone, Debug)]
pub(super) struct Life {
    pub(super) cycle: Cycle,
    pub(super) anchor: BillingAnchor,
    pub(super) zone: &'static str,
    pub(super) start: Timestamp,
    pub(super) end: Timestamp,
}

fn lives() -> impl Strategy<Value = Life> {
    let cycle = prop_oneof![
        prop::sample::select(&[1, 3, 6, 12, 24][..]).prop_map(Cycle::Months),
        (1_u16..=120).prop_map(Cycle::Months),
        (1_u16..=40).prop_map(Cycle::Days),
        (1_u16..=3_660).prop_map(Cycle::Days),
    ];
    let year = prop::option::of(1_985_u16..2_040);
    let anchor = prop_oneof![
        Just(BillingAnchor::FirstOfMonth),
        Just(BillingAnchor::SubscriptionStart),
        (1_u8..=31, prop::option::of((1_u8..=12, year))).prop_map(|(day, rest)| {
            let (month, year) = rest.map_or((None, None), |(month, year)| (Some(month), year));
            BillingAnchor::Day { day, month, year }
        }),
    ];
    let length = prop_oneof![1..3 * DAY, 1..800 * DAY, Just(i64::MAX)];
    (cycle, anchor, prop::sample::select(&ZONES[..]), start(), length).prop_map(
        |(cycle, anchor, zone, start, length)| {
            // A life that nobody has ended is watched for three years.
            let end = instant(start.micros() + length.min(1_100 * DAY));
            Life { cycle, anchor, zone, start, end }
        },
    )
}

/// Instants of fifty years, often on the quarter of an hour, and around dates that zones skipped.
fn start() -> impl Strategy<Value = Timestamp> {
    let skipped = |text: &str| {
        let at = Timestamp::parse(text).unwrap().micros();
        (at - 40 * DAY..at + 2 * DAY).boxed()
    };
    let micros = prop_oneof![
        4 => 0_i64..2_200_000_000 * SECOND,
        1 => skipped("2011-12-30T10:00:00Z"),
        1 => skipped("1993-08-21T12:00:00Z"),
        1 => skipped("1994-12-31T10:00:00Z"),
        1 => skipped("2018-11-04T03:00:00Z"),
        1 => skipped("2026-10-25T01:00:00Z"),
    ];
    let window = 900 * SECOND;
    let unit = prop::sample::select(vec![1, SECOND, window, window]);
    (micros, unit).prop_map(|(micros, unit)| instant(micros / unit * unit))
}

pub(super) fn instant(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros).unwrap()
}

impl Life {
    fn periods(&self) -> BillingPeriods {
        let zone = Zone::parse(self.zone).unwrap();
        BillingPeriods::new(self.cycle, self.anchor, zone, self.start, Some(self.end))
    }

    fn whole(&self) -> Timeframe {
        Timeframe::new(self.start, self.end).unwrap()
    }

    /// The instant so many thousandths into it.
    fn at(&self, thousandths: i64) -> Timestamp {
        let length = self.end.micros() - self.start.micros() - 1;
        instant(self.start.micros() + length / 1_000 * thousandths)
    }
}

proptest! {
    #[test]
    fn periods_tile_the_life(life in lives(), at in 0_i64..1_000) {
        let periods = life.periods();
        let tiles: Vec<_> = periods.overlapping(life.whole()).collect();
        prop_assert_eq!(tiles.first().copied(), periods.first());
        prop_assert_eq!(tiles.first().map(|tile| tile.start()), Some(life.start));
        prop_assert_eq!(tiles.last().map(|tile| tile.end()), Some(life.end));
        prop_assert!(tiles.windows(2).all(|pair| pair[0].end() == pair[1].start()));
        prop_assert!(tiles.iter().all(|tile| tile.start() < tile.end()));
        let holding: Vec<_> = tiles.into_iter().filter(|tile| tile.contains(life.at(at))).collect();
        prop_assert_eq!(holding, vec![periods.containing(life.at(at)).unwrap()]);
        prop_assert_eq!(periods.containing(life.end), None);
    }

    #[test]
    fn those_that_overlap_share_an_instant(
        life in lives(), from in 0_i64..1_000, length in 0_i64..1_000,
    ) {
        let some = Timeframe::new(life.at(from), life.at(from.max(length))).unwrap();
        let periods = life.periods();
        let sharing = periods.overlapping(life.whole())
            .filter(|tile| tile.start().max(some.start()) < tile.end().min(some.end()));
        prop_assert!(periods.overlapping(some).eq(sharing));
    }

    #[test]
    fn a_walk_finds_the_same(life in lives(), at in 0_i64..1_000) {
        let oracle = Oracle::new(&life);
        let period = oracle.containing(life.at(at));
        prop_assert_eq!(life.periods().containing(life.at(at)), Some(period));
        prop_assert_eq!(life.periods().days(period), oracle.days(period));
    }

    #[test]
    fn days_add_up_where_a_day_ends(life in lives(), at in 0_i64..1_000) {
        let periods = life.periods();
        let inside = life.at(at);
        let period = periods.containing(inside).unwrap();
        let Days { part, whole } = periods.days(period);
        prop_assert!(0 < part && part <= whole);
        let parts = |cut| {
            let pieces = [(period.start(), cut), (cut, period.end())];
            let pieces = pieces.map(|(from, to)| Timeframe::new(from, to).unwrap());
            pieces.map(|piece| periods.days(piece).part).iter().sum::<u32>()
        };
        // A day that is cut counts in both pieces.
        prop_assert!((part..=part + 1).contains(&parts(inside)));
        let Oracle { zone, origin, .. } = Oracle::new(&life);
        let date = zone.to_datetime(inside.to_jiff()).date();
        let border = first_showing(&zone, date.to_datetime(origin.time())).as_microsecond();
        if (period.start().micros()..period.end().micros()).contains(&border) {
            prop_assert_eq!(parts(instant(border)), part);
        }
    }

    #[test]
    fn no_cycle_is_endless_or_empty(
        units in prop_oneof![0..=120_u16, any::<u16>()], by_day in any::<bool>(), day in any::<u8>(),
        month in any::<Option<u8>>(), year in any::<Option<u16>>(), zone in 0_usize..15,
        start in prop_oneof![1..=Timestamp::MAX.micros(), 1..=DAY], from_the_end in any::<bool>(),
    ) {
        let cycle = if by_day { Cycle::Days(units) } else { Cycle::Months(units) };
        let start = if from_the_end { Timestamp::MAX.micros() - start + 1 } else { start - 1 };
        let (start, zone) = (instant(start), Zone::parse(ZONES[zone]).unwrap());
        for anchor in [BillingAnchor::SubscriptionStart, BillingAnchor::Day { day, month, year }] {
            let periods = BillingPeriods::new(cycle, anchor, zone.clone(), start, None);
            let first = periods.first().filter(|first| first.start() == start);
            prop_assert_eq!(first.is_some(), start < Timestamp::MAX);
            let rest = Timeframe::new(start, Timestamp::MAX).unwrap();
            for period in periods.overlapping(rest).take(5) {
                prop_assert!(period.start() < period.end());
                // Longer ones are refused, and slow to count where a zone skipped a date.
                if units <= 120 {
                    let Days { part, whole } = periods.days(period);
                    prop_assert!(0 < part && part <= whole);
                }
            }
        }
    }
}
