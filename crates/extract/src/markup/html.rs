//! HTML into a tree, by html5ever: the algorithm that browsers follow, so that every text is a
//! page. Two things html5ever does not bound are bounded here: nesting and attributes, in both of
//! which it takes quadratic time.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};

use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::TokenizerResult;
use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, LocalName, Namespace, QualName};

use super::{ATTRIBUTES_LIMIT, Builder, DEPTH_LIMIT, Dialect, Tree};
use crate::ExtractError;

/// The parser is fed in pieces of at most this size and looked at in between.
const PIECE: usize = 4096;

/// Reads a page.
pub(super) fn parse(html: &str) -> Result<Tree, ExtractError> {
    // Without scripting, what is in <noscript> is part of the page.
    let options = TreeBuilderOpts { scripting_enabled: false, ..Default::default() };
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
    tokenizer.sink.page().check()?;
    tokenizer.sink.page().flatten()
}

/// Cuts a text before each `<` and after [`PIECE`] bytes, so that a token that spans pieces
/// begins with one. The pieces share the memory of one copy.
fn pieces(html: &str) -> impl Iterator<Item = StrTendril> {
    let mut rest = StrTendril::from_slice(html);
    std::iter::from_fn(move || {
        let limit = rest.floor_char_boundary(PIECE);
        // The first byte may be the `<` at which the last piece ended.
        let after_first = rest.as_bytes().get(1..limit)?;
        let length = memchr::memchr(b'<', after_first).map_or(limit, |at| at + 1);
        let length32 = u32::try_from(length).ok()?;
        let piece = rest.subtendril(0, length32);
        rest.pop_front(length32);
        Some(piece)
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
    data: Data,
    links: Links,
}

/// Numbers of other nodes.
#[derive(Debug, Default, Clone, Copy)]
struct Links {
    parent: Option<usize>,
    previous: Option<usize>,
    next: Option<usize>,
    first_child: Option<usize>,
    last_child: Option<usize>,
}

#[derive(Debug)]
enum Data {
    Document,
    Element { name: QualName, attributes: Vec<Attribute>, mathml_integration_point: bool },
    Text(StrTendril),
    Comment(StrTendril),
}

/// The page while it is built.
#[derive(Debug)]
struct Page {
    nodes: RefCell<Vec<Node>>,
    /// Misnested formatting elements are copied into each paragraph: without a limit, 1 MB of
    /// HTML can make a hundred million nodes.
    nodes_limit: usize,
    failure: RefCell<Option<ExtractError>>,
}

impl Page {
    fn new(bytes: usize) -> Self {
        let mut nodes = Vec::with_capacity(16 + bytes / 64);
        nodes.push(Node { data: Data::Document, links: Links::default() });
        Page { nodes: RefCell::new(nodes), nodes_limit: 1000 + bytes, failure: RefCell::new(None) }
    }

    /// The first thing that went beyond a limit, if anything did.
    fn check(&self) -> Result<(), ExtractError> {
        self.failure.borrow().clone().map_or(Ok(()), Err)
    }

    fn fail(&self, error: ExtractError) {
        self.failure.borrow_mut().get_or_insert(error);
    }

    fn create(&self, data: Data) -> usize {
        let mut nodes = self.nodes.borrow_mut();
        if nodes.len() >= self.nodes_limit {
            self.fail(ExtractError::TooLarge { what: "nodes", limit: self.nodes_limit });
        }
        nodes.push(Node { data, links: Links::default() });
        nodes.len() - 1
    }

    fn links(&self, id: usize) -> Links {
        self.nodes.borrow()[id].links
    }

    fn update(&self, id: Option<usize>, change: impl FnOnce(&mut Links)) {
        if let Some(id) = id {
            change(&mut self.nodes.borrow_mut()[id].links);
        }
    }

    fn detach(&self, id: usize) {
        let Links { parent, previous, next, .. } = self.links(id);
        match previous {
            Some(_) => self.update(previous, |links| links.next = next),
            None => self.update(parent, |links| links.first_child = next),
        }
        match next {
            Some(_) => self.update(next, |links| links.previous = previous),
            None => self.update(parent, |links| links.last_child = previous),
        }
        self.update(Some(id), |links| {
            (links.parent, links.previous, links.next) = (None, None, None);
        });
    }

    /// Puts a node without parent into `parent`, before `next` or as the last child.
    fn insert(&self, id: usize, parent: usize, next: Option<usize>) {
        let previous = match next {
            Some(next) => self.links(next).previous,
            None => self.links(parent).last_child,
        };
        self.update(Some(id), |links| {
            (links.parent, links.previous, links.next) = (Some(parent), previous, next);
        });
        match previous {
            Some(_) => self.update(previous, |links| links.next = Some(id)),
            None => self.update(Some(parent), |links| links.first_child = Some(id)),
        }
        match next {
            Some(_) => self.update(next, |links| links.previous = Some(id)),
            None => self.update(Some(parent), |links| links.last_child = Some(id)),
        }
        self.check_depth(id);
    }

    /// Looks at the ancestors and not at a stored depth, because subtrees move.
    fn check_depth(&self, id: usize) {
        let nodes = self.nodes.borrow();
        let ancestors = std::iter::successors(nodes[id].links.parent, |id| nodes[*id].links.parent);
        if ancestors.take(DEPTH_LIMIT + 2).count() > DEPTH_LIMIT + 1 {
            self.fail(ExtractError::TooDeep { limit: DEPTH_LIMIT });
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
            Some(next) => self.links(next).previous,
            None => self.links(parent).last_child,
        };
        if let Some(id) = previous
            && let Data::Text(before) = &mut self.nodes.borrow_mut()[id].data
        {
            return before.push_tendril(&text);
        }
        let id = self.create(Data::Text(text));
        self.insert(id, parent, next);
    }

    /// The finished page in document order.
    fn flatten(&self) -> Result<Tree, ExtractError> {
        let nodes = self.nodes.borrow();
        let mut tree = Builder::new(Dialect::Html);
        let mut next = nodes[0].links.first_child;
        while let Some(id) = next {
            let Node { data, links } = &nodes[id];
            add(&mut tree, data);
            next = links.first_child;
            let mut up = Some(id);
            while let (None, Some(id)) = (next, up) {
                if matches!(nodes[id].data, Data::Element { .. }) {
                    tree.close();
                }
                next = nodes[id].links.next;
                up = nodes[id].links.parent;
            }
        }
        tree.finish()
    }
}

/// Adds a node, leaving elements open.
fn add(tree: &mut Builder, data: &Data) {
    match data {
        Data::Document => {}
        Data::Element { name, attributes, .. } => {
            tree.open(&name.local);
            for attribute in attributes {
                match &attribute.name.prefix {
                    Some(prefix) if !prefix.is_empty() => tree
                        .attribute(&format!("{prefix}:{}", attribute.name.local), &attribute.value),
                    _ => tree.attribute(&attribute.name.local, &attribute.value),
                }
            }
        }
        Data::Text(text) => tree.text(text),
        Data::Comment(text) => tree.comment(text),
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
        NameRef(Ref::map(self.nodes.borrow(), |nodes| match &nodes[*target].data {
            Data::Element { name, .. } => name,
            _ => unreachable!("html5ever asks for the names of elements only"),
        }))
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> usize {
        let mathml_integration_point = flags.mathml_annotation_xml_integration_point;
        self.create(Data::Element { name, attributes: attrs, mathml_integration_point })
    }

    fn create_comment(&self, text: StrTendril) -> usize {
        self.create(Data::Comment(text))
    }

    fn create_pi(&self, _: StrTendril, data: StrTendril) -> usize {
        // HTML has no instructions: its parser makes them comments.
        self.create(Data::Comment(data))
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
        match self.links(*element).parent {
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
        if let Some(parent) = self.links(*sibling).parent {
            self.place(new_node, parent, Some(*sibling));
        }
    }

    fn add_attrs_if_missing(&self, target: &usize, attrs: Vec<Attribute>) {
        let mut nodes = self.nodes.borrow_mut();
        let Data::Element { attributes, .. } = &mut nodes[*target].data else { return };
        for attr in attrs {
            if attributes.iter().all(|a| a.name != attr.name) {
                attributes.push(attr);
            }
        }
        if attributes.len() > ATTRIBUTES_LIMIT {
            self.fail(too_many_attributes());
        }
    }

    fn remove_from_parent(&self, target: &usize) {
        self.detach(*target);
    }

    fn reparent_children(&self, node: &usize, new_parent: &usize) {
        while let Some(child) = self.links(*node).first_child {
            self.detach(child);
            self.insert(child, *new_parent, None);
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &usize) -> bool {
        matches!(
            self.nodes.borrow()[*handle].data,
            Data::Element { mathml_integration_point: true, .. }
        )
    }
}
