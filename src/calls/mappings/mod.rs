//! Which mapping an address lies in, from the calls alone.
//!
//! [`Maps`] follows every address space through the stream of observations. An address that a call
//! is given for its own sake is looked up when the call is *entered*, as another thread may unmap
//! it later; an address that it returns, when it is left. Nothing is asked of procfs. What is not
//! known is not guessed: what exec mapped (the program, its interpreter, the stack, the vdso) is in
//! no mapping here, and neither is what the kernel maps on its own account (`io_setup(2)`).
//!
//! A mapping is what created it, and an address is told as that and an offset:
//!
//! - A mapping with `MAP_FIXED` inside another belongs to that: ld.so reserves the range of a whole
//!   library with its first segment and maps the others into it, and an allocator's arena stays one
//!   thing however its parts are mapped. It is one of its own where it lies over the border of a
//!   mapping, where it or the other is shared (`msync(2)` of it is about no other file), and where
//!   it is of a file that the other is not of: of a second one, or of one that is mapped into
//!   memory that was reserved without a file, as ld.so of arm64 does.
//! - `munmap(2)` takes its range away. If that is the head of a mapping, offsets count from what is
//!   left: a program that wants an aligned mapping makes a larger one and unmaps its head, whose
//!   size is another in every run.
//! - `mremap(2)` moves a range with what it is and with its offsets.
//! - `brk(2)`: the first break that it returns after an exec is the start of the heap, and every
//!   break is told as a distance from there.
//! - The end of a mapping, which is the first address behind it, is not in it: whatever call is
//!   given it means what is there, which may be something unseen. It is told as that mapping's only
//!   where that cannot be: for the place where something is to be mapped (`mmap`, `mremap`) while
//!   nothing else is known to be there, and for a stack, which grows down from its end (`clone`).
//!
//! A call takes effect somewhere between its two halves. What takes something away (`munmap`,
//! `mremap`, `shmdt`, `MAP_FIXED` over more than one mapping) is applied when it is entered, as the
//! kernel may give the range to another thread's `mmap` before the call's return is seen; what
//! failed is put back, wherever nothing else has come meanwhile. What adds something is applied
//! when it returns: until then no other thread can know the address. So every place depends on its
//! own thread's order alone, unless threads race for the same range, and then it is unknown.

mod calls;
mod effects;
mod maps;
mod place;
mod space;

pub use calls::needed;
pub use maps::Maps;
pub use place::{Mapping, Place, Places, Source};

#[cfg(test)]
mod tests;
