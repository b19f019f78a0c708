//! What a test is: plain, inert data. No I/O, no evaluation here.
//!
//! A plan is made by [`crate::yaml`] (or from flags, or by another front end) and read by the
//! engine, which compiles it. Equality ignores source positions, so that a plan that is printed
//! and read again is equal to the first. Each struct says what its keys are called in a plan and how
//! their values are written there ([`crate::keys`]).

#![warn(missing_docs)]

mod connections;
mod data;
mod defaults;
mod experiment;
mod feeds;
mod http_options;
mod load;
mod monitor;
mod plan;
mod profile;
mod read_plan;
mod request;
mod response;
mod samples;
mod scripts;
mod step;
mod tags;
mod threshold;
mod user_time;

pub use self::connections::{
    AddressSelect, ClientCert, ConnectionReuse, Connections, Dns, HostCert, HttpVersion, KeyStore,
    Tls, TlsVersion,
};
pub use self::data::{
    Advance, AmongNodes, AtEnd, Csv, DataFormat, DataSource, Numbers, Pick, Share,
};
pub use self::defaults::Defaults;
pub use self::experiment::{
    CountInvalid, Experiment, Factor, FactorKind, FactorVariant, LoadKey, Order, PlanSource, Ready,
    ReadyWhen, Server, Until,
};
pub use self::feeds::{FeedLayout, JmeterGraphite, JmeterInfluxdb, JmeterSamples, PlanFeed};
pub use self::http_options::{
    Auth, CacheUse, DEFAULT_PARALLEL, HttpOptions, MAX_PARALLEL, ResourceHosts, Resources, Timeouts,
};
pub use self::load::{Arrivals, Closed, End, Load, Open, Stage};
pub use self::monitor::{Command as MonitorCommand, HostWord, Monitor, MonitorKind, Prometheus};
pub use self::plan::{Bandwidth, OnError, Plan, Resolved, Scenario, Session, Target, Var, Warmup};
pub use self::profile::Profile;
pub use self::request::{Body, FormPart, FormPartContent, HashAlgorithm, Request, ResponseBody};
pub use self::response::{Check, Extract, Extractor, Match, Within};
pub use self::samples::{SampleFile, SampleForm, WhichSamples};
pub use self::scripts::{Isolation, Scripts, SecretSource};
pub use self::step::*;
pub use self::tags::Tags;
pub use self::threshold::Threshold;
pub use self::user_time::UserTime;

pub(crate) use self::experiment::FactorForm;
pub(crate) use self::plan::Variable;
pub(crate) use self::read_plan::read_plan;
pub(crate) use self::step::step_tables;

pub use crate::json::Json;
