//! What happens in a simulated run: drawn from its seed.

use crate::protocol::messages::OnLoss;
use crate::protocol::units::{MS, Nanos, SECOND};

use super::chance::Chance;
use super::iterations::Counted;

/// How many seconds longer than the others a load of counted iterations may last.
const SPARE: u32 = 100;

/// A run, and what happens in it.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub nodes: usize,
    /// Nodes that come later, and when.
    pub joins: Vec<Nanos>,
    pub zones: bool,
    pub shards: u32,
    pub lease: Nanos,
    pub on_loss: OnLoss,
    /// Seconds of the load.
    pub length: u32,
    /// Its iterations, if they are counted: it ends when they are done.
    pub counted: Option<Counted>,
    /// Chances in a thousand that a message is lost, comes twice, is late.
    pub lost: u64,
    pub twice: u64,
    pub late: u64,
    /// That a watch is late by seconds, and that a message is forgotten.
    pub late_watch: u64,
    pub forgotten: u64,
    pub faults: Vec<(Nanos, Fault)>,
}

/// What happens at a time.
#[derive(Debug, Clone)]
pub enum Fault {
    /// A process is killed, and started again after so long, with or without its disk. 0: the controller.
    Kill {
        process: usize,
        back: Option<Nanos>,
        disk: bool,
    },
    /// A process does not reach the server (up), is not reached by it (down), for so long.
    Cut {
        process: usize,
        up: bool,
        down: bool,
        length: Nanos,
    },
    /// The server is down; it forgets what it stored in the last milliseconds.
    Down {
        length: Nanos,
        forgets: Nanos,
    },
    /// The controller gets nothing of the stream for so long.
    Stall {
        length: Nanos,
    },
    /// All messages are forgotten that were stored and sent to the controller, be it that they have not come there yet.
    Forget,
    Pause,
    GoOn,
    Stop,
    /// A step on a node asks for the end.
    AskStop {
        process: usize,
    },
    /// A node is told to leave.
    Leave {
        process: usize,
    },
}

impl Scenario {
    pub fn of(seed: u64) -> Scenario {
        let mut chance = Chance::new(seed);
        let nodes = chance.within(1, 5) as usize;
        let length = chance.within(6, 24) as u32;
        let joins = (0..chance.within(0, 4).saturating_sub(2))
            .map(|_| chance.within(1, 20) * SECOND)
            .collect();
        let is_calm = chance.of_1000(300);
        let rate = |chance: &mut Chance, most| if is_calm { 0 } else { chance.within(0, most) };
        let (lost, twice, late) =
            (rate(&mut chance, 20), rate(&mut chance, 30), rate(&mut chance, 50));
        let mut scenario = Scenario {
            nodes,
            joins,
            zones: chance.of_1000(300),
            shards: chance.within(1, 20) as u32,
            lease: chance.within(3, 6) * SECOND,
            on_loss: match chance.within(0, 9) {
                0 | 1 => OnLoss::Continue,
                2 => OnLoss::Abort,
                _ => OnLoss::Redistribute,
            },
            length,
            counted: None,
            lost,
            twice,
            late,
            late_watch: chance.within(0, 300),
            forgotten: if chance.of_1000(300) { chance.within(1, 60) } else { 0 },
            faults: Vec::new(),
        };
        for _ in 0..chance.within(0, 5) {
            let at = chance.within(0, u64::from(length + 8) * 1_000) * MS;
            let fault = scenario.fault(&mut chance);
            scenario.faults.push((at, fault));
        }
        scenario
    }

    /// The same of a load of counted iterations, which ends long before its time.
    pub fn of_iterations(seed: u64) -> Scenario {
        let mut scenario = Scenario::of(seed);
        let mut chance = Chance::new(seed ^ 0x17e2);
        let each = chance.within(1, 3 * u64::from(scenario.length));
        let users = chance.within(1, 2 * u64::from(scenario.shards));
        let total = chance.within(0, u64::from(scenario.shards * scenario.length));
        scenario.counted = Some(Counted { shards: scenario.shards, users, each, total });
        scenario.length += SPARE;
        scenario
    }

    /// What a seed is in the long row of seeds: one of three has a load of counted iterations.
    pub fn drawn(seed: u64) -> Scenario {
        if seed.is_multiple_of(3) { Scenario::of_iterations(seed) } else { Scenario::of(seed) }
    }

    fn fault(&self, chance: &mut Chance) -> Fault {
        let all = (self.nodes + self.joins.len()) as u64;
        let process = chance.within(1, all) as usize;
        let some = |chance: &mut Chance, most: u64| chance.within(100, most * 1_000) * MS;
        match chance.within(0, 19) {
            0..=3 => {
                let back = chance.of_1000(700).then(|| some(chance, 9));
                Fault::Kill { process, back, disk: chance.of_1000(700) }
            }
            4..=8 => {
                let direction = chance.within(0, 3);
                let process = if chance.of_1000(200) { 0 } else { process };
                Fault::Cut {
                    process,
                    up: direction != 1,
                    down: direction != 2,
                    length: some(chance, 14),
                }
            }
            9 | 10 => Fault::Down {
                length: some(chance, 10),
                forgets: chance.within(0, 1) * chance.within(0, 300) * MS,
            },
            11 | 12 => Fault::Kill { process: 0, back: Some(some(chance, 10)), disk: true },
            13 => Fault::Stall { length: some(chance, 18) },
            14 => Fault::Forget,
            15 => Fault::Pause,
            16 => Fault::GoOn,
            17 => Fault::Leave { process },
            18 => Fault::AskStop { process },
            _ => Fault::Stop,
        }
    }
}
