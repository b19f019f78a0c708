//! What texts look like that are more than any text, and names that are more than any name: it is told to editors (the
//! JSON Schema), and in the reference. Whoever uses such a text reads it, and says what is wrong with it; a pattern
//! here lets through all that is read.

use std::marker::PhantomData;

use serde_json::Value;

use super::form::Form;
use super::shape::{Looks, Shape};
use crate::nodes::{Node, Reader};

/// Kinds of texts.
pub(crate) trait Look: Clone {
    /// What they look like.
    const LOOKS: Looks;
}

/// The names, and what they look like.
macro_rules! looks {
    ($($(#[doc = $about:literal])+ $name:ident = $looks:expr;)*) => {
        $(
            $(#[doc = $about])+
            #[derive(Clone)]
            pub(crate) struct $name;
            impl Look for $name {
                const LOOKS: Looks = $looks;
            }
        )*
    };
}

/// A port, 0 to 65535.
macro_rules! port {
    () => {
        "0*([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
    };
}

looks! {
    /// Something that is not empty.
    NotEmpty = Looks { numbers: Some((0, u64::MAX)), ..Looks::text("text", ".") };
    /// A path on the target, or a URL with its scheme.
    RequestUrl = Looks::text("URL or path", r"^(/(?!/)|\s*[hH][tT]{2}[pP][sS]?://.|[^/]*\$\{)");
    /// `builtin`, or a URL with its scheme.
    TargetUrl = Looks::text("`builtin` or URL", r"^(builtin$|\s*[hH][tT]{2}[pP][sS]?://.|[^/]*\$\{)");
    /// The URL of a proxy.
    ProxyUrl = Looks::text("URL", r"^http://(.*@)?[^/@]+/*$|\$\{");
    /// The URL of a proxy, none, or nothing that is said.
    OwnProxy = Looks::text("URL or `none`", r"^(none)?$|^http://(.*@)?[^/@]+/*$|\$\{");
    /// A host and a port.
    Place = Looks::text("`host:port`", concat!(r"^[^/\\?#@\s]+:", port!(), r"$|\$\{"));
    /// Where Prometheus scrapes.
    Endpoint = Looks {
        numbers: Some((0, 65_535)),
        ..Looks::text("port or `host:port`", concat!("^(.+:)?", port!(), r"$|\$\{"))
    };
    /// The URL of something that takes the figures of a run.
    ReceiverUrl = Looks::text("URL", r"^https?://.|\$\{");
    /// Hosts: one, with or without a port, those below one, or all.
    HostPattern = Looks {
        numbers: Some((0, u64::MAX)),
        ..Looks::text("host, `host:port` or `*.suffix`", r"^\s*(\*|(\*\.)?[^*/\\?#@\s]+)\s*$")
    };
    /// A requirement: a metric, a comparison and a limit.
    Requirement = Looks::text("requirement", r"^\s*[^\s0-9].*([<>]=?|[!=]=)\s*\S");
    /// A name that is not `true` or `false`.
    OwnName = Looks { numbers: Some((0, u64::MAX)), ..Looks::text("text", "") };
}

/// The name of a header.
pub(crate) const HEADER_NAME: &str = r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$|\$\{";
/// Bytes, two hexadecimal digits each.
pub(crate) const HEX: &str = r"^([0-9a-fA-F]{2})*$|\$\{";

/// A form whose text looks like something.
pub(crate) struct Like<F, L>(PhantomData<(F, L)>);

impl<F: Form, L: Look> Form for Like<F, L> {
    type Value = F::Value;
    const NULL: bool = F::NULL;
    fn shape() -> Shape {
        Shape::Pattern(L::LOOKS)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<F::Value> {
        F::read(reader, node)
    }
    fn print(value: &F::Value) -> Value {
        F::print(value)
    }
    fn is_given(value: &F::Value) -> bool {
        F::is_given(value)
    }
}
