//! [`in_pool`]: the threads that answer questions about networks.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The pool and the process that started its threads.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Runs `work` on the threads of this process, and returns its result.
///
/// A fork of a Python process (`multiprocessing`) has none of the threads of its parent. In the global pool
/// of rayon, it would wait for them forever, so a fork starts threads of its own.
pub(crate) fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    match pool() {
        Some(pool) => pool.install(work),
        // The system refuses new threads. The global pool reports the reason.
        None => work(),
    }
}

fn pool() -> Option<Arc<ThreadPool>> {
    let process = std::process::id();
    let mut known = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, pool)) = known.as_ref()
        && *owner == process
    {
        return Some(Arc::clone(pool));
    }
    let pool = Arc::new(ThreadPoolBuilder::new().build().ok()?);
    // The threads of the parent cannot be ended from a fork.
    std::mem::forget(known.replace((process, Arc::clone(&pool))));
    Some(pool)
}
