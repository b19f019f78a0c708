//! Parts of requests and data that know nothing of workers or programs.

pub(crate) mod auth;
pub(crate) mod cache;
pub(crate) mod confined;
pub(crate) mod confined_file;
mod cookie_date;
pub(crate) mod cookies;
pub(crate) mod data;
pub(crate) mod data_file;
pub(crate) mod exec;
pub(crate) mod hosts;
pub(crate) mod links;
pub(crate) mod multipart;
pub(crate) mod names;
pub(crate) mod numbered;
pub(crate) mod proxy;
mod quoting;
pub(crate) mod replace;
pub(crate) mod row_selection;
pub(crate) mod script_errors;
pub(crate) mod script_metrics;
pub(crate) mod secret_forms;
pub(crate) mod sent;
pub(crate) mod set_cookie;
pub(crate) mod trace_context;
pub(crate) mod url;
