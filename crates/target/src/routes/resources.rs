//! A page with as many resources as are asked for, as browsers load them, each kind with other rules
//! of caching.

use std::fmt::Write as _;

use super::call::Call;
use crate::http::response::Response;

const RESOURCE_LIMIT: u32 = 10_000;
/// Since when nothing has changed.
const MODIFIED: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

/// `/page/{n}`: the resource number i is of kind i mod 4.
pub(super) fn page(call: &Call<'_>, response: &mut Response) {
    let Some(count @ 0..=RESOURCE_LIMIT) = call.param_as::<u32>(0) else {
        let limit = RESOURCE_LIMIT;
        return response.error(400, format_args!("a page has 0 to {limit} resources"));
    };
    let mut tags = String::new();
    for n in 0..count {
        // Writing to a string does not fail.
        let _ = match n % 4 {
            0 => writeln!(tags, "<img src=\"/resource/image/{n}\" alt=\"\">"),
            1 => writeln!(tags, "<link rel=\"stylesheet\" href=\"/resource/style/{n}\">"),
            2 => writeln!(tags, "<script src=\"/resource/script/{n}\"></script>"),
            _ => writeln!(tags, "<img src=\"/resource/uncached/{n}\" alt=\"\">"),
        };
    }
    response.field("Cache-Control", "no-store");
    response.html("A page with resources", format_args!("{tags}"));
}

pub(super) fn resource(call: &Call<'_>, response: &mut Response) {
    let (Some(kind), Some(number)) = (call.param(0), call.param_as::<u32>(1)) else {
        return response.error(400, format_args!("a resource has a kind and a number"));
    };
    let tag = format!("\"{kind}-{number}\"");
    let (content_type, control) = match &*kind {
        "image" => ("image/png", "max-age=3600"),
        "style" => ("text/css", "no-cache"),
        "script" => ("text/javascript", "max-age=0, must-revalidate"),
        "uncached" => ("image/png", "no-store"),
        _ => return response.error(404, format_args!("kinds: image, style, script, uncached")),
    };
    response.field("Cache-Control", control);
    let unchanged = match &*kind {
        "image" | "style" => {
            response.field("ETag", &tag);
            call.head.field("if-none-match") == Some(&*tag)
        }
        "script" => {
            response.field("Last-Modified", MODIFIED);
            call.head.field("if-modified-since") == Some(MODIFIED)
        }
        _ => false,
    };
    if unchanged {
        response.status = 304;
        return;
    }
    response.field("Content-Type", content_type);
    response.print(format_args!("/*{:-<1019}*/\n", kind));
}
