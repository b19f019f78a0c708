//! A TCP Sampler: bytes that are sent, and what comes back.

use squall_plan::model::{ByteForm, KeepOpen, Request, StepKind, Tcp, TcpEnd, Timeouts, UserTime};

use super::Translator;
use super::made::{HEADS, MESSAGE, SENT};
use super::request::Options;
use super::texts::{TextPiece, expression, literal, quoted};
use crate::scope::Scope;
use crate::tree::ElementId;

/// Where JMeter's own classes are.
const PACKAGE: &str = "org.apache.jmeter.protocol.tcp.sampler.";

impl Translator<'_> {
    /// A TCP Sampler, with what holds for it.
    pub(super) fn tcp(&self, id: ElementId, held: &Scope) -> Vec<StepKind> {
        let options = Options::new(self, id, held, "TCP Sampler Config");
        let mut tcp = Tcp {
            to: self.template_of(id, &self.tcp_place(&options)),
            name: Some(self.name(id)).filter(|name| !name.source().is_empty()),
            timeout: self.tcp_timeouts(&options, held),
            connection: match (
                options.flag_or("TCPSampler.reUseConnection", true),
                options.flag_or("TCPSampler.closeConnection", false),
            ) {
                (false, _) => KeepOpen::Fresh,
                (true, true) => KeepOpen::Close,
                (true, false) => KeepOpen::Keep,
            },
            // JMeter takes what came until the server closed for a response, whatever it is.
            or_close: true,
            ..Tcp::default()
        };
        self.tcp_class(id, &options, &mut tcp);
        self.tcp_text(&options, &mut tcp);
        match options.constant("TCPSampler.soLinger").unwrap_or_default().trim() {
            "" => {}
            text => match text.parse::<i64>().unwrap_or(0) {
                0 => tcp.reset = true,
                // What was sent has been answered when it is closed: there is nothing to wait for.
                seconds if seconds > 0 => {}
                seconds => self.obstacle(id, format!("the SO_LINGER {seconds}")),
            },
        }
        // What is sent is one write, which no algorithm holds back. Names and passwords only tell connections apart.
        options.pass(&[
            "TCPSampler.nodelay",
            "TCPSampler.filename",
            "ConfigTestElement.username",
            "ConfigTestElement.password",
        ]);
        options.finish();
        // A TCP Sampler has no status that could be an error.
        let mut seen = Request::default();
        seen.http.status_errors = Some(false);
        let after = self.judged(held, &mut seen);
        self.refuse_looks(id, held, &[&HEADS[..], &MESSAGE, &SENT].concat());
        let before = Self::before_facts(&seen);
        (tcp.counted, tcp.extract, tcp.check) = (seen.counted, seen.extract, seen.check);
        let step = StepKind::Tcp(Box::new(tcp));
        before.into_iter().chain([step]).chain(after).collect()
    }

    /// `host:port`. Without a host it is this machine.
    fn tcp_place(&self, options: &Options<'_>) -> Vec<TextPiece> {
        let mut host = options.pieces("TCPSampler.server");
        let port = options.pieces("TCPSampler.port");
        match literal(&host) {
            Some("") => host = vec![TextPiece::Text("127.0.0.1".to_owned())],
            Some(text) if text.contains(':') && !text.starts_with('[') => {
                host = vec![TextPiece::Text(format!("[{text}]"))];
            }
            Some(_) => {}
            None => self.any_host.set(true),
        }
        host.push(TextPiece::Text(":".to_owned()));
        match literal(&port) {
            None => {
                self.any_host.set(true);
                host.push(TextPiece::Expr(expression(&port)));
            }
            // Each sample fails there, too.
            Some(text) if text.parse::<u16>().map_or(true, |port| port == 0) => {
                let what = format!("`{text}` as a port");
                return vec![TextPiece::Expr(format!("fail({})", quoted(&what)))];
            }
            Some(text) => host.push(TextPiece::Text(text.to_owned())),
        }
        host
    }

    /// JMeter's limit of the response is one of each read: here it is one of the first byte, and one of the whole.
    fn tcp_timeouts(&self, options: &Options<'_>, held: &Scope) -> Timeouts {
        let time = |name| {
            let milliseconds = u64::try_from(options.number(name)).unwrap_or(0);
            (milliseconds > 0).then(|| super::milliseconds(milliseconds))
        };
        let connect = time("TCPSampler.ctimeout");
        let response = time("TCPSampler.timeout");
        let whole = response.map(|response| response + connect.unwrap_or(response));
        Timeouts {
            connect: connect.map(UserTime::Known),
            first_byte: response.map(UserTime::Known),
            total: whole.map(UserTime::Known),
            all: self.sample_timeout(held).map(UserTime::Known),
            ..Timeouts::default()
        }
    }

    /// What the class makes of texts and bytes, and where it sees an end.
    fn tcp_class(&self, id: ElementId, options: &Options<'_>, tcp: &mut Tcp) {
        let property = |name: &str| self.constants.property_value(name);
        let number = |name: &str, without: i64| {
            property(name).map_or(without, |text| text.trim().parse().unwrap_or(without))
        };
        let class = options.constant("TCPSampler.classname").unwrap_or_default();
        let class = match class.trim() {
            "" => property("tcp.handler").unwrap_or("TCPClientImpl").trim(),
            class => class,
        };
        // What is no number is 0 there.
        let own = options.constant("TCPSampler.EolByte").unwrap_or_default();
        let own = (!own.is_empty()).then(|| own.parse::<i64>().unwrap_or(0));
        // A byte of Java; with another number there is none.
        let last = |number: i64| match i8::try_from(number) {
            Ok(byte) => TcpEnd::Byte(u64::from(byte.cast_unsigned())),
            Err(_) => TcpEnd::Close,
        };
        match class.strip_prefix(PACKAGE).unwrap_or(class) {
            "TCPClientImpl" => {
                tcp.until = last(own.unwrap_or_else(|| number("tcp.eolByte", 1_000)));
                match property("tcp.charset").map(str::trim) {
                    None => {}
                    Some(charset) if charset.eq_ignore_ascii_case("UTF-8") => {}
                    Some(charset) => self.obstacle(id, format!("the encoding {charset}")),
                }
            }
            "BinaryTCPClientImpl" => {
                tcp.form = ByteForm::Hex;
                let without = || number("tcp.BinaryTCPClient.eomByte", 1_000);
                tcp.until = last(own.unwrap_or_else(without));
            }
            "LengthPrefixedBinaryTCPClientImpl" => {
                tcp.form = ByteForm::Hex;
                match number("tcp.binarylength.prefix.length", 2) {
                    bytes @ (2 | 4) => tcp.until = TcpEnd::LengthPrefix(bytes.unsigned_abs()),
                    bytes => self.obstacle(id, format!("a length of {bytes} bytes")),
                }
            }
            other => self.obstacle(id, format!("the class `{other}`")),
        }
        if property("tcp.status.prefix").is_some_and(|prefix| !prefix.is_empty()) {
            self.obstacle(id, "a status in the response (`tcp.status.prefix`)");
        }
    }

    fn tcp_text(&self, options: &Options<'_>, tcp: &mut Tcp) {
        let pieces = options.pieces("TCPSampler.request");
        let id = options.of("TCPSampler.request").element;
        if tcp.form == ByteForm::Hex
            && let Some(text) = literal(&pieces)
            && (text.len() % 2 != 0 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()))
        {
            self.obstacle(id, "a text to send that is not hexadecimal");
        }
        if !pieces.is_empty() {
            tcp.send = Some(self.template_of(id, &pieces));
        }
    }
}
