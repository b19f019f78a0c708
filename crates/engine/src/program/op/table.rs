//! The table of operations: a row for each, from which follow the enum and the one match that reaches what each kind of
//! operation does ([`on_op`]).

use squall_plan::model::StopScope;

use super::branches::{
    ChooseOp, OncePerUserOp, ParallelOp, PassesOp, RoundRobinOp, ShuffleOp, ShuffledOp,
};
use super::cookie::CookieOp;
use super::data::{ClearCacheOp, ClearCookiesOp, NextRowOp, SetOp};
use super::group::{EnterOp, LeaveOp};
use super::log::LogOp;
use super::look::LookOp;
use super::loops::{EachOp, ElementOp, JumpOp, PassOp, RepeatOp, UnlessOp};
use super::metric::MetricOp;
use super::section::{EnterSectionOp, LeaveSectionOp};
use super::waits::{PaceOp, RendezvousOp, ThinkOp};
use super::write::WriteOp;
use crate::program::samples::{ExecOp, RequestOp, TcpOp};

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
                    $($crate::program::Op::$kind($d own) => $d does,)+
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
