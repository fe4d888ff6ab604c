//! One run of `harness run` for a kernel, in its guest or on the machine itself.

use super::guests::{INTERRUPTED, Suite};
use super::said::{Ended, Lines};
use crate::{shard, status};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use perf_live::errors::chain;
use perf_live::sys::process::end_with_us;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use trace_harness::matrix::{self, Heard, Job, Kernel, Trouble};

/// How often it is looked whether the machine's own harness is to end.
const LOOK: Duration = Duration::from_millis(50);

impl Suite<'_> {
    pub(super) fn in_guest(
        &self,
        index: usize,
        kernel: &Kernel,
        mut job: Job,
    ) -> Result<(), Trouble> {
        // Files that are written in the guest would be lost.
        job.environment.retain(|(name, _)| name != "CI");
        let is_of_shard = |name: &OsString| shard::VARIABLES.iter().any(|it| name == it);
        job.environment.retain(|(name, _)| !is_of_shard(name));
        job.environment.push(("CI".into(), "1".into()));
        let mut lines = Lines::default();
        let mut said = Vec::new();
        let before = self.heard(index);
        let mut hear = |heard: Heard<'_>| match heard {
            Heard::Up(release, after) => {
                self.say(&format!(
                    "{}: {release} is up after {:.1} s",
                    kernel.name,
                    after.as_secs_f64()
                ));
                self.edit(index, |column| release.clone_into(&mut column.release));
            }
            Heard::Out(bytes) => lines.take(bytes, &mut |line| self.line(index, line)),
            Heard::Err(bytes) => said.extend(bytes),
        };
        let ended = matrix::run(kernel, &self.machine, &job, &mut hear);
        let code = ended.map_err(|error| Trouble::of_guest(&error, Some(kernel)))?;
        let ended = Ended {
            status: code.shell_status(),
            under: &kernel.under,
            said: &said,
            has_told: self.heard(index) > before,
        };
        ended.tell().map_err(|trouble| Trouble {
            hint: kernel
                .lacks_to_trace()
                .filter(|_| kernel.under.is_empty())
                .map(|lacks| format!("of the kernel: {lacks}")),
            ..trouble
        })
    }

    pub(super) fn on_host(
        &self,
        index: usize,
        under: &[OsString],
        command: &[OsString],
    ) -> Result<(), Trouble> {
        let (program, words) = command.split_first().ok_or("there is no command")?;
        let failed = |error: std::io::Error| format!("cannot run the harness: {}", chain(&error));
        let mut command = Command::new(program);
        for name in shard::VARIABLES {
            command.env_remove(name);
        }
        command.args(words).env("CI", "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        // Where it is not waited for, it is not left behind either.
        end_with_us(&mut command);
        let before = self.heard(index);
        let mut child = command.spawn().map_err(failed)?;
        let out = child.stdout.take();
        let heard = std::thread::scope(|scope| {
            let (ended, ends) = mpsc::channel::<()>();
            let own = &child;
            scope.spawn(move || self.end_when_asked(own, &ends));
            let lines = out.into_iter().flat_map(|out| BufReader::new(out).lines());
            for line in lines {
                self.line(index, &line.map_err(failed)?);
            }
            drop(ended);
            Ok::<_, String>(())
        });
        let status = child.wait().map_err(failed)?;
        heard?;
        if self.machine.stop.is_asked() {
            return Err(INTERRUPTED.into());
        }
        let ended = Ended {
            status: status.code().unwrap_or(i32::from(status::TROUBLE)),
            under,
            said: b"",
            has_told: self.heard(index) > before,
        };
        ended.tell()
    }

    /// Ends the machine's own harness when this one is asked to end. A terminal asks both.
    fn end_when_asked(&self, child: &Child, ends: &mpsc::Receiver<()>) {
        while let Err(RecvTimeoutError::Timeout) = ends.recv_timeout(LOOK) {
            if self.machine.stop.is_asked() {
                // It has not been waited for, so its number is still its own.
                if let Ok(pid) = i32::try_from(child.id()) {
                    kill(Pid::from_raw(pid), Signal::SIGTERM).ok();
                }
                break;
            }
        }
    }
}
