//! Feeds that a plan asks for.

use std::path::PathBuf;

use squall_feeds::{Feed, FeedKind, FeedTarget, JmeterFeed, TAGS_TAKEN_BY_JMETER};
use squall_plan::model::{FeedLayout, Plan, PlanFeed};
use squall_runner::Sink;

/// The feeds of a plan, with the tags that its user typed besides; but for those into a file into which one goes that its user
/// asks for.
pub fn of_plan<'a>(
    plan: &Plan,
    typed: &[(String, String)],
    asked: impl Iterator<Item = &'a FeedTarget>,
) -> Vec<(String, Box<dyn Sink>)> {
    let mut taken: Vec<PathBuf> = asked.filter_map(file).collect();
    let mut sinks: Vec<(String, Box<dyn Sink>)> = Vec::new();
    for feed in &plan.feeds {
        let (target, tags) = (&feed.target.value, tags(feed, typed));
        let file = file(target);
        if file.as_ref().is_some_and(|file| taken.contains(file)) {
            continue;
        }
        taken.extend(file);
        let sink: Box<dyn Sink> = match JmeterFeed::of_plan(feed, &tags) {
            Some(own) => Box::new(own),
            None => Box::new(Feed::new(target, &tags)),
        };
        sinks.push((target.shown(), sink));
    }
    sinks
}

/// The file that a feed goes into, from the root on.
fn file(target: &FeedTarget) -> Option<PathBuf> {
    let path = (target.kind == FeedKind::JsonLines).then(|| std::path::absolute(&target.to));
    path?.ok()
}

/// The tags of a feed. What was typed holds, but for the names that its points have themselves.
fn tags(feed: &PlanFeed, typed: &[(String, String)]) -> Vec<(String, String)> {
    let taken = match feed.layout {
        FeedLayout::Squall => &[][..],
        FeedLayout::JmeterInfluxdb(_) | FeedLayout::JmeterGraphite(_) => &TAGS_TAKEN_BY_JMETER,
    };
    let is_free = |(name, _): &&(String, String)| !taken.contains(&name.as_str());
    let mut tags: Vec<(String, String)> = typed.iter().filter(is_free).cloned().collect();
    for (name, value) in &feed.tags {
        if !tags.iter().any(|(own, _)| *own == name.value) {
            tags.push((name.value.clone(), value.clone()));
        }
    }
    tags
}
