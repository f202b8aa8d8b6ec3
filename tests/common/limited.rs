//! Tests in a process with little memory.

/// Whether this is a child process that is limited to 1 GiB. If not, starts one, which runs the test of this name alone
/// and must pass.
pub fn is_limited_child(test: &str) -> bool {
    const CHILD: &str = "VERIPLEX_TEST_OUT_OF_MEMORY";
    if std::env::var_os(CHILD).is_none() {
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test])
            .env(CHILD, "1")
            .status()
            .unwrap();
        assert!(status.success());
        return false;
    }
    let limit = libc::rlimit {
        rlim_cur: 1 << 30,
        rlim_max: 1 << 30,
    };
    // SAFETY: the call reads `limit` and writes to none of this program's memory.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
    true
}
