//! The system calls of a forwarder, by purpose.
#![allow(clippy::unnecessary_cast)] // C libraries have different types for the requests of `ioctl`

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::SeccompCmpOp::{Eq, MaskedEq};
use seccompiler::{BackendError, SeccompCondition, SeccompRule};

/// Rules by the number of the system call. An empty list permits all arguments.
pub(super) type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

/// Calls that are harmless with any arguments, because they use only the open resources of the process.
const ALWAYS: &[c_long] = &[
    // Calls that receive and send frames. Rings are in memory, so they need no call, and a batch needs one
    // call. These calls cannot change the address of a socket.
    libc::SYS_sendmmsg,
    libc::SYS_recvfrom,
    libc::SYS_ppoll,
    // Calls for the bell, tunnels, the control socket, the result and messages.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_lseek,
    libc::SYS_accept4,
    libc::SYS_shutdown,
    libc::SYS_close,
    // Calls that wait, and calls that read the clock on systems that need a call for it.
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_sched_yield,
    libc::SYS_restart_syscall,
    // Calls of the allocator. `allowed` adds `mmap` and `mprotect`.
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_getrandom,
    libc::SYS_sched_getaffinity,
    // Calls for threads and locks. No thread is started after confinement.
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_exit,
    // Calls for signals and the end of the process.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_exit_group,
];

/// Calls of the Python interpreter that runs the forwarder, when it ends or prints a failure. The interpreter
/// continues if these calls fail.
const REFUSED: &[c_long] = &[
    libc::SYS_openat,
    libc::SYS_newfstatat,
    libc::SYS_fstat,
    libc::SYS_statx,
    libc::SYS_readlinkat,
    libc::SYS_faccessat,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_unlinkat,
    libc::SYS_fcntl,
    libc::SYS_dup,
];

/// Older calls of x86-64 with the same effects as `REFUSED`.
#[cfg(target_arch = "x86_64")]
const REFUSED_OLD: &[c_long] = &[
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_readlink,
    libc::SYS_access,
    libc::SYS_unlink,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_OLD: &[c_long] = &[];

/// Older calls with the same effects as calls in `ALWAYS`.
#[cfg(target_arch = "x86_64")]
const ALWAYS_OLD: &[c_long] = &[libc::SYS_poll, libc::SYS_time];
#[cfg(not(target_arch = "x86_64"))]
const ALWAYS_OLD: &[c_long] = &[];

/// Calls that fail with `EPERM`.
pub(super) fn refused() -> Result<Rules, BackendError> {
    let mut rules: Rules = REFUSED.iter().chain(REFUSED_OLD).map(|call| (*call, Vec::new())).collect();
    // The interpreter checks whether messages go to a terminal.
    rules.insert(libc::SYS_ioctl, vec![request(libc::TCGETS as u64)?]);
    Ok(rules)
}

/// A rule that permits only the request `number` of `ioctl`.
fn request(number: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(1, Dword, Eq, number)?])
}

/// Calls that are permitted.
pub(super) fn allowed() -> Result<Rules, BackendError> {
    let mut rules: Rules = ALWAYS.iter().chain(ALWAYS_OLD).map(|call| (*call, Vec::new())).collect();
    // The process may not make memory executable.
    let no_code = SeccompCondition::new(2, Dword, MaskedEq(libc::PROT_EXEC.cast_unsigned().into()), 0)?;
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        rules.insert(call, vec![SeccompRule::new(vec![no_code.clone()])?]);
    }
    // The answer to a client of the control socket and the wake-up of `AF_XDP` have no destination address.
    let no_address = SeccompCondition::new(4, Qword, Eq, 0)?;
    rules.insert(libc::SYS_sendto, vec![SeccompRule::new(vec![no_address])?]);
    // This request checks whether an interface still exists.
    rules.insert(libc::SYS_ioctl, vec![request(libc::SIOCGIFINDEX as u64)?]);
    // A panic that aborts sends a signal to this process.
    let own = SeccompCondition::new(0, Dword, Eq, std::process::id().into())?;
    rules.insert(libc::SYS_tgkill, vec![SeccompRule::new(vec![own])?]);
    let options = |options: &[(libc::c_int, libc::c_int)]| {
        let rule = |&(level, name): &(libc::c_int, libc::c_int)| {
            SeccompRule::new(vec![
                SeccompCondition::new(1, Dword, Eq, level.cast_unsigned().into())?,
                SeccompCondition::new(2, Dword, Eq, name.cast_unsigned().into())?,
            ])
        };
        options.iter().map(rule).collect::<Result<Vec<_>, _>>()
    };
    let counters = [
        (libc::SOL_SOCKET, libc::SO_ERROR),
        (libc::SOL_PACKET, libc::PACKET_STATISTICS),
        (libc::SOL_XDP, libc::XDP_STATISTICS),
    ];
    rules.insert(libc::SYS_getsockopt, options(&counters)?);
    let patience = [(libc::SOL_SOCKET, libc::SO_RCVTIMEO), (libc::SOL_SOCKET, libc::SO_SNDTIMEO)];
    rules.insert(libc::SYS_setsockopt, options(&patience)?);
    Ok(rules)
}
