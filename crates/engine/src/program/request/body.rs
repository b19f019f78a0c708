//! The body of a request: a text, JSON, a form, the parts of one, or a file.

use std::sync::Arc;

use squall_plan::model::{Body, FormPart, FormPartContent, Request};
use squall_plan::span::Spanned;
use squall_plan::template::{BoundTemplate, Template};

use crate::parts::replace::Markers;
use crate::program::call::{BodyOp, FileOp, HeaderOp, PartContent, PartOp};
use crate::program::compiler::Compiler;

impl<'p> Compiler<'p> {
    /// Compiles a body. `headers`: those that the request has of its own, which may name the boundary of its parts.
    pub(super) fn body(&mut self, request: &'p Request, headers: &[HeaderOp]) -> Option<BodyOp> {
        Some(match &request.body {
            Body::None => BodyOp::None,
            Body::Text(text) => BodyOp::Text(self.template(text)?),
            Body::File { path, decompress, replace } => {
                self.file_body(path, *decompress, replace)?
            }
            Body::Json(json) => BodyOp::Json(self.json(json)?),
            Body::Form(pairs) => BodyOp::Form(self.pairs(pairs)?),
            Body::Multipart(parts) => {
                let parts = parts.iter().map(|part| self.part(part)).collect::<Option<_>>()?;
                BodyOp::Multipart(parts, self.multipart_kind(request, headers)?)
            }
        })
    }

    pub(super) fn pairs(
        &mut self,
        pairs: &'p [(Template, Template)],
    ) -> Option<Vec<(BoundTemplate, BoundTemplate)>> {
        pairs
            .iter()
            .map(|(name, value)| Some((self.template(name)?, self.template(value)?)))
            .collect()
    }

    fn part(&mut self, part: &'p FormPart) -> Option<PartOp> {
        Some(PartOp {
            name: self.template(&part.name)?,
            content_type: self.optional(part.content_type.as_ref())?,
            transfer_encoding: part.transfer_encoding.as_deref().map(Box::from),
            content: match &part.content {
                FormPartContent::Text(text) => PartContent::Text(self.template(text)?),
                FormPartContent::File { path, filename } => PartContent::File {
                    file: self.file(path)?,
                    filename: self.optional(filename.as_ref())?,
                },
            },
        })
    }

    /// A file as the body. One that is changed on its way is read through once, before the run.
    fn file_body(
        &mut self,
        path: &'p Template,
        decompress: bool,
        replace: &'p [(Spanned<String>, Template)],
    ) -> Option<BodyOp> {
        let file = self.file(path)?;
        if replace.is_empty() && !decompress {
            return Some(BodyOp::File(file));
        }
        let FileOp::Known(file) = file else {
            let message = "`replace` and `decompress` need a file that is known before the run";
            let help = "it is read through once before the run, for the length of what is sent";
            self.error(path.span(), message.to_owned(), help);
            return None;
        };
        let markers = replace.iter().map(|(marker, _)| marker.value.clone()).collect();
        match Markers::scan(&file, decompress, markers) {
            Ok(markers) => {
                let values = replace.iter().map(|(_, value)| self.template(value));
                Some(BodyOp::Replaced(Arc::new(markers), values.collect::<Option<_>>()?))
            }
            Err(error) => {
                self.error(path.span(), format!("cannot read {}: {error}", file.display()), "");
                None
            }
        }
    }
}
