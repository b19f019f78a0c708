//! The elements of HTML 4.01, and those of the browsers of its time: what versions of HTML have them, where they may
//! stand, and what is read in them.

use super::versions::*;

/// It has no content.
pub(super) const EMPTY: u32 = 1;
/// It is one of those that a page is made of: `html`, `head`, `body`, `frameset`.
pub(super) const HTML: u32 = 1 << 1;
/// It belongs into the head.
pub(super) const HEAD: u32 = 1 << 2;
pub(super) const BLOCK: u32 = 1 << 3;
pub(super) const INLINE: u32 = 1 << 4;
/// It is an item of a list.
pub(super) const LIST: u32 = 1 << 5;
/// It is an item of a list of definitions.
pub(super) const DEFLIST: u32 = 1 << 6;
/// It belongs into a table.
pub(super) const TABLE: u32 = 1 << 7;
/// It is a group of rows.
pub(super) const ROWGRP: u32 = 1 << 8;
/// It is a cell of a row.
pub(super) const ROW: u32 = 1 << 9;
/// It is a field of a form, or belongs into one.
pub(super) const FIELD: u32 = 1 << 10;
/// It is an object: what is open around it does not go on in it.
pub(super) const OBJECT: u32 = 1 << 11;
/// It may have parameters.
pub(super) const PARAM: u32 = 1 << 12;
/// It belongs into a frameset.
pub(super) const FRAMES: u32 = 1 << 13;
pub(super) const HEADING: u32 = 1 << 14;
/// Its end tag may be left out.
pub(super) const OPT: u32 = 1 << 15;
/// It is aligned as images are.
pub(super) const IMG: u32 = 1 << 16;
/// It is inline or a block as its place has it.
pub(super) const MIXED: u32 = 1 << 17;
/// There is another element for it.
pub(super) const OBSOLETE: u32 = 1 << 18;

/// How the content of an element is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    Html,
    Head,
    Title,
    Raw,
    Body,
    Frameset,
    NoFrames,
    Inline,
    Block,
    List,
    Definitions,
    Pre,
    Table,
    ColGroup,
    RowGroup,
    Row,
    Select,
    OptGroup,
    Field,
    Empty,
}

/// What is known of an element.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: &'static str,
    pub(super) versions: u16,
    pub(super) model: u32,
    pub(super) rule: Rule,
}

macro_rules! elements {
    ($($tag:ident $name:literal $versions:expr, $model:expr, $rule:ident;)*) => {
        /// An element that is known.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Tag {
            $($tag,)*
        }

        const ELEMENTS: &[Element] = &[
            $(Element { name: $name, versions: $versions, model: $model, rule: Rule::$rule },)*
        ];

        impl Tag {
            /// The element of a name in lower case.
            pub(super) fn of(name: &[u8]) -> Option<Tag> {
                let name = std::str::from_utf8(name).ok()?;
                match name {
                    $($name => Some(Tag::$tag),)*
                    _ => None,
                }
            }
        }
    };
}

elements! {
    Html "html" ALL, HTML | OPT, Html;
    Head "head" ALL, HTML | OPT, Head;
    Title "title" ALL, HEAD, Title;
    Base "base" ALL, HEAD | EMPTY, Empty;
    Link "link" ALL, HEAD | EMPTY, Empty;
    Meta "meta" ALL, HEAD | EMPTY, Empty;
    Style "style" HTML40, HEAD, Raw;
    Script "script" HTML40, HEAD | MIXED | BLOCK | INLINE, Raw;
    Server "server" NETSCAPE, HEAD | MIXED | BLOCK | INLINE, Raw;
    Body "body" ALL, HTML | OPT, Body;
    Frameset "frameset" FRAMESET, HTML | FRAMES, Frameset;
    P "p" ALL, BLOCK | OPT, Inline;
    H1 "h1" ALL, BLOCK | HEADING, Inline;
    H2 "h2" ALL, BLOCK | HEADING, Inline;
    H3 "h3" ALL, BLOCK | HEADING, Inline;
    H4 "h4" ALL, BLOCK | HEADING, Inline;
    H5 "h5" ALL, BLOCK | HEADING, Inline;
    H6 "h6" ALL, BLOCK | HEADING, Inline;
    Ul "ul" ALL, BLOCK, List;
    Ol "ol" ALL, BLOCK, List;
    Dl "dl" ALL, BLOCK, Definitions;
    Dir "dir" LOOSE, BLOCK | OBSOLETE, List;
    Menu "menu" LOOSE, BLOCK | OBSOLETE, List;
    Pre "pre" ALL, BLOCK, Pre;
    Listing "listing" ALL, BLOCK | OBSOLETE, Pre;
    Xmp "xmp" ALL, BLOCK | OBSOLETE, Pre;
    Plaintext "plaintext" ALL, BLOCK | OBSOLETE, Pre;
    Address "address" ALL, BLOCK, Block;
    Blockquote "blockquote" ALL, BLOCK, Block;
    Form "form" ALL, BLOCK, Block;
    Isindex "isindex" LOOSE, BLOCK | EMPTY, Empty;
    Fieldset "fieldset" HTML40, BLOCK, Block;
    Table "table" FROM32, BLOCK, Table;
    Hr "hr" ALL, BLOCK | EMPTY, Empty;
    Div "div" FROM32, BLOCK, Block;
    Multicol "multicol" NETSCAPE, BLOCK, Block;
    Nosave "nosave" NETSCAPE, BLOCK, Block;
    Layer "layer" NETSCAPE, BLOCK, Block;
    Ilayer "ilayer" NETSCAPE, INLINE, Inline;
    Nolayer "nolayer" NETSCAPE, BLOCK | INLINE | MIXED, Block;
    Align "align" NETSCAPE, BLOCK, Block;
    Center "center" LOOSE, BLOCK, Block;
    Ins "ins" HTML40, INLINE | BLOCK | MIXED, Inline;
    Del "del" HTML40, INLINE | BLOCK | MIXED, Inline;
    Li "li" ALL, LIST | OPT, Block;
    Dt "dt" ALL, DEFLIST | OPT, Inline;
    Dd "dd" ALL, DEFLIST | OPT, Block;
    Caption "caption" FROM32, TABLE, Inline;
    Colgroup "colgroup" HTML40, TABLE | OPT, ColGroup;
    Col "col" HTML40, TABLE | EMPTY, Empty;
    Thead "thead" HTML40, TABLE | ROWGRP | OPT, RowGroup;
    Tfoot "tfoot" HTML40, TABLE | ROWGRP | OPT, RowGroup;
    Tbody "tbody" HTML40, TABLE | ROWGRP | OPT, RowGroup;
    Tr "tr" FROM32, TABLE | OPT, Row;
    Td "td" FROM32, ROW | OPT, Block;
    Th "th" FROM32, ROW | OPT, Block;
    Q "q" HTML40, INLINE, Inline;
    A "a" ALL, INLINE, Inline;
    Br "br" ALL, INLINE | EMPTY, Empty;
    Img "img" ALL, INLINE | IMG | EMPTY, Empty;
    Object "object" HTML40, OBJECT | HEAD | IMG | INLINE | PARAM, Block;
    Applet "applet" LOOSE, OBJECT | IMG | INLINE | PARAM, Block;
    Servlet "servlet" SUN, OBJECT | IMG | INLINE | PARAM, Block;
    Param "param" FROM32, INLINE | EMPTY, Empty;
    Embed "embed" NETSCAPE, INLINE | IMG | EMPTY, Empty;
    Noembed "noembed" NETSCAPE, INLINE, Inline;
    Iframe "iframe" HTML40_LOOSE, INLINE, Block;
    Frame "frame" FRAMESET, FRAMES | EMPTY, Empty;
    Noframes "noframes" IFRAME, BLOCK | FRAMES, NoFrames;
    Noscript "noscript" HTML40, BLOCK | INLINE | MIXED, Block;
    B "b" ALL, INLINE, Inline;
    I "i" ALL, INLINE, Inline;
    U "u" LOOSE, INLINE, Inline;
    Tt "tt" ALL, INLINE, Inline;
    S "s" LOOSE, INLINE, Inline;
    Strike "strike" LOOSE, INLINE, Inline;
    Big "big" HTML40, INLINE, Inline;
    Small "small" HTML40, INLINE, Inline;
    Sub "sub" HTML40, INLINE, Inline;
    Sup "sup" HTML40, INLINE, Inline;
    Em "em" ALL, INLINE, Inline;
    Strong "strong" ALL, INLINE, Inline;
    Dfn "dfn" ALL, INLINE, Inline;
    Code "code" ALL, INLINE, Inline;
    Samp "samp" ALL, INLINE, Inline;
    Kbd "kbd" ALL, INLINE, Inline;
    Var "var" ALL, INLINE, Inline;
    Cite "cite" ALL, INLINE, Inline;
    Abbr "abbr" HTML40, INLINE, Inline;
    Acronym "acronym" HTML40, INLINE, Inline;
    Span "span" FROM32, INLINE, Inline;
    Blink "blink" PROPRIETARY, INLINE, Inline;
    Nobr "nobr" PROPRIETARY, INLINE, Inline;
    Wbr "wbr" PROPRIETARY, INLINE | EMPTY, Empty;
    Marquee "marquee" MICROSOFT, INLINE | OPT, Inline;
    Bgsound "bgsound" MICROSOFT, HEAD | EMPTY, Empty;
    Comment "comment" MICROSOFT, INLINE, Inline;
    Spacer "spacer" NETSCAPE, INLINE | EMPTY, Empty;
    Keygen "keygen" NETSCAPE, INLINE | EMPTY, Empty;
    Map "map" HTML40, INLINE, Block;
    Area "area" ALL, BLOCK | EMPTY, Empty;
    Input "input" ALL, INLINE | IMG | EMPTY, Empty;
    Select "select" ALL, INLINE | FIELD, Select;
    Option "option" ALL, FIELD | OPT, Field;
    Optgroup "optgroup" HTML40, FIELD | OPT, OptGroup;
    Textarea "textarea" ALL, INLINE | FIELD, Field;
    Label "label" HTML40, INLINE, Inline;
    Legend "legend" HTML40, INLINE, Inline;
    Button "button" HTML40, INLINE, Inline;
    Basefont "basefont" LOOSE, INLINE | EMPTY, Empty;
    Font "font" LOOSE, INLINE, Inline;
    Bdo "bdo" HTML40, INLINE, Inline;
    Ruby "ruby" XHTML11, INLINE, Inline;
    Rbc "rbc" XHTML11, INLINE, Inline;
    Rtc "rtc" XHTML11, INLINE, Inline;
    Rb "rb" XHTML11, INLINE, Inline;
    Rt "rt" XHTML11, INLINE, Inline;
    Rp "rp" XHTML11, INLINE, Inline;
}

impl Tag {
    pub(super) fn element(self) -> &'static Element {
        // There is one for each, in their order.
        &ELEMENTS[self as usize]
    }

    /// Whether it is of one of these kinds.
    pub(super) fn is(self, kinds: u32) -> bool {
        self.element().model & kinds != 0
    }

    /// Whether its `name` is one that links can lead to.
    pub(super) fn is_anchor(self) -> bool {
        use Tag::*;
        matches!(self, A | Applet | Form | Frame | Iframe | Img | Map)
    }
}
