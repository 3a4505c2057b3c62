//! Scenarios whose routers bring Cisco IOS configurations, as far as the examples need it.

use std::path::Path;

use perhop_ios::{Platform, Recognition};
use perhop_qos::ConfigError;
use perhop_scenario::{
    ConfigurationLanguage, ConfiguredPort, ConfiguredRouter, Loaded, Loader, RouterConfiguration,
};

struct Ios;

impl ConfigurationLanguage for Ios {
    fn read(&self, text: &str, _: &RouterConfiguration) -> Result<ConfiguredRouter, ConfigError> {
        let mut configuration = perhop_ios::parse(text);
        let port = |port: perhop_ios::Port| ConfiguredPort {
            name: port.name,
            interface: port.interface,
            line: port.line,
            addresses: port.addresses,
            input: port.input,
            output: port.output,
            rate: port.wire.rate,
            framing: port.wire.framing,
            headers: port.wire.headers,
            ring: port.wire.ring,
            mtu: port.wire.mtu,
            adjust_mss: port.wire.adjust_mss,
            shutdown: port.shutdown,
        };
        let platform = Platform::of(Recognition::of(&configuration).profile);
        let router = perhop_ios::convert(&mut configuration, &platform);
        Ok(ConfiguredRouter { ports: router.ports.into_iter().map(port).collect(), findings: Vec::new() })
    }
    fn interface_name(&self, written: &str) -> String {
        perhop_ios::interface_name(written)
    }
}

/// The scenario in the file `path`, as it is simulated.
pub(crate) fn load(path: &Path) -> Loaded {
    Loader::with(&Ios).load(path, &[]).unwrap_or_else(|found| panic!("{}: {found:?}", path.display()))
}
