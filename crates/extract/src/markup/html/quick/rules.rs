//! What becomes of tags and texts outside the body and in tables (WHATWG HTML, 13.2.6.4); for those
//! within it see `body`.

use super::kinds::{self, Kind};
use super::{Mode, Quirks, Reader, Tag, Unusual};

/// Whether a tag has been dealt with, or is for the mode that has been entered.
enum Taken {
    Done,
    Again,
}

impl<'h> Reader<'h> {
    pub(super) fn start_tag(&mut self, tag: Tag<'h>) -> Result<(), Unusual> {
        loop {
            let taken = match self.mode {
                Mode::InBody => return self.start_in_body(tag),
                Mode::Initial | Mode::BeforeHtml | Mode::BeforeHead | Mode::AfterHead => {
                    self.start_outside(tag)?
                }
                Mode::InHead | Mode::InHeadNoscript => self.start_in_head(tag)?,
                Mode::InTemplate => self.start_in_template(tag)?,
                Mode::InCell | Mode::InCaption => self.start_in_cell(tag)?,
                Mode::InTable | Mode::InColumnGroup | Mode::InTableBody | Mode::InRow => {
                    self.start_in_table(tag)?
                }
                Mode::AfterBody | Mode::AfterAfterBody => self.enter(Mode::InBody),
            };
            if let Taken::Done = taken {
                return Ok(());
            }
        }
    }

    fn enter(&mut self, mode: Mode) -> Taken {
        self.mode = mode;
        Taken::Again
    }

    /// Opens an element, whose content is for another mode.
    fn open_into(&mut self, tag: Tag<'h>, mode: Mode) -> Result<Taken, Unusual> {
        self.element(tag)?;
        self.mode = mode;
        Ok(Taken::Done)
    }

    /// Opens an element whose tag was left out.
    fn imply(&mut self, name: &str, kind: Kind, mode: Mode) -> Result<Taken, Unusual> {
        let name = self.builder.name(name);
        self.open(name, kind)?;
        Ok(self.enter(mode))
    }

    /// Closes the innermost element, whose end tag was left out.
    fn leave(&mut self, mode: Mode) -> Taken {
        self.close();
        self.enter(mode)
    }

    fn start_outside(&mut self, tag: Tag<'h>) -> Result<Taken, Unusual> {
        match (self.mode, tag.kind) {
            (Mode::BeforeHtml, Kind::Html) => self.open_into(tag, Mode::BeforeHead),
            (Mode::BeforeHead, Kind::Head) => self.open_into(tag, Mode::InHead),
            (Mode::AfterHead, Kind::Body) => self.open_into(tag, Mode::InBody),
            // They have come before, or come too late.
            (Mode::BeforeHead | Mode::AfterHead, Kind::Html) | (Mode::AfterHead, Kind::Head) => {
                Err(Unusual)
            }
            (Mode::AfterHead, kind) if kind.belongs_to_head() => Err(Unusual),
            (_, Kind::Unusual) => Err(Unusual),
            _ => self.advance(),
        }
    }

    /// Goes on as if the tags that come first had been there.
    fn advance(&mut self) -> Result<Taken, Unusual> {
        match self.mode {
            Mode::Initial => {
                self.quirks = Quirks::Yes;
                Ok(self.enter(Mode::BeforeHtml))
            }
            Mode::BeforeHtml => self.imply("html", Kind::Html, Mode::BeforeHead),
            Mode::BeforeHead => self.imply("head", Kind::Head, Mode::InHead),
            Mode::InHead => Ok(self.leave(Mode::AfterHead)),
            Mode::AfterHead => self.imply("body", Kind::Body, Mode::InBody),
            _ => Ok(Taken::Done),
        }
    }

    /// Goes on to the body, unless it has begun.
    pub(super) fn begin_body(&mut self) -> Result<(), Unusual> {
        while let Taken::Again = self.advance()? {}
        Ok(())
    }

    fn start_in_head(&mut self, tag: Tag<'h>) -> Result<Taken, Unusual> {
        let noscript = self.mode == Mode::InHeadNoscript;
        match tag.kind {
            Kind::HeadVoid => self.void(tag)?,
            Kind::Noframes | Kind::Style => self.raw_text(tag, false)?,
            _ if noscript => return Err(Unusual),
            Kind::Base => self.void(tag)?,
            Kind::Title => self.raw_text(tag, true)?,
            Kind::Script => self.raw_text(tag, false)?,
            Kind::Noscript if self.scripting => self.raw_text(tag, false)?,
            Kind::Noscript => return self.open_into(tag, Mode::InHeadNoscript),
            Kind::Template => self.open_template(tag)?,
            Kind::Html | Kind::Head | Kind::Unusual => return Err(Unusual),
            _ => return self.advance(),
        }
        Ok(Taken::Done)
    }

    fn start_in_template(&mut self, tag: Tag<'h>) -> Result<Taken, Unusual> {
        match tag.kind {
            Kind::Template => self.open_template(tag)?,
            kind if kind.belongs_to_head() => self.start_in_body(tag)?,
            // It is a part of a table.
            kind if kind.is_part_of_table() => return Err(Unusual),
            _ => return Ok(self.enter(Mode::InBody)),
        }
        Ok(Taken::Done)
    }

    /// Opens a template, whose content does not depend on what is around it.
    pub(super) fn open_template(&mut self, tag: Tag<'h>) -> Result<(), Unusual> {
        self.element(tag)?;
        self.around_templates.push(self.mode);
        self.mode = Mode::InTemplate;
        Ok(())
    }

    fn end_template(&mut self) -> Result<(), Unusual> {
        let place = self.find_kind(0, Kind::Template)?.ok_or(Unusual)?;
        let within = self.stack.get(place + 1..).unwrap_or_default();
        // Of what is still open in a cell the formatting elements would go on.
        if within.iter().any(|open| open.kind.has(kinds::MARKER)) {
            return Err(Unusual);
        }
        self.close_all_from(place);
        self.mode = self.around_templates.pop().ok_or(Unusual)?;
        Ok(())
    }

    /// In a cell or a caption.
    fn start_in_cell(&mut self, tag: Tag<'h>) -> Result<Taken, Unusual> {
        if !tag.kind.is_part_of_table() {
            self.start_in_body(tag)?;
            return Ok(Taken::Done);
        }
        self.leave_cell()
    }

    /// Closes the cell or caption, with formatting elements that were opened in it.
    fn leave_cell(&mut self) -> Result<Taken, Unusual> {
        let (kind, around) = match self.mode {
            Mode::InCaption => (Kind::Caption, Mode::InTable),
            _ => (Kind::Cell, Mode::InRow),
        };
        let place = self.find_kind(kinds::TABLE_SCOPE, kind)?.ok_or(Unusual)?;
        self.close_all_from(place);
        Ok(self.enter(around))
    }

    fn start_in_table(&mut self, tag: Tag<'h>) -> Result<Taken, Unusual> {
        match (self.mode, tag.kind) {
            (_, Kind::Template) => {
                self.open_template(tag)?;
                Ok(Taken::Done)
            }
            (Mode::InTable, Kind::Caption) => self.open_into(tag, Mode::InCaption),
            (Mode::InTable, Kind::ColumnGroup) => self.open_into(tag, Mode::InColumnGroup),
            (Mode::InTable, Kind::TableBody) => self.open_into(tag, Mode::InTableBody),
            (Mode::InTableBody, Kind::Row) => self.open_into(tag, Mode::InRow),
            (Mode::InRow, Kind::Cell) => self.open_into(tag, Mode::InCell),
            (Mode::InTable, Kind::Column) => {
                self.imply("colgroup", Kind::ColumnGroup, Mode::InColumnGroup)
            }
            (Mode::InTable, Kind::Row | Kind::Cell) => {
                self.imply("tbody", Kind::TableBody, Mode::InTableBody)
            }
            (Mode::InTableBody, Kind::Cell) => self.imply("tr", Kind::Row, Mode::InRow),
            (Mode::InColumnGroup, Kind::Column) => {
                self.void(tag)?;
                Ok(Taken::Done)
            }
            (Mode::InColumnGroup, kind) if kind != Kind::Html => Ok(self.leave(Mode::InTable)),
            (Mode::InRow, kind) if kind.is_part_of_table() => Ok(self.leave(Mode::InTableBody)),
            (Mode::InTableBody, kind) if kind.is_part_of_table() => Ok(self.leave(Mode::InTable)),
            (_, Kind::Style | Kind::Script) => {
                self.raw_text(tag, false)?;
                Ok(Taken::Done)
            }
            // It is put before the table.
            _ => Err(Unusual),
        }
    }

    pub(super) fn end_tag(&mut self, tag: Tag<'h>) -> Result<(), Unusual> {
        loop {
            let taken = match (self.mode, tag.kind) {
                (_, Kind::Template) => return self.end_template(),
                (Mode::InBody, _) => return self.end_in_body(tag),
                // It ends nothing that is in the template.
                (Mode::InTemplate, _) => Taken::Done,
                (Mode::InHead, Kind::Head) => {
                    self.leave(Mode::AfterHead);
                    Taken::Done
                }
                (Mode::InHeadNoscript, Kind::Noscript) => {
                    self.leave(Mode::InHead);
                    Taken::Done
                }
                (Mode::AfterBody | Mode::AfterAfterBody, Kind::Html) => {
                    self.mode = Mode::AfterAfterBody;
                    Taken::Done
                }
                (Mode::AfterBody | Mode::AfterAfterBody, _) => self.enter(Mode::InBody),
                (Mode::InCell | Mode::InCaption, _) => self.end_in_cell(tag)?,
                (Mode::InTable | Mode::InColumnGroup | Mode::InTableBody | Mode::InRow, _) => {
                    self.end_in_table(tag)?
                }
                _ => return Err(Unusual),
            };
            if let Taken::Done = taken {
                return Ok(());
            }
        }
    }

    /// In a cell or a caption.
    fn end_in_cell(&mut self, tag: Tag<'h>) -> Result<Taken, Unusual> {
        let own = match self.mode {
            Mode::InCaption => Kind::Caption,
            _ => Kind::Cell,
        };
        match tag.kind {
            kind if kind == own || kind.is_around_cell() => {
                // Of a table or part of one that is not open, it is passed over.
                if self.find(kinds::TABLE_SCOPE, |open| open.name == tag.name)?.is_none() {
                    return Ok(Taken::Done);
                }
                // Rows and their groups are not left by a caption's content.
                if own == Kind::Caption && kind != own && kind != Kind::Table {
                    return Ok(Taken::Done);
                }
                let left = self.leave_cell()?;
                Ok(if kind == own { Taken::Done } else { left })
            }
            Kind::Html | Kind::Body => Ok(Taken::Done),
            kind if kind.is_part_of_table() => Ok(Taken::Done),
            _ => {
                self.end_in_body(tag)?;
                Ok(Taken::Done)
            }
        }
    }

    fn end_in_table(&mut self, tag: Tag<'h>) -> Result<Taken, Unusual> {
        let own = self.current().is_some_and(|open| open.name == tag.name);
        let done = |_: Taken| Ok(Taken::Done);
        match (self.mode, tag.kind) {
            (Mode::InTable, Kind::Table) => {
                self.close();
                self.mode = self.mode_around();
                Ok(Taken::Done)
            }
            (Mode::InTableBody, Kind::TableBody) if own => done(self.leave(Mode::InTable)),
            (Mode::InRow, Kind::Row) => done(self.leave(Mode::InTableBody)),
            (Mode::InColumnGroup, Kind::ColumnGroup) => done(self.leave(Mode::InTable)),
            (Mode::InTableBody, Kind::Table) => Ok(self.leave(Mode::InTable)),
            (Mode::InRow, Kind::Table) => Ok(self.leave(Mode::InTableBody)),
            (Mode::InRow, Kind::TableBody) => {
                match self.find(kinds::TABLE_SCOPE, |open| open.name == tag.name)? {
                    Some(_) => Ok(self.leave(Mode::InTableBody)),
                    None => Ok(Taken::Done),
                }
            }
            (Mode::InColumnGroup, Kind::Column) => Ok(Taken::Done),
            (Mode::InColumnGroup, kind) if kind != Kind::Unusual => Ok(self.leave(Mode::InTable)),
            // They end nothing that is open.
            (_, Kind::Html | Kind::Body) => Ok(Taken::Done),
            (_, kind) if kind.is_part_of_table() => Ok(Taken::Done),
            _ => Err(Unusual),
        }
    }

    /// The mode of what is around a table that has ended.
    fn mode_around(&self) -> Mode {
        let mode = |kind| match kind {
            Kind::Cell => Some(Mode::InCell),
            Kind::Caption => Some(Mode::InCaption),
            Kind::Template => Some(Mode::InBody),
            _ => None,
        };
        // Tables within tables are in cells, captions or templates.
        self.stack.iter().rev().find_map(|open| mode(open.kind)).unwrap_or(Mode::InBody)
    }

    /// Adds a text whose references have been resolved.
    pub(super) fn add_text(&mut self, text: &str) -> Result<(), Unusual> {
        let behind = text.trim_start_matches(|c: char| c.is_ascii_whitespace());
        let space = &text[..text.len() - behind.len()];
        match self.mode {
            Mode::InBody | Mode::InCell | Mode::InCaption | Mode::InTemplate => {
                self.builder.text(text);
            }
            Mode::AfterBody | Mode::AfterAfterBody => {
                if !behind.is_empty() {
                    self.mode = Mode::InBody;
                }
                self.builder.text(text);
            }
            Mode::Initial
            | Mode::BeforeHtml
            | Mode::BeforeHead
            | Mode::InHead
            | Mode::AfterHead => {
                if matches!(self.mode, Mode::InHead | Mode::AfterHead) {
                    self.builder.text(space);
                }
                if !behind.is_empty() {
                    self.begin_body()?;
                    self.builder.text(behind);
                }
            }
            Mode::InHeadNoscript
            | Mode::InTable
            | Mode::InColumnGroup
            | Mode::InTableBody
            | Mode::InRow => match behind {
                "" => self.builder.text(space),
                // It ends what is open, or is put before the table.
                _ => return Err(Unusual),
            },
        }
        Ok(())
    }
}

impl Kind {
    fn belongs_to_head(self) -> bool {
        matches!(
            self,
            Kind::Base | Kind::HeadVoid | Kind::Title | Kind::Noframes | Kind::Style | Kind::Script
        )
    }

    fn is_part_of_table(self) -> bool {
        matches!(
            self,
            Kind::Caption
                | Kind::ColumnGroup
                | Kind::Column
                | Kind::TableBody
                | Kind::Row
                | Kind::Cell
        )
    }

    fn is_around_cell(self) -> bool {
        matches!(self, Kind::Table | Kind::TableBody | Kind::Row)
    }
}
