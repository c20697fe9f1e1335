//! Walks indexes for lists, page by page.

use std::collections::VecDeque;

use crate::{
    Error, Timestamp,
    engine::{
        Account,
        kernel::{Says, Transaction},
    },
    limits,
    page::{InstantRange, ListFilter, Listing, Page, PageRequest, Position},
    schema::{self, Index, Slot},
    store::Scan,
};

impl Account {
    /// Lists the rows that an index names, newest first, and of each what `show` makes of it.
    pub(in crate::engine) async fn list<T: Says, G, S>(
        &self,
        name: &'static str,
        index: Index,
        filter: &ListFilter,
        page: &PageRequest,
        slot: impl Fn([u8; 16]) -> Slot<T, G>,
        show: impl Fn(T) -> Option<S>,
    ) -> Result<Page<S>, Error> {
        let listing = Listing { name, account: self.id(), filter: format!("{filter:?}") };
        let mut walk = Walk::new(listing, &index, filter.created, page)?;
        walk.run(&mut self.reading(), |at| slot(schema::id_at(at)), show).await
    }

    /// Lists the rows that an index names, oldest first: rows that are never removed.
    pub(in crate::engine) async fn list_oldest_first<T: Says, G>(
        &self,
        name: &'static str,
        index: Index,
        page: &PageRequest,
        slot: impl Fn([u8; 16]) -> Slot<T, G>,
    ) -> Result<Page<T>, Error> {
        let listing = Listing { name, account: self.id(), filter: String::new() };
        let limit = page.rows()?;
        let scan = index.scan(Timestamp::MIN, Timestamp::MAX, limit.saturating_add(1));
        let scan = match listing.position(page)? {
            Some(position) => scan.after(&index.key_at(&position)),
            None => scan,
        };
        let tx = self.reading();
        let keys = tx.keys_now(&scan).await?;
        let places: Vec<_> = keys.iter().map(schema::position).collect::<Result<_, _>>()?;
        let slots: Vec<_> = places.iter().map(|at| slot(schema::id_at(at))).collect();
        let rows = places.into_iter().zip(tx.peek(&slots).await?);
        let found = rows.filter_map(|(at, row)| Some((at, row?))).collect();
        Ok(page_of(&listing, limit, found))
    }
}

/// A walk over indexes, newest first, from where a page begins: over their rows in one order.
pub(in crate::engine) struct Walk<'a> {
    listing: Listing<'a>,
    tracks: Vec<Track>,
    limit: usize,
}

/// One index of a walk: what is still to be read of it, and what was read and not passed.
struct Track {
    /// None where it was read to its end.
    rest: Option<Scan>,
    ahead: VecDeque<Position>,
}

impl<'a> Walk<'a> {
    pub(in crate::engine) fn new(
        listing: Listing<'a>,
        index: &Index,
        created: InstantRange,
        page: &PageRequest,
    ) -> Result<Self, Error> {
        Self::merged(listing, std::slice::from_ref(index), created, page)
    }

    /// The same over several indexes: a row that more than one names is passed once.
    pub(in crate::engine) fn merged(
        listing: Listing<'a>,
        indexes: &[Index],
        created: InstantRange,
        page: &PageRequest,
    ) -> Result<Self, Error> {
        Self::of_rows(listing, indexes, created, page, page.rows()?)
    }

    /// The same over the entries of a ledger, whose pages may be longer.
    pub(in crate::engine) fn of_ledger(
        listing: Listing<'a>,
        index: &Index,
        created: InstantRange,
        page: &PageRequest,
    ) -> Result<Self, Error> {
        Self::of_rows(listing, std::slice::from_ref(index), created, page, page.limit())
    }

    fn of_rows(
        listing: Listing<'a>,
        indexes: &[Index],
        created: InstantRange,
        page: &PageRequest,
        limit: usize,
    ) -> Result<Self, Error> {
        // One row more than the page holds tells whether there is another page.
        let rows = limit.saturating_add(1).min(limits::SCAN_ROWS);
        let from = listing.position(page)?;
        let track = |index: &Index| {
            let scan = index.scan(created.from(), created.until(), rows).descending();
            let scan = match &from {
                Some(position) => scan.after(&index.key_at(position)),
                None => scan,
            };
            Track { rest: Some(scan), ahead: VecDeque::new() }
        };
        Ok(Self { listing, tracks: indexes.iter().map(track).collect(), limit })
    }

    /// Adds places that no index of the walk names, or that more than one does: each is passed once.
    pub(in crate::engine) fn also(
        &mut self,
        places: Vec<Position>,
        created: InstantRange,
        page: &PageRequest,
    ) -> Result<(), Error> {
        let before = self.listing.position(page)?;
        let [from, until] =
            [created.from(), created.until()].map(|at| schema::position_of(at, &[0; 16]));
        let mut ahead: Vec<_> = places
            .into_iter()
            .filter(|at| (from..until).contains(at) && before.is_none_or(|before| *at < before))
            .collect();
        ahead.sort_unstable_by(|one, other| other.cmp(one));
        self.tracks.push(Track { rest: None, ahead: ahead.into() });
        Ok(())
    }

    /// Finds the page: of each row that the index names, what `show` makes of it. A list whose rows
    /// must agree has read the row that guards them, or reads what never changes.
    pub(in crate::engine) async fn run<T: Says, G, S>(
        &mut self,
        tx: &mut Transaction<'_>,
        slot: impl Fn(&Position) -> Slot<T, G>,
        show: impl Fn(T) -> Option<S>,
    ) -> Result<Page<S>, Error> {
        let mut found = Vec::new();
        while !self.is_full(&found) {
            let places = self.next(tx).await?;
            if places.is_empty() {
                break;
            }
            let slots: Vec<_> = places.iter().map(&slot).collect();
            // A row that went away since the index was read is left out.
            let rows = places.into_iter().zip(tx.peek(&slots).await?);
            found.extend(rows.filter_map(|(at, row)| Some((at, show(row?)?))));
        }
        Ok(self.page(found))
    }

    /// Returns the next places of the indexes; none where they end.
    pub(in crate::engine) async fn next(
        &mut self,
        tx: &Transaction<'_>,
    ) -> Result<Vec<Position>, Error> {
        for track in &mut self.tracks {
            track.look_ahead(tx).await?;
        }
        let mut places = Vec::new();
        // Where one has run out, a row of it that is still to be read may come first.
        while !self.tracks.iter().any(Track::has_run_out) {
            let fronts = self.tracks.iter().filter_map(|track| track.ahead.front());
            let Some(newest) = fronts.max().copied() else { break };
            for track in &mut self.tracks {
                if track.ahead.front() == Some(&newest) {
                    track.ahead.pop_front();
                }
            }
            places.push(newest);
        }
        Ok(places)
    }

    /// Tells whether enough was found for the page, and to know whether there is another.
    pub(in crate::engine) const fn is_full<T>(&self, found: &[(Position, T)]) -> bool {
        found.len() > self.limit
    }

    /// Makes the page of what was found.
    pub(in crate::engine) fn page<T>(&self, found: Vec<(Position, T)>) -> Page<T> {
        page_of(&self.listing, self.limit, found)
    }
}

impl Track {
    /// Reads on where everything was passed.
    async fn look_ahead(&mut self, tx: &Transaction<'_>) -> Result<(), Error> {
        if !self.has_run_out() {
            return Ok(());
        }
        let Some(scan) = self.rest.take() else { return Ok(()) };
        let keys = tx.keys_now(&scan).await?;
        self.rest = keys.last().map(|last| scan.after(last.bytes()));
        self.ahead = keys.iter().map(schema::position).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Tells whether there may be more, which is still to be read.
    fn has_run_out(&self) -> bool {
        self.ahead.is_empty() && self.rest.is_some()
    }
}

/// Makes a page of rows that are all there, in any order: newest first, from where it begins.
pub(in crate::engine) fn page_in_order<T>(
    listing: &Listing<'_>,
    page: &PageRequest,
    limit: usize,
    rows: impl Iterator<Item = (Position, T)>,
) -> Result<Page<T>, Error> {
    let before = listing.position(page)?;
    let behind = |at: &Position| before.is_none_or(|before| *at < before);
    let mut found: Vec<_> = rows.filter(|(at, _)| behind(at)).collect();
    found.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    Ok(page_of(listing, limit, found))
}

/// Cuts what was found to a page.
pub(in crate::engine) fn page_of<T>(
    listing: &Listing<'_>,
    limit: usize,
    mut found: Vec<(Position, T)>,
) -> Page<T> {
    let has_more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| has_more);
    let next_cursor = last.map(|(position, _)| listing.cursor(position));
    Page { data: found.into_iter().map(|(_, row)| row).collect(), next_cursor }
}
