use super::Instant;

/// A day, in microseconds.
pub const MICROS_PER_DAY: i64 = 86_400_000_000;

/// The instant so many calendar months after another, in UTC: on the same day of the month, or on
/// the last one where the month is too short.
#[must_use]
pub fn months_after(start: Instant, months: i64) -> Instant {
    let (mut days, time) = (start.div_euclid(MICROS_PER_DAY), start.rem_euclid(MICROS_PER_DAY));
    let (mut year, mut month) = (1970, 0);
    while days >= days_of(year, month) {
        days -= days_of(year, month);
        (year, month) = next(year, month);
    }
    let (mut target_year, mut target_month) = (year, month);
    for _ in 0..months {
        (target_year, target_month) = next(target_year, target_month);
    }
    let day = days.min(days_of(target_year, target_month) - 1);
    let (mut sum, mut year, mut month) = (0, 1970, 0);
    while (year, month) != (target_year, target_month) {
        sum += days_of(year, month);
        (year, month) = next(year, month);
    }
    (sum + day) * MICROS_PER_DAY + time
}

fn next(year: i64, month: i64) -> (i64, i64) {
    if month == 11 { (year + 1, 0) } else { (year, month + 1) }
}

fn days_of(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        1 if leap => 29,
        1 => 28,
        3 | 5 | 8 | 10 => 30,
        _ => 31,
    }
}
