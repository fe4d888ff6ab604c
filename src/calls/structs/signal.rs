//! Signals: sets of them, what happens at them, what comes with them.

use super::names;
use super::pen::Pen;
use super::site::{Bytes, Site};
use super::time;
use crate::files::Lookup;
use crate::signals::shown_set;
use crate::text::Values;

/// `[CHLD]`, or `~[KILL STOP]` for those that are not in it, where that is shorter.
pub(super) fn set<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    write_set(pen, site.known()?.u64(0)?);
    Some(())
}

fn write_set<V: Values>(pen: &mut Pen<'_, V>, set: u64) {
    pen.text(&shown_set(set));
}

/// `{sigmask=0x7ffc..., sigsetsize=8}`: the set itself is one pointer further.
pub(super) fn set_argument<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = site.given()?;
    pen.text("{sigmask=");
    pen.address(bytes.u64(0)?);
    pen.text(", sigsetsize=");
    pen.number(bytes.u64(8)?);
    pen.text("}");
    Some(())
}

/// The kernel's `struct sigaction`: the handler, the flags, the restorer and the mask, eight bytes
/// each.
pub(super) fn action<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    const SA_RESTORER: u64 = 0x0400_0000;
    let bytes = site.known()?;
    pen.text("{sa_handler=");
    match bytes.u64(0)? {
        0 => pen.text("SIG_DFL"),
        1 => pen.text("SIG_IGN"),
        u64::MAX => pen.text("SIG_ERR"),
        handler => pen.address(handler),
    }
    pen.text(", sa_mask=");
    write_set(pen, bytes.u64(24)?);
    pen.text(", sa_flags=");
    let flags = bytes.u64(8)?;
    pen.flags(&names::SIGNAL_ACTION, flags);
    if flags & SA_RESTORER != 0 {
        pen.text(", sa_restorer=");
        pen.address(bytes.u64(16)?);
    }
    pen.text("}");
    Some(())
}

/// A signal that the kernel tells of; 0 for none.
pub(super) fn one<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let number = site.filled_first(4)?.i32(0)?;
    pen.text("[");
    pen.signal(number);
    pen.text("]");
    Some(())
}

/// `stack_t`.
pub(super) fn stack<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = site.known()?;
    pen.text("{ss_sp=");
    pen.address(bytes.u64(0)?);
    pen.text(", ss_flags=");
    pen.flags(&names::SIGNAL_STACK, bytes.u32(8)?.into());
    pen.text(", ss_size=");
    pen.number(bytes.u64(16)?);
    pen.text("}");
    Some(())
}

/// `struct sigevent`.
pub(super) fn event<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = site.given()?;
    pen.text("{");
    let value = bytes.u64(0)?;
    if value != 0 {
        pen.text("sigev_value={sival_int=");
        pen.number(value as i32);
        pen.text(", sival_ptr=");
        pen.address(value);
        pen.text("}, ");
    }
    let (signal, notify) = (bytes.i32(8)?, bytes.u32(12)?);
    pen.text("sigev_signo=");
    match notify as i32 {
        libc::SIGEV_SIGNAL | libc::SIGEV_THREAD | libc::SIGEV_THREAD_ID => pen.signal(signal),
        _ => pen.number(signal as u32),
    }
    pen.text(", sigev_notify=");
    pen.name(&names::NOTIFY, notify.into());
    match notify as i32 {
        libc::SIGEV_THREAD_ID => {
            pen.text(", sigev_notify_thread_id=");
            pen.task(bytes.i32(16)?);
        }
        libc::SIGEV_THREAD => {
            pen.text(", sigev_notify_function=");
            pen.address(bytes.u64(16)?);
            pen.text(", sigev_notify_attributes=");
            pen.address(bytes.u64(24)?);
        }
        _ => {}
    }
    pen.text("}");
    Some(())
}

/// `siginfo_t`: a number, an error, a code, and from byte 16 on what the code has.
pub(super) fn info<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = site.known()?;
    let (signal, code) = (bytes.i32(0)?, bytes.i32(8)?);
    if signal == 0 {
        // waitid(2) with WNOHANG, when no child has anything to tell.
        pen.text("{}");
        return Some(());
    }
    pen.text("{si_signo=");
    pen.signal(signal);
    pen.text(", si_code=");
    match code_name(signal, code) {
        Some(name) => pen.text(name),
        None => pen.hex(u64::from(code as u32)),
    }
    let error = bytes.i32(4)?;
    if error != 0 {
        pen.text(", si_errno=");
        match crate::errno::errno_name(error) {
            Some(name) => pen.text(name),
            None => pen.number(error as u32),
        }
    }
    // waitid(2) leaves the times of the program's memory as they were.
    details(pen, bytes, (signal, code), site.name() != "waitid")?;
    pen.text("}");
    Some(())
}

/// The names of all codes that come with signals.
pub(crate) fn code_names() -> impl Iterator<Item = &'static str> {
    let any = names::CODES.iter().map(|(_, name)| *name);
    any.chain(
        names::OWN_CODES
            .iter()
            .flat_map(|(_, own)| own.iter().copied()),
    )
}

/// The name of the code that came with a signal: `SI_USER`, `CLD_EXITED`.
pub(crate) fn code_name(signal: i32, code: i32) -> Option<&'static str> {
    let any = names::CODES.iter().find(|(known, _)| *known == code);
    any.map(|(_, name)| *name).or_else(|| {
        let (_, own) = names::OWN_CODES
            .iter()
            .find(|(known, _)| *known == signal)?;
        own.get(usize::try_from(code).ok()?.checked_sub(1)?)
            .copied()
    })
}

fn details<V: Values>(
    pen: &mut Pen<'_, V>,
    bytes: Bytes<'_>,
    (signal, code): (i32, i32),
    has_times: bool,
) -> Option<()> {
    const SI_SIGIO: i32 = -5;
    match (signal, code) {
        (_, libc::SI_USER | libc::SI_TKILL) => sender(pen, bytes)?,
        (_, libc::SI_TIMER) => {
            pen.text(", si_timerid=");
            pen.hex(bytes.u32(16)?.into());
            pen.text(", si_overrun=");
            pen.number(bytes.i32(20)?);
            value(pen, bytes.u64(24)?);
        }
        (_, SI_SIGIO) | (libc::SIGPOLL, 1..=6) => {
            pen.text(", si_band=");
            pen.number(bytes.i64(16)?);
            pen.text(", si_fd=");
            pen.descriptor(bytes.i32(24)?, Lookup::Untracked);
        }
        (libc::SIGCHLD, 1..) => {
            sender(pen, bytes)?;
            pen.text(", si_status=");
            let status = bytes.i32(24)?;
            if code == libc::CLD_EXITED {
                pen.number(status);
            } else {
                pen.signal(status);
            }
            if has_times {
                time::ticks(pen, ", si_utime=", bytes.u64(32)?);
                time::ticks(pen, ", si_stime=", bytes.u64(40)?);
            }
        }
        (libc::SIGILL | libc::SIGFPE | libc::SIGSEGV | libc::SIGBUS | libc::SIGTRAP, 1..) => {
            fault(pen, bytes, (signal, code))?;
        }
        (libc::SIGPOLL, 1..) => {}
        _ => {
            let has_value = bytes.u64(24)? != 0;
            if code < 0 || has_value || bytes.u64(16)? != 0 {
                sender(pen, bytes)?;
            }
            if has_value {
                value(pen, bytes.u64(24)?);
            }
        }
    }
    Some(())
}

/// Where an access failed, and what the kernel adds for some of the reasons.
fn fault<V: Values>(
    pen: &mut Pen<'_, V>,
    bytes: Bytes<'_>,
    (signal, code): (i32, i32),
) -> Option<()> {
    pen.text(", si_addr=");
    pen.address(bytes.u64(16)?);
    match (signal, code) {
        (libc::SIGBUS, 4 | 5) => {
            pen.text(", si_addr_lsb=");
            pen.hex(bytes.u16(24)?.into());
        }
        (libc::SIGSEGV, 3) => {
            pen.text(", si_lower=");
            pen.address(bytes.u64(32)?);
            pen.text(", si_upper=");
            pen.address(bytes.u64(40)?);
        }
        (libc::SIGSEGV, 4) => {
            pen.text(", si_pkey=");
            pen.number(bytes.u32(32)?);
        }
        _ => {}
    }
    Some(())
}

fn sender<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    pen.text(", si_pid=");
    pen.task(bytes.i32(16)?);
    pen.text(", si_uid=");
    pen.id(bytes.u32(20)?);
    Some(())
}

fn value<V: Values>(pen: &mut Pen<'_, V>, value: u64) {
    pen.text(", si_int=");
    pen.number(value as i32);
    pen.text(", si_ptr=");
    pen.address(value);
}
