//! A recording of the harness, with its run, as `harness trace -i` shows it.
#![no_main]

use harness_fuzz::{file_of, path_of};
use libfuzzer_sys::fuzz_target;
use syscall_model::{Observation, Signatures};
use trace_harness::plan;
use trace_harness::report::{Plain, call_line};
use trace_harness::run::{Fired, Observer, RecordedRun};

struct Shows(Signatures<'static>);

impl Observer for Shows {
    fn observe(&mut self, observation: &Observation) {
        if let Observation::Call(call) = observation {
            let mut values = Plain {
                contents: 64,
                ..Plain::default()
            };
            call_line(&mut String::new(), "", call, &self.0, &mut values);
        }
    }
    fn event(&mut self, _fired: &Fired<'_>) {}
    fn wants_functions(&self) -> bool {
        false
    }
}

fuzz_target!(|bytes: &[u8]| {
    let file = file_of(bytes);
    let Ok(recording) = RecordedRun::open(&path_of(&file)) else {
        return;
    };
    let wanted = recording.wanted();
    let plan = plan::events_within(recording.reach(), &wanted, recording.memory(), &recording);
    if let Ok(plan) = plan {
        let mut shows = Shows(Signatures::new(Box::new(|_| None)));
        let _run = recording.replay(&plan, &mut shows);
    }
});
