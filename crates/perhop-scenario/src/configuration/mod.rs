//! Routers with a vendor's configuration: [`RouterConfiguration`] as written, and [`Assembler`], which
//! applies it to the scenario.
//!
//! The layer above supplies the assembler ([`Loader::with`](super::Loader::with)): this crate knows neither
//! devices nor their languages. After the assembler has run, the scenario is complete.

mod assembler;
mod router;

pub use assembler::Assembler;
pub(crate) use assembler::assemble;
pub use router::{PlatformConfig, RouterConfiguration, Setting, configuration_text};
