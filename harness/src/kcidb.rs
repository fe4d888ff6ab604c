//! Options of what is submitted to KCIDB.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::SystemTime;
use trace_harness::report::Submission;

/// Who submits to KCIDB.
#[derive(Debug, clap::Args)]
pub(crate) struct Submitter {
    /// The CI system that submits, in KCIDB's form of the report
    #[arg(long = "kcidb-origin", value_name = "NAME", default_value = "harness", value_parser = origin)]
    origin: String,
}

/// A name as the schema has it.
fn origin(name: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    match !name.is_empty() && name.chars().all(is_plain) {
        true => Ok(name.to_owned()),
        false => Err("letters from a to z, digits and `_` make such a name".to_owned()),
    }
}

/// The id of a build: its CI system, a colon, and what that calls it.
pub(crate) fn build(id: &str) -> Result<String, String> {
    let why = || "an id is the name of a CI system, a colon, and what that calls the build";
    let (name, rest) = id.split_once(':').ok_or_else(why)?;
    origin(name)?;
    match rest.contains('\0') {
        true => Err(why().to_owned()),
        false => Ok(id.to_owned()),
    }
}

/// The same of a kernel of the list: `6.1=maestro:1f`.
pub(crate) fn build_of(text: &str) -> Result<(String, String), String> {
    let why = || "it is KERNEL=ID, a name of the list and the id of its build".to_owned();
    let (kernel, id) = text.split_once('=').ok_or_else(why)?;
    Ok((kernel.to_owned(), build(id)?))
}

impl Submitter {
    pub(crate) fn submission(&self, builds: BTreeMap<String, String>) -> Submission {
        Submission {
            origin: self.origin.clone(),
            run: run().to_owned(),
            builds,
        }
    }
}

/// What tells this run from all others: what CI calls it, and when and by which process it is made.
fn run() -> &'static str {
    static RUN: OnceLock<String> = OnceLock::new();
    RUN.get_or_init(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let own = format!(
            "{}-{}",
            now.unwrap_or_default().as_nanos(),
            std::process::id()
        );
        match crate::shard::run_of_ci() {
            Some(ci) => format!("{ci}/{own}"),
            None => own,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_schema_would_refuse_is_refused_before() {
        for name in ["", "Our CI", "us:x", "é"] {
            assert!(origin(name).is_err(), "{name}");
        }
        assert_eq!(origin("our_ci2"), Ok("our_ci2".to_owned()));
        assert_eq!(build("maestro:1 f"), Ok("maestro:1 f".to_owned()));
        for id in ["", "maestro", "Maestro:x", ":x"] {
            assert!(build(id).is_err(), "{id}");
        }
        let built = ("6.1".to_owned(), "m:x=y".to_owned());
        assert_eq!(build_of("6.1=m:x=y"), Ok(built));
        assert!(build_of("6.1").is_err());
    }
}
