//! A step that speaks over TCP in a protocol of the plan's own.

use serde_json::{Value, json};

use super::kind::{Kind, Needs};
use crate::keys::{
    Choice, Chosen, Form, HEX, Int, IntFrom, Key, Keys, Like, Maybe, Place, Plain, Rule, Shape,
    ShortOr, Size, Templated, Union, record, words,
};
use crate::model::http_options::{Resources, Timeouts};
use crate::model::response::{Check, Checks, Extract, Extracts, variables};
use crate::model::tags::{Tagged, Tags};
use crate::nodes::{Node, Reader};
use crate::template::Template;

record! {
    /// Bytes that are sent over TCP, and those that come back. To extracts and checks what came is the `body`, and `status` is
    /// 200.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Tcp as "a tcp step" {
        /// Where to: `host:port`. It goes there directly, whatever the plan's proxy is.
        #[key(required "tcp" [Like<Templated, Place>])]
        pub to: Template,
        /// What is sent.
        #[key(default "nothing")]
        pub send: Option<Template>,
        /// How `send` and `body` stand for bytes.
        #[key(default "text")]
        pub form: ByteForm,
        /// Where what comes back ends.
        #[key([Until] default "close")]
        pub until: TcpEnd,
        /// Whether it may also end where the server closes the connection before that; otherwise the step fails as `closed_early`.
        pub or_close: bool,
        /// What becomes of the connection. Users keep theirs as `connections` says.
        #[key(default "keep")]
        pub connection: KeepOpen,
        /// Whether to close it with a reset, which discards what is not yet delivered.
        pub reset: bool,
        /// Timeouts: of the whole exchange, or of each of its phases.
        #[key([ShortOr<Timeouts>])]
        pub timeout: Timeouts,
        /// Maximum number of bytes received; more is an error.
        #[key([Maybe<Size>] default "as `defaults` says, otherwise 64MiB where something reads them")]
        pub max_body: Option<u64>,
        /// Name under which it is counted.
        #[key(default "`tcp` and where it goes")]
        pub name: Option<Template>,
        /// Tags of its row, known before the run, with those of the groups and the scenario around it.
        #[key([Tagged])]
        pub tags: Tags,
        /// Whether it counts; one that does not is left out of all rows and totals, whatever its outcome.
        #[key(default "true")]
        pub counted: Option<bool>,
        /// Values extracted from what was received, in order.
        #[key([Extracts])]
        pub extract: Vec<Extract>,
        /// Assertions about what was received, in order, after the extracts.
        #[key([Checks])]
        pub check: Vec<Check>,
    }
    rules(_this, keys) {
        keys.rule(Rule::LooksWith { key: "send", pattern: HEX, other: "form", word: "hex" });
    }
}

impl<S> Kind<S> for Tcp {
    fn writes<'s>(&'s self, into: &mut Vec<&'s str>) {
        into.extend(variables(&self.extract));
    }

    fn needs(&self, _: Option<&Resources>) -> Needs {
        Needs { exchanges: 1, connections: 1, files: 0 }
    }
}

words! {
    /// How a text stands for bytes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum ByteForm {
        /// As a text in UTF-8.
        #[default]
        Text = "text",
        /// As two hexadecimal digits for each.
        Hex = "hex",
    }
}

words! {
    /// What becomes of a connection.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum KeepOpen {
        /// One that is open is used, and stays open.
        #[default]
        Keep = "keep",
        /// One that is open is used, and then closed.
        Close = "close",
        /// A new one is made, and then closed.
        Fresh = "new",
    }
}

/// Where what comes back ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TcpEnd {
    /// Where the server closes the connection.
    #[default]
    Close,
    /// Where all that has come so far ends with this byte.
    Byte(u64),
    /// Behind so many bytes.
    Length(u64),
    /// Behind as many bytes as a number of so many bytes before them says.
    LengthPrefix(u64),
}

impl Union for TcpEnd {
    fn variants() -> Vec<TcpEnd> {
        vec![TcpEnd::Byte(0), TcpEnd::Length(0), TcpEnd::LengthPrefix(1)]
    }

    fn keys(&mut self, keys: &mut Keys<'_>) {
        match self {
            TcpEnd::Byte(byte) => {
                let about = "The value of a byte: the response ends when the last byte received so far is this one.";
                keys.key::<IntFrom<0, 255>>(byte, Key::required("byte", about));
            }
            TcpEnd::Length(length) => {
                keys.key::<Int>(length, Key::required("length", "Ends after this many bytes."));
            }
            TcpEnd::LengthPrefix(bytes) => {
                let about = "Bytes of the length, most significant first, that precedes the response; what is sent gets one too.";
                keys.key::<IntFrom<1, 8>>(bytes, Key::required("length_prefix", about));
            }
            // That is written as a word: see `Until`.
            TcpEnd::Close => {}
        }
    }
}

impl Choice for TcpEnd {
    const TITLE: &'static str = "until";
}

/// `close`, or a mapping.
pub(crate) struct Until;

impl Form for Until {
    type Value = TcpEnd;
    fn shape() -> Shape {
        let close = vec![("close", "It ends where the server closes the connection.")];
        Shape::Either(vec![Shape::Words(close), Chosen::<TcpEnd>::shape()])
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<TcpEnd> {
        if node.is_map() {
            return Chosen::<TcpEnd>::read(reader, node);
        }
        let text = reader.text(node)?;
        if text.value == "close" {
            return Some(TcpEnd::Close);
        }
        let expected = "close, {byte: 10}, {length: 4} or {length_prefix: 2}";
        let message = format!("invalid until `{}`: expected {expected}", text.value);
        reader.error(text.span, message, "");
        None
    }
    fn print(value: &TcpEnd) -> Value {
        match value {
            TcpEnd::Close => json!("close"),
            other => Chosen::<TcpEnd>::print(other),
        }
    }
}

impl Plain for TcpEnd {
    type Form = Until;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::StepKind;

    fn read(keys: &str) -> Result<Tcp, String> {
        let text = format!(
            "scenarios: {{s: {{load: {{users: 1, iterations: 1}}, steps: [{{{keys}}}]}}}}\n"
        );
        let (folder, options) = (std::path::Path::new(""), crate::vars::LoadOptions::default());
        let loaded = crate::yaml::load_str("plan", &text, folder, &options);
        let loaded = loaded.map_err(|error| format!("{:?}", error.diagnostics))?;
        match &loaded.plan.scenarios[0].steps[0].kind {
            StepKind::Tcp(tcp) => Ok((**tcp).clone()),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn ends_are_words_or_mappings() {
        assert_eq!(read("tcp: 'h:1'").map(|tcp| tcp.until), Ok(TcpEnd::Close));
        for (text, end) in [
            ("close", TcpEnd::Close),
            ("{byte: 10}", TcpEnd::Byte(10)),
            ("{byte: 0xff}", TcpEnd::Byte(255)),
            ("{length: 4}", TcpEnd::Length(4)),
            ("{length_prefix: 2}", TcpEnd::LengthPrefix(2)),
        ] {
            let tcp =
                read(&format!("tcp: 'h:1', send: x, until: {text}, connection: new, form: hex"));
            let tcp = tcp.expect(text);
            assert_eq!(
                (tcp.until, tcp.connection, tcp.form),
                (end, KeepOpen::Fresh, ByteForm::Hex)
            );
        }
        for (text, reason) in [
            ("{byte: 256}", "up to 255"),
            ("{length_prefix: 9}", "from 1 to 8"),
            ("closed", "expected close"),
        ] {
            let error = read(&format!("tcp: 'h:1', until: {text}")).expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
