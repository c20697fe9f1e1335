use std::{borrow::Cow, ops::Deref};

use accrue::{EventName, ExternalId, PropertyName, TextError};

/// Texts that the events of a batch have in common: each is parsed once, and shared.
#[derive(Default)]
pub(super) struct Names {
    pub(super) events: Known<EventName>,
    pub(super) properties: Known<PropertyName>,
    pub(super) customers: Known<ExternalId>,
}

/// Texts of one kind that came last.
pub(super) struct Known<T>(Vec<T>);

/// How many texts are looked through: a batch with more of a kind parses some of them again.
const MOST: usize = 16;

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone + Deref<Target = str>> Known<T> {
    /// Returns a text as one of its kind; none where it is no such text.
    pub(super) fn get<'a>(
        &mut self,
        text: Cow<'a, str>,
        parse: impl FnOnce(Cow<'a, str>) -> Result<T, TextError>,
    ) -> Option<T> {
        if let Some(known) = self.0.iter().find(|known| ***known == *text) {
            return Some(known.clone());
        }
        let new = parse(text).ok()?;
        if self.0.len() == MOST {
            self.0.clear();
        }
        self.0.push(new.clone());
        Some(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_comes_again_is_shared_and_no_other_is_taken_for_it() {
        let mut known = Known::default();
        let mut get = |text: &str| known.get(text.to_owned().into(), EventName::parse);
        let first = get("call").unwrap();
        for n in 0..MOST - 1 {
            assert_eq!(get(&format!("call {n}")).unwrap().as_str(), format!("call {n}"));
        }
        let again = get("call").unwrap();
        assert!(std::ptr::eq(first.as_str(), again.as_str()));
        assert_eq!(get("one more").unwrap().as_str(), "one more");
        assert_eq!(get("call"), Some(first));
        assert_eq!(get(" "), None);
    }
}
