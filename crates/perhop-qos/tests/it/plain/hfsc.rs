//! HFSC step by step as in Linux (6.1, `net/sched/sch_hfsc.c`). This implementation maintains sorted lists of
//! eligible times, virtual times and fit times, whereas perhop checks all classes.

/// A curve `{m1, d, m2}`: bits per second, picoseconds, bits per second.
pub(crate) type Curve = (u128, u128, u128);

const BYTE: u128 = 8_000_000_000_000;

#[derive(Clone, Copy, Debug, Default)]
struct Sc {
    curve: Curve,
    x: u128,
    y: u128,
    dx: u128,
    dy: u128,
}

impl Sc {
    fn new(curve: Curve) -> Sc {
        Sc { curve, x: 0, y: 0, dx: curve.1, dy: curve.0 * curve.1 }
    }
    fn y2x(&self, y: u128) -> u128 {
        let (m1, _, m2) = self.curve;
        if y < self.y {
            self.x
        } else if y <= self.y + self.dy {
            if self.dy == 0 { self.x + self.dx } else { self.x + (y - self.y).div_ceil(m1) }
        } else if m2 == 0 {
            u128::MAX
        } else {
            self.x + self.dx + (y - self.y - self.dy).div_ceil(m2)
        }
    }
    fn x2y(&self, x: u128) -> u128 {
        let (m1, _, m2) = self.curve;
        if x <= self.x {
            self.y
        } else if x <= self.x + self.dx {
            self.y + (x - self.x) * m1
        } else {
            self.y + self.dy + (x - self.x - self.dx) * m2
        }
    }
    fn min(&mut self, x: u128, y: u128) {
        let (m1, d, m2) = self.curve;
        let y1 = self.x2y(x);
        if m1 <= m2 {
            if y1 >= y {
                *self = Sc { x, y, ..Sc::new(self.curve) };
            }
            return;
        }
        if y1 <= y {
            return;
        }
        if self.x2y(x + d) >= y + m1 * d {
            *self = Sc { x, y, ..Sc::new(self.curve) };
            return;
        }
        let mut dx = (y1 - y) / (m1 - m2);
        if self.x + self.dx > x {
            dx += self.x + self.dx - x;
        }
        *self = Sc { curve: self.curve, x, y, dx, dy: dx * m1 };
    }
}

/// A class with the number of its parent. The root is the first class and has no parent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Class {
    parent: Option<usize>,
    rsc: Option<Sc>,
    eligible: Sc,
    fsc: Option<Sc>,
    usc: Option<Sc>,
    /// The lengths of the queued packets, beginning with the head.
    queue: std::collections::VecDeque<u32>,
    cumul: u128,
    total: u128,
    e: u128,
    d: u128,
    vt: u128,
    vtadj: u128,
    vtperiod: u64,
    parentperiod: u64,
    nactive: u32,
    cvtmin: u128,
    cvtoff: u128,
    myf: u128,
    f: u128,
    cfmin: u128,
    /// The inner classes in the order of their virtual times, and (`cf_tree`) of their fit times.
    vt_tree: Vec<usize>,
    cf_tree: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Hfsc {
    classes: Vec<Class>,
    eltree: Vec<usize>,
}

impl Hfsc {
    pub(crate) fn new() -> Hfsc {
        Hfsc { classes: vec![Class::default()], eltree: Vec::new() }
    }

    /// Adds a class inside `parent` with its real-time, link-share and upper-limit curves. Returns the number
    /// of the class.
    pub(crate) fn add(&mut self, parent: usize, curves: [Option<Curve>; 3]) -> usize {
        let [rsc, fsc, usc] = curves.map(|curve| curve.map(Sc::new));
        self.classes.push(Class { parent: Some(parent), rsc, fsc, usc, ..Class::default() });
        self.classes.len() - 1
    }

    pub(crate) fn enqueue(&mut self, now: u128, leaf: usize, length: u32) {
        self.classes[leaf].queue.push_back(length);
        if self.classes[leaf].queue.len() > 1 {
            return;
        }
        if self.classes[leaf].rsc.is_some() {
            self.init_ed(now, leaf);
        }
        if self.classes[leaf].fsc.is_some() {
            self.init_vf(now, leaf);
        }
    }

    /// Returns the class whose head leaves now and the length of the head, or the time until which no class
    /// may send.
    pub(crate) fn dequeue(&mut self, now: u128) -> Result<(usize, u32), u128> {
        let claims = self.eltree.iter().take_while(|leaf| self.classes[**leaf].e <= now).copied();
        let realtime = claims.reduce(|best, leaf| if self.d(leaf) < self.d(best) { leaf } else { best });
        let leaf = realtime.or_else(|| self.minvt(now));
        let Some(leaf) = leaf else {
            let eligible = self.eltree.first().map(|leaf| self.classes[*leaf].e);
            let cfmin = (!self.classes[0].cf_tree.is_empty()).then_some(self.classes[0].cfmin);
            return Err(eligible.into_iter().chain(cfmin).min().unwrap_or(u128::MAX));
        };
        let length = self.classes[leaf].queue.pop_front().unwrap();
        self.update_vf(leaf, u128::from(length) * BYTE);
        let class = &mut self.classes[leaf];
        if realtime.is_some() {
            class.cumul += u128::from(length) * BYTE;
        }
        if let Some(rsc) = class.rsc {
            match class.queue.front() {
                Some(next) => {
                    class.d = rsc.y2x(class.cumul + u128::from(*next) * BYTE);
                    if realtime.is_some() {
                        class.e = class.eligible.y2x(class.cumul);
                        self.el_remove(leaf);
                        self.el_insert(leaf);
                    }
                }
                None => self.el_remove(leaf),
            }
        }
        Ok((leaf, length))
    }

    fn d(&self, leaf: usize) -> u128 {
        self.classes[leaf].d
    }
    fn el_insert(&mut self, leaf: usize) {
        let e = self.classes[leaf].e;
        let at = self.eltree.partition_point(|other| self.classes[*other].e <= e);
        self.eltree.insert(at, leaf);
    }
    fn el_remove(&mut self, leaf: usize) {
        self.eltree.retain(|other| *other != leaf);
    }
    fn vt_insert(&mut self, child: usize, parent: usize) {
        let vt = self.classes[child].vt;
        let at = self.classes[parent].vt_tree.partition_point(|other| self.classes[*other].vt <= vt);
        self.classes[parent].vt_tree.insert(at, child);
    }
    fn cf_insert(&mut self, child: usize, parent: usize) {
        let f = self.classes[child].f;
        let at = self.classes[parent].cf_tree.partition_point(|other| self.classes[*other].f <= f);
        self.classes[parent].cf_tree.insert(at, child);
    }
    fn update_cfmin(&mut self, parent: usize) {
        self.classes[parent].cfmin =
            self.classes[parent].cf_tree.first().map_or(0, |child| self.classes[*child].f);
    }

    fn init_ed(&mut self, now: u128, leaf: usize) {
        let class = &mut self.classes[leaf];
        let cumul = class.cumul;
        let rsc = class.rsc.as_mut().unwrap();
        rsc.min(now, cumul);
        class.eligible = *rsc;
        if rsc.curve.0 <= rsc.curve.2 {
            (class.eligible.dx, class.eligible.dy) = (0, 0);
        }
        class.e = class.eligible.y2x(cumul);
        class.d = rsc.y2x(cumul + u128::from(class.queue[0]) * BYTE);
        self.el_insert(leaf);
    }

    fn init_vf(&mut self, now: u128, leaf: usize) {
        let (mut at, mut go_active) = (leaf, true);
        while let Some(parent) = self.classes[at].parent {
            if go_active {
                go_active = self.classes[at].nactive == 0;
                self.classes[at].nactive += 1;
            }
            if go_active {
                self.go_active(now, at, parent);
            }
            let class = &self.classes[at];
            let f = class.myf.max(class.cfmin);
            if f != class.f {
                self.classes[at].f = f;
                self.classes[parent].cf_tree.retain(|other| *other != at);
                self.cf_insert(at, parent);
            }
            self.update_cfmin(parent);
            at = parent;
        }
    }

    fn go_active(&mut self, now: u128, at: usize, parent: usize) {
        if let Some(last) = self.classes[parent].vt_tree.last() {
            let mut vt = self.classes[*last].vt;
            if self.classes[parent].cvtmin != 0 {
                vt = u128::midpoint(self.classes[parent].cvtmin, vt);
            }
            if self.classes[parent].vtperiod != self.classes[at].parentperiod || vt > self.classes[at].vt {
                self.classes[at].vt = vt;
            }
        } else {
            self.classes[at].vt = self.classes[parent].cvtoff;
            self.classes[parent].cvtmin = 0;
        }
        let above = (self.classes[parent].vtperiod, self.classes[parent].nactive);
        let class = &mut self.classes[at];
        let (vt, total) = (class.vt, class.total);
        class.fsc.as_mut().unwrap().min(vt, total);
        class.vtadj = 0;
        class.vtperiod += 1;
        class.parentperiod = above.0 + u64::from(above.1 == 0);
        class.f = 0;
        if let Some(usc) = &mut class.usc {
            usc.min(now, total);
            class.myf = usc.y2x(total);
        }
        self.vt_insert(at, parent);
        self.cf_insert(at, parent);
    }

    fn update_vf(&mut self, leaf: usize, service: u128) {
        let mut go_passive = self.classes[leaf].queue.is_empty() && self.classes[leaf].fsc.is_some();
        let mut at = leaf;
        while let Some(parent) = self.classes[at].parent {
            self.classes[at].total += service;
            if self.classes[at].fsc.is_some() && self.classes[at].nactive > 0 {
                go_passive = self.update_class(at, parent, go_passive);
            }
            at = parent;
        }
    }

    /// Returns whether the class has become passive.
    fn update_class(&mut self, at: usize, parent: usize, mut go_passive: bool) -> bool {
        let cvtmin = self.classes[parent].cvtmin;
        let class = &mut self.classes[at];
        if go_passive {
            class.nactive -= 1;
            go_passive = class.nactive == 0;
        }
        class.vt = class.fsc.unwrap().y2x(class.total) + class.vtadj;
        if class.vt < cvtmin {
            class.vtadj += cvtmin - class.vt;
            class.vt = cvtmin;
        }
        let vt = class.vt;
        self.classes[parent].vt_tree.retain(|other| *other != at);
        if go_passive {
            self.classes[parent].cvtoff = self.classes[parent].cvtoff.max(vt);
            self.classes[parent].cf_tree.retain(|other| *other != at);
            self.update_cfmin(parent);
            return true;
        }
        self.vt_insert(at, parent);
        let class = &mut self.classes[at];
        if let Some(usc) = class.usc {
            class.myf = usc.y2x(class.total);
        }
        let f = class.myf.max(class.cfmin);
        if f != class.f {
            class.f = f;
            self.classes[parent].cf_tree.retain(|other| *other != at);
            self.cf_insert(at, parent);
            self.update_cfmin(parent);
        }
        false
    }

    fn minvt(&mut self, now: u128) -> Option<usize> {
        if self.classes[0].cfmin > now {
            return None;
        }
        let mut at = 0;
        while !self.classes[at].vt_tree.is_empty() {
            let parent = at;
            at = *self.classes[at].vt_tree.iter().find(|child| self.classes[**child].f <= now)?;
            self.classes[parent].cvtmin = self.classes[parent].cvtmin.max(self.classes[at].vt);
        }
        (at > 0).then_some(at)
    }
}
