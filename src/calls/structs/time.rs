//! Times: of clocks, of files, to wait.

use super::Varying;
use super::pen::Pen;
use super::site::{Bytes, Site};
use crate::text::Values;

/// What a time is, which tells whether it varies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    /// A length that the program chose.
    Chosen,
    /// A point in time.
    Point,
    /// A length that the kernel measured.
    Measured,
}

/// The two ways in which a second is divided.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Micro,
    Nano,
}

impl Unit {
    /// The name of the second field.
    fn field(self) -> &'static str {
        match self {
            Self::Micro => ", tv_usec=",
            Self::Nano => ", tv_nsec=",
        }
    }

    /// How many of them there are in a second.
    fn count(self) -> i64 {
        match self {
            Self::Micro => 1_000_000,
            Self::Nano => 1_000_000_000,
        }
    }
}

/// `{tv_sec=1, tv_nsec=0}` at an offset.
pub(super) fn pair<V: Values>(
    pen: &mut Pen<'_, V>,
    bytes: Bytes<'_>,
    offset: usize,
    (unit, sense): (Unit, Sense),
) -> Option<()> {
    let (seconds, fraction) = (bytes.i64(offset)?, bytes.u64(offset + 8)?);
    pen.text("{tv_sec=");
    number(pen, sense, seconds);
    pen.text(unit.field());
    number(pen, sense, fraction);
    pen.text("}");
    Some(())
}

fn number<V: Values>(
    pen: &mut Pen<'_, V>,
    sense: Sense,
    number: impl itoa::Integer + Into<i128>,
) -> bool {
    match sense {
        Sense::Chosen => {
            pen.number(number);
            true
        }
        Sense::Point => pen.varying(Varying::Time, number),
        Sense::Measured => pen.varying(Varying::Duration, number),
    }
}

/// One that the program gives, to wait so long or until then; or one that a clock has.
pub(super) fn known<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>, unit: Unit) -> Option<()> {
    let sense = if is_point(site) {
        Sense::Point
    } else {
        Sense::Chosen
    };
    pair(pen, site.known()?, 0, (unit, sense))
}

/// Whether the program gives a point in time, not a length.
fn is_point(site: Site<'_>) -> bool {
    let flag = |place, bit| site.word(place).is_some_and(|word| word & bit != 0);
    match site.name() {
        "clock_nanosleep" | "timer_settime" | "timerfd_settime" => flag(1, 1),
        // FUTEX_WAIT is the only one that takes a length.
        "futex" => flag(1, 0x7f),
        "futex_wait" | "futex_waitv" | "mq_timedreceive" | "mq_timedsend" => true,
        _ => false,
    }
}

/// What was left of a sleep; the kernel says so only when a signal interrupted it, and never for a
/// point in time.
pub(super) fn remaining<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let is_interrupted = matches!(site.call.outcome, crate::Outcome::Interrupted { .. });
    let bytes = site.left().filter(|_| is_interrupted && !is_point(site))?;
    pair(pen, bytes, 0, (Unit::Nano, Sense::Measured))
}

/// The times of a file, the last access first.
pub(super) fn of_file<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>, unit: Unit) -> Option<()> {
    let bytes = site.given()?;
    pen.list([0, 16], false, |pen, offset| {
        let (seconds, fraction) = (bytes.i64(offset)?, bytes.i64(offset + 8)?);
        match fraction {
            libc::UTIME_NOW if unit == Unit::Nano => pen.text("UTIME_NOW"),
            libc::UTIME_OMIT if unit == Unit::Nano => pen.text("UTIME_OMIT"),
            _ => {
                pen.text("{tv_sec=");
                let is_plain = number(pen, Sense::Point, seconds);
                pen.text(unit.field());
                number(pen, Sense::Point, fraction as u64);
                pen.text("}");
                if is_plain {
                    comment(pen, seconds, fraction, unit);
                }
            }
        }
        Some(())
    })
}

/// `struct utimbuf`.
pub(super) fn utimbuf<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = site.given()?;
    for (field, offset) in [("{actime=", 0), (", modtime=", 8)] {
        pen.text(field);
        let seconds = bytes.i64(offset)?;
        if number(pen, Sense::Point, seconds) {
            comment(pen, seconds, 0, Unit::Micro);
        }
    }
    pen.text("}");
    Some(())
}

/// The date, in UTC; none of the beginning of the epoch, which mostly stands for no time at all.
fn comment<V: Values>(pen: &mut Pen<'_, V>, seconds: i64, fraction: i64, unit: Unit) {
    if (seconds, fraction) == (0, 0) || !(0..unit.count()).contains(&fraction) {
        return;
    }
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let Some((year, month, day)) = date(days) else {
        return;
    };
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    pen.text(&format!(
        " /* {year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
    ));
    if fraction != 0 {
        pen.text(&match unit {
            Unit::Micro => format!(".{fraction:06}"),
            Unit::Nano => format!(".{fraction:09}"),
        });
    }
    pen.text("+0000 */");
}

/// The day of the Gregorian calendar so many days after 1970-01-01, counted in eras of 400 years
/// that begin in March; `None` for years that the C library has no number for.
fn date(days: i64) -> Option<(i64, i64, i64)> {
    const DAYS_OF_ERA: i64 = 146_097;
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(DAYS_OF_ERA), days.rem_euclid(DAYS_OF_ERA));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + i64::from(month <= 2);
    i32::try_from(year - 1900).ok()?;
    Some((year, month, day))
}

/// `struct itimerspec` and `struct itimerval`.
pub(super) fn timer<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>, unit: Unit) -> Option<()> {
    let sense = match site.given() {
        Some(_) if is_point(site) => Sense::Point,
        Some(_) => Sense::Chosen,
        None => Sense::Measured,
    };
    let bytes = site.known()?;
    pen.text("{it_interval=");
    pair(pen, bytes, 0, (unit, Sense::Chosen))?;
    pen.text(", it_value=");
    // A timer that is not running has nothing left, which does not vary.
    let is_off = bytes.i64(16)? == 0 && bytes.i64(24)? == 0;
    let sense = if is_off { Sense::Chosen } else { sense };
    pair(pen, bytes, 16, (unit, sense))?;
    pen.text("}");
    Some(())
}

/// Clock ticks, of which there are 100 in a second (`USER_HZ`).
pub(super) fn ticks<V: Values>(pen: &mut Pen<'_, V>, field: &str, count: u64) {
    pen.text(field);
    if pen.varying(Varying::Duration, count) && count != 0 {
        pen.text(&format!(" /* {}.{:02} s */", count / 100, count % 100));
    }
}
