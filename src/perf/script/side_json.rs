//! The records that are no samples, as JSON objects on a line each.

use super::json::{self, Object};
use super::put;
use super::side::{About, NAMESPACES, signed};
use super::tasks::Name;
use crate::record::{Lost, Map, MappedFile, Other, Record, Switched, Task};

pub(super) fn write(out: &mut Vec<u8>, record: &Record<'_>, about: &About, name: &Name<'_>) {
    let mut object = Object::open(out);
    object.text("type", about.json.as_bytes());
    object.maybe("time_ns", about.id.time.map(|time| time.0));
    if let Some((pid, tid)) = about.task {
        object.number("pid", signed(pid.0));
        object.number("tid", signed(tid.0));
    }
    object.maybe("cpu", about.id.cpu);
    object.maybe("id", about.id.identifier.or(about.id.id));
    object.maybe("stream_id", about.id.stream_id);
    match record {
        Record::Comm(comm, _) => {
            object.text("comm", comm.name);
            object.truth("exec", comm.exec);
        }
        Record::Fork(task, _) | Record::Exit(task, _) => json_of_task(&mut object, task, name),
        Record::Map(map, _) => json_of_map(&mut object, map),
        Record::Lost(Lost { count, .. }, _) | Record::LostSamples(count, _) => {
            object.number("lost", *count);
        }
        Record::Other(other, _) => json_of_other(&mut object, other),
        Record::Sample(_) | Record::Unknown { .. } => {}
    }
    object.close();
    out.push(b'\n');
}

fn json_of_task(object: &mut Object<'_>, task: &Task, name: &Name<'_>) {
    if let Name::Known(name) = name {
        object.text("comm", name);
    }
    object.number("parent_pid", signed(task.parent_pid.0));
    object.number("parent_tid", signed(task.parent_tid.0));
}

fn json_of_map(object: &mut Object<'_>, map: &Map<'_>) {
    object.number("addr", map.address);
    object.number("length_bytes", map.length);
    object.number("offset_bytes", map.offset);
    object.text("file", map.name);
    object.truth("data", map.is_data);
    let Some(more) = &map.more else { return };
    match &more.file {
        MappedFile::Inode {
            major,
            minor,
            inode,
            generation,
        } => {
            object.number("major", *major);
            object.number("minor", *minor);
            object.number("inode", *inode);
            object.number("inode_generation", *generation);
        }
        MappedFile::BuildId(id) => object.bytes("build_id", id),
    }
    object.number("prot", more.protection);
    object.number("flags", more.flags);
}

fn json_of_other(object: &mut Object<'_>, other: &Other<'_>) {
    match other {
        Other::Throttle(_, throttle) => object.number("event_id", throttle.id),
        Other::Read(_, _, read) => json::read(object, read),
        Other::Aux {
            offset,
            size,
            flags,
        } => {
            object.number("offset_bytes", *offset);
            object.number("size_bytes", *size);
            object.number("flags", *flags);
        }
        Other::ItraceStart(..) => {}
        Other::Switch(switched) => json_of_switch(object, switched),
        Other::SwitchCpuWide(switched, pid, tid) => {
            json_of_switch(object, switched);
            object.number("other_pid", signed(pid.0));
            object.number("other_tid", signed(tid.0));
        }
        Other::Namespaces(_, _, namespaces) => {
            let all = namespaces.iter().enumerate();
            object.array("namespaces", all, |out, (place, (device, inode))| {
                let mut one = Object::open(out);
                one.text(
                    "name",
                    NAMESPACES.get(place).unwrap_or(&"unknown").as_bytes(),
                );
                one.number("device", device);
                one.number("inode", inode);
                one.close();
            });
        }
        Other::Ksymbol {
            address,
            length,
            kind,
            flags,
            name,
        } => {
            object.number("addr", *address);
            object.number("length_bytes", *length);
            object.number("kind", *kind);
            object.number("flags", *flags);
            object.text("name", name);
        }
        Other::Bpf {
            kind,
            flags,
            id,
            tag,
        } => {
            object.number("kind", *kind);
            object.number("flags", *flags);
            object.number("program_id", *id);
            object.bytes("tag", tag);
        }
        Other::Cgroup(id, path) => {
            object.number("cgroup", *id);
            object.text("path", path);
        }
        Other::TextPoke { address, old, new } => {
            object.number("addr", *address);
            object.bytes("old_hex", old);
            object.bytes("new_hex", new);
        }
        Other::AuxOutputHardwareId(id) => object.number("hw_id", *id),
        Other::CallchainDeferred { cookie, words } => {
            object.number("cookie", *cookie);
            let (words, _) = words.as_chunks::<8>();
            object.array("ips", words.iter(), |out, word| {
                put::number(out, u64::from_ne_bytes(*word));
            });
        }
    }
}

fn json_of_switch(object: &mut Object<'_>, switched: &Switched) {
    object.truth("out", switched.out);
    object.truth("preempted", switched.preempted);
}
