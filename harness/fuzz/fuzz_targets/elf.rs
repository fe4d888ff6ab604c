//! An ELF file: what it needs, its notes, and the names of its functions.
#![no_main]

use harness_fuzz::{file_of, path_of};
use libfuzzer_sys::fuzz_target;
use perf_live::elf;
use perf_live::host::Host;
use perf_live::symbols::Book;
use perf_records::space::Place;
use std::os::unix::ffi::OsStrExt;

fuzz_target!(|bytes: &[u8]| {
    let _loaded = elf::loaded(bytes);
    let _machine = elf::machine(bytes);
    let _note = elf::has_note(bytes, b"GNU\0", 3);
    let _interpreter = elf::interpreter(bytes);
    let _section = elf::section(bytes, ".symtab");
    let _loader = elf::loader(file_of(bytes));
    let _id = elf::build_id(file_of(bytes));
    let file = file_of(bytes);
    let mut symbols = Book::new(Host::running());
    let path = path_of(&file);
    let place = Place {
        name: path.as_os_str().as_bytes(),
        offset: 0x1000,
        is_kernel: false,
        start: 0,
        reference: None,
        build_id: None,
    };
    let _found = symbols.has_function(&place, &|name| name == "main");
});
