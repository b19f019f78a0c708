//! Feeds that a plan asks for.

use squall_feeds::{Feed, JmeterFeed, TAGS_TAKEN_BY_JMETER};
use squall_plan::model::{FeedLayout, Plan, PlanFeed};
use squall_runner::Sink;

/// The feeds of a plan, with the tags that its user typed besides.
pub fn of_plan(plan: &Plan, typed: &[(String, String)]) -> Vec<(String, Box<dyn Sink>)> {
    let of_feed = |feed: &PlanFeed| {
        let (target, tags) = (&feed.target.value, tags(feed, typed));
        let sink: Box<dyn Sink> = match JmeterFeed::of_plan(feed, &tags) {
            Some(own) => Box::new(own),
            None => Box::new(Feed::new(target, &tags)),
        };
        (target.shown(), sink)
    };
    plan.feeds.iter().map(of_feed).collect()
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
