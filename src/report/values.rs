//! How `harness trace` writes values: as they are, and buffers with their first bytes if asked to.

use std::collections::HashMap;
use syscall_model::files::Lookup;
use syscall_model::{Call, Observation, ShortName, Shown, ThreadId, Values, write_escaped};

/// Values as they are.
#[derive(Clone, Debug, Default)]
pub struct Plain {
    /// How much of a buffer's contents is shown, in bytes; 0 for its address only.
    pub contents: usize,
    /// Whether of a descriptor only its number is shown.
    pub bare_descriptors: bool,
    /// The names of tasks, where they are shown behind their ids.
    pub names: Option<TaskNames>,
}

/// The names of the tasks of a run, by their ids (`comm`, `proc_pid_comm(5)`).
#[derive(Clone, Debug, Default)]
pub struct TaskNames {
    names: HashMap<u32, ShortName>,
    ids: HashMap<ThreadId, u32>,
    /// Whether some task has another id in a pid namespace of its own: what calls say there is then
    /// no id of these.
    are_several: bool,
}

impl TaskNames {
    /// Takes what an observation says of a task's name.
    pub fn observe(&mut self, observation: &Observation) {
        match observation {
            Observation::Born { child: actor, .. } | Observation::Call(Call { actor, .. }) => {
                self.names.insert(actor.tid.0, actor.comm);
                self.ids.insert(actor.thread, actor.tid.0);
            }
            Observation::Named { thread, id } => {
                let known = self.ids.get(thread).copied();
                self.are_several |= known != u32::try_from(*id).ok();
            }
            _ => {}
        }
    }

    fn of(&self, id: i32) -> Option<&ShortName> {
        let name = self.names.get(&u32::try_from(id).ok()?);
        name.filter(|_| !self.are_several)
    }
}

impl Values for Plain {
    fn task(&mut self, id: i32, out: &mut String) {
        Shown.task(id, out);
        if let Some(name) = self.names.as_ref().and_then(|names| names.of(id)) {
            task_name(out, name);
        }
    }
    fn group(&mut self, id: i32, out: &mut String) {
        Shown.task(id, out);
    }
    fn address(&mut self, address: u64, out: &mut String) {
        Shown.address(address, out);
    }
    fn descriptor(&mut self, number: i32, file: Lookup<'_>, out: &mut String) {
        let shown = match self.bare_descriptors {
            true => Lookup::Untracked,
            false => file,
        };
        Shown.descriptor(number, shown, out);
    }
    fn contents(&self) -> usize {
        self.contents
    }
}

/// Writes a task's name behind its id, as strace does: `<sh>`.
pub(super) fn task_name(out: &mut String, name: &ShortName) {
    out.push('<');
    write_escaped(out, name.as_bytes());
    out.push('>');
}
