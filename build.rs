//! Generates the parser of the grammar notation (`src/syntax/lark.lalrpop`) into the build directory.

fn main() {
    println!("cargo::rerun-if-changed=src/syntax/lark.lalrpop");
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    lalrpop::Configuration::new()
        .set_in_dir("src/syntax")
        .set_out_dir(out)
        .emit_rerun_directives(false)
        .process_dir("src/syntax")
        .expect("src/syntax/lark.lalrpop is a sound LALRPOP grammar");
}
