//! The operations of a program: plain data, and how each is printed. Each is a row of one table ([`table`]).

mod branches;
mod cookie;
mod counted;
mod data;
mod group;
mod log;
mod look;
mod loops;
mod metric;
mod operation;
mod request;
mod section;
mod stop;
mod table;
mod waits;
mod write;

pub(crate) use self::branches::{
    Branch, ChooseOp, OncePerUserOp, ParallelOp, PassCount, PassPart, PassesOp, RoundRobinOp,
    ShuffleOp, ShuffledOp,
};
pub(crate) use self::cookie::{CookieOp, CookiePlace};
pub(crate) use self::data::{ClearCacheOp, ClearCookiesOp, NextRowOp, SetOp};
pub(crate) use self::group::{EnterOp, GroupName, LeaveOp};
pub(crate) use self::log::LogOp;
pub(crate) use self::look::LookOp;
pub(crate) use self::loops::{EachOp, ElementOp, JumpOp, PassOp, RepeatOp, UnlessOp};
pub(crate) use self::metric::MetricOp;
pub(crate) use self::operation::{Legend, Operation, Pc, Register};
pub(crate) use self::section::{EnterSectionOp, LeaveSectionOp};
pub(crate) use self::table::{Op, on_op};
pub(crate) use self::waits::{ExactOp, PaceClock, PaceOp, RendezvousOp, ThinkOp};
pub(crate) use self::write::WriteOp;
