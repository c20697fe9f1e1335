use super::{plan::Step, run_steps};

/// Leaves out steps as long as something is still found wrong, in at most so many runs. Returns what
/// is left, and what is wrong with it.
#[must_use]
pub fn shortened(steps: &[Step], mut runs: usize) -> (Vec<Step>, String) {
    let mut left = steps.to_vec();
    let mut violation = String::new();
    let fails = |steps: &[Step], runs: &mut usize| {
        *runs = runs.saturating_sub(1);
        run_steps(steps).err()
    };
    if let Some((at, found)) = fails(&left, &mut runs) {
        left.truncate(at + 1);
        violation = found;
    }
    let mut size = left.len().div_ceil(2);
    while size > 0 && runs > 0 {
        let (mut from, mut has_shrunk) = (0, false);
        while from < left.len() && runs > 0 {
            let mut fewer = left.clone();
            fewer.drain(from..(from + size).min(left.len()));
            match fails(&fewer, &mut runs) {
                Some((at, found)) => {
                    fewer.truncate(at + 1);
                    (left, violation, has_shrunk) = (fewer, found, true);
                }
                None => from += size,
            }
        }
        if size == 1 && !has_shrunk {
            break;
        }
        size = if size == 1 { 1 } else { size / 2 };
    }
    (left, violation)
}
