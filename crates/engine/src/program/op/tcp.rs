//! Bytes over TCP.

use std::fmt::{Formatter, Result};

use squall_plan::model::{ByteForm, KeepOpen};
use squall_plan::template::BoundTemplate;
use squall_wire::BytesEnd;

use super::operation::{Legend, Operation};
use crate::program::call::ViaOp;
use crate::program::limits::{Limits, TimeoutsOp};
use crate::program::ops::{PostOp, RowOp};

/// Bytes to send over TCP.
#[derive(Debug)]
pub(crate) struct TcpOp {
    pub row: RowOp,
    pub to: TcpTo,
    pub via: Option<Box<ViaOp>>,
    pub send: BoundTemplate,
    /// How texts stand for bytes.
    pub form: ByteForm,
    pub end: BytesEnd,
    /// Whether what comes also ends where the server closes.
    pub or_close: bool,
    pub connection: KeepOpen,
    /// Whether its close is a reset.
    pub reset: bool,
    pub limits: Limits,
    /// Its limits of time, where the user's variables decide them.
    pub timeouts: Option<Box<TimeoutsOp>>,
    /// What is done with what comes, in the plan's order.
    pub post: Vec<PostOp>,
}

/// Where bytes go.
#[derive(Debug)]
pub(crate) enum TcpTo {
    Known(u32),
    /// To where the user's variables say, if that is allowed.
    OfUser(BoundTemplate),
}

impl Operation for TcpOp {
    fn print(&self, f: &mut Formatter<'_>, names: &dyn Legend) -> Result {
        match &self.to {
            TcpTo::Known(origin) => write!(f, "{}", names.origin(*origin)),
            TcpTo::OfUser(_) => f.write_str("tcp, where the user's variables say"),
        }
    }

    fn is_name_known(&self) -> bool {
        self.row.name.known().is_some()
    }
}
