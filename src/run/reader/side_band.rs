//! Takes records that are no samples: names, births, ends, mappings, losses.

use super::{Life, Reader};
use perf_records::record::{Other, Record};
use perf_records::units::Cpu;

impl Reader<'_> {
    /// Takes a record that is no sample.
    pub(super) fn side_band(&mut self, cpu: Cpu, record: &Record<'_>, bytes: &[u8]) {
        if let Some(chains) = &mut self.chains {
            chains.record(record, bytes);
        }
        if let Some(widths) = &mut self.widths {
            widths.take(record);
        }
        if let Some(returns) = &mut self.returns {
            returns.take(record);
        }
        let (start, end) = (*self.span.start(), *self.span.end());
        match record {
            // The calls of an exec that comes behind the cut are in no record.
            Record::Comm(_, id)
            | Record::Map(_, id)
            | Record::Fork(_, id)
            | Record::Exit(_, id)
                if id.time.is_some_and(|time| time > end) => {}
            // A group's events already fire while init names itself and forks the main process.
            Record::Comm(comm, _) if !(self.started || comm.exec) => {}
            Record::Fork(..) | Record::Exit(..) if !self.started => {}
            Record::Comm(comm, _) if comm.exec && !self.take_over(comm.pid, comm.tid) => {}
            Record::Comm(comm, _) if !self.follows(comm.tid) => {}
            Record::Comm(comm, id) if comm.exec && id.time.is_some_and(|time| time < start) => {
                self.executed_early(comm);
            }
            Record::Comm(comm, id) => {
                self.started |= comm.exec;
                if let (true, Some(starts)) = (comm.exec, &mut self.starts) {
                    starts.executed(comm.pid);
                }
                self.tracker.comm(comm, &mut self.out);
                self.lineage.comm(comm);
                if comm.exec {
                    self.outdates(comm.pid, None);
                    Life::begin(&mut self.life, comm.pid, id.time);
                    self.flush();
                    self.turn(cpu, Some((comm.pid, comm.tid)), id.time, false);
                }
            }
            Record::Map(map, _) => {
                if !map.is_data
                    && map.is_executable()
                    && let Some(thread) = self.tracker.executing(map.tid)
                {
                    self.tables.mapped(thread, map.name);
                }
                if let Some(files) = &mut self.other_files {
                    files.take(map);
                }
                let range = map.address..map.address.saturating_add(map.length);
                if let Some(starts) = &mut self.starts {
                    starts.mapped(map.pid, range, map.name);
                }
            }
            Record::Fork(task, _) if !self.admit(task) => {}
            Record::Fork(task, _) => {
                self.threads.0 += 1;
                self.threads.1 = self.threads.0.max(self.threads.1);
                self.tracker.fork(task, &mut self.out);
                self.lineage.fork(task);
            }
            Record::Exit(task, _) if !self.remove(task) => {}
            Record::Exit(task, id) => {
                self.turn(cpu, Some((task.pid, task.tid)), id.time, true);
                self.outdates(task.pid, Some(task.tid));
                if self.tracker.exit(task, &mut self.out) {
                    if let (true, Some(starts)) = (task.pid.0 == task.tid.0, &mut self.starts) {
                        starts.ended(task.pid);
                    }
                    self.threads.0 = self.threads.0.saturating_sub(1);
                    self.lineage.exit(task);
                    self.may_forget(task);
                    if let Some(life) = &mut self.life {
                        life.ends(task.pid, id.time);
                    }
                }
            }
            Record::Lost(lost, _) => self.lost_of_ring(lost.count),
            Record::LostSamples(count, _) => self.lost_of_event(*count),
            Record::Other(Other::Throttle(true, _), _) => self.throttled += 1,
            Record::Other(Other::Switch(way) | Other::SwitchCpuWide(way, ..), id)
                if self.started && !way.out =>
            {
                self.turn(cpu, id.task, id.time, false);
            }
            Record::Sample(_) | Record::Other(..) | Record::Unknown { .. } => {}
        }
    }
}
