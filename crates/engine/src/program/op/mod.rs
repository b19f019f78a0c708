//! The operations of a program: plain data, and how each is printed. Each kind is a row of one table, from which follow
//! the enum ([`Op`]) and the one match that reaches what each kind of operation does ([`on_op`]).

mod branches;
mod cookie;
mod counted;
mod data;
mod exec;
mod group;
mod log;
mod look;
mod loops;
mod metric;
mod operation;
mod request;
mod section;
mod stop;
mod tcp;
mod waits;
mod write;

use squall_plan::model::StopScope;

pub(crate) use self::branches::*;
pub(crate) use self::cookie::*;
pub(crate) use self::data::*;
pub(crate) use self::exec::*;
pub(crate) use self::group::*;
pub(crate) use self::log::*;
pub(crate) use self::look::*;
pub(crate) use self::loops::*;
pub(crate) use self::metric::*;
pub(crate) use self::operation::{Legend, Operation, Pc, Register};
pub(crate) use self::section::*;
pub(crate) use self::tcp::*;
pub(crate) use self::waits::*;
pub(crate) use self::write::*;
use super::samples::RequestOp;

macro_rules! ops {
    (($d:tt) $($kind:ident($own:ty),)+) => {
        /// One operation. A user is a program counter over these.
        #[derive(Debug)]
        pub(crate) enum Op {
            $($kind($own),)+
        }

        /// Does the same with an operation of whatever kind, which each kind has in a trait.
        macro_rules! on_op {
            ($d op:expr, $d own:ident => $d does:expr) => {
                match $d op {
                    $($crate::program::op::Op::$kind($d own) => $d does,)+
                }
            };
        }
    };
}

ops! { ($)
    Request(Box<RequestOp>),
    Exec(Box<ExecOp>),
    Tcp(Box<TcpOp>),
    Look(Box<LookOp>),
    Write(Box<WriteOp>),
    Think(ThinkOp),
    Pace(Box<PaceOp>),
    Rendezvous(Box<RendezvousOp>),
    EnterSection(Box<EnterSectionOp>),
    LeaveSection(LeaveSectionOp),
    Enter(EnterOp),
    Leave(LeaveOp),
    Set(SetOp),
    Repeat(RepeatOp),
    Pass(PassOp),
    Each(EachOp),
    Element(ElementOp),
    Unless(UnlessOp),
    Jump(JumpOp),
    Choose(ChooseOp),
    RoundRobin(RoundRobinOp),
    OncePerUser(OncePerUserOp),
    Passes(Box<PassesOp>),
    Shuffle(ShuffleOp),
    Shuffled(ShuffledOp),
    Parallel(Box<ParallelOp>),
    NextRow(NextRowOp),
    ClearCookies(ClearCookiesOp),
    ClearCache(ClearCacheOp),
    SetCookie(Box<CookieOp>),
    Log(LogOp),
    Stop(StopScope),
    Metric(Box<MetricOp>),
}

pub(crate) use on_op;
