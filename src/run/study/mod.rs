//! Learns from runs of a scenario: how strict its snapshot can be, what its expectations let
//! through, what its program makes of errors, and what a new scenario can expect.

mod calibrate;
mod crash;
mod load;
mod mutate;
mod recording;
mod sweep;
mod told;

pub use calibrate::{CalibrateError, Calibrating};
pub use crash::{CrashError, CrashOptions, CrashStart, CrashStudy, Remains, Reproduction};
pub use mutate::{Killer, LEAST_KILLED, MutationOptions, MutationReport, Standing, Survey};
pub use recording::RecordError;
pub use sweep::{Sweep, SweepError, SweepOptions, SweepPlan, Swept, TimeBy};
