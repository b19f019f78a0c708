use super::*;

/// About normal, with a deviation of 1: the sum of twelve uniform numbers, less 6.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        let uniform = (0..12).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 53) as f64
        });
        uniform.sum::<f64>() - 6.0
    }
}

fn near(value: f64, to: f64) -> bool {
    (value - to).abs() < 0.1
}

#[test]
fn a_step_is_found_where_it_is() {
    for (at, factor) in [(10, 1.5), (45, 0.5), (57, 10.0)] {
        let mut noise = noise(at as u64);
        let level = |position| if position < at { 100.0 } else { 100.0 * factor };
        let series: Vec<f64> =
            (0..60).map(|position| level(position) * (1.0 + 0.05 * noise())).collect();
        let change = change(&series).expect("a step");
        assert_eq!(change.at, Some(at));
        assert!(near(change.by / (factor - 1.0), 1.0), "{change:?}");
    }
}

#[test]
fn a_drift_is_one() {
    for by in [0.2, -0.2, 3.0] {
        let mut noise = noise(5);
        let level = |at: u32| 100.0 * (1.0 + by * f64::from(at) / 59.0);
        let series: Vec<f64> = (0..60).map(|at| level(at) * (1.0 + 0.02 * noise())).collect();
        let change = change(&series).expect("a drift");
        assert_eq!(change.at, None, "{by}");
        // What rises evenly by much is no straight line of logarithms.
        assert!(near(change.by / by, 1.0) || by > 1.0 && change.by > 2.0, "{change:?}");
    }
}

#[test]
fn what_does_not_matter_or_cannot_be_told_is_none() {
    let line: Vec<f64> = (0..60).map(|at| 100.0 + 4.0 * f64::from(at) / 59.0).collect();
    assert_eq!(change(&line), None, "4% is too little to matter");
    assert_eq!(change(&[1.0, 1.0, 1.0, 9.0, 9.0]), None, "too few");
    assert_eq!((change(&[]), change(&[0.0; 20]), change(&[7.0; 20])), (None, None, None));
    let found = (0..500)
        .filter(|seed| {
            let mut noise = noise(*seed);
            let series: Vec<f64> = (0..60).map(|_| 100.0 + 20.0 * noise()).collect();
            change(&series).is_some()
        })
        .count();
    assert!(found <= 10, "{found} of 500 steady series");
}

#[test]
fn a_beginning_differs_or_does_not() {
    let mut noise = noise(1);
    let mut series: Vec<f64> = (0..40).map(|_| 100.0 + 5.0 * noise()).collect();
    assert!(!differs(&series, 10) && !differs(&series, 0) && !differs(&series, 40));
    series[0] = 300.0;
    assert!(differs(&series, 1));
    assert!(differs(&[3.0, 2.0, 2.0, 2.0, 2.0, 2.0], 1), "nothing varies but the beginning");
}
