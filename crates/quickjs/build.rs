//! Compiles quickjs-ng and what is added to it, as one unit.

fn main() {
    for path in ["vendor", "src/added.c"] {
        println!("cargo:rerun-if-changed={path}");
    }
    let mut build = cc::Build::new();
    build.include("vendor").define("_GNU_SOURCE", None).extra_warnings(false);
    // Without optimisation it is ten times slower, and nobody debugs it here.
    build.opt_level(2);
    // The collection of cycles calls a function for each reference, and what it calls is one of three: with a copy of its walk
    // for each of them users stand still for a tenth less. Level 3 does so too, but makes objects a tenth slower.
    build.flag_if_supported("-fipa-cp-clone");
    build.flag_if_supported("-Wno-implicit-const-int-float-conversion");
    // A sanitizer of the Rust code is one of the C code as well.
    if std::env::var("CARGO_CFG_SANITIZE").is_ok_and(|own| own.contains("address")) {
        build.flag("-fsanitize=address").flag("-fno-omit-frame-pointer");
    }
    build.files(["src/added.c", "vendor/libregexp.c", "vendor/libunicode.c", "vendor/dtoa.c"]);
    build.compile("squall_quickjs");
}
