//! Bodies that are read while they are sent: files, and forms of several parts. A file is opened when its request is
//! begun and closed when it was sent: as many are open as requests in flight send.

use std::io;

use squall_extract::Charset;
use squall_metrics::ErrorKind;
use squall_plan::template::BoundTemplate;
use squall_wire::BodySource;

use super::failure::SampleFailure;
use crate::parts::confined_file;
use crate::parts::multipart::{Content, OpenFile, Part, Pieces};
use crate::parts::replace::Replaced;
use crate::program::call::{BodyOp, ContentOp, FileOp, MultipartKind, PartContent, PartOp};
use crate::program::render::in_charset;
use crate::scope::UserScope;
use crate::user::Core;

/// A body that is read while it is sent.
pub(super) struct Streamed {
    pub source: Box<dyn BodySource>,
    pub length: u64,
    /// The content type that follows from it.
    pub content_type: Option<String>,
}

/// The body of a request that is read while it is sent; `None`: it has none, or one in memory.
///
/// # Errors
/// A text in it cannot be rendered, or a file of it cannot be opened.
pub(super) fn stream(
    content: &ContentOp,
    user: &Core,
    scope: &UserScope<'_, '_>,
) -> Result<Option<Streamed>, SampleFailure> {
    let (pieces, content_type) = match &content.body {
        BodyOp::File(file) => (Pieces::file(open(file, scope)?), None),
        BodyOp::Replaced(markers, templates) => {
            let values = templates.iter().map(|template| text_of(template, scope));
            let values = values.collect::<Result<_, _>>()?;
            let source = Replaced::open(markers.clone(), values).map_err(unreadable)?;
            let length = source.len();
            return Ok(Some(Streamed { source: Box::new(source), length, content_type: None }));
        }
        BodyOp::Multipart(parts, MultipartKind { media, boundary }) => {
            let parts = parts.iter().map(|part| render_part(part, content.charset, scope));
            let parts = parts.collect::<Result<_, _>>()?;
            let own = || format!("squall-{:016x}", user.chance()).into();
            let boundary = boundary.clone().unwrap_or_else(own);
            (Pieces::form(parts, &boundary), Some(format!("{media}; boundary={boundary}")))
        }
        BodyOp::None | BodyOp::Text(_) | BodyOp::Json(_) | BodyOp::Form(_) => {
            return Ok(None);
        }
    };
    let length = pieces.len();
    Ok(Some(Streamed { source: Box::new(pieces), length, content_type }))
}

/// Opens a file to send. One whose name is made for each request stays below its folder.
fn open(file: &FileOp, scope: &UserScope<'_, '_>) -> Result<OpenFile, SampleFailure> {
    let named = match file {
        FileOp::Known(path) => return OpenFile::open(path).map_err(unreadable),
        FileOp::Named(named) => named,
    };
    let mut name = named.begin.as_bytes().to_vec();
    named.rest.render(scope, &mut name)?;
    let name = String::from_utf8_lossy(&name);
    let opened = confined_file::open(&named.folder, &name)
        .and_then(|file| OpenFile::of(file, &named.folder.join(&*name)));
    opened.map_err(|error| {
        let detail =
            format!("file {}: `{name}` in {}: {error}", named.source, named.folder.display());
        SampleFailure::new(ErrorKind::BodyFile, detail)
    })
}

fn unreadable(error: io::Error) -> SampleFailure {
    SampleFailure::new(ErrorKind::BodyFile, error.to_string())
}

/// The text of a template, to keep.
fn text_of(template: &BoundTemplate, scope: &UserScope<'_, '_>) -> Result<Vec<u8>, SampleFailure> {
    let mut text = Vec::new();
    template.render(scope, &mut text)?;
    Ok(text)
}

fn render_part(
    part: &PartOp,
    charset: Option<Charset>,
    scope: &UserScope<'_, '_>,
) -> Result<Part, SampleFailure> {
    let text = |template| text_of(template, scope);
    let optional = |template: &Option<BoundTemplate>| {
        let text = template.as_ref().map(|template| text_of(template, scope)).transpose()?;
        Ok::<_, SampleFailure>(text.map(|text| String::from_utf8_lossy(&text).into_owned()))
    };
    Ok(Part {
        name: String::from_utf8_lossy(&text(&part.name)?).into_owned(),
        content: match &part.content {
            PartContent::Text(value) => {
                Content::Text(in_charset(charset, &text(value)?).into_owned())
            }
            PartContent::File { file, filename } => {
                Content::File { file: open(file, scope)?, filename: optional(filename)? }
            }
        },
        content_type: optional(&part.content_type)?,
        transfer_encoding: part.transfer_encoding.clone(),
    })
}
