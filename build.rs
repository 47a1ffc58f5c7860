//! `config/` is embedded in the binary; cargo does not see that by itself, so it is told when to build again.

fn main() {
    println!("cargo::rerun-if-changed=config");
}
