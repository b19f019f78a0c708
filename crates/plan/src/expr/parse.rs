//! Words to a tree, by precedence.

use super::lex::{SyntaxError, Token, TokenKind, tokens};
use crate::value::Value;

/// Longest source, in bytes.
const MAX_SOURCE: usize = 16 << 10;
/// Most nodes of a tree: it is walked by recursion.
const MAX_NODES: usize = 1_000;
/// Deepest nesting of brackets.
const MAX_DEPTH: usize = 64;

/// A part of an expression.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub kind: NodeKind,
    /// Where it begins, in characters.
    pub at: usize,
}

#[derive(Debug, Clone)]
pub(super) enum NodeKind {
    Constant(Value),
    /// A name, and the names behind its dots.
    Path(Vec<String>),
    Field(Box<Node>, String),
    Index(Box<Node>, Box<Node>),
    /// A function; `x.f(y)` is `f(x, y)`.
    Call(String, Vec<Node>),
    Not(Box<Node>),
    Minus(Box<Node>),
    Binary(&'static str, Box<Node>, Box<Node>),
    If(Box<Node>, Box<Node>, Box<Node>),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    /// `has(a.b)`: whether the field is there. `has(a)`: whether the variable has a value.
    Has(Box<Node>),
    /// A macro over a list: its name, the list, the parameter, the body.
    Over(&'static str, Box<Node>, String, Box<Node>),
}

impl Node {
    pub(super) fn constant(value: Value) -> Node {
        Node { kind: NodeKind::Constant(value), at: 0 }
    }
}

/// Where a name is compared with a text, and the text.
pub(super) fn compared_with_text(node: &Node, name: &str) -> Option<(String, usize)> {
    let is_name = |node: &Node| matches!(&node.kind, NodeKind::Path(path) if *path == [name]);
    match &node.kind {
        NodeKind::Binary("==" | "!=" | "<" | "<=" | ">" | ">=", a, b) => match (&a.kind, &b.kind) {
            (_, NodeKind::Constant(Value::Text(text))) if is_name(a) => {
                Some((text.to_string(), b.at))
            }
            (NodeKind::Constant(Value::Text(text)), _) if is_name(b) => {
                Some((text.to_string(), a.at))
            }
            _ => None,
        },
        NodeKind::Binary("in", a, b) if is_name(a) => {
            let NodeKind::List(items) = &b.kind else { return None };
            items.iter().find_map(|item| match &item.kind {
                NodeKind::Constant(Value::Text(text)) => Some((text.to_string(), item.at)),
                _ => None,
            })
        }
        NodeKind::Binary(_, a, b) => {
            compared_with_text(a, name).or_else(|| compared_with_text(b, name))
        }
        NodeKind::Not(inner) => compared_with_text(inner, name),
        _ => None,
    }
}

const MACROS: [&str; 5] = ["all", "exists", "exists_one", "map", "filter"];

/// Operators by how tightly they bind.
fn precedence(sign: &str) -> Option<u8> {
    Some(match sign {
        "||" => 1,
        "&&" => 2,
        "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" => 3,
        "+" | "-" => 4,
        "*" | "/" | "%" => 5,
        _ => return None,
    })
}

pub(super) fn parse(source: &str) -> Result<Node, SyntaxError> {
    if source.len() > MAX_SOURCE {
        return Err(SyntaxError::new(0, "the expression is longer than 16 KiB"));
    }
    let mut parser = Parser { tokens: tokens(source)?, next: 0, depth: 0, nodes: 0 };
    let node = parser.expression()?;
    match parser.peek() {
        Token { kind: TokenKind::End, .. } => Ok(node),
        token => {
            let error = SyntaxError::new(token.at, format!("unexpected {}", show(&token.kind)));
            Err(SyntaxError { help: parser.meant(), ..error })
        }
    }
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
    nodes: usize,
}

fn show(kind: &TokenKind) -> String {
    match kind {
        TokenKind::Literal(value) => format!("`{value}`"),
        TokenKind::Name(name) => format!("`{name}`"),
        TokenKind::Sign(sign) => format!("`{sign}`"),
        TokenKind::End => "the end of the expression".to_owned(),
    }
}

/// Words that other languages have for operators.
const FOREIGN_OPERATORS: [(&str, &str); 9] = [
    ("and", "&&"),
    ("or", "||"),
    ("is", "=="),
    ("eq", "=="),
    ("equals", "=="),
    ("gt", ">"),
    ("lt", "<"),
    ("gte", ">="),
    ("lte", "<="),
];
/// Words between two values that are functions of the first here, and those.
const FOREIGN_RELATIONS: [(&str, &str); 8] = [
    ("contains", "contains"),
    ("includes", "contains"),
    ("matches", "matches"),
    ("like", "contains"),
    ("startsWith", "startsWith"),
    ("starts_with", "startsWith"),
    ("endsWith", "endsWith"),
    ("ends_with", "endsWith"),
];

impl Parser {
    /// What was meant by a word that stands where an operator was expected.
    fn meant(&self) -> Option<String> {
        let TokenKind::Name(word) = &self.peek().kind else { return None };
        if let Some((_, sign)) = FOREIGN_OPERATORS.iter().find(|(theirs, _)| theirs == word) {
            return Some(format!("write `{sign}`"));
        }
        let (_, function) = FOREIGN_RELATIONS.iter().find(|(theirs, _)| theirs == word)?;
        let before = self.next.checked_sub(1).and_then(|at| self.tokens.get(at));
        let subject = match before.map(|token| &token.kind) {
            Some(TokenKind::Name(name)) => name.as_str(),
            _ => "body",
        };
        let text = match self.tokens.get(self.next + 1).map(|token| &token.kind) {
            Some(TokenKind::Literal(Value::Text(text))) => text.to_string(),
            _ => "...".to_owned(),
        };
        Some(format!("write `{subject}.{function}(\"{text}\")`"))
    }

    fn peek(&self) -> &Token {
        // The last token is the end, and it is never passed.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    fn takes(&mut self, sign: &str) -> bool {
        let found = matches!(&self.peek().kind, TokenKind::Sign(own) if *own == sign);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), SyntaxError> {
        if self.takes(sign) {
            return Ok(());
        }
        let token = self.peek();
        Err(SyntaxError::new(token.at, format!("expected `{sign}`, found {}", show(&token.kind))))
    }

    fn node(&mut self, at: usize, kind: NodeKind) -> Result<Node, SyntaxError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(SyntaxError::new(at, "the expression has more than 1,000 parts"));
        }
        Ok(Node { kind, at })
    }

    fn expression(&mut self) -> Result<Node, SyntaxError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(SyntaxError::new(
                self.peek().at,
                "the expression is nested more than 64 levels deep",
            ));
        }
        let at = self.peek().at;
        let condition = self.binary(1)?;
        let node = if self.takes("?") {
            let then = self.expression()?;
            self.expect(":")?;
            let otherwise = self.expression()?;
            self.node(at, NodeKind::If(Box::new(condition), Box::new(then), Box::new(otherwise)))?
        } else {
            condition
        };
        self.depth -= 1;
        Ok(node)
    }

    fn binary(&mut self, least: u8) -> Result<Node, SyntaxError> {
        let mut left = self.unary()?;
        loop {
            let Token { kind: TokenKind::Sign(sign), at } = *self.peek() else { return Ok(left) };
            let Some(level) = precedence(sign).filter(|level| *level >= least) else {
                return Ok(left);
            };
            self.next += 1;
            let right = self.binary(level + 1)?;
            left = self.node(at, NodeKind::Binary(sign, Box::new(left), Box::new(right)))?;
        }
    }

    fn unary(&mut self) -> Result<Node, SyntaxError> {
        let at = self.peek().at;
        let mut signs = Vec::new();
        loop {
            if self.takes("!") {
                signs.push('!');
            } else if self.takes("-") {
                signs.push('-');
            } else {
                break;
            }
        }
        let mut node = self.postfix()?;
        while let Some(sign) = signs.pop() {
            node = match (sign, node.kind) {
                ('-', NodeKind::Constant(Value::Int(n))) => {
                    self.node(at, NodeKind::Constant(Value::Int(-n)))?
                }
                ('-', NodeKind::Constant(Value::Float(n))) => {
                    self.node(at, NodeKind::Constant(Value::Float(-n)))?
                }
                ('-', kind) => {
                    let inner = Node { kind, at: node.at };
                    self.node(at, NodeKind::Minus(Box::new(inner)))?
                }
                (_, kind) => {
                    let inner = Node { kind, at: node.at };
                    self.node(at, NodeKind::Not(Box::new(inner)))?
                }
            };
        }
        Ok(node)
    }

    fn postfix(&mut self) -> Result<Node, SyntaxError> {
        let mut node = self.primary()?;
        loop {
            let at = self.peek().at;
            if self.takes(".") {
                let token = self.advance();
                let TokenKind::Name(name) = token.kind else {
                    return Err(SyntaxError::new(
                        token.at,
                        format!("expected a name after the dot, found {}", show(&token.kind)),
                    ));
                };
                node = if self.takes("(") {
                    self.method(node, name, at)?
                } else {
                    self.field(node, name)?
                };
            } else if self.takes("[") {
                let index = self.expression()?;
                self.expect("]")?;
                node = self.node(at, NodeKind::Index(Box::new(node), Box::new(index)))?;
            } else {
                return Ok(node);
            }
        }
    }

    fn field(&mut self, node: Node, name: String) -> Result<Node, SyntaxError> {
        match node.kind {
            NodeKind::Path(mut path) => {
                // Each name may become a field of the one before: it counts as a part.
                path.push(name);
                self.node(node.at, NodeKind::Path(path))
            }
            kind => {
                let at = node.at;
                self.node(at, NodeKind::Field(Box::new(Node { kind, at }), name))
            }
        }
    }

    /// `node.name(`: a macro or a function with the node as its first argument.
    fn method(&mut self, node: Node, name: String, at: usize) -> Result<Node, SyntaxError> {
        let Some(known) = MACROS.iter().find(|known| **known == name) else {
            let mut args = vec![node];
            self.arguments(&mut args)?;
            return self.node(at, NodeKind::Call(name, args));
        };
        let token = self.advance();
        let TokenKind::Name(parameter) = token.kind else {
            return Err(SyntaxError::new(
                token.at,
                format!("`{name}` takes a name and an expression: list.{name}(x, x > 1)"),
            ));
        };
        self.expect(",")?;
        let body = self.expression()?;
        self.expect(")")?;
        self.node(at, NodeKind::Over(known, Box::new(node), parameter, Box::new(body)))
    }

    fn arguments(&mut self, args: &mut Vec<Node>) -> Result<(), SyntaxError> {
        if self.takes(")") {
            return Ok(());
        }
        loop {
            args.push(self.expression()?);
            if self.takes(")") {
                return Ok(());
            }
            self.expect(",")?;
        }
    }

    fn primary(&mut self) -> Result<Node, SyntaxError> {
        let token = self.advance();
        match token.kind {
            TokenKind::Literal(value) => self.node(token.at, NodeKind::Constant(value)),
            TokenKind::Name(name) if self.takes("(") => self.call(name, token.at),
            TokenKind::Name(name) => self.node(token.at, NodeKind::Path(vec![name])),
            TokenKind::Sign("(") => {
                let node = self.expression()?;
                self.expect(")")?;
                Ok(node)
            }
            TokenKind::Sign("[") => self.list(token.at),
            TokenKind::Sign("{") => self.map(token.at),
            kind => {
                Err(SyntaxError::new(token.at, format!("expected a value, found {}", show(&kind))))
            }
        }
    }

    fn call(&mut self, name: String, at: usize) -> Result<Node, SyntaxError> {
        let mut args = Vec::new();
        self.arguments(&mut args)?;
        if name != "has" {
            return self.node(at, NodeKind::Call(name, args));
        }
        match <[Node; 1]>::try_from(args) {
            Ok([node]) if matches!(&node.kind, NodeKind::Field(..) | NodeKind::Path(_)) => {
                self.node(at, NodeKind::Has(Box::new(node)))
            }
            _ => Err(SyntaxError::new(at, "has() takes a variable or a field: has(a.b)")),
        }
    }

    fn list(&mut self, at: usize) -> Result<Node, SyntaxError> {
        let mut items = Vec::new();
        while !self.takes("]") {
            items.push(self.expression()?);
            if !self.takes(",") {
                self.expect("]")?;
                break;
            }
        }
        self.node(at, NodeKind::List(items))
    }

    fn map(&mut self, at: usize) -> Result<Node, SyntaxError> {
        let mut entries = Vec::new();
        while !self.takes("}") {
            let key = self.expression()?;
            self.expect(":")?;
            entries.push((key, self.expression()?));
            if !self.takes(",") {
                self.expect("}")?;
                break;
            }
        }
        self.node(at, NodeKind::Map(entries))
    }
}

/// The dotted names in a tree that are no parameters of macros, and where they stand.
pub(super) fn names(node: &Node) -> Vec<(Vec<String>, usize)> {
    let mut found = Vec::new();
    gather(node, &mut Vec::new(), &mut found);
    found
}

fn gather(node: &Node, parameters: &mut Vec<String>, found: &mut Vec<(Vec<String>, usize)>) {
    match &node.kind {
        NodeKind::Constant(_) => {}
        NodeKind::Path(path) if parameters.contains(&path[0]) => {}
        NodeKind::Path(path) => found.push((path.clone(), node.at)),
        NodeKind::Field(inner, _)
        | NodeKind::Not(inner)
        | NodeKind::Minus(inner)
        | NodeKind::Has(inner) => {
            gather(inner, parameters, found);
        }
        NodeKind::Index(a, b) | NodeKind::Binary(_, a, b) => {
            gather(a, parameters, found);
            gather(b, parameters, found);
        }
        NodeKind::If(a, b, c) => {
            [a, b, c].into_iter().for_each(|node| gather(node, parameters, found))
        }
        NodeKind::Call(_, nodes) | NodeKind::List(nodes) => {
            nodes.iter().for_each(|node| gather(node, parameters, found))
        }
        NodeKind::Map(entries) => entries.iter().for_each(|(key, value)| {
            gather(key, parameters, found);
            gather(value, parameters, found);
        }),
        NodeKind::Over(_, list, parameter, body) => {
            gather(list, parameters, found);
            parameters.push(parameter.clone());
            gather(body, parameters, found);
            parameters.pop();
        }
    }
}
