//! What a `format` file says: an event and the fields of its record.

use super::Shape;

/// A tracepoint's record layout, as `f_show()` of `kernel/trace/trace_events.c` prints it.
///
/// The file does not say which system the event belongs to, and its `id` holds for this boot of
/// this kernel only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// The event's name without its system: `sched_switch`.
    pub name: String,
    /// What `perf_event_attr.config` takes, and what `common_type` of a record holds.
    pub id: u16,
    /// The fields that every event of this kernel begins with (`common_type`, ..).
    pub common: Vec<Field>,
    /// The event's own fields, in the order of the file.
    pub fields: Vec<Field>,
    /// The format string and its arguments, unparsed; some span several lines.
    pub print_fmt: String,
}

impl Format {
    /// The field of that name, own fields before common ones.
    ///
    /// A linear search: look up once per event, not once per record.
    ///
    /// ```
    /// # let text = "name: sched_process_hang\nID: 319\nformat:\n\
    /// #     \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
    /// #     \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\n\
    /// #     print fmt: \"comm=%s\", REC->comm\n";
    /// let format = perf_records::format::parse(text)?;
    /// let comm = format.field("comm").expect("the event has this field");
    /// assert_eq!((comm.offset, comm.size), (8, 16));
    /// # Ok::<(), perf_records::format::FormatError>(())
    /// ```
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        let mut all = self.fields.iter().chain(&self.common);
        all.find(|field| field.name == name)
    }
}

/// One field of a record: where it lies and what its bytes mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The name without array brackets.
    pub name: String,
    /// The C type as the kernel spells it, a dimension included: `pid_t`, `const char *`,
    /// `char[16]`.
    pub c_type: String,
    /// Bytes from the start of the record, which is the `common_type` of the payload.
    pub offset: usize,
    /// Bytes in the fixed part of the record; 4 for a locator, 0 for a trailing array.
    pub size: usize,
    /// The file's `signed` flag. It says nothing about meaning (a system call's `int` argument has
    /// 0): see `shape`.
    pub signed: bool,
    /// How the bytes are to be read.
    pub shape: Shape,
}

impl Field {
    /// Whether the C type says that the value is a process or thread id.
    ///
    /// Many fields that hold one are declared `int` (`common_pid` is); those cannot be told by
    /// type.
    #[must_use]
    pub fn is_pid(&self) -> bool {
        self.c_type == "pid_t"
    }
}
