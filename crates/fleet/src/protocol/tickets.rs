//! The tickets that a machine has given out, and what each is for.

use std::collections::HashMap;

use super::io::Ticket;

/// What a machine has asked for and waits for: by ticket, with its purpose.
#[derive(Debug)]
pub struct Tickets<P> {
    next: u64,
    open: HashMap<Ticket, P>,
}

impl<P> Default for Tickets<P> {
    fn default() -> Self {
        Tickets { next: 0, open: HashMap::new() }
    }
}

impl<P> Tickets<P> {
    /// A ticket for something. None is given out twice.
    pub fn ticket(&mut self, purpose: P) -> Ticket {
        self.next += 1;
        let ticket = Ticket(self.next);
        self.open.insert(ticket, purpose);
        ticket
    }

    /// What a ticket was for; `None` if it is not open: it was answered before, or forgotten.
    pub fn take(&mut self, ticket: Ticket) -> Option<P> {
        self.open.remove(&ticket)
    }

    /// Forgets all but those of some purposes.
    pub fn retain(&mut self, mut keeps: impl FnMut(&P) -> bool) {
        self.open.retain(|_, purpose| keeps(purpose));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_answered_once_and_not_after_it_was_forgotten() {
        let mut tickets = Tickets::default();
        let [first, second, third] = ["a", "b", "c"].map(|purpose| tickets.ticket(purpose));
        assert_eq!((tickets.take(first), tickets.take(first)), (Some("a"), None));
        tickets.retain(|purpose| *purpose == "c");
        assert_eq!((tickets.take(second), tickets.take(third)), (None, Some("c")));
        assert!(![first, second, third].contains(&tickets.ticket("d")));
    }
}
