//! The operations of a program: plain data, and how each is printed. Each kind is a row of one table, from which follow
//! the enum ([`Op`]) and the one match that reaches what each kind of operation does ([`on_op`]).

mod data;
mod exec;
mod flow;
mod group;
mod operation;
mod request;
mod script;
mod tcp;
mod waits;

pub(crate) use self::data::*;
pub(crate) use self::exec::*;
pub(crate) use self::flow::*;
pub(crate) use self::group::*;
pub(crate) use self::operation::{Legend, Operation, Pc, Register};
pub(crate) use self::request::*;
pub(crate) use self::script::*;
pub(crate) use self::tcp::*;
pub(crate) use self::waits::*;
use super::samples::RequestOp;

macro_rules! ops {
    (($d:tt) $($kind:ident($own:ty),)+) => {
        /// One operation. A user is a program counter over these.
        #[derive(Debug)]
        pub(crate) enum Op {
            $($kind($own),)+
        }

        $(impl From<$own> for Op {
            fn from(own: $own) -> Op {
                Op::$kind(own)
            }
        })+

        /// Does the same with an operation of whatever kind, which each kind has in a trait.
        macro_rules! on_op {
            ($d op:expr, $d own:ident => $d does:expr) => {
                match $d op {
                    $($crate::program::op::Op::$kind($d own) => $d does,)+
                }
            };
        }
        pub(crate) use on_op;
    };
}

ops! { ($)
    Request(Box<RequestOp>),
    Exec(Box<ExecOp>),
    Tcp(Box<TcpOp>),
    Look(Box<LookOp>),
    Script(Box<ScriptOp>),
    Flow(FlowOp),
    Group(GroupOp),
    Wait(WaitOp),
    Data(DataOp),
}
