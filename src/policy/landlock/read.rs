//! Rules, from their file: the part of its form that is written, as a whole.

use super::super::json::{Node, list, map, number, parse, text_of};
use super::super::model::{Complaint, Place};
use super::rights::{ABI, Port, Right, Scope};
use super::ruleset::{DIRECTORY, Rule, Ruleset, words_of};
use std::collections::BTreeMap;

/// A list with places: what it is about, and what is allowed of that.
type Words<'n> = Vec<(&'n str, Place)>;

pub(super) fn ruleset(text: &str) -> Result<Ruleset, Complaint> {
    let top = parse(text)?;
    let mut ruleset = Ruleset {
        abi: 0,
        rules: BTreeMap::new(),
        scoped: BTreeMap::new(),
        otherwise: Place::default(),
        directory: None,
    };
    let mut handled = None;
    for (key, place, node) in map(&top, "a policy")? {
        match key.as_str() {
            "abi" => {
                let abi = u32::try_from(number(node)?).ok();
                let abi = abi.filter(|abi| (1..=ABI).contains(abi));
                let message = format!("an ABI is 1 to {ABI}");
                ruleset.abi = abi.ok_or_else(|| Complaint::new(node.place, message))?;
            }
            "ruleset" => {
                let [node] = list(node, "ruleset")? else {
                    let message = "`ruleset` is a list of one object here";
                    return Err(Complaint::new(node.place, message));
                };
                ruleset.otherwise = node.place;
                handled = Some(node);
            }
            "pathBeneath" => {
                for node in list(node, "pathBeneath")? {
                    beneath(node, &mut ruleset.rules)?;
                }
            }
            "netPort" => {
                for node in list(node, "netPort")? {
                    ports(node, &mut ruleset.rules)?;
                }
            }
            "variable" => ruleset.directory = Some(variable(node)?),
            _ => return Err(not_understood(key, *place)),
        }
    }
    let missing = |word: &str| Complaint::new(top.place, format!("`{word}` is missing"));
    if ruleset.abi == 0 {
        return Err(missing("abi"));
    }
    let handled = handled.ok_or_else(|| missing("ruleset"))?;
    ruleset.scoped = refused(handled, ruleset.abi)?;
    let of_newer = ruleset.rules.iter().find(|(rule, _)| match rule {
        Rule::Path(_, right) => !right.is_of(ruleset.abi),
        Rule::Port(..) => ruleset.abi < Port::FIRST,
    });
    match of_newer {
        None => Ok(ruleset),
        Some((rule, place)) => {
            let message = format!("ABI {} has no such right: `{rule}`", ruleset.abi);
            Err(Complaint::new(*place, message))
        }
    }
}

fn not_understood(key: &str, place: Place) -> Complaint {
    Complaint::new(place, format!("the key `{key}` is not understood"))
}

/// What is refused: all that the ABI has rights for. What is left out would be allowed everywhere.
fn refused(node: &Node, abi: u32) -> Result<BTreeMap<Scope, Place>, Complaint> {
    let (mut files, mut ports, mut scoped) = (Vec::new(), Vec::new(), BTreeMap::new());
    for (key, place, node) in map(node, "an entry of `ruleset`")? {
        match key.as_str() {
            "handledAccessFs" => files = words(node, key)?,
            "handledAccessNet" => ports = words(node, key)?,
            "scoped" if abi >= Scope::FIRST => {
                for (word, place) in words(node, key)? {
                    let known = Scope::ALL.iter().find(|(_, known)| *known == word);
                    let (scope, _) = known.ok_or_else(|| unknown(word, place))?;
                    scoped.insert(*scope, place);
                }
            }
            _ => return Err(not_understood(key, *place)),
        }
    }
    let all_ports = Port::ALL.map(|(_, word)| word);
    let all_ports = all_ports.iter().filter(|_| abi >= Port::FIRST);
    let wanted = [
        ("handledAccessFs", &files, words_of(abi)),
        ("handledAccessNet", &ports, all_ports.copied().collect()),
    ];
    for (key, there, wanted) in wanted {
        let is_all = wanted
            .iter()
            .all(|word| there.iter().any(|(it, _)| it == word));
        if !is_all || there.len() != wanted.len() {
            let message =
                format!("`{key}` must have all rights of ABI {abi}, and no others: {wanted:?}");
            return Err(Complaint::new(node.place, message));
        }
    }
    Ok(scoped)
}

fn unknown(word: &str, place: Place) -> Complaint {
    Complaint::new(place, format!("`{word}` is not understood"))
}

fn words<'n>(node: &'n Node, what: &str) -> Result<Words<'n>, Complaint> {
    let words = list(node, what)?.iter();
    words
        .map(|node| Ok((text_of(node, "a word")?, node.place)))
        .collect()
}

/// The two lists of an entry.
fn entry<'n>(node: &'n Node, of: &str) -> Result<(Words<'n>, &'n [Node]), Complaint> {
    let (mut allowed, mut about) = (None, None);
    for (key, place, node) in map(node, "a rule")? {
        match key.as_str() {
            "allowedAccess" => allowed = Some(words(node, key)?),
            key if key == of => about = Some(list(node, key)?),
            _ => return Err(not_understood(key, *place)),
        }
    }
    match (allowed, about) {
        (Some(allowed), Some(about)) => Ok((allowed, about)),
        _ => {
            let message = format!("`allowedAccess` or `{of}` is missing");
            Err(Complaint::new(node.place, message))
        }
    }
}

fn beneath(node: &Node, rules: &mut BTreeMap<Rule, Place>) -> Result<(), Complaint> {
    let (allowed, parents) = entry(node, "parent")?;
    for node in parents {
        let path = text_of(node, "a path")?;
        let rest = path.strip_prefix(DIRECTORY).unwrap_or(path);
        let is_whole = rest.is_empty() && path == DIRECTORY || rest.starts_with('/');
        let mut parts = rest.split('/').skip(1);
        let is_clean = path == "/" || parts.all(|part| !matches!(part, "" | "." | ".."));
        if !is_whole || !is_clean || rest.contains("${") {
            let message = format!(
                "`{path}` is not understood: an absolute path is without `.` and `..`, or `{DIRECTORY}` and \
                 what is below it"
            );
            return Err(Complaint::new(node.place, message));
        }
        for (word, place) in &allowed {
            let known = Right::ALL.iter().find(|(_, known, _)| known == word);
            let (right, ..) = known.ok_or_else(|| unknown(word, *place))?;
            rules.insert(Rule::Path(path.to_owned(), *right), *place);
        }
    }
    Ok(())
}

fn ports(node: &Node, rules: &mut BTreeMap<Rule, Place>) -> Result<(), Complaint> {
    let (allowed, ports) = entry(node, "port")?;
    for node in ports {
        let port = u16::try_from(number(node)?).ok();
        let port = port.ok_or_else(|| Complaint::new(node.place, "a port is 0 to 65535"))?;
        for (word, place) in &allowed {
            let known = Port::ALL.iter().find(|(_, known)| known == word);
            let (right, _) = known.ok_or_else(|| unknown(word, *place))?;
            rules.insert(Rule::Port(port, *right), *place);
        }
    }
    Ok(())
}

/// The path that stands for [`DIRECTORY`].
fn variable(node: &Node) -> Result<String, Complaint> {
    let message =
        format!("the one variable that is understood is `dir`, of one path: `{DIRECTORY}`");
    let complaint = || Complaint::new(node.place, message.clone());
    let [only] = list(node, "variable")? else {
        return Err(complaint());
    };
    let (mut name, mut path) = (None, None);
    for (key, place, node) in map(only, "a variable")? {
        match key.as_str() {
            "name" => name = Some(text_of(node, "a name")?),
            "literal" => {
                path = match words(node, key)?.as_slice() {
                    [(path, _)] => Some(*path),
                    _ => None,
                };
            }
            _ => return Err(not_understood(key, *place)),
        }
    }
    match (name, path) {
        (Some("dir"), Some(path)) => Ok(path.to_owned()),
        _ => Err(complaint()),
    }
}
