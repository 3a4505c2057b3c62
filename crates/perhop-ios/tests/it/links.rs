//! Tests that links lead from each class to its parts, and from each part to its class.

use std::fs;
use std::path::{Path, PathBuf};

use perhop_device::lower::Links;
use perhop_device::{AttachedClass, AttachedPolicy};
use perhop_ios::{Platform, Profile, convert, parse};
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn configurations() -> Vec<PathBuf> {
    let all = ["../../vectors/ios", "../../tests/configurations"].into_iter();
    let all = all.flat_map(|name| fs::read_dir(folder().join(name)).unwrap());
    let all = all.map(|entry| entry.unwrap().path());
    all.filter(|path| path.extension().is_some_and(|extension| extension == "cfg")).collect()
}

#[test]
fn links_lead_from_classes_to_their_parts_and_back() {
    let mut seen = Seen::default();
    for file in configurations() {
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        for profile in Profile::ALL {
            let mut configuration = parse(&text);
            let router = convert(&mut configuration, &Platform::for_profile(profile));
            for port in router.ports.iter().filter(|port| port.name != "control-plane") {
                let place = format!("{}, {}, {}", file.display(), profile.name(), port.name);
                if let Some(policy) = port.input_policy() {
                    check(policy, &port.input, &port.links.input, &place, &mut seen);
                }
                if let Some(policy) = port.output_policy() {
                    check(policy, &port.output, &port.links.output, &place, &mut seen);
                }
            }
        }
    }
    assert!(seen.queues > 500 && seen.conditioners > 100 && seen.shapers > 50, "{seen:?}");
}

/// The number of compared parts.
#[derive(Debug, Default)]
struct Seen {
    queues: usize,
    conditioners: usize,
    shapers: usize,
}

fn check(policy: &AttachedPolicy, config: &PolicyConfig, links: &Links, place: &str, seen: &mut Seen) {
    for class in &policy.classes {
        check_class(class, config, links, &format!("{place}: {}", class.name), seen);
        if let Some(inner) = &class.policy {
            check(inner, config, links, place, seen);
        }
    }
}

fn check_class(class: &AttachedClass, config: &PolicyConfig, links: &Links, place: &str, seen: &mut Seen) {
    let own = links.of_class(class.id).unwrap_or_else(|| panic!("{place} has no links"));
    assert_eq!(own.line, class.line, "{place}");
    assert_eq!(own.lines.contains(&class.line), class.line > 0, "{place}");
    for line in &own.lines {
        assert!(links.classes_at_line(*line).any(|other| other.class == class.id), "{place}");
    }
    assert_eq!(own.queue.is_some(), class.queue.is_some(), "{place}");
    if let (Some(path), Some(name)) = (&own.queue, &class.queue) {
        let names: Vec<&str> = path_to(config, path).iter().map(|class| class.name.as_str()).collect();
        assert_eq!(names.join("/"), *name, "{place}");
        assert_eq!(links.class_of_queue(path).map(|links| links.class), Some(class.id), "{place}");
        seen.queues += 1;
    }
    if let Some(index) = own.conditioner {
        let stage = config.conditioners[index].name.as_deref().unwrap_or_default();
        let name = class.conditioner.as_deref().unwrap_or_default();
        assert!(!name.is_empty() && stage.starts_with(name), "{place}: {stage}");
        assert_eq!(links.class_of_conditioner(index).map(|links| links.class), Some(class.id), "{place}");
        seen.conditioners += 1;
    }
    if let Some(path) = &own.shaper {
        assert_eq!(own.node.as_ref(), Some(path), "{place}");
        let shape = path_to(config, path).last().and_then(|class| class.shape);
        assert_eq!(
            shape.map(|shape| shape.rate.as_bits_per_second()),
            class.shape.map(|shape| shape.cir_bps)
        );
        seen.shapers += 1;
    }
}

/// The classes on the path to the class at `path`.
fn path_to<'a>(config: &'a PolicyConfig, path: &[usize]) -> Vec<&'a ClassConfig> {
    let mut found = Vec::new();
    let mut queueing: Option<&QueueingConfig> = config.queueing.as_ref();
    for index in path {
        let class = &queueing.expect("a scheduler").classes[*index];
        found.push(class);
        queueing = class.queueing.as_ref();
    }
    found
}

/// A class whose nested policy queues has a node, but not a queue. The inner queues link to the outermost
/// class.
#[test]
fn a_class_around_queues_has_no_queue() {
    let text = "class-map a\n match dscp ef\npolicy-map inner\n class a\n  bandwidth percent 10\n\
                policy-map top\n class class-default\n  shape average 1000000\n  service-policy inner\n\
                interface GigabitEthernet0/0\n service-policy output top\n";
    let mut configuration = parse(text);
    let router = convert(&mut configuration, &Platform::for_profile(Profile::Hqf));
    let links = &router.ports[0].links.output;
    let outer = &links.classes[0];
    assert_eq!((outer.line, outer.queue.clone(), outer.shaper.clone()), (7, None, Some(vec![0])));
    assert_eq!(outer.lines, [7, 8]);
    let inner = &links.classes[1];
    assert_eq!((inner.parent, inner.line, inner.queue.clone()), (Some(outer.class), 4, Some(vec![0, 0])));
    assert_eq!(links.class_around_queues(&[0]).map(|links| links.class), Some(outer.class));
    assert!(links.class_of_queue(&[0]).is_none());
}
