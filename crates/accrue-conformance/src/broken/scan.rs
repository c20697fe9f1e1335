use accrue::store::{Key, Order, Row, Scan, StoreError, Table, Version};

use super::{
    Flaw,
    state::{JOINED, State},
};

pub(super) fn scan(flaw: Flaw, state: &State, scan: &Scan) -> Result<Vec<Row>, StoreError> {
    let scan = flawed(flaw, scan);
    if flaw == Flaw::RefusesEmptyRange && scan.bounds().is_none() {
        return Err(StoreError::unavailable("range start is greater than range end"));
    }
    let rows = if flaw == Flaw::StaleScan { &state.stale } else { &state.rows };
    let found = rows.iter().filter(|(address, _)| is_within(flaw, &scan, address));
    let mut found: Vec<Row> = found.map(|(address, row)| seen(flaw, &scan, address, row)).collect();
    match flaw {
        Flaw::OrdersSigned => found.sort_by_key(|row| signed(row.key.bytes())),
        Flaw::OrdersByLength => found.sort_by_key(|row| row.key.bytes().len()),
        _ => {}
    }
    Ok(ordered(flaw, &scan, found))
}

/// The scan that the store makes of the one that it was asked for.
fn flawed(flaw: Flaw, scan: &Scan) -> Scan {
    let mut scan = scan.clone();
    match (flaw, &scan.until) {
        (Flaw::SwapsBounds, Some(until)) if *until < scan.from => {
            let until = until.clone();
            scan.until = Some(std::mem::replace(&mut scan.from, until));
        }
        (Flaw::EndsAtFf, None) => scan.until = Some([0xFF].into()),
        (Flaw::CutsBounds, _) => {
            scan.from = scan.from.iter().copied().take(512).collect();
        }
        _ => {}
    }
    match flaw {
        Flaw::IgnoresLimit => scan.limit = usize::MAX,
        Flaw::TakesZeroForNoLimit if scan.limit == 0 => scan.limit = usize::MAX,
        Flaw::CapsPages => scan.limit = scan.limit.min(100),
        Flaw::IgnoresOrder => scan.order = Order::Ascending,
        _ => {}
    }
    scan
}

fn is_within(flaw: Flaw, scan: &Scan, address: &Key) -> bool {
    let bytes = address.bytes();
    let name = scan.table.name().as_bytes();
    match flaw {
        Flaw::JoinsTableAndKey => {
            let table = Scan::prefix(JOINED, name, 0).until;
            let until = scan.until.as_ref().map(|until| [name, until].concat().into()).or(table);
            return bytes >= &*[name, &scan.from].concat()
                && until.is_none_or(|until| bytes < &*until);
        }
        Flaw::LeaksTables if !address.table().name().starts_with(scan.table.name()) => {
            return false;
        }
        Flaw::LeaksTables => {}
        _ if address.table() != scan.table => return false,
        _ => {}
    }
    let begun = match flaw {
        Flaw::ExcludesFirst => bytes > &*scan.from,
        _ => bytes >= &*scan.from,
    };
    let ended = match (flaw, scan.until.as_deref()) {
        (Flaw::IncludesEnd, Some(until)) => bytes > until,
        (_, Some(until)) => bytes >= until,
        (_, None) => false,
    };
    begun && !ended
}

/// The row as the scan gives it.
fn seen(flaw: Flaw, scan: &Scan, address: &Key, row: &Row) -> Row {
    match flaw {
        Flaw::JoinsTableAndKey => {
            let bytes = address.bytes().iter().copied().skip(scan.table.name().len());
            Row { key: Key::new(scan.table, bytes.collect::<Vec<_>>()), ..row.clone() }
        }
        Flaw::LeaksTables => Row { key: own(scan.table, &row.key), ..row.clone() },
        Flaw::ForgetsVersionsOnScan => Row { version: Version::new(0), ..row.clone() },
        _ => row.clone(),
    }
}

fn ordered(flaw: Flaw, scan: &Scan, mut rows: Vec<Row>) -> Vec<Row> {
    if scan.order == Order::Descending && flaw != Flaw::ReversesAfterLimit {
        rows.reverse();
    }
    rows.truncate(scan.limit);
    if scan.order == Order::Descending && flaw == Flaw::ReversesAfterLimit {
        rows.reverse();
    }
    rows
}

fn own(table: Table, key: &Key) -> Key {
    Key::new(table, key.shared_bytes())
}

fn signed(bytes: &[u8]) -> Vec<i8> {
    bytes.iter().map(|byte| byte.cast_signed()).collect()
}
