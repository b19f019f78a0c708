//! What changes a user's variables, rows, cookies and caches, and what is written to files, laid out.

use squall_plan::model::{Cookie, Json, Write};
use squall_plan::span::Spanned;

use crate::program::compiler::Compiler;
use crate::program::flow::Lowering;
use crate::program::op::{CookieOp, CookiePlace, DataOp};

pub(super) fn set<'p>(flow: &mut Lowering<'_, 'p>, values: &'p [(Spanned<String>, Json)]) {
    for (name, value) in values {
        if let Some(value) = flow.compiler.json(value) {
            let slot = flow.compiler.slot(&name.value);
            flow.push(DataOp::Set { slot, value });
        }
    }
}

pub(super) fn set_cookie<'p>(compiler: &mut Compiler<'p>, cookie: &'p Cookie) -> Option<DataOp> {
    let url = compiler.template_if_any(&cookie.url)?;
    let domain = compiler.template_if_any(&cookie.domain)?;
    let path = compiler.template_if_any(&cookie.path)?;
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
    let op = CookieOp { name, value, place, secure: cookie.secure, jar };
    Some(DataOp::SetCookie(Box::new(op)))
}

pub(super) fn write<'p>(compiler: &mut Compiler<'p>, write: &'p Write) -> Option<DataOp> {
    let Some(file) = compiler.template(&write.file)?.constant() else {
        let message = "the file of a write step is one that is known before the run";
        compiler.error(write.file.span(), message.to_owned(), "");
        return None;
    };
    let text = compiler.template(&write.text)?;
    Some(DataOp::Write { file: file.into(), text, append: write.append })
}
