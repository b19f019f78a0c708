//! The home page, which most benchmarks ask for: its response is rendered once.

use crate::http::response::{DATE_LEN, Persistence, Response};

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

/// The response to `GET /` in full, ready to be copied; only its date changes.
pub(crate) struct HomePage {
    bytes: Vec<u8>,
    date_at: usize,
}

impl HomePage {
    pub(crate) fn new() -> Self {
        let mut response = Response::new(200);
        home_page(&mut response);
        let mut bytes = Vec::new();
        let date = [b'#'; DATE_LEN];
        response.render(&mut bytes, false, Persistence::Silent, &date);
        // It was rendered a moment ago, and nothing else on the page looks like it.
        let date_at = memchr::memmem::find(&bytes, &date).unwrap_or(0);
        HomePage { bytes, date_at }
    }

    pub(crate) fn render(&mut self, out: &mut Vec<u8>, date: &[u8; DATE_LEN]) {
        // The place was found in these bytes, as long as a date.
        self.bytes[self.date_at..self.date_at + DATE_LEN].copy_from_slice(date);
        out.extend_from_slice(&self.bytes);
    }
}
