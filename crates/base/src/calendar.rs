//! Dates of the Gregorian calendar and the days that they stand for (Howard Hinnant, "chrono-Compatible Low-Level Date
//! Algorithms", <https://howardhinnant.github.io/date_algorithms.html>).

/// Days from 1970-01-01 to a date; `month` and `day` count from 1.
pub fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March: the leap day is the last of one.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The year, month and day so many days after 1970-01-01; month and day count from 1.
pub fn date(days_since_1970: i64) -> (i64, i64, i64) {
    let shifted = days_since_1970 + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let from_march = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * from_march + 2) / 153;
    let day = from_march - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_days_stand_for_each_other() {
        for (days, of) in [
            (0, (1970, 1, 1)),
            (-1, (1969, 12, 31)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (-25_509, (1900, 2, 28)),
            (-25_508, (1900, 3, 1)),
            (-719_468, (0, 3, 1)),
        ] {
            assert_eq!(date(days), of);
            assert_eq!(days_since_1970(of.0, of.1, of.2), days);
        }
        let mut before = date(-800_001);
        for days in -800_000..800_000 {
            let now = date(days);
            assert!(now > before && days_since_1970(now.0, now.1, now.2) == days, "{days}");
            before = now;
        }
    }
}
