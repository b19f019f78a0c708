//! Queues with known service times, simulated exactly: requests arrive at random, are served in their order
//! by the server that is free first (Kiefer and Wolfowitz, "On the theory of queues with many servers", 1955;
//! with one server this is Lindley's recursion), and are recorded in slices as a worker records them. Pure.

use squall_base::random::Random;
use squall_metrics::{NameId, NameKind, Sample, Slice};

/// Requests from which an edge without a formula is found.
const SIMULATED_REQUESTS: u64 = 20_000_000;

/// How long requests are served. The crate's tests need only some of them.
#[allow(dead_code)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Service {
    Exponential,
    Fixed,
    /// The logarithm has this standard deviation.
    Lognormal(f64),
    /// Two exponential phases of equal load (balanced means), with this squared coefficient of variation.
    Hyperexponential(f64),
}

/// A queue and what is required of it.
#[derive(Debug, Clone, Copy)]
pub struct Queue {
    pub name: &'static str,
    pub servers: usize,
    pub service: Service,
    /// Mean service time, in ms.
    pub mean_ms: f64,
    /// The required p99, in ms.
    pub p99_ms: f64,
}

impl Queue {
    /// A service time, in s.
    fn serve(&self, random: &mut Random) -> f64 {
        let mean = self.mean_ms / 1e3;
        match self.service {
            Service::Exponential => random.exponential(mean),
            Service::Fixed => mean,
            Service::Lognormal(sigma) => {
                mean * (sigma * random.normal(0.0, 1.0) - sigma * sigma / 2.0).exp()
            }
            Service::Hyperexponential(scv) => {
                let share = 0.5 * (1.0 + ((scv - 1.0) / (scv + 1.0)).sqrt());
                let of = if random.uniform() < share { share } else { 1.0 - share };
                random.exponential(mean / (2.0 * of))
            }
        }
    }

    /// Calls `done` with the departure, in s from the start, and the response time, in s, of each of the
    /// requests that arrive at `rate` per second from an empty start, until `done` says no.
    pub fn run(&self, rate: f64, random: &mut Random, mut done: impl FnMut(f64, f64, f64) -> bool) {
        let mut free = vec![0.0f64; self.servers];
        let mut now = 0.0;
        loop {
            now += random.exponential(1.0 / rate);
            let mut first = 0;
            for (server, at) in free.iter().enumerate() {
                if *at < free[first] {
                    first = server;
                }
            }
            let departs = free[first].max(now) + self.serve(random);
            free[first] = departs;
            if !done(now, departs, departs - now) {
                return;
            }
        }
    }

    /// The slices of a step: those of its seconds from `first` on, which is where measuring begins.
    pub fn step(&self, rate: f64, first: u32, seconds: u32, random: &mut Random) -> Vec<Slice> {
        let mut slices: Vec<Slice> = (first..seconds).map(|second| Slice::new(0, second)).collect();
        slices[0].announce(NameId(0), NameKind::Request, "queue");
        self.run(rate, random, |arrived, departs, response| {
            let second = departs as usize;
            if let Some(slice) =
                second.checked_sub(first as usize).and_then(|at| slices.get_mut(at))
            {
                slice.counters.iterations_done += 1;
                slice.record(NameId(0), &sample(response));
            }
            arrived < f64::from(seconds)
        });
        slices
    }

    /// The rate a second at which one response in a hundred takes longer than required, by bisection.
    pub fn edge(&self) -> f64 {
        let (mut low, mut high) = (0.0, self.servers as f64 / self.mean_ms * 1e3);
        while high - low > 2e-4 * high {
            let middle = (low + high) / 2.0;
            let share = match self.service {
                Service::Exponential => self.share_above(middle),
                _ => self.simulated_share_above(middle, SIMULATED_REQUESTS),
            };
            if share < 0.01 { low = middle } else { high = middle }
        }
        (low + high) / 2.0
    }

    /// The share of responses that take longer than required in M/M/c at a rate: service alone, or a wait
    /// that is exponential (Erlang's C) and then service.
    pub fn share_above(&self, rate: f64) -> f64 {
        let mu = 1.0 / self.mean_ms;
        let offered = rate / 1e3 * self.mean_ms;
        let load = offered / self.servers as f64;
        let (mut term, mut total) = (1.0, 0.0);
        for n in 0..self.servers {
            total += term;
            term *= offered / (n + 1) as f64;
        }
        let waits = term / (1.0 - load) / (total + term / (1.0 - load));
        // Where both rates are the same the formula is 0 / 0.
        let drain = self.servers as f64 * mu * (1.0 - load) * (1.0 + 1e-9);
        let (served, drained) = ((-mu * self.p99_ms).exp(), (-drain * self.p99_ms).exp());
        (1.0 - waits) * served + waits * (drain * served - mu * drained) / (drain - mu)
    }

    /// The same of any queue, over so many requests; each rate has the same random numbers.
    pub fn simulated_share_above(&self, rate: f64, requests: u64) -> f64 {
        let (mut above, mut left) = (0u64, requests);
        self.run(rate, &mut Random::new(1), |_, _, response| {
            above += u64::from(response * 1e3 > self.p99_ms);
            left -= 1;
            left > 0
        });
        above as f64 / requests as f64
    }
}

/// A complete response, which took so many seconds.
fn sample(response: f64) -> Sample {
    Sample { latency_ns: (response * 1e9).round() as u64, ..Sample::ok(0) }
}
