use std::time::Duration;

/// The latencies of many requests, each of them kept: percentiles are exact.
#[derive(Clone, Debug, Default)]
pub struct Latencies(Vec<Duration>);

impl Latencies {
    /// Adds one.
    pub fn add(&mut self, latency: Duration) {
        self.0.push(latency);
    }

    /// Adds all of another client.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Returns how many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the smallest latency that so many of a thousand do not exceed: of 1,000, the largest.
    #[must_use]
    pub fn percentiles<const N: usize>(&self, shares: [usize; N]) -> [Duration; N] {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        shares.map(|share| {
            let rank = (sorted.len() * share).div_ceil(1_000).max(1) - 1;
            sorted.get(rank).copied().unwrap_or_default()
        })
    }
}

/// Returns times in milliseconds, with a tenth.
#[must_use]
pub fn milliseconds<const N: usize>(times: [Duration; N]) -> [String; N] {
    times.map(|time| format!("{}.{}", time.as_millis(), time.as_micros() / 100 % 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(count: u64, expect: [u64; 4]) {
        let mut latencies = Latencies::default();
        (1..=count).rev().for_each(|nth| latencies.add(Duration::from_millis(nth)));
        assert_eq!(
            latencies.percentiles([500, 900, 990, 1_000]),
            expect.map(Duration::from_millis)
        );
    }

    #[test]
    fn percentiles_are_ranks() {
        check(0, [0, 0, 0, 0]);
        check(1, [1, 1, 1, 1]);
        check(10, [5, 9, 10, 10]);
        check(200, [100, 180, 198, 200]);
    }
}
