//! [`Gate`]: how far a watched replication may go, as whoever watches says.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use perhop_qos::units::Time;

/// How far a replication may go. The run reads no clock: whoever watches does, and moves the gate. Where it
/// stands changes when something is simulated, and nothing of what.
#[derive(Debug)]
pub(crate) struct Gate {
    state: Mutex<State>,
    bell: Condvar,
}

#[derive(Clone, Copy, Debug)]
struct State {
    /// Nothing after this instant happens yet.
    open_until: Time,
    is_cancelled: bool,
}

impl Default for Gate {
    /// Wide open.
    fn default() -> Gate {
        Gate { state: Mutex::new(State { open_until: Time::MAX, is_cancelled: false }), bell: Condvar::new() }
    }
}

impl Gate {
    /// Lets a replication go as far as `until`. What it has done already stays done.
    pub(crate) fn open_until(&self, until: Time) {
        self.state().open_until = until;
        self.bell.notify_all();
    }
    /// Lets nobody wait any longer.
    pub(crate) fn cancel(&self) {
        self.state().is_cancelled = true;
        self.bell.notify_all();
    }
    /// Waits until a replication that is at `now` may go on; up to which instant, at most `target`. `None`
    /// where it was cancelled.
    pub(crate) fn pass(&self, now: Time, target: Time) -> Option<Time> {
        let is_shut = |state: &mut State| !state.is_cancelled && state.open_until <= now;
        let waited = self.bell.wait_while(self.state(), is_shut);
        let state = *waited.unwrap_or_else(PoisonError::into_inner);
        (!state.is_cancelled).then_some(state.open_until.min(target))
    }
    /// A thread that panicked while it held the lock left nothing half-done behind.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
