//! Routers with a vendor's configuration: [`RouterConfiguration`] as written, and [`ConfigurationLanguage`],
//! which interprets it.
//!
//! The language is supplied by the front end ([`Loader`](super::Loader)). `assemble` translates its result
//! into policies, rates, framings and rings at the interfaces that links name; after that the scenario is
//! complete.

mod assemble;
mod router;

pub(crate) use assemble::assemble;
pub use router::{
    ConfigurationLanguage, ConfiguredPort, ConfiguredRouter, Finding, PlatformConfig, RouterConfiguration,
    configuration_text,
};
