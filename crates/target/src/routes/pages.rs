//! The pages of a user: login and what belongs to it.

use super::call::Call;
use super::fields::Fields;
use crate::http::response::Response;
use crate::http::text::Html;
use crate::session::{self, Session, USER_LIMIT};

pub(super) fn login(call: &Call<'_>, body: &[u8], response: &mut Response) {
    if call.head.method != "POST" {
        return login_form(call, response);
    }
    match check_login(call, body) {
        Ok(user) => {
            // A new session, so that nobody can have known its number before the login.
            let session = Session { id: call.worker.site.random.bits(), user };
            call.set_session(&session, response);
            response.redirect(302, "/home");
        }
        Err((status, reason)) => response.error(status, format_args!("{reason}")),
    }
}

fn login_form(call: &Call<'_>, response: &mut Response) {
    let session = call.session_or_new(response);
    let token = session.csrf_token(&call.worker.site.signer);
    response.field("Cache-Control", "no-store");
    response.html(
        "Log in",
        format_args!(
            "<form action=\"/login\" method=\"post\">\n\
             <input type=\"hidden\" name=\"csrf\" value=\"{token}\">\n\
             <label>User <input name=\"user\"></label>\n\
             <label>Password <input type=\"password\" name=\"password\"></label>\n\
             <button>Log in</button>\n</form>"
        ),
    );
}

/// The user of a login that is right; otherwise the status and the reason.
fn check_login(call: &Call<'_>, body: &[u8]) -> Result<String, (u16, String)> {
    let forbidden = |reason: &str| (403, reason.to_owned());
    let fields = Fields::read(call, body).map_err(|reason| (400, reason))?;
    let session = call
        .session()
        .ok_or_else(|| forbidden("there is no valid cookie 'sid': GET /login sets it"))?;
    let token = session.csrf_token(&call.worker.site.signer);
    if fields.get("csrf") != Some(&token) {
        return Err(forbidden("the field 'csrf' is not the one of this session's form"));
    }
    let user = fields.get("user").unwrap_or_default();
    if user.is_empty() || user.len() > USER_LIMIT {
        return Err(forbidden("the field 'user' has to have 1 to 128 bytes"));
    }
    match fields.get("password") {
        None => Ok(user.to_owned()),
        Some(password) if is_password(user, password) => Ok(user.to_owned()),
        Some(_) => Err(forbidden("the password is 'secret-' and the user")),
    }
}

/// The rule for the password of every user.
pub(super) fn is_password(user: &str, password: &str) -> bool {
    password.strip_prefix("secret-") == Some(user)
}

pub(super) fn logout(_: &Call<'_>, response: &mut Response) {
    response.field("Set-Cookie", format_args!("{}=; Path=/; Max-Age=0", session::COOKIE));
    response.redirect(302, "/");
}

pub(super) fn user_home(call: &Call<'_>, response: &mut Response) {
    match call.session() {
        Some(session) if !session.user.is_empty() => {
            response.field("Cache-Control", "no-store");
            response.html(
                "Your page",
                format_args!(
                    "<p>Hello, <b class=\"user\">{}</b>!</p>\n<p><a href=\"/items\">shop</a>, \
                     <a href=\"/cart\">cart</a>, <a href=\"/logout\">log out</a></p>",
                    Html(&session.user)
                ),
            );
        }
        _ => response.redirect(302, "/login"),
    }
}
