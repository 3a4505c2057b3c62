//! [`Browser`]: loads of web pages, object by object over several connections.
//!
//! It knows no network: it is told what happened, and says step by step what it does.

use perhop_measure::applications::PageTally;
use perhop_qos::random::Stream;
use perhop_qos::units::Time;
use perhop_scenario::PageConfig;

/// A `ClientHello`, and what a server answers with its certificates, bytes: what usual ones have.
const TLS_REQUEST: u64 = 517;
const TLS_RESPONSE: u64 = 4_000;

/// A browser that loads page after page.
#[derive(Debug)]
pub(crate) struct Browser {
    config: PageConfig,
    warmup: Time,
    stops: Time,
    /// The first of its sessions, one for each connection.
    first: usize,
    links: Vec<Link>,
    stage: Stage,
    /// Objects of the stage that were not requested yet, and those under way.
    waiting: u32,
    outstanding: u32,
    began: Time,
    tally: PageTally,
}

/// What a connection is doing, with its place where it is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    Closed,
    Opening,
    /// Round trips of TLS that are left.
    Securing(usize, u32),
    Idle(usize),
    Busy(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Between,
    Html,
    Parsing,
    Scripts,
    Running,
    Images,
}

/// A step of a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It opens the connection of this session.
    Open(usize),
    /// It requests so many bytes by so many on the connection at a place.
    Fetch {
        /// The place of the connection.
        place: usize,
        /// Bytes.
        request: u64,
        /// Bytes.
        response: u64,
    },
    /// It closes the connection at a place.
    Close(usize),
    /// It is to be told at this time.
    Wake(Time),
    /// A page that began at this time is loaded.
    Loaded(Time),
}

impl Browser {
    /// A browser whose connections are the sessions from `first` on.
    pub(crate) fn new(config: &PageConfig, first: usize, warmup: Time, stops: Time) -> Browser {
        Browser {
            config: config.clone(),
            warmup,
            stops,
            first,
            links: vec![Link::Closed; config.connections as usize],
            stage: Stage::Between,
            waiting: 0,
            outstanding: 0,
            began: Time::ZERO,
            tally: PageTally::default(),
        }
    }
    /// The session that wakes it.
    pub(crate) fn session(&self) -> usize {
        self.first
    }
    /// What it counted.
    pub(crate) fn tally(&mut self) -> PageTally {
        std::mem::take(&mut self.tally)
    }

    /// The time for which it asked has come.
    pub(crate) fn wake(&mut self, now: Time, stream: &mut Stream, steps: &mut Vec<Step>) {
        match self.stage {
            Stage::Between if now < self.stops => {
                self.began = now;
                self.enter(Stage::Html, 1, steps);
            }
            Stage::Parsing => self.enter(Stage::Scripts, self.config.scripts.count, steps),
            Stage::Running => self.enter(Stage::Images, self.config.images.count, steps),
            _ => return,
        }
        if self.stage != Stage::Between && self.waiting + self.outstanding == 0 {
            self.end_stage(now, stream, steps);
        }
    }
    /// `session` is connected at `place`.
    pub(crate) fn connected(&mut self, session: usize, place: usize, steps: &mut Vec<Step>) {
        self.secure(session - self.first, place, self.config.tls_round_trips, steps);
    }
    /// The response that `session` waited for at `place` has arrived.
    pub(crate) fn received(
        &mut self,
        now: Time,
        [session, place]: [usize; 2],
        stream: &mut Stream,
        steps: &mut Vec<Step>,
    ) {
        let member = session - self.first;
        match self.links[member] {
            Link::Securing(open, left) if open == place => self.secure(member, place, left - 1, steps),
            Link::Busy(open) if open == place => {
                self.links[member] = Link::Idle(place);
                self.outstanding -= 1;
                if now >= self.warmup {
                    self.tally.objects += 1;
                }
                self.dispatch(steps);
                if self.waiting == 0 && self.outstanding == 0 {
                    self.end_stage(now, stream, steps);
                }
            }
            // What was under way when the page before was loaded.
            _ => {}
        }
    }

    /// The connection `member` at `place` needs `left` more round trips of TLS.
    fn secure(&mut self, member: usize, place: usize, left: u32, steps: &mut Vec<Step>) {
        if left == 0 {
            self.links[member] = Link::Idle(place);
            return self.dispatch(steps);
        }
        self.links[member] = Link::Securing(place, left);
        steps.push(Step::Fetch { place, request: TLS_REQUEST, response: TLS_RESPONSE });
    }
    fn enter(&mut self, stage: Stage, objects: u32, steps: &mut Vec<Step>) {
        (self.stage, self.waiting) = (stage, objects);
        self.dispatch(steps);
    }
    /// Requests objects on idle connections, and opens others for those that are left.
    fn dispatch(&mut self, steps: &mut Vec<Step>) {
        let (request, response) = (self.config.request.as_bytes(), self.size());
        for link in &mut self.links {
            if let Link::Idle(place) = *link
                && self.waiting > 0
            {
                *link = Link::Busy(place);
                self.waiting -= 1;
                self.outstanding += 1;
                steps.push(Step::Fetch { place, request, response });
            }
        }
        let coming = |link: &&Link| matches!(link, Link::Opening | Link::Securing(..));
        let mut coming = self.links.iter().filter(coming).count();
        for (member, link) in self.links.iter_mut().enumerate() {
            if *link == Link::Closed && coming < self.waiting as usize {
                *link = Link::Opening;
                coming += 1;
                steps.push(Step::Open(self.first + member));
            }
        }
    }
    /// Bytes of an object of the stage.
    fn size(&self) -> u64 {
        match self.stage {
            Stage::Html => self.config.html.as_bytes(),
            Stage::Scripts => self.config.scripts.size.as_bytes(),
            _ => self.config.images.size.as_bytes(),
        }
    }
    /// All objects of the stage are here.
    fn end_stage(&mut self, now: Time, stream: &mut Stream, steps: &mut Vec<Step>) {
        let Browser { config, .. } = self;
        let next = match self.stage {
            Stage::Html => Stage::Parsing,
            Stage::Scripts => Stage::Running,
            _ => Stage::Between,
        };
        self.stage = next;
        if next != Stage::Between {
            return steps.push(Step::Wake(now + config.parse));
        }
        if now >= self.warmup {
            self.tally.loads.push(now - self.began);
        }
        steps.push(Step::Loaded(self.began));
        for link in &mut self.links {
            if let Link::Idle(place) | Link::Securing(place, _) | Link::Busy(place) = *link {
                steps.push(Step::Close(place));
            }
            // One that is opening belongs to the next page.
            if *link != Link::Opening {
                *link = Link::Closed;
            }
        }
        let pause = self.config.think.as_seconds() * stream.exponential();
        steps.push(Step::Wake(now.saturating_add(Time::from_seconds_f64(pause))));
    }
}
