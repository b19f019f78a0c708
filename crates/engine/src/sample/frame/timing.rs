//! When a sample was due, begun and over, and whose doing the rest of its time was. Plain numbers: each moment is an
//! argument, in nanoseconds on the run's clock.

use squall_metrics::{PHASES, Phases};
use squall_wire::{ConnectTimes, MAY_BE_RETRANSMITTED_NS, Times};

use crate::net::bursts::Bursts;
use crate::sample::sampled::Moment;

/// Places in [`PHASES`].
const POOL: usize = phase("pool");
const DNS: usize = phase("dns");
const CONNECT: usize = phase("connect");
const TLS: usize = phase("tls");
const FIRST_BYTE: usize = phase("first_byte");
const BODY: usize = phase("body");

/// The place of a phase, by its name; one that is not there does not compile.
const fn phase(name: &str) -> usize {
    let mut at = 0;
    loop {
        let (own, wanted) = (PHASES[at].as_bytes(), name.as_bytes());
        let mut same = own.len() == wanted.len();
        let mut byte = 0;
        while same && byte < own.len() {
            same = own[byte] == wanted[byte];
            byte += 1;
        }
        if same {
            return at;
        }
        at += 1;
    }
}

/// The times of a sample.
#[derive(Debug)]
pub(super) struct Timing {
    /// When the user could go on.
    ready: u64,
    /// When its first connection was begun or its first byte sent; until then as `ready`. What lies
    /// between the two, and is not spent waiting for a pool, is the generator's own time.
    start: u64,
    begun: bool,
    /// When it should have been sent.
    due: u64,
    /// Whether it came from a wait or is an arrival: then it has a moment at which it was due.
    waited: bool,
    /// When the first of those was begun that were due at the same moment.
    burst_start: u64,
    /// From when on the deadlines of the present exchange count: squall cannot have begun it before.
    exchange_from: u64,
    /// When all of its exchanges must be over.
    until: u64,
    pub phases: Phases,
    /// From the first byte of what was sent to its last, where one write did not take it all; it is a part of the phase until the
    /// first byte of the response.
    pub sending: u64,
    end: u64,
    /// Time within it that was squall's own: connections that were there before squall saw them, and from
    /// then until it sent the request.
    own_delay: u64,
    /// Since when squall could have sent the request on a new connection; `None`: it is none, or it was used.
    connected: Option<u64>,
    /// From the arrival of the last byte until it was read, where the kernel said so.
    pub receive_delay: Option<u64>,
}

impl Timing {
    /// Of a sample that a user can begin at a moment, and that was due at another.
    pub(super) fn new(now: Moment, due: u64, waited: bool) -> Self {
        Timing {
            ready: now.ready,
            start: now.ready,
            begun: false,
            due,
            waited,
            burst_start: now.ready,
            exchange_from: now.seen,
            until: u64::MAX,
            phases: Phases::default(),
            sending: 0,
            end: 0,
            own_delay: 0,
            connected: None,
            receive_delay: None,
        }
    }

    /// All of it must be over within so many nanoseconds.
    pub(super) fn bound(&mut self, all: u64) {
        self.until = self.exchange_from.saturating_add(all);
    }

    /// What the target has to answer for begins now; only the first call counts.
    fn begin(&mut self, at: u64, bursts: &Bursts) {
        if !self.begun {
            (self.begun, self.start) = (true, at);
            if self.waited {
                self.burst_start = bursts.begin(self.due, at);
            }
        }
    }

    /// An exchange is tried once more. If the first attempt was sent, what the target may have seen of it
    /// is its to answer for: then its time begins with that one.
    pub(super) fn begin_again(&mut self, sent: bool, bursts: &Bursts) {
        self.connected = None;
        if sent {
            self.begin(self.exchange_from, bursts);
        }
    }

    /// The deadlines of a phase that begins with the exchange: its own, and that of the exchange.
    pub(super) fn deadlines(&self, phase: u64, total: u64) -> (u64, u64) {
        self.deadlines_from(self.exchange_from, phase, total)
    }

    /// The deadlines of a phase that begins now, in an exchange that began before.
    pub(super) fn deadlines_from(&self, now: u64, phase: u64, total: u64) -> (u64, u64) {
        let total = self.exchange_from.saturating_add(total).min(self.until);
        (now.saturating_add(phase), total)
    }

    /// It has waited for a connection until now, which is the plan's doing.
    pub(super) fn waited_for_pool(&mut self, now: u64) {
        self.phases.add(POOL, now.saturating_sub(self.exchange_from));
        self.exchange_from = now;
    }

    /// squall has worked on a reply for a while: what comes next begins now.
    pub(super) fn catch_up(&mut self, now: u64) {
        self.exchange_from = now;
    }

    /// A connection was made, and squall sees it now. What passed since it was begun and is in no phase
    /// was squall's own.
    pub(super) fn connected(&mut self, times: &ConnectTimes, now: u64, bursts: &Bursts) {
        self.begin(times.begin_ns, bursts);
        self.connected = Some(now);
        let mut own = now.saturating_sub(times.begin_ns);
        let parts = [(DNS, times.dns_ns), (CONNECT, times.connect_ns), (TLS, times.tls_ns)];
        for (phase, time) in parts {
            if let Some(time) = time {
                self.phases.add(phase, time);
                own = own.saturating_sub(time);
            }
        }
        self.own_delay += own;
    }

    /// A response has arrived.
    pub(super) fn received(&mut self, times: &Times, bursts: &Bursts) {
        self.begin(times.sent_ns, bursts);
        if let Some(connected) = self.connected.take() {
            self.own_delay += times.sent_ns.saturating_sub(connected);
        }
        let written = times.written_ns.map(|own| own.min(times.first_byte_ns));
        self.sending += written.map_or(0, |own| own.saturating_sub(times.sent_ns));
        self.phases.add(FIRST_BYTE, times.first_byte_ns.saturating_sub(times.sent_ns));
        self.phases.add(BODY, times.end_ns.saturating_sub(times.first_byte_ns));
        self.end = times.end_ns;
        self.receive_delay = times.delay_ns;
        self.exchange_from = times.end_ns + times.delay_ns.unwrap_or(0) + times.decompress_ns;
    }

    /// It ended now, without a response or by itself.
    pub(super) fn ended(&mut self, now: u64) {
        self.end = now;
    }

    /// Whether it took so long that a segment may have been sent again.
    pub(super) fn was_slow(&self) -> bool {
        self.end.saturating_sub(self.start) >= MAY_BE_RETRANSMITTED_NS
    }

    /// When what the target has to answer for began.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// When it was over, and when squall saw that.
    pub(super) fn end(&self) -> Moment {
        Moment { ready: self.end, seen: self.end.max(self.exchange_from) }
    }

    /// How long it took.
    pub(super) fn latency(&self) -> u64 {
        self.end.saturating_sub(self.start + self.own_delay)
    }

    /// How long it took from when it should have been sent.
    pub(super) fn corrected_latency(&self) -> u64 {
        self.end.saturating_sub(self.due)
    }

    /// How much later than due it was sent, if there is a moment at which it was. What is due at the same moment is
    /// sent one after the other: that is the plan's doing.
    pub(super) fn send_delay(&self) -> Option<u64> {
        let late = || self.burst_start.saturating_sub(self.due).saturating_sub(self.pooled());
        self.waited.then(late)
    }

    /// How much of its user's time was squall's own.
    pub(super) fn own_time(&self) -> u64 {
        self.start.saturating_sub(self.ready).saturating_sub(self.pooled()) + self.own_delay
    }

    /// How long it waited for a connection.
    fn pooled(&self) -> u64 {
        self.phases.0[POOL].unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(ready: u64, seen: u64, due: u64, waited: bool) -> Timing {
        Timing::new(Moment { ready, seen }, due, waited)
    }

    /// A response to a request that was sent at one time, with its first byte and its last at others.
    fn response(sent_ns: u64, first_byte_ns: u64, end_ns: u64) -> Times {
        Times { sent_ns, first_byte_ns, end_ns, ..Times::default() }
    }

    fn of_phase(timing: &Timing, name: &str) -> Option<u64> {
        timing.phases.0[PHASES.iter().position(|own| *own == name).expect("a phase")]
    }

    #[test]
    fn latency_begins_with_the_first_byte_that_is_sent() {
        let mut timing = timing(100, 110, 100, false);
        timing.received(&response(130, 180, 200), &Bursts::default());
        assert_eq!((timing.start(), timing.latency()), (130, 70), "not when it was ready");
        assert_eq!(timing.own_time(), 30, "what squall took to send it");
        assert_eq!(
            (of_phase(&timing, "first_byte"), of_phase(&timing, "body")),
            (Some(50), Some(20))
        );
    }

    #[test]
    fn connecting_is_part_of_the_latency_but_what_squall_did_not_see_at_once_is_not() {
        let (mut timing, bursts) = (timing(100, 100, 100, false), Bursts::default());
        let times = ConnectTimes {
            begin_ns: 105,
            dns_ns: Some(10),
            connect_ns: Some(20),
            tls_ns: Some(30),
            ..ConnectTimes::default()
        };
        timing.connected(&times, 175, &bursts);
        timing.received(&response(180, 220, 240), &bursts);
        // 10 until squall saw the connection, and 5 until it sent the request.
        assert_eq!(timing.latency(), 240 - 105 - 15);
        assert_eq!(timing.own_time(), 5 + 15);
        let phases = ["dns", "connect", "tls"].map(|name| of_phase(&timing, name));
        assert_eq!(phases, [Some(10), Some(20), Some(30)]);
    }

    #[test]
    fn a_redirect_adds_to_the_phases_and_ends_later() {
        let (mut timing, bursts) = (timing(100, 100, 100, false), Bursts::default());
        timing.received(&response(100, 110, 120), &bursts);
        timing.received(&response(125, 145, 150), &bursts);
        assert_eq!((timing.start(), timing.latency()), (100, 50));
        assert_eq!(
            (of_phase(&timing, "first_byte"), of_phase(&timing, "body")),
            (Some(30), Some(15))
        );
    }

    #[test]
    fn waiting_for_a_pool_is_neither_latency_nor_squalls_own_time() {
        let (mut timing, bursts) = (timing(100, 100, 100, true), Bursts::default());
        timing.waited_for_pool(400);
        timing.received(&response(410, 420, 430), &bursts);
        assert_eq!((timing.latency(), timing.own_time(), timing.send_delay()), (20, 10, Some(10)));
        assert_eq!(of_phase(&timing, "pool"), Some(300));
    }

    #[test]
    fn the_corrected_latency_begins_when_it_was_due() {
        let mut timing = timing(500, 500, 100, true);
        timing.received(&response(510, 520, 530), &Bursts::default());
        assert_eq!((timing.latency(), timing.corrected_latency()), (20, 430));
        assert_eq!(timing.send_delay(), Some(410));
    }

    #[test]
    fn what_follows_a_response_at_once_has_no_moment_at_which_it_was_due() {
        let mut timing = timing(100, 100, 50, false);
        timing.received(&response(110, 120, 130), &Bursts::default());
        assert_eq!(timing.send_delay(), None);
    }

    #[test]
    fn a_burst_is_as_late_as_its_first_request() {
        let bursts = Bursts::default();
        let [first, second] = [110, 190].map(|sent| {
            let mut timing = timing(100, 100, 100, true);
            timing.received(&response(sent, sent + 10, sent + 20), &bursts);
            timing.send_delay()
        });
        assert_eq!((first, second), (Some(10), Some(10)));
    }

    #[test]
    fn a_retry_begins_anew_unless_the_first_attempt_was_sent() {
        let bursts = Bursts::default();
        for (sent, start) in [(false, 150), (true, 102)] {
            let mut timing = timing(100, 102, 100, false);
            timing.begin_again(sent, &bursts);
            timing.received(&response(150, 160, 170), &bursts);
            assert_eq!(timing.start(), start, "sent: {sent}");
        }
    }

    #[test]
    fn a_retry_that_needs_no_connection_of_its_own_is_not_delayed_by_the_one_before() {
        let (mut timing, bursts) = (timing(100, 100, 100, false), Bursts::default());
        let times = ConnectTimes { begin_ns: 100, connect_ns: Some(10), ..ConnectTimes::default() };
        timing.connected(&times, 110, &bursts);
        timing.begin_again(false, &bursts);
        timing.received(&response(300, 310, 320), &bursts);
        assert_eq!(
            timing.latency(),
            220,
            "and not less by the 190 since the first connection was there"
        );
    }

    #[test]
    fn deadlines_count_from_when_squall_could_begin() {
        let mut timing = timing(100, 150, 100, false);
        assert_eq!(timing.deadlines(10, 20), (160, 170));
        assert_eq!(timing.deadlines_from(155, 10, 20), (165, 170), "a phase within the exchange");
        timing.waited_for_pool(1_000);
        assert_eq!(timing.deadlines(10, 20), (1_010, 1_020), "waiting for a pool is not its time");
        assert_eq!(timing.deadlines(u64::MAX, u64::MAX), (u64::MAX, u64::MAX), "without limits");
    }

    #[test]
    fn the_limit_of_all_exchanges_cuts_those_of_each() {
        let (mut timing, bursts) = (timing(100, 100, 100, false), Bursts::default());
        timing.bound(50);
        assert_eq!(timing.deadlines(10, 30), (110, 130));
        timing.received(&response(100, 120, 140), &bursts);
        assert_eq!(timing.deadlines(10, 30), (150, 150), "a redirect has what is left");
    }

    #[test]
    fn a_redirect_begins_when_the_response_was_read_and_decompressed() {
        let mut timing = timing(100, 100, 100, false);
        let times = Times { delay_ns: Some(7), decompress_ns: 20, ..response(100, 110, 120) };
        timing.received(&times, &Bursts::default());
        assert_eq!(timing.deadlines(0, 0), (147, 147));
        assert_eq!((timing.end().ready, timing.end().seen), (120, 147));
        assert_eq!(timing.receive_delay, Some(7));
    }

    #[test]
    fn a_sample_without_a_response_ends_when_it_is_given_up() {
        let mut timing = timing(100, 100, 100, false);
        timing.ended(900);
        assert_eq!((timing.end().ready, timing.end().seen, timing.latency()), (900, 900, 800));
    }

    #[test]
    fn only_what_took_long_is_looked_at_for_lost_segments() {
        for (length, slow) in
            [(MAY_BE_RETRANSMITTED_NS - 1, false), (MAY_BE_RETRANSMITTED_NS, true)]
        {
            let mut timing = timing(0, 0, 0, false);
            timing.received(&response(10, 10 + length, 10 + length), &Bursts::default());
            assert_eq!(timing.was_slow(), slow, "{length}");
        }
    }
}
