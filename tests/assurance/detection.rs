//! The hardware backend is chosen only where the CPU has every feature that its code uses.

use std::collections::BTreeSet;
use veriplex_assurance::evidence::{read, root};
use veriplex_lift::table::TABLE;

/// The strings between two texts.
fn quoted(text: &str, before: &str, after: &str) -> BTreeSet<String> {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before}"));
    let list = rest.split_once(after).unwrap().0;
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// What is asked for is what the kernels and the intrinsics are compiled with.
#[test]
fn what_is_detected_is_what_the_code_uses() {
    for level in &TABLE.levels {
        let backend = format!("rust/src/backend/{}", level.backend);
        let detected = quoted(&read(&format!("{backend}/declarations.rs")), "features [", "]");
        let needed = TABLE
            .of_level(level)
            .flat_map(|kernel| &kernel.levels[&level.name].features);
        assert_eq!(detected, needed.cloned().collect(), "{backend}/declarations.rs");
        let levels = ["kernels.rs", "mod.rs"].map(|file| format!("{backend}/{file}"));
        let levels = levels
            .iter()
            .filter(|path| root().join(path).exists())
            .map(|path| read(path));
        let detects = |text: String| {
            let (_, level) = text.split_once("const LEVEL: Level = ")?;
            let (_, detect) = level.split_once("detect: ")?;
            Some(detect.trim_start_matches("|| ").starts_with("features::get"))
        };
        assert_eq!(
            levels.filter_map(detects).collect::<Vec<_>>(),
            [true],
            "{backend}"
        );

        // The levels for lanes have kernels only.
        let path = format!("{backend}/intrinsics.rs");
        if !root().join(&path).exists() {
            continue;
        }
        let intrinsics = read(&path);
        let detected = quoted(&intrinsics, "cpufeatures::new!(features, ", ");");
        let mut enabled = BTreeSet::new();
        for list in intrinsics.split("target_feature(enable = \"").skip(1) {
            enabled.extend(list.split('"').next().unwrap().split(',').map(str::to_owned));
        }
        // Every AArch64 of Rust's with an operating system has it.
        enabled.remove("neon");
        assert!(!enabled.is_empty());
        assert_eq!(detected, enabled, "{backend}/intrinsics.rs");
    }
    // The list goes whole into the detection, and that into the level.
    let kernels = read("rust/src/backend/kernels.rs");
    assert!(kernels.contains("cpufeatures::new!(features, $($feature),*);"));
    // Portable code for AVX2.
    let chacha = read("rust/src/backend/chacha.rs");
    assert_eq!(
        quoted(&chacha, "target_feature(enable = ", ")]"),
        BTreeSet::from(["avx2".to_owned()])
    );
}

/// Prints the backend that this process uses, for the tests below.
#[test]
#[ignore = "a part of the tests below"]
fn backend_here() {
    println!("backend {}.", veriplex::backend());
}

/// The same for the kernels for lanes that this CPU has the instructions for, right or wrong.
#[test]
#[ignore = "a part of the tests below"]
fn lane_kernels_here() {
    let of_lanes = veriplex::self_test().filter(|test| test.primitive == "lanes");
    let present = of_lanes.filter(|test| test.outcome != veriplex::Outcome::Missing);
    let names: Vec<&str> = present.map(|test| test.implementation).collect();
    println!("backend {}.", names.join(", "));
}

/// What one of the tests above prints on a CPU that qemu plays, if there is qemu.
#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    not(veriplex_backend = "portable")
))]
fn on(cpu: &str, test: &str) -> Option<String> {
    let mut command = std::process::Command::new("qemu-x86_64");
    command.args(["-cpu", cpu]).arg(std::env::current_exe().unwrap());
    let Ok(output) = command
        .args(["--ignored", "--exact", test, "--nocapture"])
        .output()
    else {
        println!("skipped, because qemu-x86_64 is not on PATH");
        assert!(
            std::env::var("STRICT").unwrap_or_default().is_empty(),
            "no qemu-x86_64"
        );
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let name = text
        .split_once("backend ")
        .and_then(|(_, rest)| rest.split_once('.'));
    Some(
        name.unwrap_or_else(|| panic!("{cpu}: {text}{}", String::from_utf8_lossy(&output.stderr)))
            .0
            .to_owned(),
    )
}

/// On CPUs that lack one of the features the portable backend is used.
#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    not(veriplex_backend = "portable")
))]
#[test]
fn a_cpu_without_a_feature_uses_the_portable_backend() {
    let Some(with_all) = on("max", "backend_here") else {
        return;
    };
    assert_eq!(with_all, "x86_64");
    for cpu in ["max,-aes", "max,-avx", "max,-aes,-avx", "Westmere", "Nehalem"] {
        assert_eq!(on(cpu, "backend_here").unwrap(), "portable", "{cpu}");
    }
}

/// The kernels with VAES, which `cpufeatures` does not find where there is no AVX-512: qemu's CPU has the one and not the
/// other.
#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    not(veriplex_backend = "portable")
))]
#[test]
fn a_cpu_without_vaes_has_no_kernels_with_it() {
    let Some(with_all) = on("max", "lane_kernels_here") else {
        return;
    };
    assert_eq!(with_all, "x86-64-vaes, x86-64, portable");
    for cpu in ["max,-vaes", "max,-avx2"] {
        let names = on(cpu, "lane_kernels_here").unwrap();
        assert_eq!(names, "x86-64, portable", "{cpu}");
    }
}
