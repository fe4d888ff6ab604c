//! `harness vm`: a command on another kernel, as if it ran here.

use crate::kernels::Listed;
use crate::out::note;
use crate::{complain, out, status};
use perf_records::units::shown_path;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use trace_harness::matrix::{self, Heard, Job, Kernel, Machine, Place, Stop, Trouble};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The guest's files are this machine's, under the same paths, read as you may; what is written is lost with the guest, but for \
--write. Where the list names a `root` for the kernel, they are those of that folder, archive or image of a container, beside the directory \
and what the command line names. Directory, environment and standard input are yours, and you are root. Input is read as it comes, whether the command reads it or not: \
with < /dev/null there is none. /tmp is empty but for what the command line and the \
environment name there. There is no network but lo.\n\n\
Exit status: that of the command, 128 + n for a signal; 125 where it is not known.\n\n\
Environment: HARNESS_KERNEL is the kernel where --kernel is not given; HARNESS_CACHE is where kernels are kept \
[default: harness in XDG_CACHE_HOME or ~/.cache].\n\n\
As cargo's runner: CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER='harness vm --kernel 6.1 --' cargo test"
)]
pub(crate) struct Arguments {
    /// The kernel, by its name in the list [default: the first]
    #[arg(long, short, value_name = "NAME", env = "HARNESS_KERNEL")]
    kernel: Option<String>,
    #[command(flatten)]
    listed: Listed,
    #[command(flatten)]
    size: Size,
    /// A folder that the command may write to; may be given several times
    #[arg(long, value_name = "DIR")]
    write: Vec<PathBuf>,
    /// The command and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

/// What a guest has.
#[derive(Debug, clap::Args)]
pub(crate) struct Size {
    /// The memory of a guest, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 2048, value_parser = clap::value_parser!(u32).range(256..))]
    memory: u32,
    /// The CPUs of a guest
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    cpus: u32,
    /// How long a guest may take from its start to its end, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
}

impl Size {
    pub(crate) fn cpus(&self) -> u32 {
        self.cpus
    }

    /// The CPUs of a place, which may have a number of its own.
    pub(crate) fn cpus_of(&self, place: &Place) -> u32 {
        match place {
            Place::Guest(kernel) => kernel.hardware.cpus.unwrap_or(self.cpus),
            Place::Host(_) => self.cpus,
        }
    }

    /// It ends when the harness is asked to.
    pub(crate) fn machine(&self) -> Machine {
        self.machine_until(usual().stop)
    }

    /// It ends when that is asked to.
    pub(crate) fn machine_until(&self, stop: Stop) -> Machine {
        Machine {
            memory: self.memory,
            cpus: self.cpus,
            limit: Duration::from_secs(self.timeout),
            stop,
        }
    }
}

fn usual() -> Machine {
    Machine {
        // Where signals cannot be waited for they end the harness, and with it QEMU.
        stop: crate::signals::stop_guests().unwrap_or_default(),
        ..Machine::default()
    }
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    if let Some(path) = arguments.write.iter().find(|path| !path.is_dir()) {
        let path = shown_path(path);
        note!(
            "harness: `--write {path}`: there is no such folder: make it, so that it is the host's"
        );
        return status::TRACE_TROUBLE;
    }
    let place = match place(arguments) {
        Ok(place) => place,
        // Any other status could be the command's own.
        Err(_) => return status::TRACE_TROUBLE,
    };
    match place {
        Place::Guest(kernel) => {
            let job = Job {
                has_input: true,
                ..job(arguments.command.clone(), &arguments.write)
            };
            in_guest(
                &kernel,
                &arguments.size.machine(),
                &job,
                status::TRACE_TROUBLE,
            )
        }
        Place::Host(under) => on_host(&[under, arguments.command.clone()].concat()),
    }
}

fn place(arguments: &Arguments) -> Result<Place, u8> {
    let kernels = arguments.listed.read()?;
    kernels.get(arguments.kernel.as_deref())
}

/// A command with the directory and the environment of this one.
pub(crate) fn job(command: Vec<OsString>, writes: &[PathBuf]) -> Job {
    let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let own = std::env::current_exe().ok();
    // Values that are paths or lists of them; the others lie nowhere.
    let named = environment
        .iter()
        .flat_map(|(_, value)| std::env::split_paths(value));
    let sees = own
        .into_iter()
        .chain(command.iter().map(PathBuf::from))
        .chain(named);
    Job {
        sees: sees.filter(|path| path.is_absolute()).collect(),
        directory: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
        writes: writes
            .iter()
            .filter_map(|path| std::fs::canonicalize(path).ok())
            .collect(),
        has_input: false,
        command,
        environment,
    }
}

/// The variable that tells a harness which `--vm` runs in a guest its kernel's name in the list.
pub(crate) const GUEST_KERNEL: &str = "HARNESS_GUEST_KERNEL";

/// Runs this very command line in a guest, but for the word that asks for that.
pub(crate) fn again(kernel: Option<&str>, listed: &Listed, writes: &[PathBuf]) -> u8 {
    let place = listed.read().and_then(|kernels| kernels.get(kernel));
    let own = std::env::current_exe().unwrap_or_else(|_| "harness".into());
    let is_asking = |word: &OsString| {
        let word = word.to_string_lossy();
        word == "--vm" || word.starts_with("--vm=")
    };
    let words = std::env::args_os().skip(1).filter(|word| !is_asking(word));
    let command: Vec<OsString> = [own.into()].into_iter().chain(words).collect();
    match place {
        Ok(Place::Guest(kernel)) => {
            let mut job = job(command, writes);
            // The file was touched here; there is no such file in the guest.
            let name = crate::shard::STATUS_FILE;
            job.environment.retain(|(known, _)| known != name);
            let kernel_of_guest = (GUEST_KERNEL.into(), kernel.name.clone().into());
            job.environment.push(kernel_of_guest);
            in_guest(&kernel, &usual(), &job, status::TROUBLE)
        }
        Ok(Place::Host(under)) => on_host(&[under, command].concat()),
        Err(status) => status,
    }
}

/// Runs it, and hands on what it writes; gives its status, or the one for trouble.
fn in_guest(kernel: &Kernel, machine: &Machine, job: &Job, trouble: u8) -> u8 {
    // What cannot be handed on is no reason to end the command.
    let told = out::Told::default();
    let mut hear = |heard: Heard<'_>| match heard {
        Heard::Up(..) => {}
        Heard::Out(bytes) => told.write(bytes),
        Heard::Err(bytes) => {
            let _lost = std::io::stderr().lock().write_all(bytes);
        }
    };
    match matrix::run(kernel, machine, job, &mut hear) {
        Ok(_) if !told.all() => trouble,
        Ok(how) => u8::try_from(how.shell_status()).unwrap_or(trouble),
        Err(error) => {
            note!("harness: {}", Trouble::of_guest(&error, Some(kernel)));
            trouble
        }
    }
}

fn on_host(command: &[OsString]) -> u8 {
    let Some((program, arguments)) = command.split_first() else {
        return status::TRACE_TROUBLE;
    };
    // What is closed here is closed there, and no /dev/null.
    perf_live::sys::standard::close_on_exec();
    // Only returns where it failed.
    let error = std::os::unix::process::CommandExt::exec(Command::new(program).args(arguments));
    complain(&error, None);
    if error.kind() == std::io::ErrorKind::NotFound {
        127
    } else {
        126
    }
}

/// `harness vm-init`: pid 1 of a guest.
pub(crate) fn init() -> u8 {
    if std::process::id() != 1 {
        note!("harness: `vm-init` is what runs as pid 1 in a guest of `harness vm`");
        return status::USAGE;
    }
    complain(&matrix::init(), None);
    status::TROUBLE
}
