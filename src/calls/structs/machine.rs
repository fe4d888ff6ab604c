//! The machine: its names, its memory.

use super::Varying;
use super::pen::Pen;
use super::site::Site;
use crate::text::Values;

/// `struct new_utsname`: six strings of 65 bytes, of which strace shows two.
pub(super) fn names<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    const LENGTH: usize = 65;
    let bytes = site.filled()?;
    for (field, place) in [("{sysname=", 0), (", nodename=", 1)] {
        pen.text(field);
        let name = bytes.array::<LENGTH>(place * LENGTH)?;
        pen.string(name.split(|byte| *byte == 0).next()?);
    }
    pen.text(", ...}");
    Some(())
}

/// `struct sysinfo`.
pub(super) fn memory<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = site.filled()?;
    let field = |pen: &mut Pen<'_, V>, name: &str, number: u64| {
        pen.text(name);
        pen.varying(Varying::Machine, number);
    };
    field(pen, "{uptime=", bytes.u64(0)?);
    field(pen, ", loads=[", bytes.u64(8)?);
    field(pen, ", ", bytes.u64(16)?);
    field(pen, ", ", bytes.u64(24)?);
    field(pen, "], totalram=", bytes.u64(32)?);
    field(pen, ", freeram=", bytes.u64(40)?);
    field(pen, ", sharedram=", bytes.u64(48)?);
    field(pen, ", bufferram=", bytes.u64(56)?);
    field(pen, ", totalswap=", bytes.u64(64)?);
    field(pen, ", freeswap=", bytes.u64(72)?);
    field(pen, ", procs=", bytes.u16(80)?.into());
    field(pen, ", totalhigh=", bytes.u64(88)?);
    field(pen, ", freehigh=", bytes.u64(96)?);
    pen.text(", mem_unit=");
    pen.number(bytes.u32(104)?);
    pen.text("}");
    Some(())
}
