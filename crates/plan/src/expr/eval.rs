//! Evaluates a bound tree. Comparisons of variables with constants copy and allocate nothing.
//!
//! Bounded: what one evaluation may do ([`Budget`]), and how large a value it may make
//! ([`Value::fits`]), so that no plan and no response of a server holds up a worker or fills its memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::budget::Budget;
use super::evaluated::{Evaluated, Result, checked, too_large};
use super::operators::{Op, binary, logic, look_up, overflow, truth};
use super::scope::{EvalError, Scope};
use super::tree::{Macro, Tree};
use crate::value::{AsKey, Key, KeyRef, MAX_DEPTH, MAX_WEIGHT, Value, ValueRef};

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

impl Tree {
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
    let missing = match value.as_ref() {
        ValueRef::Map(_) => "the map does not have this key",
        _ => "the index is out of range",
    };
    found.map(Evaluated::Own).ok_or_else(|| EvalError::new(missing))
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
