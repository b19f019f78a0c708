//! squall-engine
