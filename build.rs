//! Generates the parsers of the grammar notations (`src/syntax/*.lalrpop`) into the build
//! directory.

fn main() {
    for notation in ["gbnf", "lark"] {
        println!("cargo::rerun-if-changed=src/syntax/{notation}.lalrpop");
    }
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    lalrpop::Configuration::new()
        .set_in_dir("src/syntax")
        .set_out_dir(out)
        .emit_rerun_directives(false)
        .process_dir("src/syntax")
        .expect("the files in src/syntax are sound LALRPOP grammars");
}
