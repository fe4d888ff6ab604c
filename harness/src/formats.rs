//! The formats of a kernel's events: each fetched kernel is asked only once.

use crate::vm::job;
use perf_live::errors::chain;
use perf_live::units::ExitKind;
use std::ffi::OsString;
use std::process::{Command, Stdio};
use trace_harness::matrix::{self, EventFormats, Heard, Kernel, Machine, Place, Trouble};

/// The file that they are kept in, beside the kernel.
const KEPT: &str = "events.jsonl";

/// Returns the formats of a kernel, or why it cannot.
pub(crate) fn of(place: &Place, machine: &Machine) -> Result<EventFormats, String> {
    let text = match place {
        Place::Host(_) => on_host()?,
        Place::Guest(kernel) => match kernel.kept(KEPT) {
            Some(text) => text,
            None => {
                let text = in_guest(kernel, machine)?;
                kernel.keep(KEPT, &text);
                text
            }
        },
    };
    EventFormats::read(&text).map_err(|error| chain(&error))
}

fn command() -> Vec<OsString> {
    let own = std::env::current_exe().unwrap_or_else(|_| "harness".into());
    vec![
        own.into(),
        "events".into(),
        "--format".into(),
        "json".into(),
    ]
}

fn in_guest(kernel: &Kernel, machine: &Machine) -> Result<String, String> {
    let (mut out, mut said) = (Vec::new(), Vec::new());
    let mut hear = |heard: Heard<'_>| match heard {
        Heard::Up(..) => {}
        Heard::Out(bytes) => out.extend(bytes),
        Heard::Err(bytes) => said.extend(bytes),
    };
    let ended = matrix::run(kernel, machine, &job(command(), &[]), &mut hear);
    match ended.map_err(|error| Trouble::of_guest(&error, None).to_string())? {
        ExitKind::Code(0) => Ok(String::from_utf8_lossy(&out).into_owned()),
        how => {
            let said = String::from_utf8_lossy(&said).into_owned();
            Err(format!(
                "`harness events` in a guest: {how}: {}",
                said.trim()
            ))
        }
    }
}

fn on_host() -> Result<String, String> {
    let mut words = command().into_iter();
    let output = Command::new(words.next().unwrap_or_default())
        .args(words)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot run the harness: {}", chain(&error)))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err("cannot list the events of this kernel".to_owned())
    }
}
