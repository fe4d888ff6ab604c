//! Probes in a program of Rust, whose functions have a name in the source and another one in the
//! file.

use std::process::Command;

use perf_live::host::Host;

use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

/// Functions of a type, of a trait and of any type.
const SOURCE: &str = r#"
mod store {
    use std::hint::black_box;
    pub struct Log(pub u64);
    impl Log {
        #[inline(never)]
        pub fn commit(&mut self, by: u64) -> u64 { self.0 += black_box(by); self.0 }
    }
    pub trait Save { fn save(&self) -> u64; }
    impl Save for Log {
        #[inline(never)]
        fn save(&self) -> u64 { black_box(self.0) }
    }
    #[inline(never)]
    pub fn twice<T: std::fmt::Debug>(it: T) -> usize { black_box(format!("{it:?}")).len() }
}
use store::Save;
fn main() {
    let mut log = store::Log(1);
    for n in 0..5 { log.commit(n); }
    println!("{} {} {}", log.save(), store::twice(1_u8), store::twice("x"));
}
"#;

/// The program, its names mangled as rustc does it now.
fn compiled(project: &Project) -> Result<String, String> {
    Host::running()
        .probes()
        .map_err(|error| error.to_string())?;
    project.write("p.rs", SOURCE);
    let path = project.join("p");
    // As cargo found it for this very test.
    let mut rustc = Command::new("rustc");
    rustc.args(["-g", "-O", "-C", "symbol-mangling-version=v0", "-o"]);
    let output = rustc.arg(&path).arg(project.join("p.rs")).output();
    let output = output.map_err(|error| format!("no rustc: {error}"))?;
    assert!(output.status.success(), "{output:?}");
    Ok(path.to_str().expect("letters").to_owned())
}

#[test]
fn a_function_of_rust_is_probed_by_its_path_in_the_source() {
    require!(right_to_trace());
    let project = Project::new();
    let path = require!(compiled(&project));
    let count = |function: &str| {
        let events = format!("uprobe:{path}:{function}");
        let run = project.harness(&["trace", "-e", &events, &path]);
        run.assert_status(0);
        run.stderr.matches(" uprobe:").count()
    };
    for (function, expected) in [
        ("p::store::Log::commit", 5),
        ("<p::store::Log>::commit", 5),
        ("p::store::Log::save", 1),
        ("p::store::twice::<u8>", 1),
        ("p::main", 1),
    ] {
        assert_eq!(count(function), expected, "{function}");
    }
}

#[test]
fn a_name_that_means_several_functions_of_rust_is_refused_with_all_of_them() {
    require!(right_to_trace());
    let project = Project::new();
    let path = require!(compiled(&project));
    for (function, said) in [
        (
            "p::store::twice",
            &[
                "has several functions `p::store::twice`: ",
                "p::store::twice::<u8> at 0x",
                "p::store::twice::<&str> at 0x",
            ][..],
        ),
        (
            "commit",
            &["has no function `commit`; did you mean `p::store::Log::commit`?"],
        ),
        ("Log::save", &["did you mean `p::store::Log::save`?"]),
    ] {
        let events = format!("uprobe:{path}:{function}");
        let run = project.harness(&["trace", "-e", &events, &path]);
        run.assert_status(125);
        for said in said {
            assert!(run.stderr.contains(said), "{function}: {run:?}");
        }
    }
}
