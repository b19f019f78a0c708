//! Copies of exchanges that nobody looks at any more: the next ones take their place in memory. They are made on threads
//! of workers and come to their end on others, where to free them would cost as much as all else that is done with them.

use std::sync::{Arc, Mutex, PoisonError};

use super::exchange::Exchange;

/// Most lots that are kept.
const MOST_LOTS: usize = 16;

/// Copies that may be written over, in lots as they were given back.
#[derive(Debug, Clone, Default)]
pub struct Spares(Arc<Mutex<Vec<Vec<Arc<Exchange>>>>>);

impl Spares {
    /// Gives copies back. Those that somebody else holds are left to them, and more than enough are freed.
    pub fn give(&self, mut lot: Vec<Arc<Exchange>>) {
        lot.retain_mut(|exchange| Arc::get_mut(exchange).is_some());
        let mut lots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lots.len() < MOST_LOTS && !lot.is_empty() {
            lots.push(lot);
        }
    }

    /// Takes a lot; an empty one where there is none.
    pub(crate) fn take(&self) -> Vec<Arc<Exchange>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_holds_is_not_written_over() {
        let spares = Spares::default();
        let (free, held) = (Arc::new(Exchange::default()), Arc::new(Exchange::default()));
        spares.give(vec![free, held.clone()]);
        let lot = spares.take();
        assert_eq!(lot.len(), 1);
        assert!(!Arc::ptr_eq(&lot[0], &held));
        assert!(spares.take().is_empty());
    }

    #[test]
    fn no_more_are_kept_than_are_needed() {
        let spares = Spares::default();
        spares.give(Vec::new());
        (0..2 * MOST_LOTS).for_each(|_| spares.give(vec![Arc::default()]));
        let kept = std::iter::from_fn(|| Some(spares.take()).filter(|lot| !lot.is_empty()));
        assert_eq!(kept.count(), MOST_LOTS);
    }
}
