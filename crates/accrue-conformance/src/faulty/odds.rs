use super::Fault;
use crate::split_mix::SplitMix;

/// How often each fault comes by chance, in a thousand calls. Together at most a thousand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Odds {
    /// [`Fault::Refused`].
    pub refused: u16,
    /// [`Fault::Lost`].
    pub lost: u16,
    /// [`Fault::Dropped`].
    pub dropped: u16,
    /// [`Fault::Corrupt`].
    pub corrupt: u16,
}

impl Odds {
    /// Nothing fails.
    pub const NONE: Self = Self { refused: 0, lost: 0, dropped: 0, corrupt: 0 };

    pub(super) fn draw(self, random: &mut SplitMix) -> Option<Fault> {
        let mut drawn = random.below(1_000);
        let faults = [
            (self.refused, Fault::Refused),
            (self.lost, Fault::Lost),
            (self.dropped, Fault::Dropped),
            (self.corrupt, Fault::Corrupt),
        ];
        for (permille, fault) in faults {
            match drawn.checked_sub(usize::from(permille)) {
                Some(left) => drawn = left,
                None => return Some(fault),
            }
        }
        None
    }
}
