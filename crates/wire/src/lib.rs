//! squall-wire
