//! Sizes that a file may have again after it was emptied.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::crash::log::{Change, Log, Step};
use crate::crash::model::Model;
use crate::crash::replay::Replay;
use crate::crash::tree::NodeId;

/// By the step that empties a file, the sizes that come back, the smallest first: those that the
/// file had before and that are below its last one. It must get a name behind the step, before
/// everything is made durable.
pub(crate) fn uncovered(log: &Log, model: &Model) -> HashMap<usize, Vec<u64>> {
    let mut uncovered = HashMap::new();
    if !model.emptied_uncovers || model.in_order || model.torn == 0 {
        return uncovered;
    }
    let Ok(mut replay) = Replay::new(log.start(), log.new_nodes()) else {
        return uncovered;
    };
    let mut had: BTreeMap<NodeId, BTreeSet<u64>> = BTreeMap::new();
    // The steps that emptied files which got no name since.
    let mut emptied: Vec<(usize, NodeId, Vec<u64>)> = Vec::new();
    for (index, step) in log.steps().iter().enumerate() {
        let change = match step {
            Step::Change(change) => change,
            Step::SyncAll => {
                emptied.clear();
                continue;
            }
            _ => continue,
        };
        let named = match change {
            Change::Enter { node, .. } => [Some(*node), None],
            Change::Rename { from, leaves, .. } => [replay.at(from), *leaves],
            _ => [None, None],
        };
        emptied.retain(|(step, node, sizes)| {
            let is_named = named.contains(&Some(*node));
            if is_named {
                uncovered.insert(*step, sizes.clone());
            }
            !is_named
        });
        if let Change::Truncate { node, size } | Change::Range { node, size, .. } = change {
            note(&mut had, *node, replay.size(*node));
            if *size == 0 && matches!(change, Change::Truncate { .. }) {
                let old = replay.size(*node);
                let sizes = had.get(node).into_iter().flatten().copied();
                let sizes = sizes.filter(|size| (1..old).contains(size));
                emptied.push((index, *node, sizes.collect()));
            }
        }
        if let Change::Write { node, .. } = change {
            note(&mut had, *node, replay.size(*node));
        }
        // Log::new() has refused a change that fails.
        let _ = replay.apply(change);
    }
    uncovered
}

fn note(had: &mut BTreeMap<NodeId, BTreeSet<u64>>, node: NodeId, size: u64) {
    had.entry(node).or_default().insert(size);
}
