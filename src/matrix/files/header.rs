//! Reads the fields of a header of tar, and what pax says ahead of one.

use super::tar::TarError;

/// What was said of the next entry, ahead of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Ahead {
    pub(super) path: Option<Vec<u8>>,
    pub(super) target: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    pub(super) user: Option<u32>,
    pub(super) group: Option<u32>,
    pub(super) modified: Option<i64>,
    pub(super) has_attributes: bool,
    pub(super) is_sparse: bool,
}

pub(super) fn field(header: &[u8; 512], at: usize, length: usize) -> &[u8] {
    header
        .get(at..at.saturating_add(length))
        .unwrap_or_default()
}

/// What stands before the first NUL.
pub(super) fn text(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Reads a number in octal, or in GNU's binary form where that has too few digits.
pub(super) fn number(bytes: &[u8], what: &str) -> Result<u64, TarError> {
    let wrong = || TarError::Form(format!("it is no tar archive: the {what} is no number"));
    if let [first @ 0x80, rest @ ..] = bytes {
        let digits = [first & 0x7f].into_iter().chain(rest.iter().copied());
        return digits
            .into_iter()
            .try_fold(0_u64, |sum, byte| {
                sum.checked_mul(256)?.checked_add(byte.into())
            })
            .ok_or_else(wrong);
    }
    let said = text(bytes).trim_ascii();
    said.iter()
        .try_fold(0_u64, |sum, digit| {
            let digit = u64::from(digit.checked_sub(b'0').filter(|digit| *digit < 8)?);
            sum.checked_mul(8)?.checked_add(digit)
        })
        .ok_or_else(wrong)
}

/// The sum of a header's bytes, where those of the sum itself count as spaces.
pub(super) fn checksum(block: &[u8; 512]) -> u64 {
    let sum = |(at, byte): (usize, &u8)| match at {
        148..156 => u64::from(b' '),
        _ => u64::from(*byte),
    };
    block.iter().enumerate().map(sum).sum()
}

/// Reads what pax says of an entry: lines of `LENGTH NAME=VALUE`.
pub(super) fn pax(mut bytes: &[u8], into: &mut Ahead) -> Result<(), TarError> {
    let wrong = || TarError::Form("what pax says of an entry is not understood".to_owned());
    while !bytes.is_empty() {
        let space = bytes.iter().position(|byte| *byte == b' ');
        let digits = bytes.get(..space.ok_or_else(wrong)?).unwrap_or_default();
        let length = std::str::from_utf8(digits).ok();
        let length: usize = length.and_then(|it| it.parse().ok()).ok_or_else(wrong)?;
        let line = bytes.get(digits.len().saturating_add(1)..length);
        let line = line.and_then(|line| line.strip_suffix(b"\n"));
        let line = line.ok_or_else(wrong)?;
        bytes = bytes.get(length..).unwrap_or_default();
        let equals = line.iter().position(|byte| *byte == b'=');
        let (name, value) = line
            .split_at_checked(equals.ok_or_else(wrong)?)
            .ok_or_else(wrong)?;
        let value = value.get(1..).unwrap_or_default();
        let text = std::str::from_utf8(value);
        let whole = |text: &str| text.split('.').next().unwrap_or_default().to_owned();
        match name {
            b"path" => into.path = Some(value.to_vec()),
            b"linkpath" => into.target = Some(value.to_vec()),
            b"size" => into.size = Some(parsed(text).ok_or_else(wrong)?),
            b"uid" => into.user = Some(parsed(text).ok_or_else(wrong)?),
            b"gid" => into.group = Some(parsed(text).ok_or_else(wrong)?),
            b"mtime" => {
                let seconds = text.ok().and_then(|text| whole(text).parse().ok());
                into.modified = Some(seconds.ok_or_else(wrong)?);
            }
            name if name.starts_with(b"SCHILY.xattr.") => into.has_attributes = true,
            name if name.starts_with(b"GNU.sparse.") => into.is_sparse = true,
            // Times of access, names of users, comments.
            _ => {}
        }
    }
    Ok(())
}

fn parsed<T: std::str::FromStr, E>(text: Result<&str, E>) -> Option<T> {
    text.ok()?.parse().ok()
}
