//! Cookies that steps set, compiled.

use squall_plan::model::Cookie;
use squall_plan::template::Template;

use super::compiler::Compiler;
use super::ops::{CookieOp, CookiePlace};

impl<'p> Compiler<'p> {
    /// Compiles a cookie to set; `None` after an error was noted.
    pub(super) fn cookie(&mut self, cookie: &'p Cookie) -> Option<CookieOp> {
        let mut optional = |template: &Option<Template>| match template {
            Some(template) => self.template(template).map(Some),
            None => Some(None),
        };
        let (url, domain, path) =
            (optional(&cookie.url)?, optional(&cookie.domain)?, optional(&cookie.path)?);
        if url.is_none() && domain.is_none() && self.target.is_none() {
            if self.has_target() {
                return None;
            }
            let message = "this cookie is for the target's host, and the plan has no target";
            self.error(cookie.name.span(), message.to_owned(), "add `domain`, or `url`");
            return None;
        }
        let place = match url {
            Some(url) => CookiePlace::Url(url),
            None => CookiePlace::Domain { domain, path },
        };
        let (name, value) = (self.template(&cookie.name)?, self.template(&cookie.value)?);
        let jar = self.stores.jar(cookie.cookie_jar.as_deref());
        Some(CookieOp { name, value, place, secure: cookie.secure, jar })
    }
}
