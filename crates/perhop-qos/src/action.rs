//! Actions of a traffic conditioner for packets of one color (RFC 3290 §6).

mod copy;
mod list;
mod treatment;

pub use copy::{CopyConfig, CopyDefault, CopyField, Value};
pub(crate) use list::check;
pub use list::{Action, Outcome};
pub(crate) use treatment::{Steps, Treatment};
