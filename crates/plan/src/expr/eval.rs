//! Evaluates a bound tree. Comparisons of variables with constants copy and allocate nothing.
//!
//! Bounded: what one evaluation may do ([`MAX_WORK`]), and how large a value it may make
//! ([`Value::fits`]), so that no plan and no response of a server holds up a worker or fills its memory.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::functions::Call;
use super::{EvalError, FunctionId, Scope, Slot};
use crate::value::{AsKey, Key, KeyRef, MAX_DEPTH, MAX_WEIGHT, Map, Value, ValueRef};

/// An expression bound to slots.
#[derive(Debug)]
pub(super) enum Tree {
    Constant(Value),
    /// A variable, and its name.
    Slot(Slot, Arc<str>),
    /// Whether a variable has a value.
    HasSlot(Slot),
    /// A parameter of the macros around, 0 the innermost one.
    Parameter(usize),
    Field(Box<Tree>, Arc<str>),
    Has(Box<Tree>, Arc<str>),
    Index(Box<Tree>, Box<Tree>),
    Call(Call, Vec<Tree>),
    Extern(FunctionId, Vec<Tree>),
    Not(Box<Tree>),
    Minus(Box<Tree>),
    Binary(Op, Box<Tree>, Box<Tree>),
    If(Box<Tree>, Box<Tree>, Box<Tree>),
    List(Vec<Tree>),
    Map(Vec<(Tree, Tree)>),
    Over(Macro, Box<Tree>, Box<Tree>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Or,
    And,
    Equal,
    NotEqual,
    Below,
    AtMost,
    Above,
    AtLeast,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Op {
    pub(super) fn of(sign: &str) -> Op {
        match sign {
            "||" => Op::Or,
            "&&" => Op::And,
            "==" => Op::Equal,
            "!=" => Op::NotEqual,
            "<" => Op::Below,
            "<=" => Op::AtMost,
            ">" => Op::Above,
            ">=" => Op::AtLeast,
            "in" => Op::In,
            "+" => Op::Add,
            "-" => Op::Subtract,
            "*" => Op::Multiply,
            "/" => Op::Divide,
            // The parser makes no other.
            _ => Op::Remainder,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Macro {
    All,
    Exists,
    ExistsOne,
    Map,
    Filter,
}

impl Macro {
    pub(super) fn of(name: &str) -> Macro {
        match name {
            "all" => Macro::All,
            "exists" => Macro::Exists,
            "exists_one" => Macro::ExistsOne,
            "map" => Macro::Map,
            // The parser makes no other.
            _ => Macro::Filter,
        }
    }
}

/// A value, here or elsewhere.
pub(super) enum Evaluated<'a> {
    Ref(ValueRef<'a>),
    Own(Value),
    /// That of a variable of this name which was never given one: null to all operations.
    Unset(&'a str),
}

impl Evaluated<'_> {
    #[inline]
    pub(super) fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Evaluated::Ref(value) => *value,
            Evaluated::Own(value) => value.as_ref(),
            Evaluated::Unset(_) => ValueRef::Null,
        }
    }

    pub(super) fn into_value(self) -> Value {
        match self {
            Evaluated::Ref(value) => value.to_value(),
            Evaluated::Own(value) => value,
            Evaluated::Unset(_) => Value::Null,
        }
    }

    /// The value, to keep or to hand out: it has to be one that was given.
    pub(super) fn given(self) -> Result<Value> {
        match self {
            Evaluated::Unset(name) => Err(EvalError::unset(name)),
            value => Ok(value.into_value()),
        }
    }
}

/// Most work of one evaluation: elements that macros looked at, and pieces of 64 bytes of texts that
/// were read or made. About half a second.
const MAX_WORK: usize = 5_000_000;

/// What is left of [`MAX_WORK`].
pub(super) struct Budget(Cell<usize>);

impl Budget {
    pub(super) fn new() -> Budget {
        Budget(Cell::new(MAX_WORK))
    }

    /// Takes off the work on so many bytes.
    pub(super) fn bytes(&self, bytes: usize) -> Result<()> {
        self.items(bytes / 64)
    }

    /// Takes off the work on so many elements.
    pub(super) fn items(&self, items: usize) -> Result<()> {
        let left = self.0.get().checked_sub(items);
        self.0.set(left.ok_or_else(|| EvalError::new("the expression takes too long"))?);
        Ok(())
    }
}

/// What an evaluation looks at.
#[derive(Clone, Copy)]
pub(super) struct Context<'a, 'f> {
    pub scope: &'a dyn Scope,
    pub budget: &'f Budget,
    pub frame: Option<&'f Frame<'f>>,
}

/// Parameters of the macros around, innermost first.
#[derive(Clone, Copy)]
pub(super) struct Frame<'f> {
    value: &'f Value,
    outer: Option<&'f Frame<'f>>,
}

type Result<T> = std::result::Result<T, EvalError>;

/// A value that an expression made, if it is not too large.
pub(super) fn checked(value: Value) -> Result<Value> {
    if value.fits() { Ok(value) } else { Err(too_large()) }
}

pub(super) fn too_large() -> EvalError {
    EvalError::new("the value would be larger than 16 MiB, or nested too deeply")
}

impl Tree {
    /// Whether it has the same value wherever it is evaluated.
    pub(super) fn is_pure(&self) -> bool {
        match self {
            Tree::Constant(_) => true,
            Tree::Slot(..) | Tree::HasSlot(_) => false,
            Tree::Parameter(_) | Tree::Extern(..) | Tree::Over(..) => false,
            Tree::Field(inner, _) | Tree::Has(inner, _) | Tree::Not(inner) | Tree::Minus(inner) => {
                inner.is_pure()
            }
            Tree::Index(a, b) | Tree::Binary(_, a, b) => a.is_pure() && b.is_pure(),
            Tree::If(a, b, c) => a.is_pure() && b.is_pure() && c.is_pure(),
            Tree::Call(call, args) => call.is_pure() && args.iter().all(Tree::is_pure),
            Tree::List(items) => items.iter().all(Tree::is_pure),
            Tree::Map(entries) => {
                entries.iter().all(|(key, value)| key.is_pure() && value.is_pure())
            }
        }
    }

    /// The name of the first variable in it that is looked for.
    pub(super) fn find_slot(&self, is: &dyn Fn(Slot) -> bool) -> Option<&str> {
        match self {
            Tree::Slot(slot, name) => is(*slot).then_some(name),
            Tree::Constant(_) | Tree::HasSlot(_) | Tree::Parameter(_) => None,
            Tree::Field(inner, _) | Tree::Has(inner, _) | Tree::Not(inner) | Tree::Minus(inner) => {
                inner.find_slot(is)
            }
            Tree::Index(a, b) | Tree::Binary(_, a, b) | Tree::Over(_, a, b) => {
                a.find_slot(is).or_else(|| b.find_slot(is))
            }
            Tree::If(a, b, c) => [a, b, c].into_iter().find_map(|tree| tree.find_slot(is)),
            Tree::Call(_, trees) | Tree::Extern(_, trees) | Tree::List(trees) => {
                trees.iter().find_map(|tree| tree.find_slot(is))
            }
            Tree::Map(entries) => entries
                .iter()
                .find_map(|(key, value)| key.find_slot(is).or_else(|| value.find_slot(is))),
        }
    }

    pub(super) fn eval<'a>(&'a self, cx: Context<'a, '_>) -> Result<Evaluated<'a>> {
        Ok(match self {
            Tree::Constant(value) => Evaluated::Ref(value.as_ref()),
            Tree::Slot(slot, name) => match cx.scope.variable(*slot) {
                ValueRef::Null if !cx.scope.is_set(*slot) => Evaluated::Unset(name),
                value => Evaluated::Ref(value),
            },
            Tree::HasSlot(slot) => {
                let is_null = matches!(cx.scope.variable(*slot), ValueRef::Null);
                Evaluated::Own(Value::Bool(!is_null))
            }
            Tree::Parameter(depth) => Evaluated::Own(parameter(cx.frame, *depth)),
            Tree::Field(inner, name) => match field(inner.eval(cx)?, name) {
                Some(value) => value,
                None => return Err(EvalError::new(format!("there is no field `{name}`"))),
            },
            Tree::Has(inner, name) => {
                Evaluated::Own(Value::Bool(field(inner.eval(cx)?, name).is_some()))
            }
            Tree::Index(list, index) => index_of(list.eval(cx)?, &index.eval(cx)?)?,
            Tree::Call(call, args) => {
                let args: Vec<Evaluated<'_>> =
                    args.iter().map(|arg| arg.eval(cx)).collect::<Result<_>>()?;
                Evaluated::Own(call.run(&args, cx.scope, cx.budget)?)
            }
            Tree::Extern(id, args) => {
                let args = args.iter().map(|arg| arg.eval(cx)?.given());
                Evaluated::Own(cx.scope.call(*id, &args.collect::<Result<Vec<_>>>()?)?)
            }
            Tree::Not(inner) => Evaluated::Own(Value::Bool(!truth(&inner.eval(cx)?)?)),
            Tree::Minus(inner) => Evaluated::Own(match inner.eval(cx)?.as_ref() {
                ValueRef::Int(n) => Value::Int(n.checked_neg().ok_or_else(overflow)?),
                ValueRef::Float(n) => Value::Float(-n),
                other => {
                    return Err(EvalError::new(format!(
                        "`-` expects a number, found {}",
                        other.kind()
                    )));
                }
            }),
            Tree::Binary(op @ (Op::And | Op::Or), a, b) => {
                Evaluated::Own(Value::Bool(logic(*op, a.eval(cx), || b.eval(cx))?))
            }
            Tree::Binary(op, a, b) => {
                let (a, b) = (a.eval(cx)?, b.eval(cx)?);
                cx.budget.bytes(length(a.as_ref()).max(length(b.as_ref())))?;
                Evaluated::Own(binary(*op, a.as_ref(), b.as_ref())?)
            }
            Tree::If(a, b, c) => {
                return if truth(&a.eval(cx)?)? { b } else { c }.eval(cx);
            }
            Tree::List(items) => {
                let items = items.iter().map(|item| item.eval(cx)?.given());
                Evaluated::Own(checked(Value::List(items.collect::<Result<Vec<_>>>()?.into()))?)
            }
            Tree::Map(entries) => {
                let mut map = BTreeMap::new();
                for (key, value) in entries {
                    let key = map_key(&key.eval(cx)?)?.to_key();
                    if map.contains_key(&key) {
                        return Err(EvalError::new(format!("the map has the key `{key}` twice")));
                    }
                    map.insert(key, value.eval(cx)?.given()?);
                }
                Evaluated::Own(checked(Value::Map(Arc::new(map)))?)
            }
            Tree::Over(which, list, body) => {
                Evaluated::Own(over(*which, &list.eval(cx)?, body, cx)?)
            }
        })
    }
}

/// About so many bytes are looked at where it is an operand.
fn length(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::List(items) => items.len() * 64,
        _ => value.bytes().map_or(0, <[u8]>::len),
    }
}

fn parameter(frame: Option<&Frame<'_>>, depth: usize) -> Value {
    let mut at = frame;
    for _ in 0..depth {
        at = at.and_then(|frame| frame.outer);
    }
    at.map_or(Value::Null, |frame| frame.value.clone())
}

/// What a value is as a key of a map.
fn map_key<'v>(value: &'v Evaluated<'_>) -> Result<KeyRef<'v>> {
    match (value, KeyRef::of(value.as_ref())) {
        (Evaluated::Unset(name), _) => Err(EvalError::unset(name)),
        (_, Some(key)) => Ok(key),
        (_, None) => {
            let found = value.as_ref().kind();
            let message = format!("a key of a map is a string, an int or a bool, found {found}");
            Err(EvalError::new(message))
        }
    }
}

fn field<'a>(value: Evaluated<'a>, name: &str) -> Option<Evaluated<'a>> {
    let key: &dyn AsKey = &KeyRef::Text(name);
    match value {
        Evaluated::Ref(ValueRef::Map(map)) => {
            map.get(key).map(|value| Evaluated::Ref(value.as_ref()))
        }
        Evaluated::Own(Value::Map(map)) => map.get(key).map(|value| Evaluated::Own(value.clone())),
        _ => None,
    }
}

fn index_of<'a>(value: Evaluated<'a>, index: &Evaluated<'_>) -> Result<Evaluated<'a>> {
    let found = match (value.as_ref(), index.as_ref()) {
        (ValueRef::List(items), ValueRef::Int(at)) => {
            usize::try_from(at).ok().and_then(|at| items.get(at)).cloned()
        }
        (ValueRef::Map(map), key) if KeyRef::of(key).is_some() => look_up(map, key).cloned(),
        (value, index) => {
            return Err(EvalError::new(format!(
                "cannot index {} with {}",
                value.kind(),
                index.kind()
            )));
        }
    };
    found.map(Evaluated::Own).ok_or_else(|| EvalError::new("the index is out of range"))
}

/// The value of a key in a map.
fn look_up<'m>(map: &'m Map, key: ValueRef<'_>) -> Option<&'m Value> {
    let key: &dyn AsKey = &KeyRef::of(key)?;
    map.get(key)
}

fn truth(value: &Evaluated<'_>) -> Result<bool> {
    match value.as_ref() {
        ValueRef::Bool(value) => Ok(value),
        other => Err(EvalError::new(format!("expected a bool, found {}", other.kind()))),
    }
}

/// CEL's logic: one side can decide although the other fails.
fn logic<'a>(
    op: Op,
    a: Result<Evaluated<'a>>,
    b: impl FnOnce() -> Result<Evaluated<'a>>,
) -> Result<bool> {
    let decides = op == Op::Or;
    let a = a.and_then(|a| truth(&a));
    if a == Ok(decides) {
        return Ok(decides);
    }
    match b().and_then(|b| truth(&b)) {
        Ok(b) if b == decides => Ok(decides),
        b => a.and(b),
    }
}

fn binary(op: Op, a: ValueRef<'_>, b: ValueRef<'_>) -> Result<Value> {
    Ok(match op {
        Op::Equal => Value::Bool(equal(a, b)),
        Op::NotEqual => Value::Bool(!equal(a, b)),
        Op::Below => Value::Bool(order(a, b)? == Some(Ordering::Less)),
        Op::AtMost => Value::Bool(matches!(order(a, b)?, Some(Ordering::Less | Ordering::Equal))),
        Op::Above => Value::Bool(order(a, b)? == Some(Ordering::Greater)),
        Op::AtLeast => {
            Value::Bool(matches!(order(a, b)?, Some(Ordering::Greater | Ordering::Equal)))
        }
        Op::In => match b {
            ValueRef::List(items) => Value::Bool(items.iter().any(|item| equal(a, item.as_ref()))),
            ValueRef::Map(map) => Value::Bool(look_up(map, a).is_some()),
            _ => {
                return Err(EvalError::new(format!(
                    "`in` expects a list or a map, found {}",
                    b.kind()
                )));
            }
        },
        _ => return calculate(op, a, b),
    })
}

/// Values of different kinds are not equal, but ints and floats compare as numbers.
pub(super) fn equal(a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    match (a, b) {
        (ValueRef::Null, ValueRef::Null) => true,
        (ValueRef::Bool(a), ValueRef::Bool(b)) => a == b,
        (ValueRef::Int(a), ValueRef::Int(b)) => a == b,
        (ValueRef::Int(a), ValueRef::Float(b)) | (ValueRef::Float(b), ValueRef::Int(a)) => {
            a as f64 == b
        }
        (ValueRef::Float(a), ValueRef::Float(b)) => a == b,
        (ValueRef::List(a), ValueRef::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a.as_ref(), b.as_ref()))
        }
        (ValueRef::Map(a), ValueRef::Map(b)) => {
            let same = |((a, x), (b, y)): ((&Key, &Value), (&Key, &Value))| {
                a == b && equal(x.as_ref(), y.as_ref())
            };
            a.len() == b.len() && a.iter().zip(b).all(same)
        }
        _ => match (a.bytes(), b.bytes()) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        },
    }
}

fn order(a: ValueRef<'_>, b: ValueRef<'_>) -> Result<Option<Ordering>> {
    Ok(match (a, b) {
        (ValueRef::Int(a), ValueRef::Int(b)) => Some(a.cmp(&b)),
        (ValueRef::Int(a), ValueRef::Float(b)) => (a as f64).partial_cmp(&b),
        (ValueRef::Float(a), ValueRef::Int(b)) => a.partial_cmp(&(b as f64)),
        (ValueRef::Float(a), ValueRef::Float(b)) => a.partial_cmp(&b),
        (ValueRef::Bool(a), ValueRef::Bool(b)) => Some(a.cmp(&b)),
        _ => match (a.bytes(), b.bytes()) {
            (Some(a), Some(b)) => Some(a.cmp(b)),
            _ => return Err(mismatch("compare", a, b)),
        },
    })
}

fn calculate(op: Op, a: ValueRef<'_>, b: ValueRef<'_>) -> Result<Value> {
    let floats = match (a, b) {
        (ValueRef::Int(a), ValueRef::Int(b)) => return whole(op, a, b),
        (ValueRef::Int(a), ValueRef::Float(b)) => (a as f64, b),
        (ValueRef::Float(a), ValueRef::Int(b)) => (a, b as f64),
        (ValueRef::Float(a), ValueRef::Float(b)) => (a, b),
        (ValueRef::List(a), ValueRef::List(b)) if op == Op::Add => {
            return checked(Value::List([a, b].concat().into()));
        }
        _ => match (a.bytes(), b.bytes()) {
            (Some(a), Some(b)) if op == Op::Add => {
                if a.len() + b.len() > MAX_WEIGHT {
                    return Err(too_large());
                }
                return Ok(Value::bytes(&[a, b].concat()));
            }
            _ => return Err(mismatch("calculate with", a, b)),
        },
    };
    let (a, b) = floats;
    Ok(Value::Float(match op {
        Op::Add => a + b,
        Op::Subtract => a - b,
        Op::Multiply => a * b,
        Op::Divide => a / b,
        _ => a % b,
    }))
}

fn whole(op: Op, a: i64, b: i64) -> Result<Value> {
    if b == 0 && matches!(op, Op::Divide | Op::Remainder) {
        return Err(EvalError::new("division by zero"));
    }
    let result = match op {
        Op::Add => a.checked_add(b),
        Op::Subtract => a.checked_sub(b),
        Op::Multiply => a.checked_mul(b),
        Op::Divide => a.checked_div(b),
        _ => a.checked_rem(b),
    };
    result.map(Value::Int).ok_or_else(overflow)
}

fn overflow() -> EvalError {
    EvalError::new("the result does not fit in 64 bits")
}

fn mismatch(what: &str, a: ValueRef<'_>, b: ValueRef<'_>) -> EvalError {
    let text = a.bytes().is_some() != b.bytes().is_some();
    let help = if text { ": convert the string with int(x) or double(x)" } else { "" };
    EvalError::new(format!("cannot {what} {} and {}{help}", a.kind(), b.kind()))
}

fn over(which: Macro, list: &Evaluated<'_>, body: &Tree, cx: Context<'_, '_>) -> Result<Value> {
    let keys: Vec<Value>;
    let items: &[Value] = match list.as_ref() {
        ValueRef::List(items) => items,
        ValueRef::Map(map) => {
            keys = map.keys().map(Key::to_value).collect();
            &keys
        }
        other => {
            return Err(EvalError::new(format!("expected a list, found {}", other.kind())));
        }
    };
    let (mut kept, mut weight_left) = (Vec::new(), MAX_WEIGHT);
    let (mut held, mut absorbed) = (0, Ok(()));
    for item in items {
        cx.budget.items(1)?;
        let frame = Frame { value: item, outer: cx.frame };
        let value = body.eval(Context { frame: Some(&frame), ..cx });
        if let Macro::All | Macro::Exists = which {
            // Like `&&` and `||`: an element decides although others fail.
            match value.and_then(|value| truth(&value)) {
                Ok(held) if held == (which == Macro::Exists) => return Ok(Value::Bool(held)),
                Ok(_) => {}
                Err(error) => absorbed = absorbed.and(Err(error)),
            }
            continue;
        }
        let value = value?;
        match which {
            Macro::Map => {
                let value = value.given()?;
                weight_left = value.weigh(weight_left, MAX_DEPTH - 1).ok_or_else(too_large)?;
                kept.push(value);
            }
            Macro::Filter if truth(&value)? => kept.push(item.clone()),
            Macro::ExistsOne => held += usize::from(truth(&value)?),
            _ => {}
        }
    }
    Ok(match which {
        Macro::Map | Macro::Filter => Value::List(kept.into()),
        Macro::All | Macro::Exists => {
            absorbed?;
            Value::Bool(which == Macro::All)
        }
        Macro::ExistsOne => Value::Bool(held == 1),
    })
}
