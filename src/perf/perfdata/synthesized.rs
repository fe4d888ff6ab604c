//! Records that no kernel wrote: of what was there before the events began, and of what the
//! counters say at the end (`tools/perf/util/synthetic-events.c`). They have the form of the
//! kernel's own.

use crate::attr::{ReadFormat, SampleType};
use crate::record::kind;
use crate::units::{Cpu, Pid, Tid};

const MISC_KERNEL: u16 = 1;
const MISC_USER: u16 = 2;

/// The event that the record is said to be of, and where and when.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// The fields of its samples, which are those of the trailer too.
    pub sample_type: SampleType,
    /// Its id.
    pub id: u64,
    /// The thread.
    pub task: (Pid, Tid),
    /// In nanoseconds; 0 for before everything.
    pub time: u64,
    /// The CPU.
    pub cpu: Cpu,
}

/// A mapping of a file's code.
#[derive(Clone, Debug, Default)]
pub struct Mapped<'a> {
    /// First address.
    pub address: u64,
    /// Its length in bytes.
    pub length: u64,
    /// Where in the file it begins.
    pub offset: u64,
    /// Of the file's device: major, minor.
    pub device: (u32, u32),
    /// The inode of the file.
    pub inode: u64,
    /// `PROT_*`.
    pub protection: u32,
    /// `MAP_*`.
    pub flags: u32,
    /// The name of the file.
    pub name: &'a [u8],
}

/// What a counter says in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterValue {
    /// Which of the following are told.
    pub format: ReadFormat,
    /// The value of the counter.
    pub value: u64,
    /// How many of its records found no room.
    pub lost: u64,
}

#[derive(Default)]
struct Body(Vec<u8>);

impl Body {
    fn words(mut self, words: &[u32]) -> Self {
        self.0
            .extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        self
    }

    fn longs(mut self, longs: &[u64]) -> Self {
        self.0
            .extend(longs.iter().flat_map(|long| long.to_ne_bytes()));
        self
    }

    /// With a zero behind it, to a multiple of eight bytes; what does not fit a path is cut.
    fn text(mut self, text: &[u8]) -> Self {
        const PATH_MAX: usize = 4096;
        let text = text.get(..text.len().min(PATH_MAX)).unwrap_or_default();
        self.0.extend_from_slice(text);
        self.0.push(0);
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        self
    }

    fn record(self, kind: u32, misc: u16, origin: &Origin) -> Vec<u8> {
        use SampleType as S;
        let has = |bit| origin.sample_type.has(bit);
        let mut all = self;
        if has(S::TID) {
            all = all.words(&[origin.task.0.0, origin.task.1.0]);
        }
        for (bit, long) in [
            (S::TIME, origin.time),
            (S::ID, origin.id),
            (S::STREAM_ID, origin.id),
        ] {
            if has(bit) {
                all = all.longs(&[long]);
            }
        }
        if has(S::CPU) {
            all = all.words(&[origin.cpu.0, 0]);
        }
        if has(S::IDENTIFIER) {
            all = all.longs(&[origin.id]);
        }
        let size = all.0.len().saturating_add(8);
        let mut record = kind.to_ne_bytes().to_vec();
        record.extend_from_slice(&misc.to_ne_bytes());
        record.extend_from_slice(&(size as u16).to_ne_bytes());
        record.extend_from_slice(&all.0);
        record
    }
}

/// A thread's name.
#[must_use]
pub fn comm(origin: &Origin, name: &[u8]) -> Vec<u8> {
    let (Pid(pid), Tid(tid)) = origin.task;
    let body = Body::default().words(&[pid, tid]).text(name);
    body.record(kind::COMM, 0, origin)
}

/// Makes the record of a thread that another created at an unknown time.
#[must_use]
pub fn fork(origin: &Origin, parent: (Pid, Tid)) -> Vec<u8> {
    let (Pid(pid), Tid(tid)) = origin.task;
    let body = Body::default()
        .words(&[pid, parent.0.0, tid, parent.1.0])
        .longs(&[origin.time]);
    body.record(kind::FORK, 0, origin)
}

/// Code that is mapped.
#[must_use]
pub fn mapping(origin: &Origin, mapped: &Mapped<'_>) -> Vec<u8> {
    let (Pid(pid), Tid(tid)) = origin.task;
    let body = Body::default()
        .words(&[pid, tid])
        .longs(&[mapped.address, mapped.length, mapped.offset])
        .words(&[mapped.device.0, mapped.device.1])
        .longs(&[mapped.inode, 0])
        .words(&[mapped.protection, mapped.flags])
        .text(mapped.name);
    body.record(kind::MMAP2, MISC_USER, origin)
}

/// The kernel's own code, from a symbol on by which a reader finds how far that has been moved.
#[must_use]
pub fn kernel(origin: &Origin, symbol: &str, start: u64, end: u64) -> Vec<u8> {
    let length = end.saturating_sub(start);
    let name = format!("[kernel.kallsyms]{symbol}");
    of_kernel(origin, [start, length, start], name.as_bytes())
}

/// The code of a module of the kernel's.
#[must_use]
pub fn module(origin: &Origin, address: u64, length: u64, name: &[u8]) -> Vec<u8> {
    of_kernel(origin, [address, length, 0], name)
}

/// Address, length and offset.
fn of_kernel(origin: &Origin, place: [u64; 3], name: &[u8]) -> Vec<u8> {
    let body = Body::default()
        .words(&[u32::MAX, 0])
        .longs(&place)
        .text(name);
    body.record(kind::MMAP, MISC_KERNEL, origin)
}

/// How many samples of an event found no room.
#[must_use]
pub fn lost_samples(origin: &Origin, lost: u64) -> Vec<u8> {
    let body = Body::default().longs(&[lost]);
    body.record(kind::LOST_SAMPLES, 0, origin)
}

/// What a counter says, as the kernel writes it for a task that ends with `inherit_stat`.
#[must_use]
pub fn read(origin: &Origin, counter: CounterValue) -> Vec<u8> {
    let (Pid(pid), Tid(tid)) = origin.task;
    let mut body = Body::default().words(&[pid, tid]).longs(&[counter.value]);
    for (bit, long) in [
        (ReadFormat::ID, origin.id),
        (ReadFormat::LOST, counter.lost),
    ] {
        if counter.format.has(bit) {
            body = body.longs(&[long]);
        }
    }
    body.record(kind::READ, 0, origin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attr::{Layout, SAMPLE_TYPE};
    use crate::record::{Record, parse};
    use crate::units::Nanos;

    #[test]
    fn what_is_written_is_what_the_parser_reads() {
        let sample_type = SAMPLE_TYPE.and(SampleType::CPU).and(SampleType::ID);
        let layout = Layout {
            sample_type,
            sample_id_all: true,
            ..Layout::default()
        };
        let origin = Origin {
            sample_type,
            id: 77,
            task: (Pid(5), Tid(6)),
            time: 9,
            cpu: Cpu(3),
        };
        let bytes = comm(&origin, b"a name of 15 by");
        let Ok(Record::Comm(name, id)) = parse(&bytes, &layout) else {
            panic!("no COMM");
        };
        assert_eq!((name.pid, name.tid, name.exec), (Pid(5), Tid(6), false));
        assert_eq!(name.name, b"a name of 15 by");
        assert_eq!(
            (id.time, id.cpu, id.id),
            (Some(Nanos(9)), Some(3), Some(77))
        );
        let bytes = fork(&origin, (Pid(1), Tid(2)));
        let Ok(Record::Fork(task, id)) = parse(&bytes, &layout) else {
            panic!("no FORK");
        };
        assert_eq!((task.pid, task.tid), (Pid(5), Tid(6)));
        assert_eq!(id.identifier, Some(77));
        let bytes = lost_samples(&origin, 12);
        assert!(matches!(
            parse(&bytes, &layout),
            Ok(Record::LostSamples(12, _))
        ));
        for bytes in [
            mapping(&origin, &Mapped::default()),
            kernel(&origin, "_text", 1, 2),
            module(&origin, 1, 2, b"[a]"),
            read(&origin, CounterValue::default()),
        ] {
            assert!(parse(&bytes, &layout).is_ok());
            assert_eq!(bytes.len() % 8, 0);
        }
    }
}
