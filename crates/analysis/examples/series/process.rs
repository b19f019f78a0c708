//! Synthetic series of responses whose true mean and percentiles are known. Pure: everything follows from
//! a seed.

use squall_base::random::Random;

/// Chance, with seeds far apart in its one long cycle.
#[derive(Debug, Clone)]
pub struct Chance(Random);

impl Chance {
    /// Chance that is the same for the same seed.
    pub fn new(seed: u64) -> Chance {
        Chance(Random::new(seed.wrapping_add(1).wrapping_mul(0xD134_2543_DE82_EF95)))
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0.uniform()
    }

    pub fn exponential(&mut self, mean: f64) -> f64 {
        self.0.exponential(mean)
    }

    /// Normal, with mean 0 and deviation 1.
    pub fn normal(&mut self) -> f64 {
        self.0.normal(0.0, 1.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Process {
    /// M/M/1: Poisson arrivals at `rate` a second, one server that is busy for a share `load` of the time.
    Queue {
        /// Share of the time in which the server is busy.
        load: f64,
        rate: f64,
    },
    /// 100 responses a second: 20 ms, and a Gaussian process of 4 ms deviation on top whose correlation
    /// decays to 1/e in so many seconds (AR(1), as it looks at even distances).
    Memory {
        /// Seconds in which the correlation decays to 1/e.
        seconds: f64,
    },
    /// Independent, exponential with a mean of 5 ms; 200 a second, like all that follow.
    Exponential,
    /// Independent: 0.9 to 1.1 ms, and of every eighth 10 to 11 ms.
    Bimodal,
    /// Independent: the logarithm is normal with a deviation of 1 about a median of 5 ms.
    Lognormal,
    /// Exponential with a mean of 2 ms; every 0.5 to 1.5 s everything stops for 50 ms.
    Pauses,
}

/// How a run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// In the state in which it would be after an endless time.
    Stationary,
    /// As real runs do: with nobody in the queue, or with no deviation.
    Empty,
}

/// A response: when it ended, in seconds, and its latency, in µs.
pub type Response = (f64, f64);

const EVEN_RATE: f64 = 200.0;
const MEMORY_RATE: f64 = 100.0;
const MEMORY_MEAN_US: f64 = 20_000.0;
const MEMORY_DEVIATION_US: f64 = 4_000.0;
/// Share of the slower latencies of the bimodal series.
const SECOND_MODE: f64 = 0.125;
const PAUSE_US: f64 = 50_000.0;
/// Mean time from the end of a pause to the next.
const GAP_US: f64 = 1_000_000.0;
const PAUSED_MEAN_US: f64 = 2_000.0;

impl Process {
    /// The responses of so many seconds, in the order in which they began.
    pub fn responses(self, seconds: f64, start: Start, seed: u64) -> Vec<Response> {
        let mut chance = Chance::new(seed);
        match self {
            Process::Queue { load, rate } => {
                let slower = |_| 1.0;
                queue(load, rate, seconds, start, slower, &mut chance)
            }
            Process::Memory { seconds: memory } => {
                self::memory(memory, seconds, start, &mut chance)
            }
            Process::Exponential => even(seconds, || chance.exponential(5_000.0)),
            Process::Bimodal => even(seconds, || match chance.uniform() < SECOND_MODE {
                true => 10_000.0 + 1_000.0 * chance.uniform(),
                false => 900.0 + 200.0 * chance.uniform(),
            }),
            Process::Lognormal => even(seconds, || 5_000.0 * chance.normal().exp()),
            Process::Pauses => pauses(seconds, &mut chance),
        }
    }

    /// Whether it makes a difference how it begins.
    pub fn has_state(self) -> bool {
        matches!(self, Process::Queue { .. } | Process::Memory { .. })
    }

    /// The true mean, in µs.
    pub fn mean(self) -> f64 {
        match self {
            Process::Queue { load, rate } => 1e6 / (rate / load - rate),
            Process::Memory { .. } => MEMORY_MEAN_US,
            Process::Exponential => 5_000.0,
            Process::Bimodal => (1.0 - SECOND_MODE) * 1_000.0 + SECOND_MODE * 10_500.0,
            Process::Lognormal => 5_000.0 * 0.5f64.exp(),
            Process::Pauses => PAUSED_MEAN_US + paused() * PAUSE_US / 2.0,
        }
    }

    /// A true percentile, in µs.
    pub fn percentile(self, p: f64) -> f64 {
        let above = 1.0 - p / 100.0;
        let (mut low, mut high) = (0.0, 1e9);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if self.above(middle) > above { low = middle } else { high = middle }
        }
        low
    }

    /// The share of latencies above a value, in µs.
    fn above(self, value: f64) -> f64 {
        match self {
            Process::Queue { .. } => (-value / self.mean()).exp(),
            Process::Memory { .. } => normal_above((value - MEMORY_MEAN_US) / MEMORY_DEVIATION_US),
            Process::Exponential => (-value / 5_000.0).exp(),
            Process::Bimodal => {
                let uniform = |low: f64, width: f64| 1.0 - ((value - low) / width).clamp(0.0, 1.0);
                (1.0 - SECOND_MODE) * uniform(900.0, 200.0)
                    + SECOND_MODE * uniform(10_000.0, 1_000.0)
            }
            Process::Lognormal => normal_above((value / 5_000.0).ln()),
            Process::Pauses => {
                let (b, pause) = (PAUSED_MEAN_US, PAUSE_US);
                let alone = (-value / b).exp();
                // The rest of the pause is uniform, and the response comes that much later.
                let after = match value < pause {
                    true => (pause - value) / pause + b / pause * (1.0 - alone),
                    false => b / pause * (alone * (pause / b).exp() - alone),
                };
                (1.0 - paused()) * alone + paused() * after
            }
        }
    }
}

/// The share of the time that is paused.
fn paused() -> f64 {
    PAUSE_US / (PAUSE_US + GAP_US)
}

/// The share of a standard normal distribution above a value, by Simpson's rule.
fn normal_above(value: f64) -> f64 {
    let density = |x: f64| (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let (steps, end) = (400, value.abs().min(8.0));
    let width = end / f64::from(steps);
    let sum: f64 = (0..=steps)
        .map(|at| {
            let weight = if at == 0 || at == steps {
                1.0
            } else if at % 2 == 1 {
                4.0
            } else {
                2.0
            };
            weight * density(f64::from(at) * width)
        })
        .sum();
    let to_middle = sum * width / 3.0;
    if value >= 0.0 { 0.5 - to_middle } else { 0.5 + to_middle }
}

/// M/M/1 (first come, first served), whose server is slower by a factor of the time, in seconds.
pub fn queue(
    load: f64,
    rate: f64,
    seconds: f64,
    start: Start,
    slower: impl Fn(f64) -> f64,
    chance: &mut Chance,
) -> Vec<Response> {
    let service = 1e6 * load / rate;
    // What is waiting for the server at the beginning: nothing, or as much as an arrival has to wait for.
    let mut free = match start {
        Start::Stationary if chance.uniform() < load => chance.exponential(service / (1.0 - load)),
        _ => 0.0,
    };
    let (mut now, mut responses) = (0.0, Vec::new());
    loop {
        now += chance.exponential(1e6 / rate);
        free = f64::max(free, now) + chance.exponential(service) * slower(now / 1e6);
        if now >= seconds * 1e6 {
            return responses;
        }
        responses.push((free / 1e6, free - now));
    }
}

/// Responses at an even rate, independent of each other.
fn even(seconds: f64, mut latency: impl FnMut() -> f64) -> Vec<Response> {
    (0..(seconds * EVEN_RATE) as u64).map(|at| (at as f64 / EVEN_RATE, latency())).collect()
}

fn memory(memory: f64, seconds: f64, start: Start, chance: &mut Chance) -> Vec<Response> {
    let kept = (-1.0 / (memory * MEMORY_RATE)).exp();
    let mut state = if start == Start::Stationary { chance.normal() } else { 0.0 };
    (0..(seconds * MEMORY_RATE) as u64)
        .map(|at| {
            state = kept * state + (1.0 - kept * kept).sqrt() * chance.normal();
            (at as f64 / MEMORY_RATE, MEMORY_MEAN_US + MEMORY_DEVIATION_US * state)
        })
        .collect()
}

fn pauses(seconds: f64, chance: &mut Chance) -> Vec<Response> {
    let gap = |chance: &mut Chance| GAP_US * (0.5 + chance.uniform());
    // The run begins somewhere: in a pause, or in a gap, a long one being more likely than a short one.
    let mut next = loop {
        let gap = gap(chance);
        if chance.uniform() < paused() {
            break -PAUSE_US * chance.uniform();
        }
        if chance.uniform() * 1.5 * GAP_US < gap {
            break gap * chance.uniform();
        }
    };
    let count = (seconds * EVEN_RATE) as u64;
    let mut responses = Vec::with_capacity(count as usize);
    for at in 0..count {
        let now = at as f64 / EVEN_RATE * 1e6;
        while now >= next + PAUSE_US {
            next += PAUSE_US + gap(chance);
        }
        let wait = if now >= next { next + PAUSE_US - now } else { 0.0 };
        responses.push((now / 1e6, wait + chance.exponential(PAUSED_MEAN_US)));
    }
    responses
}
