//! The states, against what is known of file systems and against all subsets.

mod brute;
mod lessons;
mod ranged;
mod real;
