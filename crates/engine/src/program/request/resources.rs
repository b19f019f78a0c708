//! How the resources of a page are loaded.

use squall_extract::Spec;
use squall_metrics::RowKind;
use squall_plan::model::{Body, Request, ResourceHosts, Resources, ResponseBody};
use squall_plan::span::Spanned;

use super::{framing, source_of};
use crate::program::call::ContentOp;
use crate::program::compiler::Compiler;
use crate::program::ops::{FromOp, NameOp, PostOp};
use crate::program::samples::{Policy, ResourcesOp};

/// Most redirects of a resource, unless the page may follow more: as browsers have it.
const RESOURCE_REDIRECTS: u32 = 20;

impl<'p> Compiler<'p> {
    /// How the resources of a page are loaded; the outer `None` after an error was noted.
    /// `follows` says which headers go along to other origins.
    pub(super) fn resources(
        &mut self,
        request: &'p Request,
        name: &NameOp,
        follows: &dyn Fn(&str) -> bool,
    ) -> Option<Option<Box<ResourcesOp>>> {
        let resources = request.resources.as_ref().or(self.defaults.resources.as_ref());
        let Some(resources) = resources.filter(|resources| resources.load) else {
            return Some(None);
        };
        if let Some(ResponseBody::Discard | ResponseBody::Keep(_) | ResponseBody::Digest(_)) =
            request.response_body
        {
            let message = "the resources of a page are found in its body, which `response_body` does not keep";
            let hint = "leave out `response_body`, or write `resources: false`";
            self.error(request.url.span(), message.to_owned(), hint);
            return None;
        }
        let group = self.row_place(RowKind::Group);
        let file = self.resource(request, name, resources, false)?;
        let document = self.resource(request, name, resources, true)?;
        let content = self.resource_content(request, resources, follows)?;
        let mut pattern = |pattern: &Option<Spanned<String>>| match pattern {
            None => Some(None),
            Some(text) => {
                let spec = Spec::Regex { pattern: &text.value, group: Some(0) };
                match self.extractor(spec, text.span)? {
                    FromOp::Body(extractor) => Some(Some(extractor)),
                    _ => Some(None),
                }
            }
        };
        Some(Some(Box::new(ResourcesOp {
            group,
            limit: resources.limit.max(1) as usize,
            include: pattern(&resources.include)?,
            exclude: pattern(&resources.exclude)?,
            same_host: resources.hosts == ResourceHosts::Same,
            css_urls: resources.css_urls,
            cache: resources.cache,
            content,
            file,
            document,
        })))
    }

    /// What each is asked for with.
    fn resource_content(
        &mut self,
        request: &'p Request,
        resources: &Resources,
        follows: &dyn Fn(&str) -> bool,
    ) -> Option<ContentOp> {
        let (mut own, stay): (_, &dyn Fn(&str) -> bool) = match resources.headers {
            true => (self.headers(request, follows)?, follows),
            false => (Vec::new(), &|_| false),
        };
        framing::without_length(&mut own);
        let headers = self.inherited_headers(own, &Body::None, stay)?;
        let auth = self.auth(request.auth.as_ref())?;
        Some(self.content(request, headers, auth))
    }

    /// What becomes of one, whose body names others or does not.
    fn resource(
        &mut self,
        request: &'p Request,
        name: &NameOp,
        resources: &Resources,
        names_others: bool,
    ) -> Option<Policy> {
        // What looks at the page looks at these, too, as far as the plan says so.
        self.noticed = Default::default();
        let extracts = request.extract.iter().filter(|extract| extract.resources);
        let checks = request.check.iter().filter(|check| check.resources);
        let post = self.post_of(name, &source_of(request), extracts, checks)?;
        let noticed = std::mem::take(&mut self.noticed);
        let reads_body = names_others || noticed.body || post.iter().any(PostOp::reads_body);
        let mut limits = self.limits(request, reads_body)?;
        limits.0.redirects = limits.0.redirects.max(RESOURCE_REDIRECTS);
        let row = self.row(NameOp::FromUrl, RowKind::Resource, None);
        let policy = self.policy(request, row, limits, (post, noticed));
        Some(Policy { cache: resources.cache, ..policy })
    }
}
