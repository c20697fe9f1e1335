//! Many callers at once (store 1).

use crate::{
    Harness,
    races::{self, Handles},
    subject::Subject,
};

/// Of many that insert one row, one wins, and the row is its row.
pub fn one_of_many_inserts_wins(harness: &dyn Harness) {
    races::one_of_many_inserts_wins(Handles(&[Subject::open(harness)]));
}

/// Of many that insert one row without having read anything, one wins.
pub fn one_of_many_bare_inserts_wins(harness: &dyn Harness) {
    races::one_of_many_bare_inserts_wins(Handles(&[Subject::open(harness)]));
}

/// Of many that update one row which they all read, one wins, though they write other rows.
pub fn one_of_many_updates_wins(harness: &dyn Harness) {
    races::one_of_many_updates_wins(Handles(&[Subject::open(harness)]));
}

/// Callers that add to one row, each trying again after a conflict, lose no addition.
pub fn no_increment_is_lost(harness: &dyn Harness) {
    races::no_increment_is_lost(Handles(&[Subject::open(harness)]));
}

/// Callers that move amounts between rows keep their sum, and each get sees it whole.
pub fn transfers_keep_the_sum(harness: &dyn Harness) {
    races::transfers_keep_the_sum(Handles(&[Subject::open(harness)]));
}

/// The rows of one get are those of one instant: a commit is in all of them or in none.
pub fn readers_never_see_half_a_commit(harness: &dyn Harness) {
    races::readers_never_see_half_a_commit(Handles(&[Subject::open(harness)]));
}
