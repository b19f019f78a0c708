//! A virtual user: plain data. While it waits it is nothing else; while it does something, a task
//! of its worker owns it.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use squall_load::random::Random;
use squall_measure::UserState as State;
use squall_plan::value::{Value, ValueRef};
use squall_wire::Connection;

use crate::parts::auth::DigestState;
use crate::parts::cookies::Jar;
use crate::parts::data::Row;
use crate::program::{Pc, Program};
use crate::worker::flow::Speeds;

/// A virtual user.
pub(crate) struct User {
    /// Its number, from 0, over all workers: everything random and every share follows from it.
    pub number: u64,
    /// The load that it belongs to.
    pub unit: u16,
    pub scenario: u16,
    /// The next operation.
    pub pc: Pc,
    /// What it does, for the ledger; `None`: it belongs to an open load, which has none.
    pub state: Option<State>,
    /// Whether an iteration has begun and is not over.
    pub in_iteration: bool,
    /// It ends at the next step.
    pub stopped: bool,
    /// Iterations begun before this one.
    pub iteration: u64,
    /// Chance of this iteration: it follows from the seed, the scenario, the user, the iteration.
    pub random: Cell<Random>,
    /// When the current iteration, or the request after a wait, was due, on the run's clock.
    pub due: u64,
    /// Whether it comes from a wait or is an arrival: the next request then has a moment at which it
    /// was due.
    pub waited: bool,
    /// When the current iteration was due to start; the next one follows by the pace.
    pub paced: u64,
    /// Variables that steps set; empty until the first one is, and then as long as the program's.
    variables: Vec<Value>,
    /// Loop counters, limits and turns; empty until the first loop.
    registers: Vec<u64>,
    /// The row of each feed of the scenario in this iteration.
    pub rows: Vec<Option<Arc<Row>>>,
    /// How many rows it took of each feed that it does not share.
    pub taken: Vec<u64>,
    /// Groups that it is in: name, when it came in, whether a request in it failed.
    pub groups: Vec<(u32, u64, bool)>,
    pub jar: Jar,
    pub digest: Option<Box<DigestState>>,
    /// Connections of its own, by origin.
    pub connections: Vec<(u32, Connection)>,
    /// How fast its bytes may come and go, from its first request on, if there is a limit.
    pub speeds: Option<Rc<Speeds>>,
}

impl User {
    pub(crate) fn new(number: u64, unit: usize, scenario: usize) -> Self {
        User {
            number,
            unit: unit as u16,
            scenario: scenario as u16,
            pc: 0,
            state: None,
            in_iteration: false,
            stopped: false,
            iteration: 0,
            random: Cell::new(Random::new(0)),
            due: 0,
            waited: false,
            paced: 0,
            variables: Vec::new(),
            registers: Vec::new(),
            rows: Vec::new(),
            taken: Vec::new(),
            groups: Vec::new(),
            jar: Jar::default(),
            digest: None,
            connections: Vec::new(),
            speeds: None,
        }
    }

    /// A random number of this iteration.
    pub(crate) fn chance(&self) -> u64 {
        let mut random = self.random.get();
        let number = random.next_u64();
        self.random.set(random);
        number
    }

    /// A variable's value; what the plan gives it until a step sets it.
    pub(crate) fn variable<'a>(&'a self, program: &'a Program, index: usize) -> &'a Value {
        self.variables.get(index).unwrap_or(&program.initial[index])
    }

    pub(crate) fn set_variable(&mut self, program: &Program, index: usize, value: Value) {
        if self.variables.is_empty() {
            self.variables = program.initial.to_vec();
        }
        self.variables[index] = value;
    }

    pub(crate) fn register(&mut self, program: &Program, index: u16) -> &mut u64 {
        if self.registers.is_empty() {
            self.registers = vec![0; program.scenarios[self.scenario as usize].registers];
        }
        &mut self.registers[index as usize]
    }

    /// A cell of the row that this iteration has of a feed.
    pub(crate) fn cell(&self, feed: usize, column: usize) -> ValueRef<'_> {
        match self.rows.get(feed) {
            Some(Some(row)) => row.cell(column),
            _ => ValueRef::Null,
        }
    }
}
