//! `harness schema`: the JSON schema of scenario files.

use crate::{out, status};

pub(crate) fn main() -> u8 {
    let printed = out::print(&trace_harness::scenario::schema());
    out::ended(printed, status::PASSED, status::USAGE)
}
