//! squall-measure
