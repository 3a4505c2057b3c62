//! [`Gate`]: the limit up to which a watched replication may run.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use perhop_qos::units::Time;

/// The simulated time up to which a replication may run. The run reads no clock. The observer reads a clock
/// and moves the gate. The gate affects only when events are simulated, not the results.
#[derive(Debug)]
pub(crate) struct Gate {
    state: Mutex<State>,
    bell: Condvar,
}

#[derive(Clone, Copy, Debug)]
struct State {
    /// Events after this instant do not run yet.
    open_until: Time,
    is_cancelled: bool,
}

impl Default for Gate {
    /// A gate that is open for the whole run.
    fn default() -> Gate {
        Gate { state: Mutex::new(State { open_until: Time::MAX, is_cancelled: false }), bell: Condvar::new() }
    }
}

impl Gate {
    /// Permits a replication to run up to `until`. A replication that is already later waits where it is.
    pub(crate) fn open_until(&self, until: Time) {
        self.state().open_until = until;
        self.bell.notify_all();
    }
    /// Ends the replication: [`pass`](Gate::pass) returns `None` from now on.
    pub(crate) fn cancel(&self) {
        self.state().is_cancelled = true;
        self.bell.notify_all();
    }
    /// Waits until a replication that is at `now` may continue. Returns the time up to which it may run, at
    /// most `target`; `None` if the gate was cancelled.
    pub(crate) fn pass(&self, now: Time, target: Time) -> Option<Time> {
        let is_shut = |state: &mut State| !state.is_cancelled && state.open_until <= now;
        let waited = self.bell.wait_while(self.state(), is_shut);
        let state = *waited.unwrap_or_else(PoisonError::into_inner);
        (!state.is_cancelled).then_some(state.open_until.min(target))
    }
    /// Returns the locked state. The state is valid even if a thread panicked while it had the lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
