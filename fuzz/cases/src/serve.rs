//! What those send who ask the page of a run, or the endpoint that is scraped.

use squall_serve::{Host, Request, Unread};

/// Any bytes as a request: it is refused, waits for more, or is whole and small, whatever follows it.
pub(crate) fn request(bytes: &[u8]) {
    let more = [bytes, b"GET / HTTP/1.1\r\n\r\n"].concat();
    match Request::parse(bytes) {
        Err(Unread::Refused(status)) => {
            assert!((400..=599).contains(&status));
            // What is wrong is wrong whatever comes.
            assert!(Request::parse(&more).is_err());
        }
        Err(Unread::Gone) => panic!("bytes go nowhere"),
        Ok(None) => {}
        Ok(Some(request)) => {
            assert!(request.body.len() <= bytes.len() && !request.path.contains(['?', ' ', '\n']));
            let host = Host { name: "load.example".to_owned(), port: 80 };
            if let Some(own) = host.of(&request) {
                assert!(!own.contains("evil"), "{own}");
            }
            let _ = request.list("accept").count();
            assert_eq!(Request::parse(&more), Ok(Some(request)));
        }
    }
}
