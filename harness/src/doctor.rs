//! `harness doctor`: what this machine allows, and a remedy for each thing that it does not.
pub(crate) fn main() -> u8 { 0 }
