//! Finds the kernels that a command line means, and fetches them.

use crate::out::note;
use crate::{out, status};
use perf_live::files;
use perf_records::units::shown_path;
use std::path::{Path, PathBuf};
use trace_harness::matrix::{KernelError, Place, Trouble};
use trace_harness::scenario::{self, Diagnostic, KernelSpec, nearest, read_kernels};

/// The list that is used without a file.
const BUILT_IN: &str = include_str!("../kernels.yaml");
const USUAL: &str = "ci/kernels.yaml";

/// The list of kernels.
#[derive(Debug, clap::Args)]
pub(crate) struct Listed {
    /// The list of kernels [default: ci/kernels.yaml, or if that is not there, Debian's 5.10, 6.1,
    /// 6.12 and the newest]
    #[arg(long, value_name = "FILE")]
    pub(crate) kernels: Option<PathBuf>,
}

/// The kernels of a list, and the folder that its paths are relative to.
pub(crate) struct Kernels {
    pub(crate) specs: Vec<KernelSpec>,
    folder: PathBuf,
}

impl Listed {
    /// Reads the list, or returns the exit status.
    pub(crate) fn read(&self) -> Result<Kernels, u8> {
        let usual = PathBuf::from(USUAL);
        let file = self
            .kernels
            .clone()
            .or_else(|| usual.exists().then_some(usual));
        let (name, text) = match &file {
            None => (PathBuf::from("the built-in list"), BUILT_IN.to_owned()),
            Some(path) => match files::read(path, files::KERNELS) {
                Ok(bytes) => {
                    let text = scenario::text(path, &bytes).map_err(|it| say(&it))?;
                    (path.clone(), text)
                }
                Err(error) => {
                    let why = perf_live::errors::chain(&error);
                    note!(
                        "harness: cannot read the list of kernels `{}`: {why}",
                        shown_path(path)
                    );
                    return Err(status::USAGE);
                }
            },
        };
        match read_kernels(&name, &text) {
            Ok(specs) => Ok(Kernels {
                specs,
                folder: name.parent().unwrap_or(Path::new("")).to_owned(),
            }),
            Err(complaint) => Err(say(&complaint)),
        }
    }
}

fn say(complaint: &Diagnostic) -> u8 {
    let color = out::has_colors(&std::io::stderr());
    note!("{}", complaint.render(color).trim_end());
    status::USAGE
}

fn refuse(error: &KernelError) -> u8 {
    note!("harness: {}", Trouble::of_kernel(error));
    match error.is_of_list() {
        true => status::USAGE,
        false => status::TROUBLE,
    }
}

impl Kernels {
    /// Returns the kernel of this name; without a name, the first of the list.
    pub(crate) fn choose(&self, name: Option<&str>) -> Result<&KernelSpec, u8> {
        let found = match name {
            None => self.specs.first(),
            Some(name) => self.specs.iter().find(|spec| spec.name == name),
        };
        found.ok_or_else(|| {
            let names: Vec<&str> = self.specs.iter().map(|spec| spec.name.as_str()).collect();
            let name = name.unwrap_or_default();
            let near = nearest(name, names.iter().copied());
            let near = near.map(|near| format!("; did you mean `{near}`?"));
            note!(
                "harness: no kernel `{name}` in the list, which has {}{}",
                names.join(", "),
                near.unwrap_or_default()
            );
            status::USAGE
        })
    }

    /// Finds the kernel of this name, and fetches it if necessary; or says why it cannot, with
    /// advice.
    pub(crate) fn find(&self, name: &str, say: &mut dyn FnMut(String)) -> Result<Place, Trouble> {
        let spec = self.specs.iter().find(|spec| spec.name == name);
        let spec = spec.ok_or_else(|| format!("no kernel `{name}` in the list"))?;
        Place::get(spec, &self.folder, say).map_err(|error| Trouble::of_kernel(&error))
    }

    /// Does so for a command line: returns the exit status if it cannot.
    pub(crate) fn get(&self, name: Option<&str>) -> Result<Place, u8> {
        let spec = self.choose(name)?;
        let mut say = |text: String| note!("harness: {text}");
        Place::get(spec, &self.folder, &mut say).map_err(|error| refuse(&error))
    }

    /// Makes the files of a kernel's guest ready, before anything is booted: returns the exit
    /// status if what the list names for them has none.
    pub(crate) fn unpack(&self, name: &str) -> Result<(), u8> {
        let spec = self.choose(Some(name))?;
        let mut say = |text: String| note!("harness: {text}");
        let unpacked = Place::unpack(spec, &self.folder, &mut say);
        unpacked.map_err(|error| refuse(&error))
    }
}
