//! Long bodies are searched on a thread of their own, so that a worker's other users need not wait for
//! it. What was found is handed to post-processing, which goes on as usual.

use std::sync::Arc;
use std::time::Duration;

use squall_extract::{Body, Documents, Extractor, Found, LONG_BODY, Limits, MatchChoice};

use crate::found::{FoundAhead, which};
use crate::program::{ExtractOp, FromOp, PostOp};
use crate::user::Core;

/// A search that usually takes longer goes to a thread; to hand it over takes some 0.1 ms.
const LONG_SEARCH: Duration = Duration::from_millis(10);
/// Searches that take less than that are never long, not even in hostile bodies.
const SHORT_SEARCH: Duration = Duration::from_millis(1);

/// A search to be made.
struct Search {
    extractor: Arc<Extractor>,
    which: MatchChoice,
    chance: u64,
}

/// Whether the searches in a body, and what takes so long besides, would hold up the worker's other users.
pub(crate) fn is_long(post: &[PostOp], besides: Duration, body_bytes: usize) -> bool {
    let estimates = post.iter().filter_map(|op| match op {
        PostOp::Extract(extract) => match &extract.from {
            FromOp::Body(extractor) | FromOp::Links(extractor) if extract.of.is_none() => {
                Some(extractor.cost_estimate(body_bytes))
            }
            _ => None,
        },
        PostOp::Check(_) => None,
    });
    let estimate = besides + estimates.sum::<Duration>();
    estimate > LONG_SEARCH || (body_bytes > LONG_BODY && estimate > SHORT_SEARCH)
}

/// Searches a body on another thread, and gives it back with what was found, there and `besides`. `None`:
/// that thread broke off.
pub(crate) async fn search<T: Send + 'static>(
    post: &[PostOp],
    user: &Core,
    body: Vec<u8>,
    content_type: Vec<u8>,
    besides: impl FnOnce(&Body<'_>) -> T + Send + 'static,
) -> Option<(Vec<u8>, FoundAhead, T)> {
    let searches: Vec<Option<Search>> = post.iter().map(|op| search_of(op, user)).collect();
    let run = move || {
        let text = Body::new(&body, &content_type);
        let documents = Documents::of(&text, Limits::default());
        let find = |search: Search| {
            let found = search.extractor.find_in(&documents, search.which, search.chance);
            found.map(Found::into_owned)
        };
        let found = searches.into_iter().map(|search| search.map(find)).collect();
        drop(documents);
        let besides = besides(&text);
        drop(text);
        (body, found, besides)
    };
    tokio::task::spawn_blocking(run).await.ok()
}

fn search_of(op: &PostOp, user: &Core) -> Option<Search> {
    // What is searched in the place of the body may be what another extract finds.
    let PostOp::Extract(extract @ ExtractOp { of: None, .. }) = op else { return None };
    let (FromOp::Body(extractor) | FromOp::Links(extractor)) = &extract.from else { return None };
    let (extractor, which) = (extractor.clone(), which(extract.which));
    Some(Search { extractor, which, chance: user.chance() })
}

#[cfg(test)]
mod tests {
    use squall_extract::Spec;
    use squall_plan::expr::Slot;
    use squall_plan::model::Match;

    use super::*;
    use crate::roster::Seat;
    use crate::user::User;

    fn extract(spec: &Spec<'_>) -> PostOp {
        let extractor = Extractor::compile(spec).expect("a good extractor");
        PostOp::Extract(ExtractOp {
            slot: Slot(0),
            source: "".into(),
            variable: "x".into(),
            from: FromOp::Body(Arc::new(extractor)),
            which: Match::First,
            default: None,
            of: None,
            redirects: false,
            resources: false,
        })
    }

    #[test]
    fn what_takes_long_is_long() {
        const NONE: Duration = Duration::ZERO;
        let css = [extract(&Spec::Css { selector: "a", attr: None })];
        let json = [extract(&Spec::Json("$.id"))];
        let between = [extract(&Spec::Between { left: "<", right: ">" })];
        assert!(!is_long(&css, NONE, 100_000) && is_long(&css, NONE, 1_000_000));
        assert!(!is_long(&json, NONE, LONG_BODY) && is_long(&json, NONE, LONG_BODY + 1));
        assert!(!is_long(&between, NONE, 2 * LONG_BODY) && !is_long(&[], NONE, usize::MAX));
        assert!(is_long(&[], 2 * LONG_SEARCH, 1) && is_long(&[], 2 * SHORT_SEARCH, LONG_BODY + 1));
        assert!(!is_long(&[], 2 * SHORT_SEARCH, 1));
    }

    #[tokio::test]
    async fn what_another_thread_finds_is_in_the_order_of_the_operations() {
        let post = [
            extract(&Spec::Json("$.b")),
            extract(&Spec::Between { left: "\"a\":", right: "," }),
            extract(&Spec::Json("$.none")),
        ];
        let user = User::new(Seat { number: 0, load: 0, scenario: 0 }, Arc::default());
        let body = b"{\"a\":1,\"b\":\"\xE9\"}".to_vec();
        let content_type = b"application/json;charset=latin1".to_vec();
        let found = search(&post, &user.core, body.clone(), content_type, |body| body.text().len());
        let (again, found, besides) = found.await.expect("a thread");
        assert_eq!((again, besides), (body.clone(), body.len() + 1));
        let texts: Vec<String> = found
            .into_iter()
            .map(|found| match found.expect("a search").expect("no error") {
                Found::One(item) => crate::found::item_value(&item).to_string(),
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(texts, ["é", "1", "None"]);
    }
}
