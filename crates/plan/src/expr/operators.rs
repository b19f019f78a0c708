//! What the operators of expressions make of values.

use std::cmp::Ordering;

use super::evaluated::{Evaluated, Result, checked, too_large};
use super::scope::EvalError;
use crate::value::{AsKey, Key, KeyRef, MAX_WEIGHT, Map, Value, ValueRef};

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

pub(super) fn truth(value: &Evaluated<'_>) -> Result<bool> {
    match value.as_ref() {
        ValueRef::Bool(value) => Ok(value),
        other => Err(EvalError::new(format!("expected a bool, found {}", other.kind()))),
    }
}

/// CEL's logic: one side can decide although the other fails.
pub(super) fn logic<'a>(
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

pub(super) fn binary(op: Op, a: ValueRef<'_>, b: ValueRef<'_>) -> Result<Value> {
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

pub(super) fn overflow() -> EvalError {
    EvalError::new("the result does not fit in 64 bits")
}

fn mismatch(what: &str, a: ValueRef<'_>, b: ValueRef<'_>) -> EvalError {
    let text = a.bytes().is_some() != b.bytes().is_some();
    let help = if text { ": convert the string with int(x) or double(x)" } else { "" };
    EvalError::new(format!("cannot {what} {} and {}{help}", a.kind(), b.kind()))
}

/// The value of a key in a map.
pub(super) fn look_up<'m>(map: &'m Map, key: ValueRef<'_>) -> Option<&'m Value> {
    let key: &dyn AsKey = &KeyRef::of(key)?;
    map.get(key)
}
