//! Many callers of several handles at once (store 1).

use crate::{
    Processes,
    races::{self, Handles},
    subject::Subject,
};

/// Of many that insert one row, one wins, and the row is its row.
pub fn one_of_many_inserts_wins(processes: &dyn Processes) {
    races::one_of_many_inserts_wins(Handles(&four(processes)));
}

/// Of many that insert one row without having read anything, one wins.
pub fn one_of_many_bare_inserts_wins(processes: &dyn Processes) {
    races::one_of_many_bare_inserts_wins(Handles(&four(processes)));
}

/// Of many that update one row which they all read, one wins, though they write other rows.
pub fn one_of_many_updates_wins(processes: &dyn Processes) {
    races::one_of_many_updates_wins(Handles(&four(processes)));
}

/// Callers that add to one row, each trying again after a conflict, lose no addition.
pub fn no_increment_is_lost(processes: &dyn Processes) {
    races::no_increment_is_lost(Handles(&four(processes)));
}

/// Callers that move amounts between rows keep their sum, and each get sees it whole.
pub fn transfers_keep_the_sum(processes: &dyn Processes) {
    races::transfers_keep_the_sum(Handles(&four(processes)));
}

/// The rows of one get are those of one instant: a commit of another handle is in all of them or in none.
pub fn readers_never_see_half_a_commit(processes: &dyn Processes) {
    races::readers_never_see_half_a_commit(Handles(&four(processes)));
}

fn four(processes: &dyn Processes) -> [Subject<'_>; 4] {
    Subject::several(processes)
}
