//! [`Ios`]: the implementation of the front-end interface for IOS.

use std::collections::BTreeMap;
use std::str::FromStr;

use perhop_device::show::Shows;
use perhop_device::{
    AddedInterface, Certainty, ClassLines, Concern, DeviceModel, DeviceTables, Evidence, FrontEnd,
    HardwareOptions, HiddenParts, MadeInterface, MemoryOptions, OpenLine, OpenThresholds, ParseOptions,
    PlatformRule, PolicyUses, PortMemory, RecognizedPlatform, SwitchMemory, Writer,
    interfaces_of_common_port,
};
use perhop_lint::{Diagnostic, Line, Rule, near, rules as common_rules};
use perhop_qos::framing::Framing;
use perhop_qos::{ByteSize, ConfigError, Rate};

use crate::added::ADDED;
use crate::assumption::parse_in;
use crate::ast::Configuration;
use crate::convert::{IosClassLines, convert_with};
use crate::platform::{Dialect, MOST_UNITS, POOL_PORTS, PORT_UNITS, Platform, Recognition, SHARED_UNITS};
use crate::platform_lines::mark_platform_lines;
use crate::show::IosShows;
use crate::write::IosWriter;
use crate::{Grammar, interface_name, is_configuration, rules};
use crate::{check, named_policies, nexus, parse, switch, tables, uadp};

/// Cisco IOS and IOS-XE.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ios;

/// The writer, which reads its output again to verify it.
static WRITER: IosWriter = IosWriter(&Ios);
/// The help for a device that perhop does not simulate.
const REFUSED: &str = "--platform NAME makes perhop read the configuration by the rules of platform NAME";
/// The help for a switch that is recognized only by `switchport`.
const REFUSED_SWITCH: &str = "if it is a Catalyst 3650, 3850 or 9000, name the product, such as --platform \
                              c9300-24t; for a 2960, 3560 or 3750 give --platform catalyst-mls; for another \
                              device --platform NAME applies the rules of platform NAME";
/// The character with which a comment begins.
const COMMENT: char = '!';
/// Name prefixes of interfaces without hardware, and the control plane.
const WITHOUT_LINE: [&str; 4] = ["Loopback", "Null", "BVI", "control-plane"];
/// The setting for the size of a particle in the tx-ring of a virtual circuit, IP bytes.
const PARTICLE: &str = "particle";
/// The setting for the size of a virtual circuit's tx-ring, particles, if the configuration does not
/// configure the size.
const CIRCUIT_RING: &str = "circuit-ring";
/// The setting for the line rate, if the hardware paces virtual circuits in whole cell slots of the line.
const SLOTS_OF: &str = "slots-of";

impl FrontEnd for Ios {
    fn name(&self) -> &'static str {
        "Cisco IOS"
    }

    fn platforms(&self) -> &'static [&'static str] {
        &Platform::NAMES
    }

    fn has_platform(&self, name: &str) -> bool {
        Platform::named(name).is_some()
    }

    fn platform_rules(&self, platform: &str) -> Vec<PlatformRule> {
        Platform::named(platform).map(|platform| platform.rules().rows()).unwrap_or_default()
    }

    fn recognize(&self, text: &str) -> Option<perhop_device::Recognition> {
        let is_known = is_configuration(text);
        // The certainty is low, because many words of these commands also occur in other vendors'
        // configurations.
        is_known.then(|| perhop_device::Recognition { certainty: Certainty::Possible, because: Vec::new() })
    }

    fn parse(&self, text: &str, options: &ParseOptions) -> Result<DeviceModel, ConfigError> {
        let mut configuration = read(text, options)?;
        let recognition = Recognition::from_configuration(&configuration);
        let chosen = options.platform.as_deref().map(chosen).transpose()?;
        let is_chosen = chosen.is_some();
        let mut platform = chosen.unwrap_or_else(|| Platform::for_profile(recognition.profile));
        let settings = Settings::read(options)?;
        let mut recognized = recognized(&recognition, &platform, is_chosen);
        if let Some(name) = options.platform.as_ref().filter(|_| platform.has_shared_memory()) {
            // The name includes the settings, so that perhop reads the text again by the same rules.
            recognized.name.clone_from(name);
        }
        if !recognized.supported {
            let help = if recognition.dialect == Dialect::Catalyst { REFUSED_SWITCH } else { REFUSED };
            let refused = |lines| DeviceModel::refused(recognized, lines, COMMENT, help);
            return Ok(without_queues(configuration, &platform, options.hidden_parts, refused));
        }
        if let Some(problem) = switch::product_unknown(&configuration, &platform) {
            let refused = |lines| without_product(recognized, lines, &problem);
            return Ok(without_queues(configuration, &platform, options.hidden_parts, refused));
        }
        settings.apply_to(&mut platform, &options.hardware);
        let assumed = assumed_platform(&recognized, &configuration.lines);
        check::add(&mut configuration, assumed.into_iter().collect());
        mark_platform_lines(&mut configuration, &platform);
        let memory = switch::memory(&configuration, &platform)?;
        recognized.memory_rules = memory.as_ref().map(SwitchMemory::rules_by_evidence).unwrap_or_default();
        let mut router = convert_with(&mut configuration, &platform, options.hidden_parts);
        for port in &mut router.ports {
            nexus::add_pauses(&configuration, port);
            if let (Some(rate), Some(line)) = (port.wire.rate, settings.slots_of)
                && matches!(port.wire.framing, Some(Framing::Aal5Mux | Framing::Aal5Snap))
            {
                port.wire.rate = Some(in_slots(rate, line));
            }
        }
        let dependencies = configuration.dependencies();
        let ports = &router.ports;
        let concern = |diagnostic: Diagnostic| Concern {
            interfaces: interfaces_of_common_port(ports, &diagnostic)
                .or_else(|| Some(dependencies.used_by(diagnostic.line).clone())),
            assumable: check::undefined_class(&diagnostic).map(str::to_owned),
            diagnostic,
        };
        if let Some(memory) = &memory {
            switch::mark_lines(&mut configuration, &platform, memory);
        }
        let Configuration { lines, diagnostics, .. } = configuration;
        Ok(DeviceModel {
            platform: recognized,
            open_lines: OpenLine::all(&lines, |line| Some(dependencies.used_by(line).clone())),
            lines,
            comment: COMMENT,
            diagnostics: diagnostics.into_iter().map(concern).collect(),
            router,
            unsimulated: None,
            memory,
        })
    }

    fn writer(&self) -> Option<(&'static str, &dyn Writer)> {
        Some(("ios", &WRITER))
    }

    fn policy_uses(&self, lines: &[Line]) -> Vec<PolicyUses> {
        named_policies::policy_uses(lines)
    }

    fn interface_for(&self, policy: &str, rate: Rate) -> Option<MadeInterface> {
        Some(named_policies::interface_for(policy, rate))
    }

    fn open_thresholds(&self, text: &str, commands: &[String]) -> Vec<OpenThresholds> {
        named_policies::open_thresholds(text, commands)
    }

    fn read_tables(&self, output: &str) -> DeviceTables {
        tables::read(output)
    }

    fn switch_memory(
        &self,
        text: &str,
        options: &MemoryOptions,
    ) -> Result<Option<SwitchMemory>, ConfigError> {
        if let Some(printed) = uadp::printed::read(text)? {
            return Ok(Some(printed));
        }
        if !is_configuration(text) {
            return Ok(None);
        }
        switch::recognized_memory(&parse(text), options)
    }

    fn print_memory(&self, port: &PortMemory) -> Option<String> {
        // Only switches whose queue limits depend on `soft_end` have this command.
        (port.soft_end > 0).then(|| uadp::printed::print(port))
    }

    fn shows(&self) -> Option<&dyn Shows> {
        Some(&IosShows)
    }

    fn interface_name(&self, written: &str) -> String {
        interface_name(written)
    }

    fn added_interface(&self, rate: Rate) -> AddedInterface {
        let with_rate = |(name, gigabits): (&str, u64)| AddedInterface {
            name: name.to_owned(),
            command: format!("interface {name}"),
            rate: Rate::from_bits_per_second(gigabits * 1_000_000_000),
        };
        let [first, second, fastest] = ADDED.map(with_rate);
        [first, second].into_iter().find(|candidate| candidate.rate >= rate).unwrap_or(fastest)
    }

    fn has_line(&self, name: &str) -> bool {
        !WITHOUT_LINE.iter().any(|kind| name.starts_with(kind))
    }

    fn rules(&self) -> &'static [&'static Rule] {
        rules::ALL
    }

    fn class_lines(
        &self,
        text: &str,
        options: &ParseOptions,
    ) -> Result<Option<Box<dyn ClassLines>>, ConfigError> {
        Ok(Some(Box::new(IosClassLines(read(text, options)?))))
    }
}

fn read(text: &str, options: &ParseOptions) -> Result<Configuration, ConfigError> {
    // The class is a separate element of the path, because the name of a class may contain a period.
    let wrong = |class: &str, message: String| ConfigError {
        path: vec!["assume".to_owned(), class.to_owned()],
        message,
        help: None,
    };
    let chosen = options.platform.as_deref().and_then(Platform::named);
    // The platform that the user names takes precedence, because a part of a configuration can lack the lines
    // that only IOS XR writes.
    let grammar = match chosen.as_ref().map(Platform::grammar) {
        Some(grammar @ (Grammar::IosXr | Grammar::NxOs)) => grammar,
        _ => Grammar::of_text(text),
    };
    let model = chosen.as_ref().and_then(|platform| platform.memory.model.as_deref());
    let configuration = parse_in(text, grammar, model, &options.assume).map_err(|(class, message)| {
        wrong(&class, message).help("criteria as in a class-map, for example --assume 'VOICE = dscp ef'")
    })?;
    if options.assume.is_empty() {
        return Ok(configuration);
    }
    let mut known: Vec<&str> =
        configuration.lines.iter().filter_map(|line| named_policies::class_name(&line.text)).collect();
    known.sort_unstable();
    known.dedup();
    if let Some(class) = options.assume.keys().find(|class| !known.contains(&class.as_str())) {
        known.retain(|name| *name != "class-default");
        let listed = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let meant = near(class, known).map(|name| format!("did you mean `{name}`?"));
        let help = meant.unwrap_or_else(|| format!("classes: {listed}"));
        let message = "no policy has a class of this name".to_owned();
        return Err(wrong(class, message).help(help));
    }
    Ok(configuration)
}

fn chosen(name: &str) -> Result<Platform, ConfigError> {
    Platform::named(name).ok_or_else(|| {
        ConfigError::new("platform", format!("there is no platform `{name}`"))
            .help(format!("platforms: {}", Platform::NAMES.join(", ")))
    })
}

fn recognized(recognition: &Recognition, platform: &Platform, is_chosen: bool) -> RecognizedPlatform {
    let evidence = |evidence: &crate::platform::Evidence| Evidence {
        line: evidence.line,
        text: evidence.text.clone(),
        says: evidence.says.to_owned(),
    };
    RecognizedPlatform {
        name: platform.name().to_owned(),
        dialect: dialect_name(recognition.dialect).to_owned(),
        system: system(recognition.dialect).to_owned(),
        supported: is_chosen || recognition.dialect.is_supported(),
        chosen: is_chosen,
        certain: is_chosen || recognition.certain,
        because: recognition.because.iter().map(evidence).collect(),
        memory_rules: BTreeMap::new(),
    }
}

/// Returns the model of a device that perhop does not simulate: its ports, its routes, and the findings of
/// the rules for all platforms. `refused` creates the model from the lines.
fn without_queues(
    mut configuration: Configuration,
    platform: &Platform,
    hidden_parts: HiddenParts,
    refused: impl FnOnce(Vec<Line>) -> DeviceModel,
) -> DeviceModel {
    let router = convert_with(&mut configuration, platform, hidden_parts);
    let dependencies = configuration.dependencies();
    let Configuration { lines, diagnostics, .. } = configuration;
    let mut model = refused(lines);
    let is_general = |found: &Diagnostic| rules::ON_EVERY_PLATFORM.contains(&found.rule);
    let general = diagnostics.into_iter().filter(is_general);
    model.diagnostics.extend(general.map(|diagnostic| Concern {
        assumable: check::undefined_class(&diagnostic).map(str::to_owned),
        interfaces: Some(dependencies.used_by(diagnostic.line).clone()),
        diagnostic,
    }));
    DeviceModel { unsimulated: Some(Box::new(router)), ..model }
}

/// Returns the model of a switch whose product, and therefore memory, is unknown.
fn without_product(platform: RecognizedPlatform, lines: Vec<Line>, problem: &ConfigError) -> DeviceModel {
    let line = platform.because.first().map_or(1, |evidence| evidence.line);
    let platform = RecognizedPlatform { supported: false, ..platform };
    let mut model = DeviceModel::refused(platform, lines, COMMENT, REFUSED);
    let help = problem.help.clone().unwrap_or_default();
    model.diagnostics[0].diagnostic =
        Diagnostic::new(&common_rules::PLATFORM_NOT_SUPPORTED, line, problem.message.clone(), help);
    model
}

/// Returns a warning if IOS XR runs on hardware that the configuration does not name.
fn assumed_platform(platform: &RecognizedPlatform, lines: &[Line]) -> Option<Diagnostic> {
    let evidence = platform.because.first().filter(|_| !platform.certain && platform.dialect == "ios-xr")?;
    // The report omits comments, so the diagnostic is reported at the next line that is not a comment.
    let line = lines.iter().find(|line| line.number >= evidence.line && !line.is_blank(COMMENT));
    Some(Diagnostic::new(
        &rules::PLATFORM_ASSUMED,
        line.map_or(evidence.line, |line| line.number),
        format!("no line names the hardware: perhop assumes {}", platform.name),
        "limits of queues, bursts and counted bytes depend on the hardware; --platform asr-9000 or ncs-5500 \
         selects it",
    ))
}

fn dialect_name(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Ios => "ios",
        Dialect::IosXe => "ios-xe",
        Dialect::CatalystMls => "catalyst-mls",
        Dialect::Catalyst4500 => "catalyst-4500",
        Dialect::Catalyst6500 => "catalyst-6500",
        Dialect::CatalystUadp => "catalyst-uadp",
        Dialect::CatalystSiliconOne => "catalyst-silicon-one",
        Dialect::Catalyst => "catalyst",
        Dialect::Asr920 => "asr-920",
        Dialect::CarrierEthernet => "carrier-ethernet",
        Dialect::IosXr => "ios-xr",
        Dialect::Cisco8000 => "cisco-8000",
        Dialect::NxOs => "nx-os",
    }
}

fn system(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Ios => "IOS",
        Dialect::IosXe => "IOS-XE",
        Dialect::CatalystMls => "Catalyst (mls qos)",
        Dialect::Catalyst4500 => "Catalyst 4500",
        Dialect::Catalyst6500 => "Catalyst 6500 (WRR)",
        Dialect::CatalystUadp => "Catalyst (UADP)",
        Dialect::CatalystSiliconOne => "Catalyst (Silicon One)",
        Dialect::Catalyst => "Catalyst (switchport)",
        Dialect::Asr920 => "IOS-XE on an ASR 920",
        Dialect::CarrierEthernet => "ASR 900",
        Dialect::IosXr => "IOS XR",
        Dialect::Cisco8000 => "Cisco 8000",
        Dialect::NxOs => "NX-OS",
    }
}

/// Hardware settings of ATM port adapters and of the memory of switches. They override the settings of the
/// platform.
#[derive(Clone, Copy, Debug, Default)]
struct Settings {
    particle: Option<ByteSize>,
    circuit_ring: Option<u32>,
    slots_of: Option<Rate>,
    port_units: Option<u64>,
    shared_units: Option<u64>,
    pool_ports: Option<u64>,
}

impl Settings {
    fn read(options: &ParseOptions) -> Result<Settings, ConfigError> {
        let mut settings = Settings::default();
        for (name, value) in &options.settings {
            match name.as_str() {
                PARTICLE => settings.particle = Some(value_of(name, value, "512B")?),
                CIRCUIT_RING => settings.circuit_ring = Some(value_of(name, value, "40")?),
                SLOTS_OF => settings.slots_of = Some(value_of(name, value, "155.52Mb/s")?),
                PORT_UNITS => settings.port_units = Some(units_of(name, value)?),
                SHARED_UNITS => settings.shared_units = Some(units_of(name, value)?),
                POOL_PORTS => settings.pool_ports = Some(units_of(name, value)?),
                _ => {
                    let message = format!("there is no setting `{name}`");
                    let help = format!(
                        "settings of {}: {PARTICLE}, {CIRCUIT_RING}, {SLOTS_OF}, {PORT_UNITS}, \
                         {SHARED_UNITS}, {POOL_PORTS}",
                        Ios.name()
                    );
                    return Err(ConfigError::new(name, message).help(help).within("settings"));
                }
            }
        }
        if settings.particle.is_some_and(|particle| particle.as_bytes() == 0) {
            let error = ConfigError::new(PARTICLE, "`particle` must be above 0").help("for example 512B");
            return Err(error.within("settings"));
        }
        settings.slots_of = settings.slots_of.filter(|rate| rate.as_bits_per_second() > 0);
        Ok(settings)
    }

    fn apply_to(self, platform: &mut Platform, hardware: &HardwareOptions) {
        set(&mut platform.particle, self.particle);
        set(&mut platform.circuit_ring, self.circuit_ring);
        set(&mut platform.ring_admission, hardware.ring_admission);
        set(&mut platform.ring_release, hardware.ring_release);
        platform.queue_limit = hardware.queue_limit.or(platform.queue_limit);
        set(&mut platform.reservable_percent, hardware.reservable_percent);
        set(&mut platform.drop_spacing, hardware.drop_spacing);
        platform.memory.port_units = self.port_units.or(platform.memory.port_units);
        platform.memory.shared_units = self.shared_units.or(platform.memory.shared_units);
        platform.memory.pool_ports = self.pool_ports.or(platform.memory.pool_ports);
    }
}

fn set<T>(place: &mut T, chosen: Option<T>) {
    if let Some(chosen) = chosen {
        *place = chosen;
    }
}

fn value_of<T: FromStr>(name: &str, value: &str, example: &str) -> Result<T, ConfigError> {
    value.parse().map_err(|_| {
        ConfigError::new(name, format!("`{value}` is not a value of `{name}`"))
            .help(format!("for example {example}"))
            .within("settings")
    })
}

fn units_of(name: &str, value: &str) -> Result<u64, ConfigError> {
    let units: u64 = value_of(name, value, "300")?;
    if (1..=MOST_UNITS).contains(&units) {
        return Ok(units);
    }
    let message = format!("`{name}` is {units} units");
    Err(ConfigError::new(name, message).help(format!("1 to {MOST_UNITS}")).within("settings"))
}

/// Returns the greatest rate up to `rate` that is `line` divided by a whole number.
fn in_slots(rate: Rate, line: Rate) -> Rate {
    let (rate, line) = (rate.as_bits_per_second().max(1), line.as_bits_per_second());
    Rate::from_bits_per_second(line / line.div_ceil(rate))
}
