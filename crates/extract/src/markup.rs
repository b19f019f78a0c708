//! HTML and XML as one compact tree, which CSS and XPath search. Nodes are numbers in document
//! order, so that a subtree is a range and the text of an element is one slice: neither needs
//! recursion, whatever the body looks like.

mod builder;
mod chunks;
mod dialect;
mod html;
mod limits;
mod tree;
mod xml;

use std::borrow::Cow;

use crate::error::ExtractError;
pub(crate) use dialect::Dialect;
pub(crate) use tree::{DOCUMENT, Kind, NameId, NodeId, Tree, local};

/// Reads a body as markup. Bytes that are not UTF-8 become U+FFFD.
pub(crate) fn parse(body: &[u8], dialect: Dialect) -> Result<Tree, ExtractError> {
    read(body, dialect, false)
}

/// Reads a page as a browser does that runs scripts: what is in `<noscript>` is a text.
pub(crate) fn parse_scripted(body: &[u8]) -> Result<Tree, ExtractError> {
    read(body, Dialect::Html, true)
}

fn read(body: &[u8], dialect: Dialect, scripting: bool) -> Result<Tree, ExtractError> {
    if body.len() >= u32::MAX as usize / 4 {
        return Err(ExtractError::TooLarge { what: "bytes", limit: u32::MAX as usize / 4 });
    }
    let text = match std::str::from_utf8(body) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => with_replacements(body)?,
    };
    match dialect {
        Dialect::Html => html::parse(&text, scripting),
        // Many pages claim to be XHTML that are not: browsers read them as HTML, and so do we.
        Dialect::Xml => xml::parse(&text).or_else(|error| match error {
            ExtractError::NotMarkup { .. } if text.contains("<html") => {
                html::parse(&text, scripting)
            }
            error => Err(error),
        }),
    }
}

/// A body that is not UTF-8 everywhere. Each byte that is replaced takes three.
fn with_replacements(body: &[u8]) -> Result<Cow<'_, str>, ExtractError> {
    let replaced = body.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    if replaced > 1000 + body.len() / 2 {
        return Err(ExtractError::NotMarkup { reason: "most of it is not UTF-8".into() });
    }
    Ok(String::from_utf8_lossy(body))
}

#[cfg(test)]
mod tests;
