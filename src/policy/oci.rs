//! The `seccomp` object of a container's `config.json` (opencontainers/runtime-spec,
//! `config-linux.md`), as crun and runc take it.

use super::json::{Node, list, map, number, parse, text_of};
use super::model::{Complaint, Form, Place, Policy, Rule, Test};
use serde_json::json;
use std::collections::BTreeSet;
use syscall_model::names::Abi;

const ALLOW: &str = "SCMP_ACT_ALLOW";
const ERRNO: &str = "SCMP_ACT_ERRNO";
const DENIALS: [&str; 4] = [
    ERRNO,
    "SCMP_ACT_KILL",
    "SCMP_ACT_KILL_PROCESS",
    "SCMP_ACT_KILL_THREAD",
];

/// What libseccomp calls a convention.
const ARCHITECTURES: [(Abi, &str); 5] = [
    (Abi::X86_64, "SCMP_ARCH_X86_64"),
    (Abi::I386, "SCMP_ARCH_X86"),
    (Abi::X32, "SCMP_ARCH_X32"),
    (Abi::Aarch64, "SCMP_ARCH_AARCH64"),
    (Abi::Arm, "SCMP_ARCH_ARM"),
];

pub(super) fn write(policy: &Policy) -> String {
    let of = |abi: &Abi| {
        let mut known = ARCHITECTURES.iter();
        known.find(|(known, _)| known == abi).map(|(_, name)| *name)
    };
    let plain = policy.rules.iter().filter(|rule| rule.test.is_none());
    let names: Vec<&str> = plain.map(|rule| &*rule.name).collect();
    let mut syscalls = Vec::new();
    if !names.is_empty() {
        syscalls.push(json!({ "names": names, "action": ALLOW }));
    }
    // One for each value: the arguments of one entry must all hold.
    for rule in &policy.rules {
        if let Some(Test { index, mask, value }) = rule.test {
            let test = match mask {
                u64::MAX => json!({ "index": index, "value": value, "op": "SCMP_CMP_EQ" }),
                _ => json!({
                    "index": index, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ",
                }),
            };
            syscalls.push(json!({ "names": [rule.name], "action": ALLOW, "args": [test] }));
        }
    }
    let architectures: Vec<&str> = policy.abis.iter().filter_map(of).collect();
    let object = json!({
        "defaultAction": ERRNO,
        "defaultErrnoRet": policy.errno,
        "architectures": architectures,
        "syscalls": syscalls,
    });
    // `{:#}` of a JSON value is what its pretty writer writes.
    format!("{object:#}\n")
}

pub(super) fn read(text: &str) -> Result<Policy, Complaint> {
    let top = parse(text)?;
    let is_config = |key: &str| key == "ociVersion" || key == "linux";
    let mut policy = Policy {
        form: Form::Oci,
        abis: BTreeSet::new(),
        rules: Vec::new(),
        errno: libc::EPERM as u16,
        otherwise: Place::default(),
    };
    let (mut has_default, mut has_architectures) = (false, false);
    for (key, place, node) in map(&top, "a policy")? {
        match key.as_str() {
            "defaultAction" => {
                let action = text_of(node, "an action")?;
                if !DENIALS.contains(&action) {
                    let message = format!(
                        "all calls that are not named must be refused: {}",
                        DENIALS.join(", ")
                    );
                    return Err(Complaint::new(node.place, message));
                }
                (has_default, policy.otherwise) = (true, node.place);
            }
            "defaultErrnoRet" => policy.errno = errno(node)?,
            "architectures" => {
                has_architectures = true;
                for node in list(node, "architectures")? {
                    let name = text_of(node, "an architecture")?;
                    let known = ARCHITECTURES.iter().find(|(_, known)| *known == name);
                    let unknown =
                        || Complaint::new(node.place, format!("`{name}` is not understood"));
                    policy.abis.insert(known.ok_or_else(unknown)?.0);
                }
            }
            "syscalls" => {
                for node in list(node, "syscalls")? {
                    rules(node, &mut policy.rules)?;
                }
            }
            // They change how a filter is loaded, and no answer.
            "flags" => {
                list(node, "flags")?;
            }
            _ if is_config(key) => {
                let message = "this is a whole config.json: a policy is its object `linux.seccomp`";
                return Err(Complaint::new(*place, message));
            }
            _ => {
                let message = format!("the key `{key}` is not understood");
                return Err(Complaint::new(*place, message));
            }
        }
    }
    if !has_default {
        return Err(Complaint::new(top.place, "`defaultAction` is missing"));
    }
    if !has_architectures {
        policy.abis.insert(Abi::native());
    }
    Ok(policy)
}

fn rules(node: &Node, rules: &mut Vec<Rule>) -> Result<(), Complaint> {
    let (mut names, mut test, mut is_allowed) = (Vec::new(), None, false);
    for (key, place, node) in map(node, "an entry of `syscalls`")? {
        match key.as_str() {
            "names" => {
                for node in list(node, "names")? {
                    names.push((text_of(node, "a name")?, node.place));
                }
            }
            "action" => {
                if text_of(node, "an action")? != ALLOW {
                    let message = format!("the only action that is understood here is {ALLOW}");
                    return Err(Complaint::new(node.place, message));
                }
                is_allowed = true;
            }
            "args" => {
                let args = list(node, "args")?;
                if let [first, second, ..] = args {
                    let message = format!(
                        "one test of an argument is understood, and there is another at {}",
                        first.place
                    );
                    return Err(Complaint::new(second.place, message));
                }
                test = args.first().map(argument).transpose()?;
            }
            _ => {
                let message = format!("the key `{key}` is not understood");
                return Err(Complaint::new(*place, message));
            }
        }
    }
    if !is_allowed {
        return Err(Complaint::new(node.place, "`action` is missing"));
    }
    if names.is_empty() {
        return Err(Complaint::new(node.place, "`names` is missing or empty"));
    }
    rules.extend(names.into_iter().map(|(name, place)| Rule {
        name: name.to_owned(),
        test,
        place,
    }));
    Ok(())
}

fn argument(node: &Node) -> Result<Test, Complaint> {
    let (mut index, mut value, mut second, mut op) = (None, None, 0, None);
    for (key, place, node) in map(node, "an entry of `args`")? {
        match key.as_str() {
            "index" => {
                let number = number(node)?;
                let too_high = || Complaint::new(node.place, "a call has the arguments 0 to 5");
                index = Some(
                    u8::try_from(number)
                        .ok()
                        .filter(|index| *index < 6)
                        .ok_or_else(too_high)?,
                );
            }
            "value" => value = Some(number(node)?),
            "valueTwo" => second = number(node)?,
            "op" => op = Some((text_of(node, "an operator")?, node.place)),
            _ => {
                let message = format!("the key `{key}` is not understood");
                return Err(Complaint::new(*place, message));
            }
        }
    }
    let (Some(index), Some(value), Some((op, place))) = (index, value, op) else {
        let message = "`index`, `value` or `op` is missing";
        return Err(Complaint::new(node.place, message));
    };
    match op {
        "SCMP_CMP_EQ" => Ok(Test {
            index,
            mask: u64::MAX,
            value,
        }),
        "SCMP_CMP_MASKED_EQ" => Ok(Test {
            index,
            mask: value,
            value: second,
        }),
        _ => {
            let message = format!("the operator `{op}` is not understood");
            Err(Complaint::new(place, message))
        }
    }
}

/// An error number, which the kernel takes up to 4095 (`MAX_ERRNO`). A filter that answers with 0
/// has the call succeed without being made.
fn errno(node: &Node) -> Result<u16, Complaint> {
    let errno = u16::try_from(number(node)?).ok();
    let errno = errno.filter(|errno| (1..=4095).contains(errno));
    errno.ok_or_else(|| Complaint::new(node.place, "an error number is 1 to 4095"))
}
