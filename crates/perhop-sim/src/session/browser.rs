//! [`Browser`]: loads of web pages, object by object over several connections.
//!
//! The browser does not use the network. Its caller reports events, and the browser returns the steps to
//! take.

use perhop_measure::applications::PageTally;
use perhop_qos::random::Stream;
use perhop_qos::units::Time;
use perhop_scenario::PageConfig;

/// The usual lengths of a `ClientHello` and of the server's reply with its certificates, bytes.
const TLS_REQUEST: u64 = 517;
const TLS_RESPONSE: u64 = 4_000;

/// A browser that loads one page after the other.
#[derive(Debug)]
pub(crate) struct Browser {
    config: PageConfig,
    warmup: Time,
    stops: Time,
    /// The index of the browser's first session. Each session has one connection.
    first: usize,
    links: Vec<Link>,
    stage: Stage,
    /// The number of objects of the current stage that are not requested yet.
    waiting: u32,
    /// The number of objects that are in transfer.
    outstanding: u32,
    /// The time at which the load of the page began.
    began: Time,
    tally: PageTally,
}

/// The state of a connection. The `usize` is the place of an open connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    Closed,
    Opening,
    /// The `u32` is the number of remaining round trips of TLS.
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
    /// Open the connection of this session.
    Open(usize),
    /// Send a request of `request` bytes for a response of `response` bytes.
    Fetch {
        /// The place of the connection.
        place: usize,
        /// The length of the request, bytes.
        request: u64,
        /// The length of the response, bytes.
        response: u64,
    },
    /// Close the connection at this place.
    Close(usize),
    /// Wake the browser at this time.
    Wake(Time),
    /// Count a page as loaded. Its load began at this time.
    Loaded(Time),
}

impl Browser {
    /// Creates a browser. Its connections are the sessions from `first` on.
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
    /// Returns the session whose wake-ups the browser receives.
    pub(crate) fn session(&self) -> usize {
        self.first
    }
    /// Sets the number of the browser's first session to `first`.
    pub(crate) fn renumber(&mut self, first: usize) {
        self.first = first;
    }
    /// Removes and returns the counters of the browser.
    pub(crate) fn tally(&mut self) -> PageTally {
        std::mem::take(&mut self.tally)
    }

    /// Handles the wake-up that the browser requested.
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
    /// Handles the opening of `session`'s connection at `place`.
    pub(crate) fn connected(&mut self, session: usize, place: usize, steps: &mut Vec<Step>) {
        self.secure(session - self.first, place, self.config.tls_round_trips, steps);
    }
    /// Handles the arrival of the response that `session` awaits on the connection at `place`.
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
            // The response belongs to the previous page, which has ended.
            _ => {}
        }
    }

    /// Runs the `left` remaining round trips of TLS on connection `member` at `place`.
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
    /// Requests objects on idle connections, and opens connections for the remaining objects.
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
    /// Returns the size of an object of the current stage, bytes.
    fn size(&self) -> u64 {
        match self.stage {
            Stage::Html => self.config.html.as_bytes(),
            Stage::Scripts => self.config.scripts.size.as_bytes(),
            _ => self.config.images.size.as_bytes(),
        }
    }
    /// Ends the stage after all of its objects have arrived.
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
            // A connection that is still opening is kept for the next page.
            if *link != Link::Opening {
                *link = Link::Closed;
            }
        }
        let pause = self.config.think.as_seconds() * stream.exponential();
        steps.push(Step::Wake(now.saturating_add(Time::from_seconds_f64(pause))));
    }
}
