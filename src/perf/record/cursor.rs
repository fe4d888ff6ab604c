//! A reader of native-endian words that cannot step beyond its bytes.

use super::RecordError;

#[derive(Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    kind: u32,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], kind: u32) -> Self {
        Self { rest: bytes, kind }
    }

    fn short(&self, field: &'static str) -> RecordError {
        RecordError::Short {
            kind: self.kind,
            field,
        }
    }

    #[inline]
    fn chunk<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], RecordError> {
        let (head, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or_else(|| self.short(field))?;
        self.rest = rest;
        Ok(*head)
    }

    #[inline]
    pub(super) fn u16(&mut self, field: &'static str) -> Result<u16, RecordError> {
        self.chunk(field).map(u16::from_ne_bytes)
    }

    #[inline]
    pub(super) fn u32(&mut self, field: &'static str) -> Result<u32, RecordError> {
        self.chunk(field).map(u32::from_ne_bytes)
    }

    #[inline]
    pub(super) fn u64(&mut self, field: &'static str) -> Result<u64, RecordError> {
        self.chunk(field).map(u64::from_ne_bytes)
    }

    #[inline]
    pub(super) fn take(
        &mut self,
        length: usize,
        field: &'static str,
    ) -> Result<&'a [u8], RecordError> {
        let (head, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or_else(|| self.short(field))?;
        self.rest = rest;
        Ok(head)
    }

    #[inline]
    pub(super) fn skip(&mut self, length: usize, field: &'static str) -> Result<(), RecordError> {
        self.take(length, field).map(drop)
    }

    /// Takes `count` words; a count that no record could hold is short, not an overflow.
    #[inline]
    pub(super) fn words(
        &mut self,
        count: u64,
        field: &'static str,
    ) -> Result<&'a [u8], RecordError> {
        let length = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_mul(8));
        self.take(length.ok_or_else(|| self.short(field))?, field)
    }

    /// Cuts `length` bytes off the end and gives them a cursor of their own.
    pub(super) fn split_end(
        &mut self,
        length: usize,
        field: &'static str,
    ) -> Result<Self, RecordError> {
        let at = self
            .rest
            .len()
            .checked_sub(length)
            .ok_or_else(|| self.short(field))?;
        let (rest, end) = self
            .rest
            .split_at_checked(at)
            .ok_or_else(|| self.short(field))?;
        self.rest = rest;
        Ok(Self {
            rest: end,
            kind: self.kind,
        })
    }

    /// What is still to be read.
    pub(super) fn ahead(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn rest(self) -> &'a [u8] {
        self.rest
    }
}
