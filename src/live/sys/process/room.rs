//! Room for what an order of an init points to.

use libc::c_char;
use std::ffi::CStr;
use std::ptr::NonNull;

/// Memory that is given away from the front, for copies of what an order points to.
pub(super) struct Room {
    start: NonNull<u8>,
    length: usize,
    used: usize,
    is_full: bool,
}

impl Room {
    /// Page-aligned memory of so many bytes, which nothing else refers to and which stays where it
    /// is; some of it is used.
    pub(super) fn new(start: NonNull<u8>, length: usize, used: usize) -> Self {
        Self {
            start,
            length,
            used,
            is_full: false,
        }
    }

    /// How much of it is used; `None` where it was too little.
    pub(super) fn end(&self) -> Option<usize> {
        (!self.is_full).then_some(self.used)
    }

    /// A copy of values that own nothing; none of them where there is no room.
    pub(super) fn all<T: Copy>(&mut self, values: &[T]) -> &'static [T] {
        let at = self.used.next_multiple_of(align_of::<T>().max(1));
        let end = at.saturating_add(size_of_val(values));
        if end > self.length {
            self.is_full = true;
            return &[];
        }
        self.used = end;
        // SAFETY: within the memory, which is page-aligned.
        let to = unsafe { self.start.as_ptr().add(at) }.cast::<T>();
        // SAFETY: room for as many, which nothing refers to.
        unsafe { to.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        // SAFETY: written just now, and not again before the starter has its copy.
        unsafe { std::slice::from_raw_parts(to, values.len()) }
    }

    pub(super) fn text(&mut self, text: &CStr) -> &'static CStr {
        let copied = self.all(text.to_bytes_with_nul());
        CStr::from_bytes_with_nul(copied).unwrap_or_default()
    }

    pub(super) fn string(&mut self, string: *const c_char) -> *const c_char {
        if string.is_null() {
            return string;
        }
        // SAFETY: a string that ends in NUL, by the caller's promise.
        self.text(unsafe { CStr::from_ptr(string) }).as_ptr()
    }

    /// A copy of an array that ends with a null pointer.
    pub(super) fn strings(&mut self, array: *const *const c_char) -> *const *const c_char {
        let mut copies = Vec::new();
        loop {
            // SAFETY: the array has not ended yet.
            let string = unsafe { *array.add(copies.len()) };
            copies.push(self.string(string));
            if string.is_null() {
                return self.all(&copies).as_ptr();
            }
        }
    }
}
