//! `harness schema`: the JSON schema of scenario files.

use crate::status;
use crate::suite::print;

pub(crate) fn main() -> u8 {
    print(&trace_harness::scenario::schema());
    status::PASSED
}
