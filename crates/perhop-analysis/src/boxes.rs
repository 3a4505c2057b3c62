//! [`PacketSpace::boxes`]: conversion of a set of packets to products of ranges of fields, which is the form
//! of conditions in device languages.

use std::ops::RangeInclusive;

use crate::decision_diagram::{Set, TooComplex};
use crate::fields::Field;
use crate::space::PacketSpace;

/// The packets whose fields are in some ranges. A field without ranges may have any value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketBox(Vec<(Field, Vec<RangeInclusive<u128>>)>);

impl PacketBox {
    /// Iterates over the fields that have ranges, in the order of [`Field`]'s variables.
    pub fn fields(&self) -> impl Iterator<Item = (Field, &[RangeInclusive<u128>])> {
        self.0.iter().map(|(field, ranges)| (*field, ranges.as_slice()))
    }
    /// Returns the ranges of `field` in ascending order, with gaps between them; `None` if the field may have
    /// any value.
    pub fn ranges(&self, field: Field) -> Option<&[RangeInclusive<u128>]> {
        self.fields().find(|(known, _)| *known == field).map(|(_, ranges)| ranges)
    }
}

/// A part of a set: the packets with ranges of one field, and the conditions of these packets on the other
/// fields.
struct Slice {
    ranges: Vec<RangeInclusive<u128>>,
    rest: Set,
}

impl PacketSpace {
    /// Divides `set` into disjoint boxes. Returns no boxes for the empty set.
    ///
    /// # Errors
    /// The set has more than `most` boxes, or a field of a box has more than `most` ranges.
    pub fn boxes(&self, set: Set, most: usize) -> Result<Vec<PacketBox>, TooComplex> {
        if set == Set::NONE {
            return Ok(Vec::new());
        }
        let Some(field) = self.first_variable(set).and_then(Field::of_variable) else {
            return Ok(vec![PacketBox::default()]);
        };
        let mut found = Vec::new();
        for Slice { ranges, rest } in self.slices(set, field, most)? {
            for mut inner in self.boxes(rest, most)? {
                inner.0.insert(0, (field, ranges.clone()));
                found.push(inner);
            }
            if found.len() > most {
                return Err(TooComplex);
            }
        }
        Ok(found)
    }

    /// Returns the values of `field` that packets of `set` have.
    ///
    /// # Errors
    /// The values have more than `most` ranges.
    pub fn values(
        &mut self,
        set: Set,
        field: Field,
        most: usize,
    ) -> Result<Vec<RangeInclusive<u128>>, TooComplex> {
        let own = field.first_variable()..field.first_variable() + field.bits();
        let only = self.without(set, |variable| !own.contains(&variable))?;
        let found = self.boxes(only, most)?;
        let whole = 0..=u128::MAX >> (128 - field.bits());
        Ok(found.first().map_or(Vec::new(), |found| found.ranges(field).map_or(vec![whole], <[_]>::to_vec)))
    }

    fn slices(&self, set: Set, field: Field, most: usize) -> Result<Vec<Slice>, TooComplex> {
        let mut found = Vec::new();
        self.descend(set, field, (0, 0), &mut (&mut found, most))?;
        Ok(found)
    }

    /// Adds the slices of a subset of `field`. The first bits of the field have known values.
    fn descend(
        &self,
        set: Set,
        field: Field,
        (bits, low): (u32, u128),
        found: &mut (&mut Vec<Slice>, usize),
    ) -> Result<(), TooComplex> {
        if set == Set::NONE {
            return Ok(());
        }
        let variable = field.first_variable() + bits;
        let end = field.first_variable() + field.bits();
        let next = self.first_variable(set).unwrap_or(u32::MAX);
        if next >= end {
            let left = field.bits() - bits;
            let high = if left == 0 { low } else { low | u128::MAX >> (128 - left) };
            return add(found.0, set, low..=high, found.1);
        }
        let (without, with) = if next == variable { self.halves(set) } else { (set, set) };
        self.descend(without, field, (bits + 1, low), found)?;
        self.descend(with, field, (bits + 1, low | 1 << (field.bits() - 1 - bits)), found)
    }
}

/// Adds a range that is after all other ranges.
fn add(
    slices: &mut Vec<Slice>,
    rest: Set,
    range: RangeInclusive<u128>,
    most: usize,
) -> Result<(), TooComplex> {
    let Some(slice) = slices.iter_mut().find(|slice| slice.rest == rest) else {
        slices.push(Slice { ranges: vec![range], rest });
        return if slices.len() > most { Err(TooComplex) } else { Ok(()) };
    };
    match slice.ranges.last_mut() {
        Some(last) if last.end() + 1 == *range.start() => *last = *last.start()..=*range.end(),
        _ => slice.ranges.push(range),
    }
    if slice.ranges.len() > most { Err(TooComplex) } else { Ok(()) }
}
