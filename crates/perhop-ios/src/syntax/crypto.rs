//! `crypto ipsec` and `crypto map`: the encryption of packets.

use super::command::{Command, irrelevant, modelled};
use crate::ast::{At, Configuration, IpsecProfile, TransformSet};
use crate::mode::Mode;
use crate::words::{Finding, Reader, Reading};

pub(super) const TRANSFORM_SET: &[Command<TransformSet>] = &[modelled("mode", |set, reader| {
    let mode = reader.one_of(&["tunnel", "transport"])?;
    set.transport = (mode == "transport" && !reader.negated()).then(|| At::new(reader.line, ()));
    Ok(Finding::MODELLED)
})];

pub(super) const PROFILE: &[Command<IpsecProfile>] = &[
    modelled("set transform-set", |profile, reader| {
        profile.transform_sets = std::iter::from_fn(|| reader.next()).map(str::to_owned).collect();
        Ok(Finding::MODELLED)
    }),
    modelled("match address", |map, reader| {
        let list = reader.word("an access list")?.to_owned();
        map.lists.retain(|other| *other != list);
        if !reader.negated() {
            map.lists.push(list);
        }
        Ok(Finding::MODELLED)
    }),
    modelled("set peer", |map, reader| {
        // Other peers have host names, which only the router can resolve.
        if let Some(peer) = reader.next().and_then(|word| word.parse().ok()) {
            map.peers.retain(|other| *other != peer);
            if !reader.negated() {
                map.peers.push(peer);
            }
        }
        Ok(Finding::MODELLED)
    }),
    modelled("qos pre-classify", |map, reader| {
        map.pre_classify = (!reader.negated()).then(|| At::new(reader.line, ()));
        Ok(Finding::MODELLED)
    }),
    irrelevant("description"),
    irrelevant("dialer"),
    irrelevant("match"),
    irrelevant("qos"),
    irrelevant("responder-only"),
    irrelevant("reverse-route"),
    irrelevant("set"),
];

/// Reads `crypto ipsec transform-set NAME TRANSFORM …`.
pub(super) fn transform_set(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    let name = reader.word("the transform set's name")?;
    let sets = &mut configuration.transform_sets;
    if reader.negated() {
        sets.remove(name);
        return Ok(Finding::MODELLED);
    }
    let transforms = reader.rest().join(" ");
    let line = reader.line;
    let new = || TransformSet { name: name.to_owned(), line, transforms: String::new(), transport: None };
    let place = sets.place(name, new);
    if let Some(set) = sets.at_mut(place) {
        set.transforms = transforms;
    }
    reader.opens = Some(Mode::TransformSet(place));
    Ok(Finding::MODELLED)
}

/// Reads `crypto ipsec profile NAME`.
pub(super) fn profile(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    let name = reader.word("the profile's name")?;
    let profiles = &mut configuration.ipsec_profiles;
    if reader.negated() {
        profiles.remove(name);
        return Ok(Finding::MODELLED);
    }
    reader.opens = Some(Mode::IpsecProfile(profiles.place(name, || new(name, reader.line))));
    Ok(Finding::MODELLED)
}

/// Reads `crypto map NAME NUMBER ipsec-isakmp`: merges all entries of a map.
pub(super) fn map(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    let name = reader.word("the crypto map's name")?;
    if reader.negated() || reader.maybe_number().is_none() {
        return Ok(Finding::IRRELEVANT);
    }
    let place = configuration.crypto_maps.place(name, || new(name, reader.line));
    reader.opens = Some(Mode::CryptoMap(place));
    Ok(Finding::MODELLED)
}

fn new(name: &str, line: usize) -> IpsecProfile {
    IpsecProfile { name: name.to_owned(), line, ..IpsecProfile::default() }
}
