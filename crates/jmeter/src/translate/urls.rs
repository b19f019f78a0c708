//! What JMeter makes of the text of a URL: Java's `URI` refuses some characters, and then nothing is sent; a fragment is
//! dropped. Java's own client asks no `URI`.

use squall_base::uri::{self, Illegal, Part};

use super::texts::{TextPiece, quoted};
use super::transfer::Client;

/// Blanks in a path are encoded, and so they are in the query that is written there.
const BLANK: &str = " ";
/// What may stand in a query beside the characters of a path.
const BRACKETS: &str = "[]";

/// Most bytes of a URL that a message shows, which is a part of the plan.
const MOST_SHOWN: usize = 2_000;

/// What is sent behind the origin of a URL: a path, which may have a query of its own, and arguments.
///
/// # Errors
/// Why JMeter does not send it.
pub(super) fn sent(
    client: Client,
    origin: &[TextPiece],
    path: Vec<TextPiece>,
    arguments: Vec<TextPiece>,
) -> Result<Vec<TextPiece>, String> {
    let of_path = path.len();
    let pieces = [path, arguments].concat();
    let mut sent = Vec::new();
    // What only the run knows may have a query in it.
    let begins_unknown = matches!(pieces.first(), Some(TextPiece::Expr(_)));
    let mut part = if begins_unknown { Part::Query } else { Part::Path };
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            TextPiece::Text(text) => {
                let is_last = index + 1 == pieces.len();
                let end = match client {
                    Client::Apache => {
                        let known = if is_last { text } else { without_open_escape(text) };
                        uri::check(known, part)
                            .map_err(|illegal| refusal(origin, &pieces, index, illegal))?
                    }
                    Client::Java if text.contains(['\t', '\n', '\r']) => {
                        return Err("Illegal character in URL".to_owned());
                    }
                    Client::Java if text.contains('#') => Part::Fragment,
                    Client::Java => part,
                };
                if part != Part::Fragment {
                    let before = text.split('#').next().unwrap_or_default();
                    sent.push(TextPiece::Text(before.to_owned()));
                }
                part = end;
            }
            TextPiece::Expr(_) if part == Part::Fragment => {}
            own if client == Client::Java => sent.push(own.clone()),
            TextPiece::Expr(own) => {
                let blank = if index < of_path { BLANK } else { "" };
                let brackets = if part == Part::Query && index > 0 { BRACKETS } else { "" };
                let is_alone = pieces.len() == 1;
                sent.push(TextPiece::Expr(checked(own, &format!("{blank}{brackets}"), is_alone)));
            }
        }
    }
    Ok(sent)
}

/// A text without an escape at its end that what follows may complete.
fn without_open_escape(text: &str) -> &str {
    let is_open = |at: &usize| text.len() - at < 3;
    text.rfind('%').filter(is_open).map_or(text, |at| &text[..at])
}

/// A part of a URL that only the run knows. Of one that is all of it, the fragment is dropped then.
fn checked(own: &str, more: &str, is_alone: bool) -> String {
    let fine = ["int(", "random(", "uuid()", "form_encode(", "url_encode("];
    if fine.iter().any(|begin| own.starts_with(begin)) || own == super::texts::THREAD {
        return own.to_owned();
    }
    match (is_alone, more) {
        (true, _) => {
            let part = format!("url_part({own}, {})", quoted(&format!("{more}#")));
            format!("split({part}, {})[0]", quoted("#"))
        }
        (false, "") => format!("url_part({own})"),
        (false, more) => format!("url_part({own}, {})", quoted(more)),
    }
}

/// What Java says of a URL that is none; in full where all of it is known.
fn refusal(
    origin: &[TextPiece],
    pieces: &[TextPiece],
    index: usize,
    Illegal { at, part, is_escape }: Illegal,
) -> String {
    let what = match is_escape {
        true => "Malformed escape pair".to_owned(),
        false => format!("Illegal character in {}", part.name()),
    };
    let text = |pieces: &[TextPiece]| {
        let texts = pieces.iter().map(|piece| match piece {
            TextPiece::Text(text) => Some(text.as_str()),
            TextPiece::Expr(_) => None,
        });
        texts.collect::<Option<String>>()
    };
    let (Some(origin), Some(before), Some(all)) =
        (text(origin), text(&pieces[..index]), text(pieces))
    else {
        return what;
    };
    let url = format!("{origin}{all}");
    // Java counts units of UTF-16.
    let place = url[..origin.len() + before.len() + at].encode_utf16().count();
    match url.len() {
        // A part of a secret would not be known for one.
        length if length > MOST_SHOWN => format!("{what} at index {place}"),
        _ => format!("{what} at index {place}: {url}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> TextPiece {
        TextPiece::Text(text.to_owned())
    }

    fn expr(source: &str) -> TextPiece {
        TextPiece::Expr(source.to_owned())
    }

    fn of(path: &[TextPiece], arguments: &[TextPiece]) -> Result<Vec<TextPiece>, String> {
        sent(Client::Apache, &[text("http://h:80")], path.to_vec(), arguments.to_vec())
    }

    #[test]
    fn what_is_no_url_is_refused_in_javas_words() {
        for (path, arguments, expected) in [
            ("/a|b", "", "Illegal character in path at index 13: http://h:80/a|b"),
            ("/a[0]", "", "Illegal character in path at index 13: http://h:80/a[0]"),
            ("/😀é?x=${id}", "", "Illegal character in query at index 19: http://h:80/😀é?x=${id}"),
            ("/a", "?x=b c", "Illegal character in query at index 17: http://h:80/a?x=b c"),
            ("/a#b{", "", "Illegal character in fragment at index 15: http://h:80/a#b{"),
            ("/100%", "", "Malformed escape pair at index 15: http://h:80/100%"),
        ] {
            let arguments: Vec<_> =
                (!arguments.is_empty()).then(|| text(arguments)).into_iter().collect();
            assert_eq!(of(&[text(path)], &arguments), Err(expected.to_owned()));
        }
        assert_eq!(of(&[expr("v"), text("|")], &[]), Err("Illegal character in query".to_owned()));
        for good in ["/a?b=[c]&d='e'", "/é/中?€", "/%41", "/a//b;c=1"] {
            assert_eq!(of(&[text(good)], &[]), Ok(vec![text(good)]));
        }
    }

    #[test]
    fn a_fragment_is_dropped_with_all_that_follows() {
        assert_eq!(of(&[text("/a#top")], &[text("?n="), expr("v")]), Ok(vec![text("/a")]));
        assert_eq!(of(&[text("/a?b#top")], &[]), Ok(vec![text("/a?b")]));
        let whole = vec![expr("split(url_part(v, \" #\"), \"#\")[0]")];
        assert_eq!(of(&[expr("v")], &[]), Ok(whole));
    }

    #[test]
    fn the_client_of_java_sends_what_there_is() {
        let of =
            |path: &[TextPiece]| sent(Client::Java, &[text("http://h")], path.to_vec(), Vec::new());
        let own = [text("/a|{b}?%zz["), expr("v")];
        assert_eq!(of(&own), Ok(own.to_vec()));
        assert_eq!(of(&[text("/a#b"), expr("v")]), Ok(vec![text("/a")]));
        assert_eq!(of(&[text("/a\tb")]), Err("Illegal character in URL".to_owned()));
    }

    #[test]
    fn what_only_the_run_knows_is_looked_at_then() {
        let path =
            [text("/"), expr("v"), text("/x%"), expr("w"), text("?q="), expr("random(1, 2)")];
        let found = of(&path, &[text("&b="), expr("v")]);
        let expected = [
            text("/"),
            expr("url_part(v, \" \")"),
            text("/x%"),
            expr("url_part(w, \" \")"),
            text("?q="),
            expr("random(1, 2)"),
            text("&b="),
            expr("url_part(v, \"[]\")"),
        ];
        assert_eq!(found, Ok(expected.to_vec()));
    }
}
