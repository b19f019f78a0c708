//! What k6 says at the end of a run. Pure.
