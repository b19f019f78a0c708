//! The attributes of HTML 4.01, and those of the browsers of its time: what versions of HTML have them, and what
//! values they take.

use super::versions::*;

/// What an attribute takes for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    Any,
    Align,
    Color,
    Id,
    Lang,
    Length,
    /// In XHTML, lower case.
    Lower,
    Name,
    Number,
    OneOf(&'static [&'static str]),
    Script,
    Target,
    Url,
    VAlign,
}

/// What is known of an attribute.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attribute {
    pub(super) versions: u16,
    pub(super) values: Values,
}

const CLEARS: &[&str] = &["none", "left", "right", "all"];
const DIRECTIONS: &[&str] = &["rtl", "ltr"];
const METHODS: &[&str] = &["get", "post"];
const SCOPES: &[&str] = &["row", "rowgroup", "col", "colgroup"];
const SCROLLS: &[&str] = &["no", "yes", "auto"];
const SHAPES: &[&str] = &["rect", "default", "circle", "poly"];
const VALUE_TYPES: &[&str] = &["data", "object", "ref"];

/// The attribute of a name in lower case.
#[rustfmt::skip]
pub(super) fn attribute(name: &str) -> Option<Attribute> {
    use Values::*;
    let (versions, values) = match name {
        "abbr" | "accept-charset" | "accesskey" | "archive" | "axis" | "char" | "charset"
        | "class" | "codetype" | "datetime" | "for" | "frame" | "headers" | "label" | "media"
        | "rules" | "scheme" | "standby" | "style" | "summary" | "title" => (HTML40, Any),
        "accept" | "alt" | "content" | "enctype" | "http-equiv" | "rel" | "rev" | "value"
        | "version" | "xmlns" => (ALL, Any),
        "action" | "href" | "src" => (ALL, Url),
        "add_date" | "last_modified" | "last_visit" | "wrap" => (NETSCAPE, Any),
        "align" => (ALL, Align),
        "alink" | "bgcolor" | "color" | "link" | "text" | "vlink" => (LOOSE, Color),
        "background" => (LOOSE, Url),
        "bgproperties" => (PROPRIETARY, Any),
        "border" | "checked" | "compact" | "ismap" | "multiple" | "selected" | "usemap" => (ALL, Lower),
        "bordercolor" => (MICROSOFT, Color),
        "bottommargin" | "datapagesize" | "leftmargin" | "rightmargin" | "topmargin" => (MICROSOFT, Number),
        "cellpadding" | "cellspacing" => (FROM32, Length),
        "charoff" => (HTML40, Length),
        "cite" | "classid" | "codebase" | "data" | "longdesc" | "profile" => (HTML40, Url),
        "clear" => (LOOSE, OneOf(CLEARS)),
        "code" | "face" | "language" | "prompt" => (LOOSE, Any),
        "cols" => (IFRAME, Any),
        "colspan" => (FROM32, Number),
        "coords" | "type" => (FROM32, Any),
        "datafld" | "dataformatas" => (MICROSOFT, Any),
        "datasrc" => (MICROSOFT, Url),
        "declare" | "defer" | "disabled" | "readonly" => (HTML40, Lower),
        "dir" => (HTML40, OneOf(DIRECTIONS)),
        "frameborder" => (FRAMESET | IFRAME, Any),
        "framespacing" | "gridx" | "gridy" => (PROPRIETARY, Number),
        "height" | "width" => (ALL, Length),
        "hreflang" | "lang" => (HTML40, Lang),
        "hspace" | "maxlength" | "rows" | "rowspan" | "start" => (ALL, Number),
        "id" => (HTML40, Id),
        "lowsrc" => (PROPRIETARY, Url),
        "marginheight" | "marginwidth" => (IFRAME, Number),
        "method" => (ALL, OneOf(METHODS)),
        "name" => (ALL, Name),
        "nohref" => (FROM32, Lower),
        "noresize" => (FRAMESET, Lower),
        "noshade" | "nowrap" => (LOOSE, Lower),
        "object" => (HTML40_LOOSE, Any),
        "onblur" | "onchange" | "onclick" | "ondblclick" | "onkeydown" | "onkeypress"
        | "onkeyup" | "onload" | "onmousedown" | "onmousemove" | "onmouseout" | "onmouseover"
        | "onmouseup" | "onsubmit" | "onreset" | "onselect" | "onunload" | "onfocus" => (EVENTS, Script),
        "onafterupdate" | "onbeforeupdate" | "onerrorupdate" | "onrowenter" | "onrowexit"
        | "onbeforeunload" | "ondatasetchanged" | "ondataavailable" | "ondatasetcomplete" => (MICROSOFT, Script),
        "scope" => (HTML40, OneOf(SCOPES)),
        "scrolling" => (IFRAME, OneOf(SCROLLS)),
        "shape" => (FROM32, OneOf(SHAPES)),
        "showgrid" | "showgridx" | "showgridy" => (PROPRIETARY, Lower),
        "size" | "vspace" => (LOOSE, Number),
        "span" | "tabindex" => (HTML40, Number),
        "target" => (HTML40, Target),
        "valign" => (FROM32, VAlign),
        "valuetype" => (HTML40, OneOf(VALUE_TYPES)),
        "xml:lang" | "xml:space" => (XML, Any),
        "rbspan" => (XHTML11, Number),
        _ => return None,
    };
    Some(Attribute { versions, values })
}

/// Whether an attribute of this name is a reference.
pub(super) fn is_url(name: &str) -> bool {
    attribute(name).is_some_and(|known| known.values == Values::Url)
}

/// Whether an attribute of this name is a script.
pub(super) fn is_script(name: &str) -> bool {
    attribute(name).is_some_and(|known| known.values == Values::Script)
}
