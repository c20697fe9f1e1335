use std::time::Duration;

use accrue::Timestamp;

use super::{Row, Trace};

const ROWS: u64 = 2_000;
const FIRST: &str = "2026-03-02T09:00:00Z";
/// 2,000 rows last 45 minutes.
const PAUSE: Duration = Duration::from_millis(1_350);

/// Makes rows whose sizes scatter, and grow with the row's place among eight: of eight customers,
/// some cross no threshold, some one, some two.
pub(super) fn sample() -> Trace {
    let first = Timestamp::parse(FIRST).expect("an instant in RFC 3339");
    let rows = (0..ROWS).zip(0..).map(|(number, pauses)| Row {
        number,
        at: first.saturating_add(PAUSE.saturating_mul(pauses)),
        input_tokens: 100 + number * 7_919 % 3_901,
        output_tokens: 20 + number * 104_729 % (200 + 260 * (number % 8)),
    });
    Trace::new("the sample".to_owned(), rows.collect()).expect("rows in order of time")
}
