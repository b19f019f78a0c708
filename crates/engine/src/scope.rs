//! What templates and expressions see while a user runs: its variables, its rows of data, facts
//! about it and about the response in hand. Borrows everything, copies nothing.

use std::cell::{OnceCell, Ref};
use std::time::{SystemTime, UNIX_EPOCH};

use squall_extract::{Documents, Found, MatchChoice};
use squall_plan::expr::{EvalError, FunctionId, Scope, Slot};
use squall_plan::value::{Value, ValueRef};
use squall_wire::Response;

use crate::found::{item_value, text_value};
use crate::parts::data::Row;
use crate::parts::sent::Sent;
use crate::program::{Function, Intrinsic, Place, Program, now_unix_ms};
use crate::shared_values::Values;
use crate::user::{Core, UserFeed};

/// A user, and the reply that it is looking at, if any. It borrows the user's variables: none can be set
/// while it lives.
pub(crate) struct UserScope<'a, 'b> {
    program: &'a Program,
    user: &'a Core,
    variables: Ref<'a, Box<[Option<Value>]>>,
    feeds: Ref<'a, Box<[UserFeed]>>,
    /// The variables that all users have together, as they were when the first of them was looked at.
    shared: OnceCell<Values>,
    reply: Option<&'a Reply<'a, 'b>>,
}

impl<'a, 'b> UserScope<'a, 'b> {
    /// What a user sees between replies.
    pub(crate) fn new(program: &'a Program, user: &'a Core) -> Self {
        UserScope {
            program,
            user,
            variables: user.variables(),
            feeds: user.feeds.borrow(),
            shared: OnceCell::new(),
            reply: None,
        }
    }

    fn row(&self, feed: usize) -> Option<&Row> {
        self.feeds.get(feed)?.row.as_deref()
    }

    /// What a user sees that looks at a reply.
    pub(crate) fn of_reply(program: &'a Program, user: &'a Core, reply: &'a Reply<'a, 'b>) -> Self {
        UserScope { reply: Some(reply), ..UserScope::new(program, user) }
    }
}

/// A reply as checks and extracts see it, whatever the protocol.
pub(crate) struct Reply<'a, 'b> {
    /// Status code, or exit code.
    pub code: i64,
    /// Bytes of the whole body.
    pub body_bytes: u64,
    /// Milliseconds from the send to the last byte.
    pub duration_ms: f64,
    /// Hash of the body, or path of its file, where the request asked for one.
    pub captured: &'a str,
    /// The head of an HTTP response.
    pub response: Option<&'a Response<'b>>,
    /// The kept part of the body, or standard output: decoded and parsed once for all who look into it.
    pub documents: &'a Documents<'b>,
    /// The request that it answers, where something looks at that.
    pub sent: Option<&'a Sent>,
    /// The number of the jar that its request's cookies are in.
    pub jar: u16,
    /// The host that it came from, if it came from one.
    pub host: Option<&'a str>,
    /// What the plan itself says of it, where it does.
    pub said: Option<&'a Said<'a>>,
    /// What [`Reply::head`] has made.
    pub head: OnceCell<String>,
}

/// What a plan says itself of a reply.
pub(crate) struct Said<'a> {
    /// In the place of the code.
    pub status: &'a Value,
    /// What it says beside the code.
    pub reason: &'a str,
    /// What was sent, as it were.
    pub sent: &'a [u8],
}

impl<'a, 'b> Reply<'a, 'b> {
    /// A reply of which nothing is known but its body.
    pub(crate) fn of(documents: &'a Documents<'b>) -> Self {
        Reply {
            code: 0,
            body_bytes: 0,
            duration_ms: 0.0,
            captured: "",
            response: None,
            documents,
            sent: None,
            jar: 0,
            host: None,
            said: None,
            head: OnceCell::new(),
        }
    }
}

impl<'b> Reply<'_, 'b> {
    /// Status line and headers, each line with a line feed at its end; empty where there is no response.
    pub(crate) fn head(&self) -> &str {
        self.head.get_or_init(|| {
            let head = String::from_utf8_lossy(self.head_bytes());
            head.lines()
                .filter(|line| !line.is_empty())
                .fold(String::new(), |all, line| all + line + "\n")
        })
    }

    fn head_bytes(&self) -> &'b [u8] {
        self.response.map_or(&[], |response| response.head)
    }

    /// What the status line says beside the code.
    fn reason(&self) -> &str {
        if let Some(said) = self.said {
            return said.reason;
        }
        let line = self.head().lines().next().unwrap_or_default();
        line.splitn(3, ' ').nth(2).unwrap_or_default()
    }

    /// What every response has; null for what is no fact about one.
    pub(crate) fn fact(&self, which: Intrinsic) -> ValueRef<'_> {
        match which {
            Intrinsic::Status => {
                self.said.map_or(ValueRef::Int(self.code), |said| said.status.as_ref())
            }
            Intrinsic::Body => ValueRef::Bytes(self.documents.text()),
            Intrinsic::BodyBytes => ValueRef::Int(self.body_bytes as i64),
            Intrinsic::Duration => ValueRef::Float(self.duration_ms),
            Intrinsic::BodyHash | Intrinsic::BodyFile => ValueRef::Text(self.captured),
            Intrinsic::Head => ValueRef::Text(self.head()),
            Intrinsic::HeadBytes => ValueRef::Int(self.head_bytes().len() as i64),
            Intrinsic::Reason => ValueRef::Text(self.reason()),
            Intrinsic::RawBody => ValueRef::Bytes(self.documents.bytes()),
            Intrinsic::SentMethod => ValueRef::Text(self.sent.map_or("", |sent| &sent.method)),
            Intrinsic::SentUrl => ValueRef::Text(self.sent.map_or("", |sent| &sent.url)),
            Intrinsic::SentHeaders => ValueRef::Text(self.sent.map_or("", |sent| &sent.headers)),
            Intrinsic::SentCookies => ValueRef::Text(self.sent.map_or("", |sent| &sent.cookies)),
            Intrinsic::SentBody => ValueRef::Bytes(match (self.said, self.sent) {
                (Some(said), _) => said.sent,
                (None, Some(sent)) => &sent.body,
                (None, None) => &[],
            }),
            Intrinsic::User
            | Intrinsic::Iteration
            | Intrinsic::Scenario
            | Intrinsic::Elapsed
            | Intrinsic::LastOk => ValueRef::Null,
        }
    }

    /// The value of the cookie of a name, among those that its host may have.
    pub(crate) fn cookie(&self, user: &Core, name: &str) -> Option<Value> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_secs() as i64);
        user.jar(self.jar).get(name, self.host, now).map(|value| Value::Text(value.into()))
    }

    /// The value of the first trailer of a name.
    fn trailer(&self, name: &str) -> Option<&'b [u8]> {
        self.response?.trailer(name)
    }

    /// The value of the first header of a name.
    pub(crate) fn header(&self, name: &str) -> Option<&'b [u8]> {
        self.response?.header(name)
    }
}

impl Scope for UserScope<'_, '_> {
    fn variable(&self, slot: Slot) -> ValueRef<'_> {
        match Place::of(slot) {
            Place::Variable(index) => self.value(index).map_or(ValueRef::Null, Value::as_ref),
            Place::Shared(index) => self.shared(index).map_or(ValueRef::Null, Value::as_ref),
            Place::Cell { feed, column } => match self.row(feed) {
                Some(row) => row.cell(column),
                None => ValueRef::Null,
            },
            Place::Intrinsic(which) => self.intrinsic(which),
        }
    }

    fn is_set(&self, slot: Slot) -> bool {
        match Place::of(slot) {
            Place::Variable(index) => self.value(index).is_some(),
            Place::Shared(index) => self.shared(index).is_some(),
            Place::Cell { feed, .. } => self.row(feed).is_some(),
            Place::Intrinsic(_) => true,
        }
    }

    fn call(&self, FunctionId(id): FunctionId, args: &[Value]) -> Result<Value, EvalError> {
        let Some(reply) = self.reply else {
            return Err(EvalError::new("there is no response to look at"));
        };
        let text = || match args.first() {
            Some(Value::Text(text)) => Ok(&**text),
            _ => Err(EvalError::new("the argument must be a text")),
        };
        Ok(match &self.program.functions[id as usize] {
            Function::Header => reply.header(text()?).map_or(Value::Null, text_value),
            Function::Trailer => reply.trailer(text()?).map_or(Value::Null, text_value),
            Function::Cookie => reply.cookie(self.user, text()?).unwrap_or(Value::Null),
            Function::Found(path) => {
                let found = path
                    .find_in(reply.documents, MatchChoice::First, 0)
                    .map_err(|error| EvalError::new(error.to_string()))?;
                match found {
                    Found::One(item) => item_value(&item),
                    _ => Value::Null,
                }
            }
            Function::AllFound(path) => {
                let found = path
                    .find_in(reply.documents, MatchChoice::All, 0)
                    .map_err(|error| EvalError::new(error.to_string()))?;
                Value::List(found.into_items().iter().map(item_value).collect())
            }
            Function::IsJson => Value::Bool(reply.documents.is_json()),
            Function::IsXml => {
                let is_xml = reply.documents.is_well_formed();
                Value::Bool(is_xml.map_err(|error| EvalError::new(error.to_string()))?)
            }
            Function::JsonBody => {
                let json =
                    reply.documents.json().map_err(|error| EvalError::new(error.to_string()))?;
                Value::from_json(json)
            }
        })
    }

    fn random(&self) -> u64 {
        self.user.chance()
    }

    fn now_unix_ms(&self) -> i64 {
        now_unix_ms()
    }
}

impl UserScope<'_, '_> {
    fn value(&self, variable: usize) -> Option<&Value> {
        self.variables.get(variable).unwrap_or(&self.program.initial[variable]).as_ref()
    }

    fn shared(&self, index: usize) -> Option<&Value> {
        self.shared.get_or_init(|| self.user.shared.now()).get(index)?.as_ref()
    }

    fn intrinsic(&self, which: Intrinsic) -> ValueRef<'_> {
        match (which, self.reply) {
            (Intrinsic::User, _) => ValueRef::Int(self.user.seat.number as i64),
            (Intrinsic::Iteration, _) => ValueRef::Int(self.user.iteration.get() as i64),
            (Intrinsic::Scenario, _) => {
                ValueRef::Text(&self.program.scenarios[self.user.scenario()].title)
            }
            (Intrinsic::Elapsed, _) => ValueRef::Float(self.user.elapsed.get() as f64 / 1e9),
            (Intrinsic::LastOk, _) => ValueRef::Bool(self.user.last_ok.get()),
            (which, Some(reply)) => reply.fact(which),
            // Bound only where there is a reply.
            (_, None) => ValueRef::Null,
        }
    }
}
