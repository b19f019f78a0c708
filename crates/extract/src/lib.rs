//! squall-extract
