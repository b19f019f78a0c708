//! Versions of HTML, as sets: each element and attribute narrows what a page can be.

pub(super) const HTML20: u16 = 1;
pub(super) const HTML32: u16 = 2;
pub(super) const STRICT: u16 = 4;
pub(super) const HTML40_LOOSE: u16 = 8;
pub(super) const FRAMESET: u16 = 16;
/// What XML has of its own.
pub(super) const XML: u16 = 32;
pub(super) const NETSCAPE: u16 = 64;
pub(super) const MICROSOFT: u16 = 128;
pub(super) const SUN: u16 = 256;
pub(super) const XHTML11: u16 = 1024;

pub(super) const PROPRIETARY: u16 = NETSCAPE | MICROSOFT | SUN;
pub(super) const HTML40: u16 = STRICT | HTML40_LOOSE | FRAMESET;
pub(super) const LOOSE: u16 = HTML32 | HTML40_LOOSE | FRAMESET;
pub(super) const IFRAME: u16 = HTML40_LOOSE | FRAMESET;
pub(super) const FROM32: u16 = STRICT | LOOSE;
pub(super) const EVENTS: u16 = HTML40 | XHTML11;
pub(super) const ALL: u16 = HTML20 | HTML32 | HTML40 | XHTML11;
