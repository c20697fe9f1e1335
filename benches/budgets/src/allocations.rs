//! Allocations, counted by the global allocator.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Allocations of all threads within some code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allocations {
    /// How many there were; one that grows or shrinks in place or elsewhere counts once more.
    pub(crate) number: u64,
    /// What was asked for; of one that grows, by how much.
    pub(crate) bytes: u64,
}

/// Runs some code, and counts what it allocates.
pub(crate) fn count<T>(run: impl FnOnce() -> T) -> (T, Allocations) {
    let region = Region::new(COUNTED);
    let answer = run();
    let change = region.change();
    let wide = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let number = wide(change.allocations + change.reallocations);
    (answer, Allocations { number, bytes: wide(change.bytes_allocated) })
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::{Allocations, count};

    /// The least of many tries: the threads of other tests allocate too.
    fn check(run: impl Fn(), number: u64, bytes: u64) {
        let tries = (0..1_000).map(|_| count(&run).1);
        let least = tries.min_by_key(|found| (found.number, found.bytes));
        assert_eq!(least, Some(Allocations { number, bytes }));
    }

    #[test]
    fn what_allocates_nothing_counts_nothing() {
        let none: fn() = || {
            black_box([0_u8; 100]);
        };
        check(none, 0, 0);
    }

    #[test]
    fn each_allocation_counts_with_its_bytes() {
        check(|| drop(black_box((Box::new([0_u8; 100]), Box::new([0_u8; 28])))), 2, 128);
    }

    #[test]
    fn growing_counts_once_more() {
        let grow = || {
            let mut bytes: Vec<u8> = Vec::with_capacity(10);
            black_box(&mut bytes).reserve_exact(50);
            drop(black_box(bytes));
        };
        check(grow, 2, 50);
    }
}
