//! Carries out an experiment: reads its file, makes its variants, starts what they need, makes the runs one after the other,
//! and writes down what has happened, so that it can be interrupted and goes on where it was. Which run comes next, and what
//! follows from all of them, is [`squall_experiment`]'s part; what the result looks like, [`squall_report`]'s.
//!
//! An experiment is prepared first ([`prepare()`]): everything that can be wrong with its file is found before anything is
//! started. Then it is conducted ([`conduct()`]) in a [`Laboratory`]: [`LocalLaboratory`] starts programs under a supervisor, and
//! each run as a process of its own.

mod binding;
mod clock;
mod conduct;
mod counting;
mod file;
mod folder;
mod journal;
mod laboratory;
mod logs;
mod measured;
mod measures;
mod needed;
mod outlook;
mod plan;
mod plan_keys;
mod prepared;
mod programs;
mod ready;
mod result;
mod run_files;
mod variants;

pub use clock::unix_time;
pub use conduct::{
    End, Laboratory, Notice, RunFailure, RunMade, RunOrder, Stop, conduct, unmeasured,
};
pub use counting::Counting;
pub use file::ExperimentText;
pub use folder::{begin, resume};
pub use journal::{Begin, JOURNAL, Journal, State};
pub use laboratory::{LocalLaboratory, RUNS};
pub use logs::LOGS;
pub use needed::missing_programs;
pub use outlook::{check, notice, outlook};
pub use plan::{CheckPlan, PlanFacts};
pub use prepared::{Permissions, Prepared, PreparedVariant, prepare};
pub use programs::{Programs, ServerProgram};
pub use ready::{Place, ReadyCheck};
pub use result::result;
