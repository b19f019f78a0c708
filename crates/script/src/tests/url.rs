//! `URL` and `URLSearchParams`.

use super::cases;

#[test]
fn urls_have_parts_that_can_be_set() {
    cases(
        "import { URL as Same } from 'https://jslib.k6.io/url/1.0.0/index.js';
const full = () => new URL('HTTPS://me:pw@Example.com:8080/a/../b?x=1&y=2#top');
const set = (name, value) => { const own = full(); own[name] = value; return own.href };",
        &[
            ("full().href", "\"https://me:pw@example.com:8080/b?x=1&y=2#top\""),
            (
                "['protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash', 'origin'].map((own) => full()[own])",
                r##"["https:","me","pw","example.com:8080","example.com","8080","/b","?x=1&y=2","#top","https://example.com:8080"]"##,
            ),
            ("new URL('../c', 'http://h/a/b/').href", "\"http://h/a/c\""),
            ("`${new URL('http://h')}`", "\"http://h/\""),
            (
                "JSON.stringify({ own: new URL('http://h/é') })",
                r#""{\"own\":\"http://h/%C3%A9\"}""#,
            ),
            ("set('hostname', 'other')", "\"https://me:pw@other:8080/b?x=1&y=2#top\""),
            ("set('port', '')", "\"https://me:pw@example.com/b?x=1&y=2#top\""),
            ("set('port', 'none')", "\"https://me:pw@example.com:8080/b?x=1&y=2#top\""),
            ("set('pathname', 'q r')", "\"https://me:pw@example.com:8080/q%20r?x=1&y=2#top\""),
            ("set('search', 'z=3')", "\"https://me:pw@example.com:8080/b?z=3#top\""),
            ("set('hash', '')", "\"https://me:pw@example.com:8080/b?x=1&y=2\""),
            ("set('href', 'http://new/')", "\"http://new/\""),
            ("full().searchParams.get('y')", "\"2\""),
            (
                "(() => { const own = full(); own.searchParams.set('x', 'a b'); own.searchParams.append('n', '1'); return own.search })()",
                "\"?x=a+b&y=2&n=1\"",
            ),
            (
                "(() => { const own = full(); own.searchParams.delete('x'); own.searchParams.delete('y'); return own.href })()",
                "\"https://me:pw@example.com:8080/b#top\"",
            ),
            ("[URL.canParse('http://h'), URL.canParse('h')]", "[true,false]"),
            (
                "new URL('/a')",
                "TypeError: `/a` cannot be read as a URL: relative URL without a base",
            ),
            ("Same === URL", "true"),
        ],
    );
}

#[test]
fn parameters_are_a_list_of_pairs() {
    cases(
        "const own = (init = 'a=1&b=2&a=3') => new URLSearchParams(init);",
        &[
            ("own().get('a')", "\"1\""),
            ("own().get('z')", "null"),
            ("own().getAll('a')", r#"["1","3"]"#),
            (
                "[own().has('b'), own().has('b', '2'), own().has('b', '3'), own().size]",
                "[true,true,false,3]",
            ),
            ("String(own('?q=%C3%A9+x&r'))", "\"q=%C3%A9+x&r=\""),
            ("String(own({ a: 1, 'b c': '&=' }))", "\"a=1&b+c=%26%3D\""),
            ("String(own([['a', 1], ['a', 2]]))", "\"a=1&a=2\""),
            ("String(own(new Map([['k', 'v']])))", "\"k=v\""),
            ("own([['a']])", "TypeError: URLSearchParams takes pairs of a name and a value"),
            (
                "(() => { const all = own(); all.set('a', 9); all.set('n', 0); return String(all) })()",
                "\"a=9&b=2&n=0\"",
            ),
            (
                "(() => { const all = own(); all.delete('a', '3'); return String(all) })()",
                "\"a=1&b=2\"",
            ),
            (
                "(() => { const all = own('b=1&a=1&b=0'); all.sort(); return String(all) })()",
                "\"a=1&b=1&b=0\"",
            ),
            ("[...own()]", r#"[["a","1"],["b","2"],["a","3"]]"#),
            ("[[...own().keys()], [...own().values()]]", r#"[["a","b","a"],["1","2","3"]]"#),
            (
                "(() => { const all = []; own().forEach((value, name) => all.push(name + value)); return all })()",
                r#"["a1","b2","a3"]"#,
            ),
        ],
    );
}
