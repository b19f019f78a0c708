//! Enums of TypeScript, as the code that they stand for.

use oxc_ast::ast::{Expression, TSEnumDeclaration, TSEnumMemberName};
use oxc_span::GetSpan;

use super::edits::Edits;

/// `enum A { B, C = 'c' }` becomes `var A; (function (A) { … })(A || (A = {}));`, on the same lines.
pub(super) fn write(it: &TSEnumDeclaration<'_>, edits: &mut Edits<'_>) {
    let name = it.id.name.as_str();
    let open = it.body.span.start as usize + 1;
    let head = format!("var {name}; (function ({name}) {{ let __value = -1;");
    edits.replace(it.span.start as usize, open, &head);
    for (number, member) in it.body.members.iter().enumerate() {
        let (start, end) = (member.span.start as usize, member.span.end as usize);
        let own = match &member.id {
            TSEnumMemberName::Identifier(own) => own.name.as_str(),
            TSEnumMemberName::String(own) | TSEnumMemberName::ComputedString(own) => {
                own.value.as_str()
            }
            TSEnumMemberName::ComputedTemplateString(own) => {
                own.quasis.first().map_or("", |own| own.value.raw.as_str())
            }
        };
        let quoted = format!("{own:?}");
        let is_name = matches!(member.id, TSEnumMemberName::Identifier(_));
        let declared = if is_name { format!("const {own} = ") } else { String::new() };
        let text = edits.text();
        let value = member.initializer.as_ref().map(|value| {
            let span = value.span();
            text[span.start as usize..span.end as usize].to_owned()
        });
        let is_text = matches!(
            member.initializer,
            Some(Expression::StringLiteral(_) | Expression::TemplateLiteral(_))
        );
        let code = match value {
            Some(value) if is_text => format!("{declared}{name}[{quoted}] = {value};"),
            Some(value) => format!(
                "{declared}__value = ({value}); {name}[{name}[{quoted}] = __value] = {quoted};"
            ),
            None => {
                format!("{declared}++__value; {name}[{name}[{quoted}] = __value] = {quoted};")
            }
        };
        edits.replace(start, end, &code);
        let next = it.body.members.get(number + 1).map(|own| own.span.start as usize);
        let next = next.unwrap_or(it.body.span.end as usize - 1);
        let comma = edits.text()[end..next].find(',').map(|at| end + at);
        if let Some(comma) = comma {
            edits.blank(comma, comma + 1);
        }
    }
    let close = it.body.span.end as usize;
    edits.insert(close, &format!(")({name} || ({name} = {{}}));"));
}
