//! HTML into a tree, by html5ever: the algorithm that browsers follow, so that every text is a
//! page. Two things html5ever does not bound are bounded here: nesting and attributes, in both of
//! which it takes quadratic time.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};
use std::collections::HashMap;

use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::TokenizerResult;
use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, LocalName, Namespace, QualName};

use super::chunks::Chunks;
use super::{
    ATTRIBUTES_LIMIT, Builder, DEPTH_LIMIT, Dialect, Kind, NAMES_LIMIT, Tree, append, too_many,
};
use crate::ExtractError;

/// The parser is fed in pieces of at most this size and looked at in between.
const PIECE: usize = 4096;

/// Reads a page. Without scripting, what is in <noscript> is part of it.
pub(super) fn parse(html: &str, scripting: bool) -> Result<Tree, ExtractError> {
    let options = TreeBuilderOpts { scripting_enabled: scripting, ..Default::default() };
    let builder = TreeBuilder::new(Page::new(html.len()), options);
    let tokens = Counted { builder, count: Cell::new(0) };
    let tokenizer = Tokenizer::new(tokens, TokenizerOpts::default());
    let input = BufferQueue::default();
    let mut unfinished = Unfinished::default();
    for piece in pieces(html) {
        let before = tokenizer.sink.count.get();
        input.push_back(piece.clone());
        // It stops at scripts and at a <meta> that names an encoding, to let a browser act.
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        tokenizer.sink.page().check()?;
        unfinished.check(&piece, tokenizer.sink.count.get() > before)?;
    }
    tokenizer.end();
    let page = tokenizer.sink.builder.sink;
    page.check()?;
    page.flatten()
}

/// Cuts a text before each `<` and after [`PIECE`] bytes, so that a token that spans pieces
/// begins with one.
fn pieces(html: &str) -> impl Iterator<Item = StrTendril> {
    let mut rest = html;
    std::iter::from_fn(move || {
        let limit = rest.floor_char_boundary(PIECE);
        // The first byte may be the `<` at which the last piece ended.
        let after_first = rest.as_bytes().get(1..limit)?;
        let length = memchr::memchr(b'<', after_first).map_or(limit, |at| at + 1);
        let (piece, behind) = rest.split_at_checked(length)?;
        rest = behind;
        Some(StrTendril::from_slice(piece))
    })
}

/// Counts the words of a tag whose end has not come. Each may be an attribute, which html5ever
/// compares with all attributes before it.
#[derive(Default)]
struct Unfinished {
    words: usize,
    kind: UnfinishedKind,
}

#[derive(Default, PartialEq)]
enum UnfinishedKind {
    #[default]
    Nothing,
    Tag,
    Comment,
}

impl Unfinished {
    /// Takes note of a piece, and whether a token ended in it.
    fn check(&mut self, piece: &str, ended: bool) -> Result<(), ExtractError> {
        if ended {
            *self = Unfinished::default();
            return Ok(());
        }
        if self.kind == UnfinishedKind::Nothing {
            let comment = piece.starts_with("<!") || piece.starts_with("<?");
            self.kind = if comment { UnfinishedKind::Comment } else { UnfinishedKind::Tag };
        }
        if self.kind == UnfinishedKind::Tag {
            let separators = piece.bytes().filter(|b| b" \n\r\t\x0C/\"'".contains(b));
            self.words += separators.count();
        }
        // A tag of usual attributes has two or three separators each, their values some more.
        if self.words > 8 * ATTRIBUTES_LIMIT {
            return Err(too_many_attributes());
        }
        Ok(())
    }
}

fn too_many_attributes() -> ExtractError {
    ExtractError::TooLarge { what: "attributes in one tag", limit: ATTRIBUTES_LIMIT }
}

/// The tree builder, and how many tokens it was given.
struct Counted {
    builder: TreeBuilder<usize, Page>,
    count: Cell<u64>,
}

impl Counted {
    fn page(&self) -> &Page {
        &self.builder.sink
    }
}

impl TokenSink for Counted {
    type Handle = usize;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<usize> {
        match &token {
            Token::ParseError(_) => {}
            Token::TagToken(tag) if tag.attrs.len() > ATTRIBUTES_LIMIT => {
                self.page().fail(too_many_attributes());
            }
            Token::TagToken(tag) => {
                self.page().burn(tag.attrs.len());
                self.count.set(self.count.get() + 1);
            }
            _ => self.count.set(self.count.get() + 1),
        }
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// A node while the page is built, when nodes still move.
#[derive(Debug)]
struct Node {
    kind: Kind,
    mathml_integration_point: bool,
    /// How deep it was when it was put where it is.
    depth: u16,
    attribute_count: u16,
    /// Of an element its name; of a text, where it begins in the page's text.
    name_or_start: u32,
    /// Of an element its first attribute, of a comment the attribute that keeps it; of a text, its
    /// length.
    attributes_or_length: u32,
    parent: u32,
    /// The sibling before it; of a first child, the last one.
    previous: u32,
    next: u32,
    first_child: u32,
}

/// How many names are looked for before the table of names is.
const RECENT_NAMES: usize = 64;

/// The number of no node.
const NONE: u32 = u32::MAX;

fn some(id: u32) -> Option<usize> {
    (id != NONE).then_some(id as usize)
}

/// Steps that html5ever may take beyond those that the length of the page allows.
const BASE_STEPS: u64 = 4_000_000;
/// Steps for each byte of a page. Real pages take about four.
const STEPS_PER_BYTE: u64 = 16;

/// What a page has too many of if its tags are deep in others or have many attributes.
const COMPARISONS: &str = "comparisons of tags with those around them";

/// The page while it is built.
#[derive(Debug)]
struct Page {
    bytes: usize,
    nodes: RefCell<Chunks<Node>>,
    /// All names of elements and attributes; the first one is empty.
    names: RefCell<Vec<QualName>>,
    name_ids: RefCell<HashMap<QualName, u32>>,
    /// Names that came lately, which are most of those that come.
    recent_names: RefCell<[Option<(QualName, u32)>; RECENT_NAMES]>,
    attributes: RefCell<Chunks<super::Attribute>>,
    /// All texts in the order in which they came.
    text: RefCell<String>,
    /// The values of attributes, and comments.
    asides: RefCell<String>,
    /// Misnested formatting elements are copied into each paragraph: without a limit, 1 MB of
    /// HTML can make a hundred million nodes.
    nodes_limit: usize,
    /// How deep the node is that was put somewhere last.
    depth: Cell<u16>,
    steps: Cell<u64>,
    failure: RefCell<Option<ExtractError>>,
}

impl Page {
    fn new(bytes: usize) -> Self {
        let page = Page {
            bytes,
            nodes: RefCell::new(Chunks::new()),
            names: RefCell::default(),
            name_ids: RefCell::default(),
            recent_names: RefCell::new([const { None }; RECENT_NAMES]),
            attributes: RefCell::new(Chunks::new()),
            text: RefCell::default(),
            asides: RefCell::default(),
            nodes_limit: super::nodes_limit(bytes).min(1000 + bytes),
            depth: Cell::new(0),
            steps: Cell::new(BASE_STEPS + STEPS_PER_BYTE * bytes as u64),
            failure: RefCell::default(),
        };
        page.name(QualName::new(None, Namespace::default(), LocalName::default()));
        page.create(Kind::Document, 0, 0);
        page
    }

    /// The first thing that went beyond a limit, if anything did.
    fn check(&self) -> Result<(), ExtractError> {
        self.failure.borrow().clone().map_or(Ok(()), Err)
    }

    fn fail(&self, error: ExtractError) {
        self.failure.borrow_mut().get_or_insert(error);
    }

    /// Takes the price of a tag: html5ever looks through the open elements, compares formatting
    /// elements with those that are open, and each attribute with all before it.
    fn burn(&self, attributes: usize) {
        let (depth, attributes) = (u64::from(self.depth.get()), attributes as u64);
        let steps = (1 + depth) * (1 + attributes) + attributes * attributes / 8;
        match self.steps.get().checked_sub(steps) {
            Some(left) => self.steps.set(left),
            None => {
                let limit = BASE_STEPS + STEPS_PER_BYTE * self.bytes as u64;
                self.fail(too_many(COMPARISONS, limit as usize));
            }
        }
    }

    fn name(&self, name: QualName) -> u32 {
        // Any spread will do: names that meet in one place are found in the table.
        let spread = name.local.unsafe_data().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let mut recent = self.recent_names.borrow_mut();
        let recent = &mut recent[spread as usize % RECENT_NAMES];
        if let Some((known, id)) = recent
            && *known == name
        {
            return *id;
        }
        let id = self.name_in_table(&name);
        *recent = Some((name, id));
        id
    }

    fn name_in_table(&self, name: &QualName) -> u32 {
        let mut ids = self.name_ids.borrow_mut();
        if let Some(id) = ids.get(name) {
            return *id;
        }
        let mut names = self.names.borrow_mut();
        if names.len() >= NAMES_LIMIT {
            self.fail(too_many("different names", NAMES_LIMIT));
        }
        let id = names.len() as u32;
        names.push(name.clone());
        ids.insert(name.clone(), id);
        id
    }

    fn create(&self, kind: Kind, name_or_start: u32, attributes_or_length: u32) -> usize {
        let mut nodes = self.nodes.borrow_mut();
        if nodes.len() >= self.nodes_limit {
            self.fail(too_many("nodes", self.nodes_limit));
        }
        nodes.push(Node {
            kind,
            mathml_integration_point: false,
            depth: 0,
            attribute_count: 0,
            name_or_start,
            attributes_or_length,
            parent: NONE,
            previous: NONE,
            next: NONE,
            first_child: NONE,
        });
        nodes.len() - 1
    }

    /// Keeps a value and gives the number of its attribute.
    fn keep(&self, name: u32, value: &str) -> u32 {
        let mut asides = self.asides.borrow_mut();
        let start = asides.len() as u32;
        append(&mut asides, value);
        let mut attributes = self.attributes.borrow_mut();
        if attributes.len() >= self.nodes_limit {
            self.fail(too_many("attributes", self.nodes_limit));
        }
        attributes.push(super::Attribute { name, value: start..asides.len() as u32 });
        attributes.len() as u32 - 1
    }

    /// Keeps the attributes of a tag and gives the number of the first.
    fn keep_all(&self, attributes: Vec<Attribute>) -> u32 {
        let first = self.attributes.borrow().len() as u32;
        for attribute in attributes {
            let name = self.name(attribute.name);
            self.keep(name, &attribute.value);
        }
        first
    }

    fn detach(&self, id: usize) {
        let mut nodes = self.nodes.borrow_mut();
        let Node { parent, previous, next, .. } = nodes[id];
        let Some(parent) = some(parent) else { return };
        let first = nodes[parent].first_child as usize;
        let is_first = first == id;
        match some(next) {
            Some(next) => nodes[next].previous = previous,
            // The first child knows the last one.
            None if !is_first => nodes[first].previous = previous,
            None => {}
        }
        match is_first {
            true => nodes[parent].first_child = next,
            false => nodes[previous as usize].next = next,
        }
        let node = &mut nodes[id];
        (node.parent, node.previous, node.next) = (NONE, NONE, NONE);
    }

    fn parent(&self, id: usize) -> Option<usize> {
        some(self.nodes.borrow()[id].parent)
    }

    fn last_child(&self, parent: usize) -> Option<usize> {
        let nodes = self.nodes.borrow();
        some(nodes[parent].first_child).map(|first| nodes[first].previous as usize)
    }

    /// The sibling before a node that has a parent.
    fn previous(&self, id: usize) -> Option<usize> {
        let nodes = self.nodes.borrow();
        let is_first = some(nodes[id].parent).map(|parent| nodes[parent].first_child as usize);
        (is_first != Some(id)).then(|| some(nodes[id].previous)).flatten()
    }

    /// Puts a node without parent into `parent`, before `next` or as the last child.
    fn insert(&self, id: usize, parent: usize, next: Option<usize>) {
        let before = match next {
            Some(next) => self.previous(next),
            None => self.last_child(parent),
        };
        let mut nodes = self.nodes.borrow_mut();
        let first = some(nodes[parent].first_child);
        // The first child knows the last one.
        let last = first.map_or(id, |first| nodes[first].previous as usize);
        let depth = nodes[parent].depth + 1;
        let node = &mut nodes[id];
        node.parent = parent as u32;
        node.next = next.map_or(NONE, |next| next as u32);
        node.depth = depth;
        match before {
            Some(before) => {
                nodes[id].previous = before as u32;
                nodes[before].next = id as u32;
            }
            None => {
                nodes[id].previous = last as u32;
                nodes[parent].first_child = id as u32;
            }
        }
        match (next, first) {
            (Some(next), _) => nodes[next].previous = id as u32,
            (None, Some(first)) => nodes[first].previous = id as u32,
            (None, None) => {}
        }
        if nodes[id].kind == Kind::Element {
            self.depth.set(depth);
            if usize::from(depth) > DEPTH_LIMIT {
                // Never near the end of the numbers: after each piece, errors are looked for.
                self.fail(ExtractError::TooDeep { limit: DEPTH_LIMIT });
                nodes[id].depth = DEPTH_LIMIT as u16;
            }
        }
    }

    fn place(&self, child: NodeOrText<usize>, parent: usize, next: Option<usize>) {
        let text = match child {
            NodeOrText::AppendNode(id) => {
                self.detach(id);
                return self.insert(id, parent, next);
            }
            NodeOrText::AppendText(text) => text,
        };
        let previous = match next {
            Some(next) => self.previous(next),
            None => self.last_child(parent),
        };
        let mut all = self.text.borrow_mut();
        let (start, length) = (all.len() as u32, text.len32());
        append(&mut all, &text);
        // A text that is not the last of the page is not moved to grow: it gets a sibling, and
        // both become one in the finished page.
        if let Some(id) = previous {
            let node = &mut self.nodes.borrow_mut()[id];
            let end = node.name_or_start.wrapping_add(node.attributes_or_length);
            if node.kind == Kind::Text && end == start {
                node.attributes_or_length += length;
                return;
            }
        }
        let id = self.create(Kind::Text, start, length);
        self.insert(id, parent, next);
    }

    /// Calls `enter` for each node below the document in document order, and `leave` behind the
    /// last descendant of each element.
    fn traverse(&self, mut enter: impl FnMut(&Node), mut leave: impl FnMut()) {
        let nodes = self.nodes.borrow();
        let mut next = some(nodes[0].first_child);
        while let Some(id) = next {
            enter(&nodes[id]);
            next = some(nodes[id].first_child);
            let mut up = Some(id);
            while let (None, Some(id)) = (next, up) {
                if nodes[id].kind == Kind::Element {
                    leave();
                }
                next = some(nodes[id].next);
                up = some(nodes[id].parent);
            }
        }
    }

    /// The finished page in document order.
    fn flatten(self) -> Result<Tree, ExtractError> {
        let (mut length, mut in_order, mut deepest) = (0, true, 0);
        let level = Cell::new(0);
        self.traverse(
            |node| match node.kind {
                Kind::Text => {
                    in_order &= node.name_or_start == length;
                    length += node.attributes_or_length;
                }
                Kind::Element => {
                    level.set(level.get() + 1);
                    deepest = deepest.max(level.get());
                }
                _ => {}
            },
            || level.set(level.get() - 1),
        );
        if deepest > DEPTH_LIMIT {
            return Err(ExtractError::TooDeep { limit: DEPTH_LIMIT });
        }
        let mut all = self.text.take();
        in_order &= all.len() == length as usize;
        if !in_order {
            all = self.text_in_order(&all, length as usize);
        }
        let tree = Tree {
            nodes: Chunks::new(),
            attributes: self.attributes.replace(Chunks::new()),
            names: self.names.take().iter().map(written).collect(),
            text: all,
            asides: self.asides.take(),
            dialect: Dialect::Html,
        };
        let builder = RefCell::new(Builder::with_parts(tree, self.bytes));
        self.traverse(
            |node| {
                let mut builder = builder.borrow_mut();
                match node.kind {
                    Kind::Element => builder.open_with(
                        node.name_or_start,
                        node.attributes_or_length,
                        node.attribute_count,
                    ),
                    Kind::Text => builder.text_in_place(node.attributes_or_length as usize),
                    _ => {
                        builder.push(Kind::Comment, super::NO_NAME, node.attributes_or_length, 0);
                    }
                }
            },
            || builder.borrow_mut().close(),
        );
        builder.into_inner().finish()
    }

    /// The texts in document order, if some came in another one.
    fn text_in_order(&self, all: &str, length: usize) -> String {
        let mut text = String::with_capacity(length);
        self.traverse(
            |node| {
                if node.kind == Kind::Text {
                    let start = node.name_or_start as usize;
                    let end = start + node.attributes_or_length as usize;
                    text.push_str(all.get(start..end).unwrap_or_default());
                }
            },
            || (),
        );
        text
    }
}

/// A name as it is written in a document.
fn written(name: &QualName) -> Box<str> {
    match &name.prefix {
        Some(prefix) if !prefix.is_empty() => format!("{prefix}:{}", name.local).into(),
        _ => (*name.local).into(),
    }
}

/// A look at the name of an element in the page.
#[derive(Debug)]
struct NameRef<'p>(Ref<'p, QualName>);

impl ElemName for NameRef<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl TreeSink for Page {
    type Handle = usize;
    type Output = ();
    type ElemName<'a> = NameRef<'a>;

    fn finish(self) {}

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> usize {
        0
    }

    fn elem_name<'a>(&'a self, target: &'a usize) -> NameRef<'a> {
        // Asked for elements only; for others, it would be another name.
        let name = self.nodes.borrow()[*target].name_or_start as usize;
        NameRef(Ref::map(self.names.borrow(), |names| names.get(name).unwrap_or(&names[0])))
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> usize {
        // Beyond the limit there is an error, and how many it were does not matter.
        let count = attrs.len().min(ATTRIBUTES_LIMIT) as u16;
        let name = self.name(name);
        let id = self.create(Kind::Element, name, self.keep_all(attrs));
        let node = &mut self.nodes.borrow_mut()[id];
        node.attribute_count = count;
        node.mathml_integration_point = flags.mathml_annotation_xml_integration_point;
        id
    }

    fn create_comment(&self, text: StrTendril) -> usize {
        self.create(Kind::Comment, 0, self.keep(super::NO_NAME, &text))
    }

    fn create_pi(&self, _: StrTendril, data: StrTendril) -> usize {
        // HTML has no instructions: its parser makes them comments.
        self.create_comment(data)
    }

    fn append(&self, parent: &usize, child: NodeOrText<usize>) {
        self.place(child, *parent, None);
    }

    fn append_based_on_parent_node(
        &self,
        element: &usize,
        prev_element: &usize,
        child: NodeOrText<usize>,
    ) {
        match self.parent(*element) {
            Some(parent) => self.place(child, parent, Some(*element)),
            None => self.place(child, *prev_element, None),
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &usize) -> usize {
        // The content of a template is found like any other.
        *target
    }

    fn same_node(&self, x: &usize, y: &usize) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &usize, new_node: NodeOrText<usize>) {
        if let Some(parent) = self.parent(*sibling) {
            self.place(new_node, parent, Some(*sibling));
        }
    }

    fn add_attrs_if_missing(&self, target: &usize, attrs: Vec<Attribute>) {
        let Node { attributes_or_length: first, attribute_count: count, .. } =
            self.nodes.borrow()[*target];
        let missing: Vec<Attribute> = {
            let (names, known) = (self.names.borrow(), self.attributes.borrow());
            let has = |name: &QualName| {
                (first..first + u32::from(count))
                    .any(|at| names[known[at as usize].name as usize] == *name)
            };
            attrs.into_iter().filter(|attribute| !has(&attribute.name)).collect()
        };
        if missing.is_empty() {
            return;
        }
        self.burn(usize::from(count));
        let total = usize::from(count) + missing.len();
        if total > ATTRIBUTES_LIMIT {
            return self.fail(too_many_attributes());
        }
        // All attributes of an element stand together.
        let moved = self.attributes.borrow().len() as u32;
        for at in first..first + u32::from(count) {
            let mut attributes = self.attributes.borrow_mut();
            let super::Attribute { name, value } = &attributes[at as usize];
            let copy = super::Attribute { name: *name, value: value.clone() };
            attributes.push(copy);
        }
        self.keep_all(missing);
        let node = &mut self.nodes.borrow_mut()[*target];
        (node.attributes_or_length, node.attribute_count) = (moved, total as u16);
    }

    fn remove_from_parent(&self, target: &usize) {
        self.detach(*target);
    }

    fn reparent_children(&self, node: &usize, new_parent: &usize) {
        loop {
            let child = some(self.nodes.borrow()[*node].first_child);
            let Some(child) = child else { return };
            self.detach(child);
            self.insert(child, *new_parent, None);
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &usize) -> bool {
        self.nodes.borrow()[*handle].mathml_integration_point
    }
}
