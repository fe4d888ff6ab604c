//! What may differ though it did not.

use crate::trace::{Block, Deed, StableName, Value};
use std::collections::BTreeSet;

/// The calls by which a process waits for whichever of its children ends first while two or more of them live: which one that is, the
/// scheduler decides.
pub(super) fn of_children(process: &[Block]) -> BTreeSet<&'static str> {
    let mut deeds: Vec<&Deed> = process.iter().flat_map(|block| &block.deeds).collect();
    deeds.sort_by_key(|deed| deed.left);
    let mut living: BTreeSet<StableName> = BTreeSet::new();
    let mut found = BTreeSet::new();
    for deed in deeds {
        let task = deed.returns.as_ref().and_then(|part| match part.value {
            Value::Task { task, .. } => task,
            _ => None,
        });
        let Some(task) = task.filter(|task| task.thread == 1) else {
            continue;
        };
        match &*deed.name {
            "clone" | "clone3" | "fork" | "vfork" => {
                living.insert(task);
            }
            "wait4" => {
                let is_for_any = deed.fields.first().is_some_and(|part| part.text == "-1");
                if is_for_any && living.len() > 1 {
                    found.insert("wait4");
                }
                living.remove(&task);
            }
            _ => {}
        }
    }
    found
}
