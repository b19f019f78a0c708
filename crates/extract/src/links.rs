//! What a page leads to: links, forms and frames. References are given as they stand; what they mean is the
//! caller's to find out.

use serde_json::{Value, json};

use crate::error::ExtractError;
use crate::found::{Found, Item};
use crate::fuel::Fuel;
use crate::markup::{NodeId, Tree};

/// The most links, forms and frames that are taken of one page, and the most fields of its forms.
pub const LINKS_LIMIT: usize = 1_000;

/// Where a page leads to, as the objects that [`crate::Spec::Links`] finds have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The element: `a`, `area`, `form`, `frame` or `iframe`.
    pub element: String,
    /// What its attribute says (`href`, `action`, `src`), without white space around it; a form may have none.
    pub href: Option<String>,
    /// What references are relative to, where the page says so (`base href`).
    pub base: Option<String>,
    /// How a form is sent, in capitals; `GET` for all others.
    pub method: String,
    /// The fields of a form in the order of the page, each with its name, its value and its type: that of an `input`,
    /// `textarea`, or `option` for each of a `select`.
    pub fields: Vec<[String; 3]>,
}

impl Link {
    fn to_json(&self) -> Value {
        let fields = self.fields.iter();
        let fields = fields.map(|[name, value, kind]| json!([name, value, kind]));
        json!({
            "element": self.element, "href": self.href, "base": self.base, "method": self.method,
            "fields": fields.collect::<Vec<_>>(),
        })
    }

    /// One that was found; `None`: it is something else.
    pub fn of(item: &Item<'_>) -> Option<Link> {
        let Item::Json(value) = item else { return None };
        let text = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
        let field = |field: &Value| {
            let text = |index: usize| Some(field.get(index)?.as_str()?.to_owned());
            Some([text(0)?, text(1)?, text(2)?])
        };
        Some(Link {
            element: text("element")?,
            href: text("href"),
            base: text("base"),
            method: text("method")?,
            fields: value.get("fields")?.as_array()?.iter().filter_map(field).collect(),
        })
    }
}

/// Finds all links of a page, in its order.
pub(crate) fn find<'b>(tree: &Tree, fuel: &Fuel) -> Result<Found<'b>, ExtractError> {
    let items = links(tree).into_iter().map(|link| {
        let texts = link.fields.iter().flatten().chain(&link.href).chain(&link.base);
        fuel.count_result(texts.map(String::len).sum())?;
        Ok(Item::Json(link.to_json()))
    });
    let items = items.collect::<Result<Vec<_>, ExtractError>>()?;
    Ok(if items.is_empty() { Found::None } else { Found::Many(items) })
}

fn links(tree: &Tree) -> Vec<Link> {
    let mut found: Vec<Link> = Vec::new();
    let mut base = None;
    // The place of the form that fields belong to, with the number behind its last descendant.
    let mut form: Option<(usize, NodeId)> = None;
    let mut fields = 0;
    // The name of the select that is open, likewise.
    let mut select: Option<(String, NodeId)> = None;
    for id in tree.elements() {
        let attribute = |name| tree.attribute(id, name).map(str::trim);
        let element = tree.local_name(id);
        let reference = match element {
            "a" | "area" => attribute("href"),
            "frame" | "iframe" => attribute("src"),
            "form" => attribute("action"),
            "base" => {
                base = base.or_else(|| attribute("href").map(str::to_owned));
                continue;
            }
            "select" => {
                select = attribute("name").map(|name| (name.to_owned(), tree.descendants(id).end));
                continue;
            }
            _ => {
                let Some((place, _)) = form.filter(|(_, end)| id < *end) else { continue };
                let of_select = select.as_ref().filter(|(_, end)| id < *end);
                let field = field(tree, id, of_select.map(|(name, _)| name.as_str()));
                if fields < LINKS_LIMIT
                    && let Some(field) = field
                {
                    fields += 1;
                    found[place].fields.push(field);
                }
                continue;
            }
        };
        if reference.is_none() && element != "form" || found.len() >= LINKS_LIMIT {
            continue;
        }
        let mut method = "GET".to_owned();
        if element == "form" {
            method = attribute("method").unwrap_or("GET").to_ascii_uppercase();
            form = Some((found.len(), tree.descendants(id).end));
        }
        found.push(Link {
            element: element.to_owned(),
            href: reference.map(str::to_owned),
            base: None,
            method,
            fields: Vec::new(),
        });
    }
    found.iter_mut().for_each(|link| link.base.clone_from(&base));
    found
}

/// A field of a form, if an element is one that has a name.
fn field(tree: &Tree, id: NodeId, select: Option<&str>) -> Option<[String; 3]> {
    let attribute = |name| tree.attribute(id, name);
    let (name, value, kind) = match tree.local_name(id) {
        "input" => {
            let kind = attribute("type").unwrap_or("text").to_ascii_lowercase();
            (attribute("name"), attribute("value").unwrap_or_default(), kind)
        }
        "textarea" => (attribute("name"), tree.text(id), "textarea".to_owned()),
        "option" => {
            let value = attribute("value").unwrap_or_else(|| tree.text(id).trim());
            (select, value, "option".to_owned())
        }
        _ => return None,
    };
    let name = name.filter(|name| !name.is_empty())?;
    Some([name.to_owned(), value.to_owned(), kind])
}

#[cfg(test)]
mod tests {
    use crate::{Extractor, Found, MatchChoice, Spec};

    use super::*;

    fn of(page: &str) -> Vec<Link> {
        let extractor = Extractor::compile(&Spec::Links).expect("it needs no pattern");
        match extractor.find(page.as_bytes(), MatchChoice::All, 0).expect("a page") {
            Found::Many(items) => {
                items.iter().map(|item| Link::of(item).expect("a link")).collect()
            }
            Found::None => Vec::new(),
            Found::One(_) => panic!("all were asked for"),
        }
    }

    fn references(page: &str) -> String {
        let texts = of(page).into_iter().map(|link| {
            let href = link.href.as_deref().unwrap_or("-").to_owned();
            format!("{} {href}", link.element)
        });
        texts.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_page_leads_on_by_links_forms_and_frames() {
        for (page, expected) in [
            ("<a href=' /a?b&amp;c=1 '>x</a><A HREF=b>y</A><a name=z>no</a>", "a /a?b&c=1, a b"),
            ("<map><area href=a></map><iframe src=b></iframe>", "area a, iframe b"),
            ("<frameset><frame src=a><frame></frameset>", "frame a"),
            ("<form></form><form action=''></form>", "form -, form "),
            ("<!-- <a href=no> --><p>none", ""),
            ("no page", ""),
        ] {
            assert_eq!(references(page), expected, "{page}");
        }
        assert_eq!(of("<a href=x>").first().map(|link| link.base.clone()), Some(None));
        let with_base = of("<a href=x><base target=y><base href=/b/><base href=/c/>");
        assert_eq!(with_base[0].base.as_deref(), Some("/b/"));
    }

    #[test]
    fn a_form_has_its_fields() {
        let page = "<input name=before><form action=/f method=post>
            <input name=a value='1 &amp; 2'><input type=HIDDEN name=b><input value=no name>
            <textarea name=c>x\ny</textarea>
            <select name=d><optgroup><option value=1>one<option> two </option></optgroup></select>
            <select><option value=no></select><a href=in>x</a><input name=e type=checkbox></form>
            <input name=after>";
        let [form, link] = of(page).try_into().expect("a form and a link");
        let text = |[name, value, kind]: &[String; 3]| format!("{name}={value}:{kind}");
        let fields: Vec<String> = form.fields.iter().map(text).collect();
        assert_eq!(
            fields,
            [
                "a=1 & 2:text",
                "b=:hidden",
                "c=x\ny:textarea",
                "d=1:option",
                "d=two:option",
                "e=:checkbox"
            ]
        );
        assert_eq!((form.method.as_str(), link.method.as_str()), ("POST", "GET"));
        assert_eq!(link.fields, [[""; 3]; 0]);
    }

    #[test]
    fn there_is_a_limit() {
        let page = format!(
            "{}<form>{}</form>",
            "<a href=x>".repeat(LINKS_LIMIT - 1),
            "<input name=a>".repeat(LINKS_LIMIT + 1)
        );
        let found = of(&page);
        assert_eq!(found.len(), LINKS_LIMIT);
        assert_eq!(found[LINKS_LIMIT - 1].fields.len(), LINKS_LIMIT);
        assert_eq!(of(&"<a href=x>".repeat(LINKS_LIMIT + 1)).len(), LINKS_LIMIT);
    }
}
