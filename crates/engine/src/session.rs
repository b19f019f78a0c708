//! What steps do to a user's session: the cookies that a plan sets itself.

use std::time::{SystemTime, UNIX_EPOCH};

use squall_plan::expr::EvalError;
use squall_plan::template::BoundTemplate;

use crate::parts::cookies::Site;
use crate::parts::url;
use crate::program::{CookieOp, CookiePlace, Program};
use crate::scope::UserScope;
use crate::user::Core;

/// Gives a user a cookie, within the bounds of those that servers set.
///
/// # Errors
/// A text cannot be rendered, or no server could set such a cookie there.
pub(crate) fn set_cookie(program: &Program, user: &Core, op: &CookieOp) -> Result<(), EvalError> {
    let scope = UserScope::new(program, user);
    let text = |template: &BoundTemplate| {
        let mut text = Vec::new();
        template.render(&scope, &mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    };
    let (name, value) = (text(&op.name)?, text(&op.value)?);
    let refused = |reason: &str| Err(EvalError::new(format!("cookie `{name}`: {reason}")));
    if name.is_empty() {
        return refused("its name is empty");
    }
    if name.contains(['=', ';']) {
        return refused("its name has a `=` or a `;`");
    }
    if value.contains(';') {
        return refused("its value has a `;`");
    }
    let target = program.target.as_ref();
    let target = target.map(|(origin, prefix)| (&program.origins[*origin as usize], prefix));
    let mut line = format!("{name}={value}{}", if op.secure { "; Secure" } else { "" });
    let (host, page, secure) = match &op.place {
        CookiePlace::Url(template) => {
            let reference = text(template)?;
            let base = target.map(|(origin, prefix)| (origin, format!("{prefix}/")));
            let base = base.as_ref().map(|(origin, path)| (*origin, path.as_str()));
            match url::resolve(base, &reference) {
                Ok(location) => {
                    let secure = location.origin.is_tls();
                    let path = location.path.split('?').next().unwrap_or("/").to_owned();
                    (location.origin.host.to_string(), path, secure)
                }
                Err(error) => return refused(&format!("URL `{reference}`: {error}")),
            }
        }
        CookiePlace::Domain { domain, path } => {
            let path = path.as_ref().map_or(Ok("/".to_owned()), text)?;
            let domain = domain.as_ref().map(text).transpose()?;
            if !path.starts_with('/') {
                return refused("its path does not begin with `/`");
            }
            if [Some(&path), domain.as_ref()].iter().flatten().any(|text| text.contains(';')) {
                return refused("its path or its domain has a `;`");
            }
            line.push_str(&format!("; Path={path}"));
            match (domain, target) {
                (Some(domain), _) => {
                    let host = domain.strip_prefix('.').unwrap_or(&domain).to_ascii_lowercase();
                    // One without a dot is a host, or else a whole top level, which no cookie goes to.
                    if host.contains('.') {
                        line.push_str(&format!("; Domain={host}"));
                    }
                    // The plan may replace what came over TLS.
                    (host, path, true)
                }
                (None, Some((origin, _))) => (origin.host.to_string(), path, origin.is_tls()),
                // Compilation has seen to it that there is one.
                (None, None) => return refused("the plan has no target"),
            }
        }
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_secs() as i64);
    let site = Site { host: &host, path: &page, secure, now };
    if user.jar(op.jar).set(line.as_bytes(), site) {
        return Ok(());
    }
    refused(
        "no server could set it: it is longer than 4096 bytes, holds control characters, or its domain, \
         the prefix of its name or that it is secure does not allow it",
    )
}
