//! squall-report
