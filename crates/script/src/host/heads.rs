//! What requests have said, kept so that those that say the same share it: nothing is made anew, neither here nor by whoever
//! performs them. It imports nothing of the host.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::http::HttpHead;

/// Most that are kept: a script may ask for a new URL each time.
const MOST: usize = 1_000;

/// What requests have said.
#[derive(Debug, Default)]
pub(crate) struct Heads(RefCell<Known>);

#[derive(Debug, Default)]
struct Known {
    all: HashSet<Rc<HttpHead>>,
    /// Those of requests of which the script says nothing but method and URL, by their URLs.
    plain: HashMap<String, Vec<Rc<HttpHead>>>,
}

impl Heads {
    /// That of a request of which a script says only this, if one was made before.
    pub fn plain(&self, method: &str, url: &str) -> Option<Rc<HttpHead>> {
        let known = self.0.borrow();
        known.plain.get(url)?.iter().find(|own| own.method == method).cloned()
    }

    /// Keeps that of a request of which a script says only method and URL.
    pub fn keep_plain(&self, head: HttpHead) -> Rc<HttpHead> {
        let head = self.shared(head);
        self.0.borrow_mut().plain.entry(head.url.clone()).or_default().push(head.clone());
        head
    }

    /// The one that says the same and was made before, or this one from now on.
    pub fn shared(&self, head: HttpHead) -> Rc<HttpHead> {
        let mut known = self.0.borrow_mut();
        if let Some(own) = known.all.get(&head) {
            return own.clone();
        }
        if known.all.len() >= MOST {
            *known = Known::default();
        }
        let head = Rc::new(head);
        known.all.insert(head.clone());
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(url: usize) -> HttpHead {
        HttpHead { method: "GET".to_owned(), url: url.to_string(), ..HttpHead::default() }
    }

    #[test]
    fn those_that_say_the_same_are_one() {
        let heads = Heads::default();
        let first = heads.shared(head(1));
        assert!(Rc::ptr_eq(&first, &heads.shared(head(1))));
        assert!(!Rc::ptr_eq(&first, &heads.shared(head(2))));
        assert!(heads.plain("GET", "1").is_none());
        assert!(Rc::ptr_eq(&first, &heads.keep_plain(head(1))));
        assert!(heads.plain("GET", "1").is_some_and(|own| Rc::ptr_eq(&first, &own)));
        assert!(heads.plain("POST", "1").is_none());
    }

    #[test]
    fn new_ones_each_time_take_no_more_memory() {
        let heads = Heads::default();
        for url in 0..3 * MOST {
            heads.keep_plain(head(url));
        }
        let known = heads.0.borrow();
        assert!(known.all.len() <= MOST && known.plain.len() <= MOST);
    }
}
