//! Confinement of a process of the live path after it has opened its resources.
//!
//! A forwarder reads frames from any sender. If a sender takes control of the process with a malicious frame,
//! the process has no capability (capabilities(7)) and cannot gain one by starting a program
//! (`PR_SET_NO_NEW_PRIVS`). Every system call that forwarding does not need is rejected or ends the process
//! (seccomp(2)).

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod system_calls;

use std::{fs, io};

use caps::{CapSet, Capability, CapsHashSet};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

use crate::socket::system;

/// Drops all capabilities except `kept` from every set, and prevents the process from gaining others by
/// starting a program.
///
/// Capabilities belong to a thread, and later threads inherit them, so the caller must call this function
/// before it starts another thread.
///
/// # Errors
/// The system rejects the call, or the process already has several threads.
pub fn keep_only(kept: &[Capability]) -> io::Result<()> {
    let threads = fs::read_dir("/proc/self/task")?.count();
    if threads != 1 {
        let message = format!("the process has {threads} threads; it must have only one");
        return Err(io::Error::other(message));
    }
    system::gain_no_privileges()?;
    let wanted: CapsHashSet = kept.iter().copied().collect();
    let had = caps::read(None, CapSet::Permitted).map_err(refused)?;
    caps::clear(None, CapSet::Ambient).map_err(refused)?;
    // Without this capability, the process cannot change the bounding set. It need not: a program that the
    // process starts gains no rights from the bounding set.
    if had.contains(&Capability::CAP_SETPCAP) {
        for capability in caps::all().difference(&wanted) {
            let is_known = caps::has_cap(None, CapSet::Bounding, *capability).unwrap_or(false);
            if is_known {
                caps::drop(None, CapSet::Bounding, *capability).map_err(refused)?;
            }
        }
    }
    let left: CapsHashSet = had.intersection(&wanted).copied().collect();
    caps::clear(None, CapSet::Inheritable).map_err(refused)?;
    caps::set(None, CapSet::Effective, &left).map_err(refused)?;
    caps::set(None, CapSet::Permitted, &left).map_err(refused)
}

/// Permanently restricts all threads of this process to the system calls of forwarding. The list of calls
/// exists for x86-64 and 64-bit ARM. On other architectures, the function does nothing.
///
/// # Errors
/// The kernel does not support such filters.
pub fn only_forward() -> io::Result<()> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    for filter in filters()? {
        seccompiler::apply_filter_all_threads(&filter).map_err(refused)?;
    }
    Ok(())
}

/// Returns the filters. Both filters evaluate each call, and the stricter result applies. Calls that the
/// process makes only when it ends are rejected with `EPERM`. Calls that neither forwarding nor the end of
/// the process needs end the process.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn filters() -> io::Result<[BpfProgram; 2]> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(refused)?;
    let in_vain = system_calls::refused().map_err(refused)?;
    let mut known = system_calls::allowed().map_err(refused)?;
    for (call, rules) in &in_vain {
        known.entry(*call).or_default().extend(rules.iter().cloned());
    }
    let compiled = |rules, otherwise, listed| {
        let filter = SeccompFilter::new(rules, otherwise, listed, architecture).map_err(refused)?;
        filter.try_into().map_err(refused)
    };
    Ok([
        compiled(in_vain, SeccompAction::Allow, SeccompAction::Errno(libc::EPERM.cast_unsigned()))?,
        compiled(known, SeccompAction::KillProcess, SeccompAction::Allow)?,
    ])
}

fn refused(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::other(error)
}
