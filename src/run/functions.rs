//! Which of the functions that are asked for the files of a process have.

use crate::matching::is_function;
use crate::scenario::Test;
use perf_live::symbols::Book;
use perf_records::space::Maps;
use perf_records::units::Pid;
use std::collections::HashMap;

/// What was found out so far, by test and file.
#[derive(Debug, Default)]
pub(super) struct Functions(HashMap<(String, Vec<u8>), bool>);

impl Functions {
    /// Whether any file of a process has such a function. Where none has, it may have led to a call
    /// all the same: its name was stripped, or it was put into its callers.
    pub(super) fn has(&mut self, (pid, maps): (Pid, &Maps), book: &mut Book, test: &Test) -> bool {
        let word = format!("{test:?}");
        let is_it = |name: &str| is_function(test, name);
        let mut places = maps.files(pid);
        places.any(|place| {
            let key = (word.clone(), place.name.to_vec());
            let known = self.0.entry(key);
            *known.or_insert_with(|| book.has_function(&place, &is_it) == Some(true))
        })
    }
}
