//! Bytes over TCP, laid out.

use squall_base::hex::unhex;
use squall_metrics::RowKind;
use squall_plan::model::{ByteForm, Tcp, TcpEnd};
use squall_plan::span::Span;
use squall_plan::template::Template;
use squall_wire::{Between, BytesEnd, Destination};

use crate::parts::{names, url};
use crate::program::compiler::Compiler;
use crate::program::flow::Lowering;
use crate::program::limits::Limits;
use crate::program::op::{TcpOp, TcpTo};
use crate::program::ops::{NameOp, PostOp};
use crate::program::request::DEFAULT_KEPT_BODY;

pub(super) fn lay<'p>(flow: &mut Lowering<'_, 'p>, tcp: &'p Tcp) {
    let around = flow.compiler.put_on(&tcp.tags);
    match flow.compiler.tcp(tcp) {
        Some(op) => flow.push(Box::new(op)),
        None => flow.compiler.keep_name(RowKind::Request, tcp.name.as_ref()),
    }
    flow.compiler.take_off(around);
}

impl<'p> Compiler<'p> {
    /// Compiles a step that sends bytes over TCP; `None` after an error was noted.
    fn tcp(&mut self, tcp: &'p Tcp) -> Option<TcpOp> {
        let to = self.tcp_to(&tcp.to)?;
        let via = self.via_of_tcp()?;
        let name = self.tcp_name(tcp, &to)?;
        let send = tcp.send.clone().unwrap_or(Template::text(""));
        let send = self.template(&send)?;
        if tcp.form == ByteForm::Hex
            && send.constant().is_some_and(|text| unhex(text.as_bytes()).is_none())
        {
            let span = tcp.send.as_ref().map_or(Span::default(), Template::span);
            let help = "write two digits for each byte, and nothing between them: 0d0a";
            self.error(span, "what is sent is not hexadecimal".to_owned(), help);
            return None;
        }
        self.noticed = Default::default();
        let otherwise = tcp.name.as_ref().map_or("tcp", Template::source);
        let post = self.post_of(&name, otherwise, &tcp.extract, &tcp.check)?;
        let noticed = std::mem::take(&mut self.noticed);
        let reads_body = noticed.body || post.iter().any(PostOp::reads_body);
        let unread = if reads_body { DEFAULT_KEPT_BODY } else { u64::MAX };
        let limits = Limits {
            max_body: tcp.max_body.or(self.defaults.http.max_body).unwrap_or(unread),
            keep: if reads_body { u64::MAX } else { 0 },
            ..Limits::NONE
        };
        let (limits, timeouts) =
            self.timed(limits, &tcp.timeout.or(&self.defaults.http.timeout))?;
        Some(TcpOp {
            row: self.row(name, RowKind::Request, tcp.counted),
            to,
            via,
            send,
            form: tcp.form,
            end: end(tcp.until),
            or_close: tcp.or_close,
            connection: tcp.connection,
            reset: tcp.reset,
            limits,
            timeouts,
            post,
        })
    }

    /// Where it goes. A place that the plan itself names is allowed; one that only setup or the load finds has to be.
    fn tcp_to(&mut self, to: &'p Template) -> Option<TcpTo> {
        let template = self.template(to)?;
        let Some(text) = template.constant() else { return Some(TcpTo::OfUser(template)) };
        let origin = match url::tcp(&text) {
            Ok(origin) => origin,
            Err(error) => {
                let message = format!("invalid place `{text}`: {error}");
                self.error(to.span(), message, "such as db.example.com:7000");
                return None;
            }
        };
        let (_, is_named) = self.said_by_plan(to);
        if !is_named && !self.hosts.allows(&origin.host, origin.port) {
            return Some(TcpTo::OfUser(template));
        }
        self.note_destination(Destination { origin: origin.clone(), between: Between::Nothing });
        Some(TcpTo::Known(self.origin(origin)))
    }

    fn tcp_name(&mut self, tcp: &'p Tcp, to: &TcpTo) -> Option<NameOp> {
        if let Some(name) = &tcp.name {
            return self.given_name(RowKind::Request, name);
        }
        let place = match to {
            TcpTo::Known(origin) => self.origins[*origin as usize].authority(),
            TcpTo::OfUser(_) => names::of_template("", tcp.to.parts()),
        };
        let name = self.secrets.mask_own(&format!("tcp {place}"));
        Some(NameOp::Static(self.name(RowKind::Request, &name)))
    }
}

/// An end as connections know it. The model bounds the numbers.
fn end(until: TcpEnd) -> BytesEnd {
    let small = |number: u64| u8::try_from(number).unwrap_or(u8::MAX);
    match until {
        TcpEnd::Close => BytesEnd::Close,
        TcpEnd::Byte(byte) => BytesEnd::Byte(small(byte)),
        TcpEnd::Length(length) => BytesEnd::Length(length),
        TcpEnd::LengthPrefix(bytes) => BytesEnd::Prefixed(small(bytes).clamp(1, 8)),
    }
}
