//! The workload that knows what it did: `workloads/oracle.rs`, and the lines that it prints.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::command::Place;
use super::harness;

/// What the workload ends with where the kernel does not have what it is to do.
pub(crate) const UNSUPPORTED: i32 = 77;

/// The built example, which lies beside the program under test.
pub(crate) fn path() -> String {
    let mut path = PathBuf::from(harness::PATH);
    path.set_file_name("examples");
    path.push("oracle");
    assert!(
        path.is_file(),
        "`{}` is not built; `cargo test` builds it, `cargo test --test NAME` needs \
         `cargo build --examples` before",
        path.display()
    );
    path.to_str().expect("a path of letters").to_owned()
}

/// One line of the workload: `kind key=value key=value`.
#[derive(Debug)]
pub(crate) struct Fact {
    kind: String,
    values: BTreeMap<String, String>,
}

impl Fact {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let kind = words.next()?.to_owned();
        let pairs = words.map(|word| word.split_once('='));
        let values = pairs
            .map(|pair| pair.map(|(key, value)| (key.to_owned(), value.to_owned())))
            .collect::<Option<_>>()?;
        Some(Self { kind, values })
    }

    /// The value of the key.
    pub(crate) fn word(&self, key: &str) -> &str {
        let value = self.values.get(key);
        value.unwrap_or_else(|| panic!("the workload's line has no `{key}`: {self:?}"))
    }

    /// The value of the key, a number.
    pub(crate) fn number(&self, key: &str) -> i64 {
        let word = self.word(key);
        word.parse()
            .unwrap_or_else(|_| panic!("`{key}` is no number: {self:?}"))
    }

    /// The value of the key, the id of a thread or process.
    pub(crate) fn id(&self, key: &str) -> i32 {
        i32::try_from(self.number(key)).expect("an id")
    }
}

/// Everything the workload said, in order.
#[derive(Debug)]
pub(crate) struct Facts(Vec<Fact>);

impl Facts {
    /// Reads the workload's stdout.
    pub(crate) fn parse(stdout: &[u8]) -> Self {
        let text = String::from_utf8_lossy(stdout);
        let facts = text.lines().map(|line| {
            Fact::parse(line).unwrap_or_else(|| panic!("not a line of the workload: `{line}`"))
        });
        Self(facts.collect())
    }

    /// All lines of that kind; at least one, so that a loop over them cannot be empty.
    pub(crate) fn all(&self, kind: &str) -> Vec<&Fact> {
        let facts: Vec<&Fact> = self.0.iter().filter(|fact| fact.kind == kind).collect();
        assert!(
            !facts.is_empty(),
            "the workload has not said `{kind}`: {:?}",
            self.0
        );
        facts
    }

    /// The only line of that kind.
    pub(crate) fn one(&self, kind: &str) -> &Fact {
        let facts = self.all(kind);
        let [fact] = facts[..] else {
            panic!("more than one `{kind}`: {facts:?}");
        };
        fact
    }
}

/// What `oracle int80` ends with, through the 32-bit `exit`.
pub(crate) const INT80_STATUS: i32 = 5;

/// Whether the kernel has the 32-bit gate: without it the workload dies by `SIGSEGV`.
pub(crate) fn int80_works() -> Result<(), String> {
    let output = Place::new().run("", &[&path(), "int80"]);
    if output.status.code() == Some(INT80_STATUS) {
        return Ok(());
    }
    Err("neither this architecture nor this kernel makes 32-bit calls through int 0x80".to_owned())
}
