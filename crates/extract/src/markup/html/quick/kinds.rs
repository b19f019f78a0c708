//! The kinds of elements that the construction of a page tells apart (WHATWG HTML, 13.2.6).

/// What the rules say of an element, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name that has not been looked at as that of an element.
    Unknown,
    Html,
    Head,
    Body,
    Base,
    /// Empty elements of the head: `link`, `meta`.
    HeadVoid,
    Title,
    Noframes,
    Style,
    Noscript,
    Script,
    Template,
    Paragraph,
    /// `div` and `address`: blocks that an open list item reaches through.
    Div,
    /// Lists, which list items do not reach out of.
    List,
    Block,
    /// Blocks that end tags of other elements reach through.
    OpenBlock,
    Heading,
    Preformatted,
    Form,
    ListItem,
    Definition,
    Button,
    Anchor,
    Formatting,
    NoBreak,
    Table,
    Caption,
    ColumnGroup,
    Column,
    TableBody,
    Row,
    Cell,
    Break,
    Void,
    Rule,
    Input,
    TextArea,
    Example,
    /// Elements whose content is a text: `iframe`.
    RawText,
    Select,
    OptionGroup,
    Option,
    Svg,
    /// An element of a drawing.
    Drawing,
    /// What is left to the full algorithm.
    Unusual,
    Ordinary,
}

pub(super) const KINDS: usize = Kind::Ordinary as usize + 1;

/// End tags of other elements do not reach out of it.
pub(super) const SPECIAL: u8 = 1;
/// The bounds of what is "in scope".
pub(super) const SCOPE: u8 = 1 << 1;
/// Bounds beside those for `p`.
pub(super) const BUTTON_SCOPE: u8 = 1 << 2;
/// Bounds beside those for `li`.
pub(super) const LIST_SCOPE: u8 = 1 << 3;
pub(super) const TABLE_SCOPE: u8 = 1 << 4;
/// Its end tag may be left out.
pub(super) const IMPLIED: u8 = 1 << 5;
/// A formatting element, which goes on behind the end of what it was opened in.
pub(super) const FORMATTING: u8 = 1 << 6;
/// Formatting elements outside have no effect inside.
pub(super) const MARKER: u8 = 1 << 7;

impl Kind {
    pub(super) fn has(self, properties: u8) -> bool {
        self.properties() & properties != 0
    }

    fn properties(self) -> u8 {
        match self {
            Kind::Html | Kind::Table => SPECIAL | SCOPE | TABLE_SCOPE,
            Kind::Template => SPECIAL | SCOPE | TABLE_SCOPE | MARKER,
            Kind::Select => SPECIAL | SCOPE,
            Kind::Caption | Kind::Cell => SPECIAL | SCOPE | MARKER,
            Kind::Button => SPECIAL | BUTTON_SCOPE,
            Kind::List => SPECIAL | LIST_SCOPE,
            Kind::Paragraph | Kind::ListItem | Kind::Definition => SPECIAL | IMPLIED,
            Kind::Option | Kind::OptionGroup => IMPLIED,
            Kind::Anchor | Kind::Formatting | Kind::NoBreak => FORMATTING,
            Kind::Head
            | Kind::Body
            | Kind::Noscript
            | Kind::Div
            | Kind::Block
            | Kind::Heading
            | Kind::Preformatted
            | Kind::Form
            | Kind::ColumnGroup
            | Kind::TableBody
            | Kind::Row => SPECIAL,
            // Those whose content is read at once, or that have none, are never open.
            _ => 0,
        }
    }

    /// The kind of an element with a name in lower case.
    pub(super) fn of(name: &str) -> Kind {
        match name {
            "html" => Kind::Html,
            "head" => Kind::Head,
            "body" => Kind::Body,
            "base" => Kind::Base,
            "basefont" | "bgsound" | "link" | "meta" => Kind::HeadVoid,
            "title" => Kind::Title,
            "noframes" => Kind::Noframes,
            "style" => Kind::Style,
            "noscript" => Kind::Noscript,
            "script" => Kind::Script,
            "template" => Kind::Template,
            "p" => Kind::Paragraph,
            "div" | "address" => Kind::Div,
            "ol" | "ul" => Kind::List,
            "article" | "aside" | "blockquote" | "center" | "details" | "dir" | "dl"
            | "fieldset" | "figcaption" | "figure" | "footer" | "header" | "hgroup" | "main"
            | "menu" | "nav" | "section" | "summary" => Kind::Block,
            "dialog" | "search" => Kind::OpenBlock,
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => Kind::Heading,
            "pre" | "listing" => Kind::Preformatted,
            "form" => Kind::Form,
            "li" => Kind::ListItem,
            "dd" | "dt" => Kind::Definition,
            "button" => Kind::Button,
            "a" => Kind::Anchor,
            "b" | "big" | "code" | "em" | "font" | "i" | "s" | "small" | "strike" | "strong"
            | "tt" | "u" => Kind::Formatting,
            "nobr" => Kind::NoBreak,
            "table" => Kind::Table,
            "caption" => Kind::Caption,
            "colgroup" => Kind::ColumnGroup,
            "col" => Kind::Column,
            "tbody" | "tfoot" | "thead" => Kind::TableBody,
            "tr" => Kind::Row,
            "td" | "th" => Kind::Cell,
            "br" => Kind::Break,
            "area" | "embed" | "img" | "keygen" | "param" | "source" | "track" | "wbr" => {
                Kind::Void
            }
            "hr" => Kind::Rule,
            "input" => Kind::Input,
            "textarea" => Kind::TextArea,
            "xmp" => Kind::Example,
            "iframe" | "noembed" => Kind::RawText,
            "select" => Kind::Select,
            "optgroup" => Kind::OptionGroup,
            "option" => Kind::Option,
            "svg" => Kind::Svg,
            "applet" | "frame" | "frameset" | "image" | "marquee" | "math" | "object"
            | "plaintext" | "rb" | "rp" | "rt" | "rtc" => Kind::Unusual,
            _ => Kind::Ordinary,
        }
    }
}
