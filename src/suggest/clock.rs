//! Guesses whether a text will differ tomorrow.

const DAY: u64 = 24 * 60 * 60;

/// Whether `text` seems to hold a time or a date of the moment `now`, in seconds since 1970: its
/// date, its day of the week or of the year, its month, its minute, or its seconds.
///
/// In most places of the world the minute is the same, whatever the hour. A wrong yes costs an
/// expectation that the author can add by hand; a wrong no costs a test that fails on the next day.
#[must_use]
pub fn tells_time(text: &str, now: u64) -> bool {
    // The runs took a while, and clocks of other places differ by up to a day.
    let minutes = [
        now / 60 % 60,
        (now + 60) / 60 % 60,
        now.saturating_sub(60) / 60 % 60,
    ];
    let minutes = minutes.map(|minute| format!(":{minute:02}"));
    let is_minute = minutes.iter().any(|minute| {
        text.match_indices(minute.as_str()).any(|(at, _)| {
            let digits =
                |bytes: &mut dyn Iterator<Item = u8>| bytes.take_while(u8::is_ascii_digit).count();
            let before = text.get(..at).unwrap_or_default();
            let behind = text.get(at + minute.len()..).unwrap_or_default();
            matches!(digits(&mut before.bytes().rev()), 1 | 2)
                && !behind.starts_with(|c: char| c.is_ascii_alphanumeric())
        })
    });
    let days = [now.saturating_sub(DAY), now, now + DAY].map(|moment| date(moment / DAY));
    let is_date = days.iter().any(|(year, month, day)| {
        let name = MONTHS.get(*month - 1).map_or("", |name| &name[..3]);
        let forms = [
            format!("{year}-{month:02}-{day:02}"),
            format!("{year}{month:02}{day:02}"),
            format!("{year}/{month:02}/{day:02}"),
            format!("{name} {day:>2}"),
            format!("{name} {day:02}"),
            format!("{day:>2} {name}"),
            format!("{day:02} {name}"),
        ];
        forms.iter().any(|form| text.contains(form.as_str()))
    });
    let numbers = text.split(|c: char| !c.is_ascii_digit());
    let is_second = numbers
        .filter(|number| number.len() >= 10)
        .filter_map(|number| number.get(..10)?.parse::<u64>().ok())
        .any(|number| number.abs_diff(now) <= DAY);
    let moments = [now.saturating_sub(DAY), now, now + DAY];
    is_minute || is_date || is_second || moments.iter().any(|moment| names_day(text, moment / DAY))
}

/// Whether a word or a number by itself is that of a day since 1970: `Thursday`, `Nov`, `1126`
/// (`%m%d`), and `330` (`%j`) where nothing else is there. Of a word like `May` or `Sat` that is
/// not certain.
fn names_day(text: &str, day: u64) -> bool {
    let (year, month, of_month) = date(day);
    // 1970-01-01 was a Thursday.
    let weekday = WEEKDAYS.get((day % 7) as usize).copied().unwrap_or("");
    let month_name = MONTHS.get(month - 1).copied().unwrap_or("");
    let mut words = text.split(|c: char| !c.is_ascii_alphabetic());
    let is_name = |word: &str, name: &str| word == name || Some(word) == name.get(..3);
    if words.any(|word| is_name(word, weekday) || is_name(word, month_name)) {
        return true;
    }
    let in_year = (0..day).rev().take_while(|before| date(*before).0 == year);
    let (short, of_year) = (
        format!("{month:02}{of_month:02}"),
        format!("{:03}", in_year.count() + 1),
    );
    let mut numbers = text.split(|c: char| !c.is_ascii_digit());
    numbers.any(|number| number == short) || text.trim() == of_year
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const WEEKDAYS: [&str; 7] = [
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
];

/// Year, month and day of a day since 1970, by counting years of 365 or 366 days.
fn date(mut day: u64) -> (u64, usize, u64) {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    loop {
        let days = if is_leap(year) { 366 } else { 365 };
        if day < days {
            break;
        }
        day -= days;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for days in months {
        if day < days {
            break;
        }
        day -= days;
        month += 1;
    }
    (year, month, day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    // 2026-11-21 23:47:22 UTC, and the end of a February.
    const NOW: u64 = 1_795_304_842;

    #[test]
    fn days_are_counted_as_the_calendar_does() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(NOW / DAY), (2026, 11, 21));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(11_017), (2000, 3, 1));
        assert_eq!(date(19_782), (2024, 2, 29));
        assert_eq!(date(20_088), (2024, 12, 31));
    }

    #[test]
    fn times_and_dates_of_the_moment_are_found() {
        for text in [
            "Sat Nov 21 23:47:22 UTC 2026\n",
            "-rw-r--r-- 1 root root 5 Nov 21 01:47 a\n",
            "2026-11-22",
            "took from 1795304842 on",
            "1795304842123456789",
            "at 8:48.",
            "20261120.log",
            "Saturday\n",
            "on Sun, 5 files",
            "November",
            "x.1121",
            "325\n",
        ] {
            assert!(tells_time(text, NOW), "{text}");
        }
        for text in [
            "",
            "hello\n",
            "line 3:47a",
            "a:47",
            "123:47",
            "12:34",
            "2026",
            "0123456789 bytes",
            "Oct 2",
            "1995304842",
            "x.rs:47:5: error",
            "Tuesday",
            "Satellite Novel",
            "11211",
            "325 bytes",
        ] {
            assert!(!tells_time(text, NOW), "{text}");
        }
    }
}
