//! Routers with a vendor's configuration: [`RouterConfiguration`] as written in the scenario, and
//! [`Assembler`], which applies it to the scenario.
//!
//! The layer above supplies the assembler ([`Loader::with`](super::Loader::with)), so this crate depends on
//! no device and no configuration language. After the assembler has run, the scenario is complete.

mod assembler;
mod router;

pub use assembler::Assembler;
pub(crate) use assembler::assemble;
pub use router::{PlatformConfig, RouterConfiguration, Setting, configuration_text};
