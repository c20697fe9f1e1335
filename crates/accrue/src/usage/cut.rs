use super::stretch::Window;
use crate::Timeframe;

/// Timeframe cut at the windows: the whole ones, and the rest at its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Whole windows, from the first start to the last end.
    pub(crate) whole: Timeframe,
    /// Parts of windows before them and after them.
    pub(crate) partial: [Timeframe; 2],
}

impl Cut {
    pub(crate) fn of(timeframe: Timeframe) -> Self {
        let (start, end) = (timeframe.start(), timeframe.end());
        let first = Window::of(start);
        let from = if first.start() == start { start } else { first.end() };
        let until = Window::of(end).start();
        let frame = |start, end| Timeframe::new(start, end).unwrap_or(timeframe);
        if from <= until {
            Self { whole: frame(from, until), partial: [frame(start, from), frame(until, end)] }
        } else {
            // Both ends lie in one window.
            Self { whole: frame(end, end), partial: [timeframe, frame(end, end)] }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    #[test]
    fn a_timeframe_is_cut_at_the_quarters() {
        let at = |text: &str| Timestamp::parse(&format!("2026-03-01T{text}Z")).unwrap();
        let frame = |start, end| Timeframe::new(at(start), at(end)).unwrap();
        let check = |given: Timeframe, whole: Timeframe, partial: [Timeframe; 2]| {
            assert_eq!(Cut::of(given), Cut { whole, partial });
        };
        check(
            frame("10:05:00", "11:20:00"),
            frame("10:15:00", "11:15:00"),
            [frame("10:05:00", "10:15:00"), frame("11:15:00", "11:20:00")],
        );
        check(
            frame("10:00:00", "10:30:00"),
            frame("10:00:00", "10:30:00"),
            [frame("10:00:00", "10:00:00"), frame("10:30:00", "10:30:00")],
        );
        check(
            frame("10:01:00", "10:07:00"),
            frame("10:07:00", "10:07:00"),
            [frame("10:01:00", "10:07:00"), frame("10:07:00", "10:07:00")],
        );
        check(
            frame("10:01:00", "10:16:00"),
            frame("10:15:00", "10:15:00"),
            [frame("10:01:00", "10:15:00"), frame("10:15:00", "10:16:00")],
        );
    }
}
