//! Rules: what they allow, and their file.
//!
//! The file is the JSON that the kernel's maintainers have for it
//! (<https://github.com/landlock-lsm/landlockconfig>), with one right of each rule a line.

use super::super::demand::Demand;
use super::super::model::{Complaint, Place};
use super::rights::{Port, Right, Scope};
use super::wanted::{scoped, wanted};
use super::{read, rights};
use perf_live::gate::Ruled;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::fmt;
use std::path::Path;

/// What stands for the folder in which the program works, in the paths of rules.
pub const DIRECTORY: &str = "${dir}";

/// What is allowed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A right to a file, or to all that is beneath a folder.
    Path(String, Right),
    /// A right to a port.
    Port(u16, Port),
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path, right) => write!(f, "{path}: {right}"),
            Self::Port(port, right) => write!(f, "port {port}: {right}"),
        }
    }
}

/// Rules: what none of them allows is refused, as far as the ABI has a right for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruleset {
    /// The ABI whose rights are refused.
    pub abi: u32,
    /// What is allowed, and where the file says so.
    pub rules: BTreeMap<Rule, Place>,
    /// What is kept within the program and what it starts.
    pub scoped: BTreeMap<Scope, Place>,
    /// Where the file says what is refused.
    pub otherwise: Place,
    /// Where the program will work, if the file says so.
    pub directory: Option<String>,
}

impl Ruleset {
    /// The rules that allow what is needed and nothing else, of an ABI.
    #[must_use]
    pub fn of(demand: &Demand, abi: u32, directory: Option<&str>) -> Self {
        let rules = wanted(demand, abi).into_keys();
        Self {
            abi,
            rules: rules.map(|rule| (rule, Place::default())).collect(),
            scoped: scoped(demand, abi)
                .map(|scope| (scope, Place::default()))
                .collect(),
            otherwise: Place::default(),
            directory: directory.map(str::to_owned),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The first thing that is not understood.
    pub fn read(text: &str) -> Result<Self, Complaint> {
        read::ruleset(text)
    }

    /// Whether a rule speaks of the folder in which the program works.
    #[must_use]
    pub fn has_directory(&self) -> bool {
        let mut rules = self.rules.keys();
        rules.any(|rule| matches!(rule, Rule::Path(path, _) if path.starts_with(DIRECTORY)))
    }

    /// The rules for all files there are.
    pub fn of_root(&self) -> impl Iterator<Item = &Rule> {
        let rules = self.rules.keys();
        rules.filter(|rule| matches!(rule, Rule::Path(path, _) if path == "/"))
    }

    /// Whether a rule allows it, or the ABI has no right for it.
    pub(super) fn allows(&self, rule: &Rule) -> bool {
        match rule {
            Rule::Path(path, right) => {
                let is_refused = right.is_of(self.abi) || *right == Right::Refer;
                let mut rules = self.rules.keys();
                !is_refused
                    || rules.any(|rule| {
                        matches!(rule, Rule::Path(above, its) if its == right && is_beneath(path, above))
                    })
            }
            rule @ Rule::Port(..) => self.abi < Port::FIRST || self.rules.contains_key(rule),
        }
    }

    /// What the kernel is to enforce of a program that works in this folder.
    #[must_use]
    pub fn ruled(&self, directory: &Path) -> Ruled {
        let directory = directory.to_string_lossy();
        let handled = Right::ALL
            .iter()
            .filter(|(right, ..)| right.is_of(self.abi));
        let mut paths: BTreeMap<&str, u64> = BTreeMap::new();
        let mut ports: BTreeMap<u16, u64> = BTreeMap::new();
        for rule in self.rules.keys() {
            match rule {
                Rule::Path(path, right) => *paths.entry(path).or_default() |= right.bit(),
                Rule::Port(port, right) => *ports.entry(*port).or_default() |= right.bit(),
            }
        }
        let place = |path: &str| match path.strip_prefix(DIRECTORY) {
            Some(rest) => format!("{directory}{rest}"),
            None => path.to_owned(),
        };
        let ports_of = [Port::Bind, Port::Connect].map(Port::bit);
        Ruled {
            files: handled.map(|(right, ..)| right.bit()).sum(),
            ports: match self.abi >= Port::FIRST {
                true => ports_of.iter().sum(),
                false => 0,
            },
            scoped: self.scoped.keys().map(|scope| scope.bit()).sum(),
            // A path with a zero byte is none.
            beneath: paths
                .into_iter()
                .filter_map(|(path, rights)| Some((CString::new(place(path)).ok()?, rights)))
                .collect(),
            at: ports.into_iter().collect(),
            of_files: Right::ALL
                .iter()
                .filter(|(right, ..)| right.is_of_files())
                .map(|(right, ..)| right.bit())
                .sum(),
        }
    }

    /// The file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut paths: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut ports: BTreeMap<u16, Vec<String>> = BTreeMap::new();
        for rule in self.rules.keys() {
            match rule {
                Rule::Path(path, right) => {
                    paths.entry(path).or_default().push(right.to_string());
                }
                Rule::Port(port, right) => {
                    ports.entry(*port).or_default().push(right.to_string());
                }
            }
        }
        let mut handled = Map::new();
        handled.insert("handledAccessFs".to_owned(), json!(words_of(self.abi)));
        if self.abi >= Port::FIRST {
            let words = Port::ALL.map(|(_, word)| word);
            handled.insert("handledAccessNet".to_owned(), json!(words));
        }
        if !self.scoped.is_empty() {
            let words: Vec<_> = self.scoped.keys().map(ToString::to_string).collect();
            handled.insert("scoped".to_owned(), json!(words));
        }
        let mut object = Map::new();
        object.insert("abi".to_owned(), json!(self.abi));
        object.insert("ruleset".to_owned(), json!([handled]));
        let paths = paths.into_iter();
        let paths = paths.map(|(path, words)| json!({ "allowedAccess": words, "parent": [path] }));
        let ports = ports.into_iter();
        let ports = ports.map(|(port, words)| json!({ "allowedAccess": words, "port": [port] }));
        let mut put = |key: &str, all: Vec<Value>| {
            if !all.is_empty() {
                object.insert(key.to_owned(), Value::Array(all));
            }
        };
        put("pathBeneath", paths.collect());
        put("netPort", ports.collect());
        let variable = self.directory.as_ref().filter(|_| self.has_directory());
        let variable = variable.map(|path| json!({ "name": "dir", "literal": [path] }));
        put("variable", variable.into_iter().collect());
        format!("{:#}\n", Value::Object(object))
    }
}

/// The words of an ABI's rights.
pub(super) fn words_of(abi: u32) -> Vec<&'static str> {
    let all = rights::Right::ALL.iter();
    let of_abi = all.filter(|(_, _, first)| *first <= abi);
    of_abi.map(|(_, word, _)| *word).collect()
}

/// Whether a path is another one or lies beneath it.
pub(super) fn is_beneath(path: &str, above: &str) -> bool {
    let rest = path.strip_prefix(above);
    above == "/" || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
