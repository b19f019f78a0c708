//! What changes a user's variables, rows, cookies and caches, laid out.

use squall_plan::model::{Cookie, Json};
use squall_plan::span::Spanned;
use squall_plan::template::Template;

use crate::program::compiler::Compiler;
use crate::program::flow::Lowering;
use crate::program::op::{
    ClearCacheOp, ClearCookiesOp, CookieOp, CookiePlace, NextRowOp, Op, SetOp,
};

pub(super) fn set<'p>(flow: &mut Lowering<'_, 'p>, values: &'p [(Spanned<String>, Json)]) {
    for (name, value) in values {
        if let Some(value) = flow.compiler.json(value) {
            let slot = flow.compiler.slot(&name.value);
            flow.push(Op::Set(SetOp { slot, value }));
        }
    }
}

pub(super) fn next_row<'p>(flow: &mut Lowering<'_, 'p>, source: &'p Spanned<String>) {
    let feed = flow.compiler.feed_of_step(source);
    flow.ops.extend(feed.map(|feed| Op::NextRow(NextRowOp(feed))));
}

pub(super) fn clear_cookies(flow: &mut Lowering<'_, '_>, jar: Option<&str>) {
    let jar = jar.map(|jar| flow.compiler.stores.jar(Some(jar)));
    flow.push(Op::ClearCookies(ClearCookiesOp(jar)));
}

pub(super) fn clear_cache(flow: &mut Lowering<'_, '_>, cache: Option<&str>) {
    let cache = cache.map(|cache| flow.compiler.stores.cache(Some(cache)));
    flow.push(Op::ClearCache(ClearCacheOp(cache)));
}

pub(super) fn set_cookie<'p>(flow: &mut Lowering<'_, 'p>, cookie: &'p Cookie) {
    let op = compiled(flow.compiler, cookie);
    flow.ops.extend(op.map(|op| Op::SetCookie(Box::new(op))));
}

/// Compiles a cookie to set; `None` after an error was noted.
fn compiled<'p>(compiler: &mut Compiler<'p>, cookie: &'p Cookie) -> Option<CookieOp> {
    let mut optional = |template: &Option<Template>| match template {
        Some(template) => compiler.template(template).map(Some),
        None => Some(None),
    };
    let (url, domain, path) =
        (optional(&cookie.url)?, optional(&cookie.domain)?, optional(&cookie.path)?);
    if url.is_none() && domain.is_none() && compiler.target.is_none() {
        if compiler.has_target() {
            return None;
        }
        let message = "this cookie is for the target's host, and the plan has no target";
        compiler.error(cookie.name.span(), message.to_owned(), "add `domain`, or `url`");
        return None;
    }
    let place = match url {
        Some(url) => CookiePlace::Url(url),
        None => CookiePlace::Domain { domain, path },
    };
    let (name, value) = (compiler.template(&cookie.name)?, compiler.template(&cookie.value)?);
    let jar = compiler.stores.jar(cookie.cookie_jar.as_deref());
    Some(CookieOp { name, value, place, secure: cookie.secure, jar })
}
