use proptest::prelude::*;

use super::*;
use crate::{Decimal, MetricId, meter::CellId};

fn window(number: i64) -> Window {
    Window::numbered(number).unwrap()
}

fn hour(number: i64) -> Hour {
    Hour::numbered(number).unwrap()
}

fn instant(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000).unwrap()
}

fn metric(number: u8) -> MetricId {
    MetricId::from_bytes([number; 16])
}

fn subscription(number: u8) -> SubscriptionId {
    SubscriptionId::from_bytes([number; 16])
}

fn counted(metrics: u8) -> Total {
    let mut total = Total::default();
    (0..metrics).for_each(|number| total.add(metric(number).into(), Aggregate::Count(1)));
    total
}

fn open(number: i64, metrics: u8) -> OpenWindow {
    OpenWindow { window: window(number), slot: BucketSlot::A, total: counted(metrics) }
}

fn key(start: i64) -> PeriodKey {
    PeriodKey { start: instant(start), end: instant(start + 10) }
}

fn period(start: i64, metrics: u8) -> OpenTotal {
    OpenTotal { end: instant(start + 10), total: counted(metrics) }
}

#[test]
fn a_window_opens_only_behind_all_others() {
    let mut usage = OpenUsage::default();
    assert!(usage.begins_window(window(7)));
    assert_eq!(usage.open_window(open(7, 1)), None);
    assert!(!usage.begins_window(window(7)) && !usage.begins_window(window(6)));
    usage.note_window(window(9));
    assert!(!usage.begins_window(window(8)) && usage.begins_window(window(10)));
    usage.note_window(window(3));
    assert!(!usage.begins_window(window(9)));
}

#[test]
fn the_third_window_closes_the_oldest() {
    let mut usage = OpenUsage::default();
    assert_eq!(usage.open_window(open(1, 1)), None);
    assert_eq!(usage.open_window(open(2, 2)), None);
    assert_eq!(usage.open_window(open(5, 3)), Some(open(1, 1)));
    assert_eq!(usage.window(window(1), BucketSlot::A), None);
    assert_eq!(usage.window(window(2), BucketSlot::A), Some(&counted(2)));
    assert_eq!(usage.window(window(2), BucketSlot::B), None, "the other slot has rows");
}

#[test]
fn the_third_hour_closes_the_oldest() {
    let mut usage = OpenUsage::default();
    assert_eq!(usage.open_hour(hour(1), 3), None);
    assert_eq!(usage.open_hour(hour(2), 4), None);
    assert!(!usage.begins_hour(hour(2)));
    assert_eq!(usage.open_hour(hour(4), 5), Some((hour(1), 3)));
    assert_eq!([1, 2, 4].map(|number| usage.hour(hour(number))), [None, Some(4), Some(5)]);
}

#[test]
fn where_nothing_is_known_nothing_opens_before_the_newest_that_there_may_be() {
    let mut usage = OpenUsage::default();
    assert!(!usage.has_begun());
    usage.begin_behind(window(8).start());
    assert!(usage.has_begun());
    assert!(!usage.begins_window(window(8)) && usage.begins_window(window(9)));
    assert!(!usage.begins_hour(hour(2)) && usage.begins_hour(hour(3)));
    usage.begin_behind(window(80).start());
    assert!(usage.begins_window(window(9)), "it is known already");
}

#[test]
fn what_has_ended_is_closed() {
    let mut usage = OpenUsage::default();
    usage.open_total(subscription(1), key(0), period(0, 1));
    usage.open_total(subscription(1), key(10), period(10, 2));
    let alert = AlertId::from_bytes([1; 16]);
    usage.open_fired((subscription(1), instant(0), alert), instant(10), Fired::default());
    assert!(!usage.is_to_close(instant(9)) && usage.is_to_close(instant(10)));
    let closed = usage.close_before(instant(10));
    assert_eq!(closed.totals, [((subscription(1), key(0)), counted(1))]);
    assert_eq!(closed.fired.len(), 1);
    assert_eq!(usage.total(subscription(1), key(0)), None);
    assert_eq!(usage.total(subscription(1), key(10)), Some(&counted(2)));
    assert!(!usage.is_to_close(instant(10)));
}

#[test]
fn what_is_too_much_is_closed_the_largest_first() {
    let mut usage = OpenUsage::default();
    assert!(usage.has_room(100) && !usage.has_room(101));
    usage.open_total(subscription(1), key(0), period(0, 20));
    usage.open_total(subscription(2), key(0), period(0, 70));
    usage.open_window(open(1, 30));
    assert!(usage.is_to_close(Timestamp::MIN));
    let closed = usage.close_too_many();
    assert_eq!(closed.totals, [((subscription(2), key(0)), counted(70))]);
    assert!(closed.windows.is_empty() && !usage.is_to_close(Timestamp::MIN));
    usage.window_mut(window(1), BucketSlot::A).unwrap().take(counted(90));
    assert_eq!(usage.close_too_many().windows, [open(1, 90)]);
    assert!(!usage.begins_window(window(1)), "it has rows from now on");
    assert_eq!(usage.total(subscription(1), key(0)), Some(&counted(20)));
}

#[test]
fn alerts_are_known_one_by_one() {
    let mut usage = OpenUsage::default();
    let [one, other] = [1, 2].map(|number| AlertId::from_bytes([number; 16]));
    let of = |alert| (subscription(1), instant(0), alert);
    assert!(!usage.put_fired(of(one), Fired::default()));
    usage.open_fired(of(one), instant(10), Fired::default());
    assert!(usage.put_fired(of(one), Fired::default()));
    assert!(usage.fired(subscription(1), instant(0), one).is_some());
    assert_eq!(usage.fired(subscription(1), instant(0), other), None);
    assert_eq!(usage.fired(subscription(1), instant(10), one), None);
}

fn aggregate() -> impl Strategy<Value = Aggregate> {
    let decimal = || {
        (any::<i64>(), 0_u8..9)
            .prop_map(|(n, places)| Decimal::parse(&format!("{n}e-{places}")).unwrap())
    };
    let latest = ("[a-z\"\\\\]{1,9}", decimal()).prop_map(|(key, value)| {
        let latest = serde_json::json!({"latest": {"at": instant(9), "key": key, "value": value}});
        serde_json::from_value(latest).unwrap()
    });
    prop_oneof![
        (0_u64..1 << 53).prop_map(Aggregate::Count),
        (0_u64..1 << 53).prop_map(Aggregate::Distinct),
        decimal().prop_map(Aggregate::Sum),
        decimal().prop_map(Aggregate::Min),
        decimal().prop_map(Aggregate::Max),
        latest,
    ]
}

fn total() -> impl Strategy<Value = Total> {
    let cell = (0_u8..5, any::<bool>()).prop_map(|(number, is_cell)| match is_cell {
        true => CellId::Cell(serde_json::from_value(serde_json::json!(metric(number))).unwrap()),
        false => CellId::from(metric(number)),
    });
    prop::collection::vec((cell, aggregate()), 0..6).prop_map(|cells| {
        let mut total = Total::default();
        cells.into_iter().for_each(|(cell, aggregate)| total.set(cell, Some(aggregate)));
        total
    })
}

fn usage() -> impl Strategy<Value = OpenUsage> {
    let windows = prop::collection::btree_map(0_i64..9, (any::<bool>(), total()), 0..4);
    let hours = prop::collection::btree_map(0_i64..9, 0_u64..1 << 53, 0..4);
    let totals = prop::collection::btree_map((0_u8..3, 0_i64..3), total(), 0..5);
    let fired = prop::collection::btree_set((0_u8..3, 0_i64..3, 0_u8..3), 0..5);
    (windows, hours, totals, fired).prop_map(|(windows, hours, totals, fired)| {
        let mut usage = OpenUsage::default();
        for (number, (is_other, total)) in windows {
            let slot = if is_other { BucketSlot::B } else { BucketSlot::A };
            usage.open_window(OpenWindow { window: window(number), slot, total });
        }
        for (number, events) in hours {
            usage.open_hour(hour(number), events);
        }
        for ((number, start), total) in totals {
            let open = OpenTotal { end: instant(start + 9), total };
            usage.open_total(subscription(number), key(start), open);
        }
        for (number, start, alert) in fired {
            let of = (subscription(number), instant(start), AlertId::from_bytes([alert; 16]));
            let fired = serde_json::from_str(r#"["1","2.5"]"#).unwrap();
            usage.open_fired(of, instant(start + 9), fired);
        }
        usage
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(usage in usage()) {
        let text = serde_json::to_string(&usage).unwrap();
        prop_assert_eq!(serde_json::from_str::<OpenUsage>(&text).unwrap(), usage);
    }
}

#[test]
fn figures_without_names_are_refused() {
    let text = r#"{"metrics":[],"windows":[[1,"a",[{"count":1}]]]}"#;
    assert!(serde_json::from_str::<OpenUsage>(text).is_err());
    let text = r#"{"windows":[[9223372036854775807,"a",[]]]}"#;
    assert!(serde_json::from_str::<OpenUsage>(text).is_err());
}
