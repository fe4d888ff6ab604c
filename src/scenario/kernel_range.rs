//! Versions of kernels, and ranges of them.

use std::fmt;

use super::flexible::{Text, deserialize_flexible};

/// A kernel's version, compared number by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelVersion {
    /// The 6 of 6.18.44.
    pub major: u32,
    /// The 18 of 6.18.44.
    pub minor: u32,
    /// The 44 of 6.18.44; 0 in a first release.
    pub patch: u32,
}

/// A range of kernel versions with at least one end, written `>= 5.10`, `< 6.12` or
/// `>= 5.10, < 6.12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelRange {
    /// The first version within.
    pub at_least: Option<KernelVersion>,
    /// The first version beyond.
    pub below: Option<KernelVersion>,
}

impl KernelVersion {
    /// Reads the numbers at the start of a release as `uname(2)` tells it: `6.1.0-18-amd64` is
    /// 6.1.0.
    ///
    /// `None` where it does not start with two numbers.
    ///
    /// ```
    /// use trace_harness::scenario::KernelVersion;
    /// let version = KernelVersion::of_release("6.18.44-cloud").unwrap();
    /// assert_eq!((version.major, version.minor, version.patch), (6, 18, 44));
    /// ```
    #[must_use]
    pub fn of_release(release: &str) -> Option<Self> {
        let numbers = release
            .split(|c: char| !c.is_ascii_digit() && c != '.')
            .next()?;
        let mut parts = numbers.split('.');
        let major = parts.next()?.parse().ok()?;
        let minor = parts.next()?.parse().ok()?;
        let patch = parts
            .next()
            .and_then(|patch| patch.parse().ok())
            .unwrap_or(0);
        Some(Self {
            major,
            minor,
            patch,
        })
    }

    /// Reads one to three numbers and nothing else.
    fn parse(text: &str) -> Option<Self> {
        let parts = text.split('.').map(|part| {
            part.bytes()
                .all(|b| b.is_ascii_digit())
                .then(|| part.parse::<u32>().ok())
                .flatten()
        });
        match parts.take(4).collect::<Option<Vec<_>>>()?[..] {
            [major] => Some(Self {
                major,
                minor: 0,
                patch: 0,
            }),
            [major, minor] => Some(Self {
                major,
                minor,
                patch: 0,
            }),
            [major, minor, patch] => Some(Self {
                major,
                minor,
                patch,
            }),
            _ => None,
        }
    }
}

impl fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        if self.patch > 0 {
            write!(f, ".{}", self.patch)
        } else {
            Ok(())
        }
    }
}

impl KernelRange {
    /// Whether `version` lies within.
    #[must_use]
    pub fn contains(self, version: KernelVersion) -> bool {
        self.at_least.is_none_or(|first| version >= first)
            && self.below.is_none_or(|beyond| version < beyond)
    }
}

impl fmt::Display for KernelRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.at_least, self.below) {
            (Some(first), Some(beyond)) => write!(f, ">= {first}, < {beyond}"),
            (Some(first), None) => write!(f, ">= {first}"),
            (None, Some(beyond)) => write!(f, "< {beyond}"),
            (None, None) => f.write_str("any"),
        }
    }
}

impl Text for KernelRange {
    const EXPECTED: &'static str = "a string such as \">= 5.10\" or \">= 5.10, < 6.12\"";
    const LIKE: &'static str = "^ *(>=|<)[^,]+(, *(>=|<)[^,]+)?$";

    fn read(text: &str) -> Option<Result<Self, String>> {
        let mut range = Self {
            at_least: None,
            below: None,
        };
        for bound in text.split(',').map(str::trim) {
            let (end, version) = match (bound.strip_prefix(">="), bound.strip_prefix('<')) {
                (Some(version), _) => (&mut range.at_least, version),
                (None, Some(version)) => (&mut range.below, version),
                (None, None) => return None,
            };
            if end.replace(KernelVersion::parse(version.trim())?).is_some() {
                return Some(Err("the same end of the range twice".to_owned()));
            }
        }
        Some(match range {
            Self {
                at_least: Some(first),
                below: Some(beyond),
            } if first >= beyond => Err("no kernel is in this range".to_owned()),
            _ => Ok(range),
        })
    }
}

deserialize_flexible!(KernelRange);

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> KernelRange {
        KernelRange::read(text).unwrap().unwrap()
    }

    fn version(text: &str) -> KernelVersion {
        KernelVersion::parse(text).unwrap()
    }

    #[test]
    fn versions_compare_number_by_number() {
        let range = range(">= 5.10, < 6.12");
        assert_eq!(
            ["5.9.99", "5.10", "5.10.1", "6.11.99", "6.12", "10.1"]
                .map(|text| range.contains(version(text))),
            [false, true, true, true, false, false]
        );
    }

    #[test]
    fn ranges_are_shown_as_they_are_written() {
        for text in [">= 5.10", "< 6.12", ">= 5.10, < 6.12.3"] {
            assert_eq!(range(text).to_string(), text);
        }
        assert_eq!(range("<6.12,>=5.10"), range(">= 5.10, < 6.12"));
        assert_eq!(range(">= 5, < 7"), range(">= 5.0, < 7.0"));
    }

    #[test]
    fn what_is_not_a_range_is_refused() {
        for bad in [
            "",
            "5.10",
            "> 5.10",
            "<= 6.1",
            "= 6.1",
            ">= ",
            ">= 5.10.1.2",
            ">= +5.1",
            ">= 6.1,",
        ] {
            assert!(KernelRange::read(bad).is_none(), "{bad}");
        }
        for bad in [">= 6.1, < 6.1", ">= 6.1, >= 6.2"] {
            assert!(matches!(KernelRange::read(bad), Some(Err(_))), "{bad}");
        }
    }

    #[test]
    fn a_release_starts_with_its_version() {
        let read = |release| KernelVersion::of_release(release).map(|v| v.to_string());
        assert_eq!(read("6.1.0-18-amd64").as_deref(), Some("6.1"));
        assert_eq!(read("7.2-rc1").as_deref(), Some("7.2"));
        assert_eq!(read("5.10.237").as_deref(), Some("5.10.237"));
        assert_eq!(read("5.10.0+").as_deref(), Some("5.10"));
        assert_eq!(read("linux"), None);
        assert_eq!(read(""), None);
    }
}
