//! squall-target
