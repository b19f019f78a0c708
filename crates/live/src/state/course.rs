//! Points over time, as charts show them: where there would be too many, neighbours become one. Pure.

pub const MAX_POINTS: usize = 1_200;

/// What was measured in a second of the load, or in several.
pub trait Span: Copy {
    /// The first second, from 0.
    fn second(&self) -> u32;
    /// How many seconds it covers.
    fn seconds(&self) -> u32;
    /// This and the point after it.
    fn with(self, next: Self) -> Self;

    /// How long it is, in s.
    fn length_s(&self) -> f64 {
        f64::from(self.seconds().max(1))
    }
}

#[derive(Debug)]
pub struct Course<P> {
    points: Vec<P>,
    /// Seconds that a point covers.
    resolution: u32,
}

impl<P> Default for Course<P> {
    fn default() -> Self {
        Course { points: Vec::new(), resolution: 1 }
    }
}

impl<P: Span> Course<P> {
    /// Adds a point; one of seconds that others cover becomes a part of those.
    pub fn add(&mut self, point: P) {
        let block = point.second() / self.resolution;
        let at = self.points.partition_point(|own| own.second() / self.resolution < block);
        match self.points.get_mut(at) {
            Some(own) if own.second() / self.resolution == block => *own = own.with(point),
            _ => self.points.insert(at, point),
        }
        if self.points.len() > MAX_POINTS {
            self.halve();
        }
    }

    /// Puts a point in the place of one of the same second alone, if there is such a one.
    pub fn replace(&mut self, point: P) {
        let same = self.points.iter_mut().rev().find(|own| own.second() == point.second());
        same.filter(|own| own.seconds() <= 1).into_iter().for_each(|own| *own = point);
    }

    fn halve(&mut self) {
        self.resolution *= 2;
        let mut halved: Vec<P> = Vec::with_capacity(MAX_POINTS);
        for point in &self.points {
            match halved.last_mut() {
                Some(last)
                    if last.second() / self.resolution == point.second() / self.resolution =>
                {
                    *last = last.with(*point);
                }
                _ => halved.push(*point),
            }
        }
        self.points = halved;
    }

    /// Seconds that a point covers.
    pub fn resolution(&self) -> u32 {
        self.resolution
    }

    pub fn points(&self) -> &[P] {
        &self.points
    }
}
