//! Routers' own configurations, for whoever loads scenarios: `perhop-ios` or `perhop-tc` interprets them,
//! `perhop-scenario` translates the result ([`loader`]); and what there is to say of a configuration by
//! itself ([`report()`]).

mod contents;
mod not_simulated;
mod report;
mod tc;

use perhop_ios::{Platform, Recognition};
use perhop_lint::Severity;
use perhop_qos::ConfigError;
use perhop_qos::framing::Framing;
use perhop_qos::units::Rate;
use perhop_scenario::{
    self, ConfigurationLanguage, ConfiguredPort, ConfiguredRouter, Finding, Loader, PlatformConfig,
    RouterConfiguration,
};

pub use contents::{Detail, Report, Wrong};
pub use report::report;
pub use tc::is_tc;

use not_simulated::not_simulated;

/// Cisco IOS, and commands and output of Linux' `tc`.
struct Languages;

/// A loader of scenarios with configurations in every language that perhop reads.
pub fn loader() -> Loader<'static> {
    Loader::with(&Languages)
}

/// Whether `text` looks like a router's configuration in a language that perhop reads.
pub fn is_configuration(text: &str) -> bool {
    perhop_tc::is_configuration(text) || perhop_ios::is_configuration(text)
}

impl ConfigurationLanguage for Languages {
    fn read(&self, text: &str, written: &RouterConfiguration) -> Result<ConfiguredRouter, ConfigError> {
        if is_tc(text, written.platform.profile.as_deref()) {
            return Ok(tc::read(text));
        }
        let slots_of = written.platform.slots_of.filter(|rate| rate.as_bits_per_second() > 0);
        let mut configuration =
            perhop_ios::parse_assuming(text, &written.assume).map_err(|(class, message)| {
                let help = "write criteria as `match` takes them, for example dscp ef";
                ConfigError::new(&class, message).help(help).within("assume")
            })?;
        let platform =
            platform_of(&written.platform, &configuration).map_err(|error| error.within("platform"))?;
        let router = perhop_ios::convert(&mut configuration, &platform);
        let dependencies = configuration.dependencies();
        let mut findings: Vec<Finding> = configuration
            .diagnostics
            .iter()
            .filter(|found| found.severity != Severity::Note)
            .map(|found| Finding {
                rule: found.rule,
                line: found.line,
                interfaces: Some(dependencies.used_by(found.line).clone()),
                message: found.message.clone(),
                help: found.router.clone(),
            })
            .collect();
        findings.extend(not_simulated(&configuration.lines));
        let ports = router.ports.into_iter().map(|one| port(one, slots_of)).collect();
        Ok(ConfiguredRouter { ports, findings })
    }

    fn interface_name(&self, written: &str) -> String {
        perhop_ios::interface_name(written)
    }
}

fn port(port: perhop_ios::Port, slots_of: Option<Rate>) -> ConfiguredPort {
    let is_circuit = matches!(port.wire.framing, Some(Framing::Aal5Mux | Framing::Aal5Snap));
    let slotted = |rate| slots_of.filter(|_| is_circuit).map_or(rate, |line| in_slots(rate, line));
    ConfiguredPort {
        name: port.name,
        interface: port.interface,
        line: port.line,
        addresses: port.addresses,
        input: port.input,
        output: port.output,
        rate: port.wire.rate.map(slotted),
        framing: port.wire.framing,
        headers: port.wire.headers,
        ring: port.wire.ring,
        mtu: port.wire.mtu,
        adjust_mss: port.wire.adjust_mss,
        shutdown: port.shutdown,
    }
}

/// The greatest rate up to `rate` for a cell every whole number of slots of `line`.
fn in_slots(rate: Rate, line: Rate) -> Rate {
    let (rate, line) = (rate.as_bits_per_second().max(1), line.as_bits_per_second());
    Rate::from_bits_per_second(line / line.div_ceil(rate))
}

fn platform_of(
    config: &PlatformConfig,
    configuration: &perhop_ios::Configuration,
) -> Result<Platform, ConfigError> {
    let profile = match &config.profile {
        None => Platform::of(Recognition::of(configuration).profile),
        Some(name) => Platform::named(name).ok_or_else(|| {
            ConfigError::new("profile", format!("there is no platform `{name}`"))
                .help(format!("platforms: {}, linux", Platform::NAMES.join(", ")))
        })?,
    };
    if config.particle.is_some_and(|particle| particle.as_bytes() == 0) {
        return Err(ConfigError::new("particle", "`particle` must be above 0").help("for example 512B"));
    }
    Ok(Platform {
        particle: config.particle.unwrap_or(profile.particle),
        circuit_ring: config.circuit_ring.unwrap_or(profile.circuit_ring),
        ring_admission: config.ring_admission.unwrap_or(profile.ring_admission),
        ring_release: config.ring_release.unwrap_or(profile.ring_release),
        queue_limit: config.queue_limit.or(profile.queue_limit),
        reservable_percent: config.reservable_percent.unwrap_or(profile.reservable_percent),
        drop_spacing: config.drop_spacing.unwrap_or(profile.drop_spacing),
        ..profile
    })
}
