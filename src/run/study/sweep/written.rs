//! The scenario that reproduces a run of a sweep.

use super::{SweepError, SweepPlan, Swept};
use crate::run::Bench;
use crate::scenario::{Added, faulted};
use crate::sweep::Class;
use perf_live::units::ExitKind;
use perf_records::units::shown;
use std::path::{Path, PathBuf};
use syscall_model::errno::errno_name;

/// What the first line of such a scenario begins with.
const WRITTEN: &str = "# Written by `harness sweep`: ";

impl SweepPlan {
    /// The first line of the scenarios that a sweep of this one writes.
    #[must_use]
    pub fn first_line(&self) -> String {
        format!("{WRITTEN}{}", shown(&self.item.name))
    }

    /// Returns the name of the file for a run, and the scenario that reproduces it. `from` says
    /// where a file of the scenario's folder is from the folder of the new file.
    ///
    /// # Errors
    /// [`SweepError::Text`].
    pub fn scenario(
        &self,
        bench: &Bench<'_>,
        swept: &Swept,
        from: &dyn Fn(&Path) -> PathBuf,
    ) -> Result<(String, String), SweepError> {
        let error = errno_name(swept.error).unwrap_or("error");
        let call = &swept.fault.step.event;
        let description = format!(
            "{call} of {} fails with {error} ({})",
            self.item.name,
            swept.told.class.word().replace('_', " ")
        );
        let told = &swept.told;
        // What met all expectations fails by none of them.
        let is_bad = !matches!(told.class, Class::Unknown | Class::Handled);
        let other = |ended| match ended {
            ExitKind::Code(1) => 2,
            _ => 1,
        };
        let exit = told.exit.filter(|_| is_bad && told.is_met).map(other);
        let added = Added {
            faults: std::slice::from_ref(&swept.fault),
            event: None,
            exit,
            timeout: self.timeout,
            description: Some(&description),
            from,
        };
        let it = (
            self.item.file.as_path(),
            self.text.as_str(),
            self.item.row.as_str(),
        );
        let text = faulted(it, &bench.programs, &added)
            .map_err(|complaint| SweepError::Text(Box::new(complaint)))?;
        let site = self.sites.get(swept.site);
        let line = site.map(|site| shown(&site.spot.line).into_owned());
        let head = format!(
            "{}\n# {}\n# {}\n",
            self.first_line(),
            line.unwrap_or_default(),
            match exit {
                Some(_) => SAYS_NOTHING,
                None => advice(told.class),
            }
        );
        let place = self
            .item
            .file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy();
        let row = match self.item.row.as_str() {
            "" => String::new(),
            row => format!("[{row}]"),
        };
        let number = site.map_or(0, |site| site.number);
        Ok((
            format!("{place}{row}-{number:03}-{call}-{error}.yaml"),
            format!("{head}{text}"),
        ))
    }
}

/// The same where the run met all that is expected of it.
const SAYS_NOTHING: &str =
    "It fails by `exit` alone, as the run ended like one without a fault: write what is right.";

/// What the author of the program does with the scenario.
fn advice(class: Class) -> &'static str {
    match class {
        Class::Unknown => "What the program makes of it is not known: run this to look at it.",
        _ => "It fails until the program is mended: then write below `expect` what is right.",
    }
}
