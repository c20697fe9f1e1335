use crate::Decimal;

/// Rounds lines so that they add up to their total, rounded half away from zero.
///
/// Every line is first cut down to so many digits behind the point. The rest of the total goes to the
/// lines that lost most, one in the last place each; of equals, the earlier. So a line is less than one
/// in the last place away from its exact amount, and one that was round stays.
///
/// ```
/// use accrue::{Decimal, price::round_lines};
///
/// let third = Decimal::parse("0.3333")?;
/// let lines = round_lines(&[third.clone(), third.clone(), third], 2);
/// assert_eq!(lines.iter().sum::<Decimal>(), Decimal::from(1));
/// assert_eq!(lines[0], Decimal::parse("0.34")?);
/// # Ok::<(), accrue::DecimalError>(())
/// ```
#[must_use]
pub fn round_lines(lines: &[Decimal], places: u32) -> Vec<Decimal> {
    round_to(lines, &lines.iter().sum::<Decimal>().round(places), places)
}

/// Rounds lines in the same way so that they add up to a total that is less than one in the last place away from
/// theirs.
pub(crate) fn round_to(lines: &[Decimal], total: &Decimal, places: u32) -> Vec<Decimal> {
    let mut rounded: Vec<_> = lines.iter().map(|line| line.floor(places)).collect();
    let mut lacking = total - rounded.iter().sum::<Decimal>();
    let mut by_loss: Vec<_> = rounded.iter_mut().zip(lines).collect();
    by_loss.sort_by_cached_key(|(line, exact)| &**line - *exact);
    for (line, _) in by_loss {
        if lacking <= Decimal::zero() {
            break;
        }
        *line += Decimal::last_place(places);
        lacking -= Decimal::last_place(places);
    }
    rounded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers(texts: &[&str]) -> Vec<Decimal> {
        texts.iter().map(|text| Decimal::parse(text).unwrap()).collect()
    }

    #[test]
    fn lines_add_up_to_the_rounded_total() {
        let check = |lines: &[&str], expect: &[&str]| {
            assert_eq!(round_lines(&numbers(lines), 2), numbers(expect), "{lines:?}");
        };
        check(&[], &[]);
        check(&["0.005"], &["0.01"]);
        check(&["-0.005"], &["-0.01"]);
        check(&["1", "2.5"], &["1", "2.5"]);
        // Ties: the earlier line.
        check(&["0.005", "0.005"], &["0.01", "0"]);
        check(&["-0.005", "-0.005"], &["0", "-0.01"]);
        check(&["0.335", "0.335", "0.335"], &["0.34", "0.34", "0.33"]);
        // The largest remainder, wherever it stands.
        check(&["0.001", "0.009", "0.001"], &["0", "0.01", "0"]);
        check(&["1.004", "-1.004"], &["1", "-1"]);
        check(&["1.006", "-1.006"], &["1.01", "-1.01"]);
    }

    proptest! {
        #[test]
        fn every_line_is_near_and_all_add_up(
            lines in prop::collection::vec((-1_000_000_i64..1_000_000, 0_u32..7), 0..20),
            places in 0_u32..4,
        ) {
            let text = |(n, places): &(i64, u32)| format!("{n}e-{places}");
            let exact: Vec<_> =
                lines.iter().map(|line| Decimal::parse(&text(line)).unwrap()).collect();
            let rounded = round_lines(&exact, places);
            let sum = |lines: &[Decimal]| lines.iter().sum::<Decimal>();
            prop_assert_eq!(sum(&rounded), sum(&exact).round(places));
            prop_assert_eq!(rounded.len(), exact.len());
            let one = Decimal::last_place(places);
            for (rounded, exact) in rounded.iter().zip(&exact) {
                let off = rounded - exact;
                prop_assert!(off < one && -off < one, "{exact} became {rounded}");
                prop_assert_eq!(&rounded.round(places), rounded);
                prop_assert!(exact.round(places) != *exact || rounded == exact);
            }
            prop_assert_eq!(&round_lines(&rounded, places), &rounded);

            // A total that was rounded with others is the one below or the one above.
            let floor = sum(&exact).floor(places);
            let others = if floor == sum(&exact) { vec![floor] } else { vec![&floor + &one, floor] };
            for total in others.into_iter().filter(|_| !exact.is_empty()) {
                let parts = round_to(&exact, &total, places);
                prop_assert_eq!(sum(&parts), total);
                let offs = parts.iter().zip(&exact).map(|(part, exact)| part - exact);
                prop_assert!(offs.into_iter().all(|off| off <= one && -off < one));
            }
        }
    }
}
