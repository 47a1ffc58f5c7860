//! `config/` is embedded in the binary; cargo does not see that by itself, so it is told when to build again.
#![expect(clippy::print_stdout, reason = "this is how a build script talks to cargo")]

fn main() {
    println!("cargo::rerun-if-changed=config");
}
