//! The pages of the site: home, login and what belongs to it, and the list of routes.

use super::fields::Fields;
use super::{Call, HOSTILE, describe_routes};
use crate::http::response::Response;
use crate::http::text::Html;
use crate::session::{self, Session, USER_LIMIT};

pub(super) fn home(_: &Call<'_>, response: &mut Response) {
    home_page(response);
}

/// The home page, the same for everybody.
pub(crate) fn home_page(response: &mut Response) {
    response.html(
        "The squall test site",
        format_args!(
            "<p>This site is made to be loaded. Everything on it is fast, unless it says that it \
             is slow, and correct, unless it says that it is hostile.</p>\n\
             <ul>\n\
             <li><a href=\"/login\">log in</a>, then see your <a href=\"/home\">page</a></li>\n\
             <li><a href=\"/items\">the shop</a> and its <a href=\"/api/items\">items as JSON</a>, \
             your <a href=\"/cart\">cart</a></li>\n\
             <li><a href=\"/bytes/1k\">1 KiB</a>, <a href=\"/chunked\">chunks</a>, \
             <a href=\"/gzip\">gzip</a>, <a href=\"/cacheable\">cacheable</a></li>\n\
             <li><a href=\"/delay/100\">100 ms later</a>, \
             <a href=\"/queue?servers=2&amp;mean=10\">a queue with two servers</a></li>\n\
             <li><a href=\"/redirect/3\">three redirects</a>, <a href=\"/echo\">echo</a></li>\n\
             <li><a href=\"/routes\">every route</a>, <a href=\"/hostile\">the hostile corner</a>\
             </li>\n\
             </ul>"
        ),
    );
}

pub(super) fn routes(_: &Call<'_>, response: &mut Response) {
    response.text(format_args!("{}", describe_routes()));
}

pub(super) fn hostile(_: &Call<'_>, response: &mut Response) {
    response.text(format_args!(""));
    for route in HOSTILE {
        response.print(format_args!("{}\n    {}\n", route.path, route.about));
    }
}

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
