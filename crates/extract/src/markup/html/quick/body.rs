//! What becomes of tags in the body (WHATWG HTML, 13.2.6.4.7). No formatting element goes on behind
//! the end of its parent here, so that those in effect are those that are open.

use super::kinds::{self, Kind};
use super::{Mode, Quirks, Reader, Tag, Unusual};

/// How many equal formatting elements may be within each other before the outermost one has no
/// effect any more.
const EQUAL_FORMATTING: usize = 3;

impl<'h> Reader<'h> {
    /// Opens an element, with its attributes.
    pub(super) fn element(&mut self, tag: Tag<'h>) -> Result<(), Unusual> {
        self.open(tag.name, tag.kind)?;
        self.attributes()
    }

    /// Adds an element that has no content.
    pub(super) fn void(&mut self, tag: Tag<'h>) -> Result<(), Unusual> {
        self.open_empty(tag.name)?;
        self.attributes()?;
        self.builder.close();
        Ok(())
    }

    fn close_paragraph(&mut self) -> Result<(), Unusual> {
        let bounds = kinds::SCOPE | kinds::BUTTON_SCOPE;
        match self.find_kind(bounds, Kind::Paragraph)? {
            Some(place) => self.close_from(place),
            None => Ok(()),
        }
    }

    /// Closes the innermost elements whose end tags may be left out, but not a `kept` one.
    fn close_implied(&mut self, kept: impl Fn(Kind) -> bool) {
        let implied = |kind: Kind| kind.has(kinds::IMPLIED) && !kept(kind);
        while self.current().is_some_and(|open| implied(open.kind)) {
            self.close();
        }
    }

    fn in_template(&self) -> bool {
        !self.around_templates.is_empty()
    }

    fn in_select(&mut self) -> Result<bool, Unusual> {
        Ok(self.find_kind(kinds::SCOPE, Kind::Select)?.is_some())
    }

    pub(super) fn start_in_body(&mut self, tag: Tag<'h>) -> Result<(), Unusual> {
        match tag.kind {
            Kind::Ordinary => self.element(tag),
            Kind::Base | Kind::HeadVoid | Kind::Void | Kind::Break => self.void(tag),
            Kind::Title => self.raw_text(tag, true),
            Kind::Style | Kind::Script | Kind::Noframes | Kind::RawText => {
                self.raw_text(tag, false)
            }
            Kind::Noscript if self.scripting => self.raw_text(tag, false),
            Kind::Noscript => self.element(tag),
            Kind::Example => {
                self.close_paragraph()?;
                self.raw_text(tag, false)
            }
            Kind::TextArea => self.raw_text(tag, true),
            Kind::Paragraph | Kind::Div | Kind::List | Kind::Block | Kind::OpenBlock => {
                self.close_paragraph()?;
                self.element(tag)
            }
            Kind::Heading => {
                self.close_paragraph()?;
                if self.current().is_some_and(|open| open.kind == Kind::Heading) {
                    self.close();
                }
                self.element(tag)
            }
            Kind::Preformatted => {
                self.close_paragraph()?;
                self.element(tag)?;
                self.skips_line_feed = true;
                Ok(())
            }
            Kind::ListItem | Kind::Definition => self.start_item(tag),
            Kind::Form | Kind::Button | Kind::Input | Kind::Rule => self.start_of_form(tag),
            Kind::Select | Kind::Option | Kind::OptionGroup => self.start_of_select(tag),
            Kind::Anchor | Kind::Formatting | Kind::NoBreak => self.start_formatting(tag),
            Kind::Table => {
                match self.quirks {
                    Quirks::No => self.close_paragraph()?,
                    Quirks::Unknown if self.counts[Kind::Paragraph as usize] > 0 => {
                        return Err(Unusual);
                    }
                    Quirks::Unknown | Quirks::Yes => {}
                }
                self.element(tag)?;
                self.mode = Mode::InTable;
                Ok(())
            }
            Kind::Svg => self.start_in_drawing(tag),
            Kind::Template => self.open_template(tag),
            // They have come before, or come too late.
            _ => Err(Unusual),
        }
    }

    fn start_item(&mut self, tag: Tag<'h>) -> Result<(), Unusual> {
        if self.counts[tag.kind as usize] > 0 {
            let reached_through = |kind| matches!(kind, Kind::Div | Kind::Paragraph);
            let ends = |kind: Kind| kind.has(kinds::SPECIAL) && !reached_through(kind);
            let first = self.find(0, |open| open.kind == tag.kind || ends(open.kind))?;
            if let Some(place) = first
                && self.stack[place].kind == tag.kind
            {
                self.close_from(place)?;
            }
        }
        self.close_paragraph()?;
        self.element(tag)
    }

    fn start_of_form(&mut self, tag: Tag<'h>) -> Result<(), Unusual> {
        match tag.kind {
            Kind::Form if self.form.is_some() || self.in_template() => Err(Unusual),
            Kind::Form => {
                self.close_paragraph()?;
                self.element(tag)?;
                self.form = self.builder.open.last().map(|(id, _)| *id);
                Ok(())
            }
            Kind::Button => {
                if self.find_kind(kinds::SCOPE, Kind::Button)?.is_some() {
                    return Err(Unusual);
                }
                self.element(tag)
            }
            _ if self.in_select()? => Err(Unusual),
            Kind::Rule => {
                self.close_paragraph()?;
                self.void(tag)
            }
            _ => self.void(tag),
        }
    }

    fn start_of_select(&mut self, tag: Tag<'h>) -> Result<(), Unusual> {
        let in_select = self.in_select()?;
        match tag.kind {
            Kind::Select if in_select => return Err(Unusual),
            Kind::Select => {}
            Kind::Option if in_select => self.close_implied(|kind| kind == Kind::OptionGroup),
            _ if in_select => self.close_implied(|_| false),
            _ if self.current().is_some_and(|open| open.kind == Kind::Option) => self.close(),
            _ => {}
        }
        self.element(tag)
    }

    fn start_formatting(&mut self, tag: Tag<'h>) -> Result<(), Unusual> {
        let open = self.counts[tag.kind as usize] as usize;
        let refused = match tag.kind {
            // It ends the one before.
            Kind::Anchor => {
                open > 0 && self.find_in_effect(|open| open.kind == Kind::Anchor)?.is_some()
            }
            Kind::NoBreak => open > 0,
            _ => open >= EQUAL_FORMATTING && self.has_many_equal(tag)?,
        };
        if refused {
            return Err(Unusual);
        }
        self.element(tag)
    }

    fn has_many_equal(&mut self, tag: Tag<'h>) -> Result<bool, Unusual> {
        let mut equal = 0;
        for open in self.stack.iter().rev() {
            self.steps = self.steps.checked_sub(1).ok_or(Unusual)?;
            equal += usize::from(open.name == tag.name);
            if open.kind.has(kinds::MARKER) {
                break;
            }
        }
        Ok(equal >= EQUAL_FORMATTING)
    }

    /// The place of the innermost formatting element that is `wanted` and has an effect here.
    fn find_in_effect(
        &mut self,
        wanted: impl Fn(super::Open) -> bool,
    ) -> Result<Option<usize>, Unusual> {
        self.find(kinds::MARKER, wanted)
    }

    pub(super) fn end_in_body(&mut self, tag: Tag<'h>) -> Result<(), Unusual> {
        let (name, kind) = (tag.name, tag.kind);
        let place = match kind {
            Kind::Html | Kind::Body => return self.end_body(kind),
            Kind::Form => return self.end_form(),
            Kind::Anchor | Kind::Formatting | Kind::NoBreak => return self.end_formatting(tag),
            Kind::Break | Kind::Svg | Kind::Unusual => return Err(Unusual),
            Kind::Paragraph => {
                let bounds = kinds::SCOPE | kinds::BUTTON_SCOPE;
                if self.find_kind(bounds, Kind::Paragraph)?.is_none() {
                    self.open(name, kind)?;
                }
                self.find_kind(bounds, Kind::Paragraph)?
            }
            Kind::Heading => self.find_kind(kinds::SCOPE, kind)?,
            Kind::ListItem => self.find_kind(kinds::SCOPE | kinds::LIST_SCOPE, kind)?,
            Kind::Definition
            | Kind::Div
            | Kind::List
            | Kind::Block
            | Kind::OpenBlock
            | Kind::Preformatted
            | Kind::Button
            | Kind::Select => self.find(kinds::SCOPE, |open| open.name == name)?,
            _ => self.find(kinds::SPECIAL, |open| open.name == name)?,
        };
        // The end of what is not open is passed over.
        place.map_or(Ok(()), |place| self.close_from(place))
    }

    fn end_body(&mut self, kind: Kind) -> Result<(), Unusual> {
        self.find_kind(kinds::SCOPE, Kind::Body)?.ok_or(Unusual)?;
        self.mode = match kind {
            Kind::Html => Mode::AfterAfterBody,
            _ => Mode::AfterBody,
        };
        Ok(())
    }

    fn end_form(&mut self) -> Result<(), Unusual> {
        if self.in_template() {
            return Err(Unusual);
        }
        let Some(form) = self.form.take() else { return Ok(()) };
        self.find_kind(kinds::SCOPE, Kind::Form)?.ok_or(Unusual)?;
        self.close_implied(|_| false);
        if self.builder.open.last().is_none_or(|(id, _)| *id != form) {
            // What is open in the form goes on behind it.
            return Err(Unusual);
        }
        self.close();
        Ok(())
    }

    fn end_formatting(&mut self, tag: Tag<'h>) -> Result<(), Unusual> {
        let Some(place) = self.find_in_effect(|open| open.name == tag.name)? else {
            return Ok(());
        };
        let within = self.stack.get(place + 1..).unwrap_or_default();
        if within.iter().any(|open| open.kind.has(kinds::SPECIAL)) {
            return Err(Unusual);
        }
        self.close_from(place)
    }
}
