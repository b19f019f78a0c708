//! squall-plan
