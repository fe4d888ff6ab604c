use super::kernel::Kernel;
use super::table::{Binding, Symbol, Table, readable};
use super::{Book, file};
use crate::host::Host;
use perf_records::space::{Depth, Maps, Origin, Symbols, USER};
use perf_records::units::{Pid, Tid};
use std::os::unix::ffi::OsStrExt;

fn symbol(address: u64, size: u64, binding: Binding, name: &str) -> Symbol {
    Symbol {
        address,
        size,
        binding,
        is_function: true,
        name: name.into(),
    }
}

#[test]
fn of_the_names_of_one_address_the_one_is_taken_that_perf_takes() {
    use Binding::{Global, Local, Weak};
    for (names, taken) in [
        (&[("write", Weak), ("__write", Global)][..], "__write"),
        (&[("__GI_fsync", Local), ("fsync", Global)], "fsync"),
        (&[("_start_of", Global), ("start", Global)], "start"),
        (&[("short", Global), ("longer_one", Global)], "longer_one"),
        (&[("SyS_read", Global), ("sys_read", Global)], "sys_read"),
    ] {
        let symbols = names
            .iter()
            .map(|(name, binding)| symbol(0x10, 4, *binding, name));
        let table = Table::new(symbols.collect());
        let (found, into) = table.find(0x12).unwrap();
        assert_eq!((&*found.name, into), (taken, 2));
    }
}

#[test]
fn between_functions_there_is_none_and_what_has_no_end_goes_on_to_the_next() {
    let all = [(0x10, 4, "a"), (0x20, 0, "b"), (0x30, 1, "c")];
    let table = Table::new(
        all.map(|(address, size, name)| symbol(address, size, Binding::Global, name))
            .into(),
    );
    let name = |address| {
        table
            .find(address)
            .map(|(symbol, _)| symbol.name.to_string())
    };
    assert_eq!(name(0xf), None);
    assert_eq!(name(0x13).as_deref(), Some("a"));
    assert_eq!(name(0x14), None);
    assert_eq!(name(0x2f).as_deref(), Some("b"));
    assert_eq!(name(0x31), None);
}

#[test]
fn a_mark_inside_of_a_function_is_not_taken_for_one() {
    let all = [
        (0x10, 0x48, "_start"),
        (0x28, 0, "_dl_start_user"),
        (0x58, 0, "behind"),
    ];
    let table = Table::new(
        all.map(|(address, size, name)| symbol(address, size, Binding::Global, name))
            .into(),
    );
    for (address, name, into) in [
        (0x28, "_start", 0x18),
        (0x57, "_start", 0x47),
        (0x58, "behind", 0),
    ] {
        let (found, at) = table.find(address).unwrap();
        assert_eq!((&*found.name, at), (name, into));
    }
    // A probe may ask for it all the same.
    assert_eq!(table.address_of("_dl_start_user"), Some(0x28));
}

#[test]
fn only_encoded_names_are_decoded() {
    for (name, text) in [
        ("f", "f"),
        ("_Z3addii", "add"),
        (
            "_ZN5outer5SaverIlE4saveEl.isra.0",
            "outer::Saver<long>::save",
        ),
        ("_RNvCs15kBYyAo9fc_7mycrate3foo", "mycrate::foo"),
        ("_Znonsense", "_Znonsense"),
        ("__libc_start_main@@GLIBC_2.34", "__libc_start_main"),
    ] {
        assert_eq!(&*readable(name), text);
    }
}

#[test]
fn the_kernel_names_its_code_unless_it_hides_where_that_is() {
    let text = "ffffffff81000000 T _text\nffffffff81000000 T _stext\nffffffff81000100 t ksys_read\n\
                ffffffff81000200 r a_table\nffffffffc0000000 t ext4_sync_file\t[ext4]\n";
    let kernel = Kernel::new(text).unwrap();
    let (symbol, into) = kernel.find(0xffff_ffff_8100_0110).unwrap();
    assert_eq!((&*symbol.name, into), ("ksys_read", 0x10));
    assert_eq!(kernel.place("_text"), Some(0xffff_ffff_8100_0000));
    let hidden = "0000000000000000 T _text\n0000000000000000 t ksys_read\n";
    assert!(Kernel::new(hidden).is_none());
}

#[test]
fn a_compiler_at_run_time_names_its_code_by_addresses() {
    let table = file::compiled(b"7f00 20 py::main:/a b.py\nnonsense\n0x8000 10 f\n");
    let (symbol, into) = table.find(0x7f10).unwrap();
    assert_eq!((&*symbol.name, into), ("py::main:/a b.py", 0x10));
    assert_eq!(&*table.find(0x8000).unwrap().0.name, "f");
}

/// This program's own mappings, as records would tell of them, and an address in it.
fn own() -> (Maps, u64) {
    let path = std::env::current_exe().unwrap();
    let mut maps = Maps::default();
    maps.map(
        &perf_records::record::Map {
            pid: Pid(1),
            tid: Tid(1),
            address: 0x10_0000,
            length: 1 << 40,
            offset: 0,
            name: path.as_os_str().as_bytes(),
            is_data: false,
            more: None,
        },
        USER,
    );
    let binary = file::Binary::open(&path).unwrap();
    let at = binary.offset_of("main").unwrap();
    (maps, 0x10_0000 + at)
}

#[test]
fn a_file_that_is_not_the_one_that_was_recorded_names_nothing_and_says_so_once() {
    let (maps, address) = own();
    let place = maps.find(Pid(1), USER, address).unwrap();
    let mut book = Book::new(Host::running());
    let names = |book: &mut Book| {
        let frames = book.frames(&place, address, Depth::Function);
        frames
            .iter()
            .map(|frame| frame.name.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&mut book), ["main"]);
    assert_eq!(book.notes().count(), 0);
    let other = Origin {
        build_ids: [(place.name.into(), [7; 20].as_slice().into())].into(),
        ..Origin::default()
    };
    book.recorded(other);
    assert_eq!(names(&mut book), [""; 0]);
    assert_eq!(names(&mut book), [""; 0]);
    let notes: Vec<_> = book.notes().collect();
    assert_eq!(notes.len(), 1);
    assert!(notes[0].contains("its build id differs"), "{notes:?}");
}

#[test]
fn what_was_recorded_on_another_kind_of_machine_names_nothing() {
    let (maps, address) = own();
    let place = maps.find(Pid(1), USER, address).unwrap();
    let mut book = Book::new(Host::running());
    book.recorded(Origin {
        machine: Some("s390x".to_owned()),
        ..Origin::default()
    });
    assert_eq!(book.frames(&place, address, Depth::Lines), []);
    let notes: Vec<_> = book.notes().collect();
    assert_eq!(
        notes,
        ["no functions are named: it was recorded on another kind of machine (s390x)"]
    );
}
