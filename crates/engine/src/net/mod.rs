//! What users of a worker share of the network, and what each has of it: origins, pools and idle connections, bandwidth,
//! what is in flight with its deadlines. It knows of no user and no worker.

pub(crate) mod bandwidth;
pub(crate) mod bursts;
mod held;
pub(crate) mod in_flight;
pub(crate) mod origins;
pub(crate) mod pools;
