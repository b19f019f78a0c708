//! squall-load
