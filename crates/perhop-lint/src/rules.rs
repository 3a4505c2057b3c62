//! The vendor-neutral rules, and [`declare_rules`](crate::declare_rules) for the rules of a front end. The
//! page of a rule is the file with the rule's name in `rules/` of its crate.

/// Declares rules: a static for each rule with its page, and `ALL`, the list of all rules.
#[macro_export]
macro_rules! declare_rules {
    ($($name:ident = $id:literal $severity:ident;)*) => {
        $(
            #[doc = concat!("`", $id, "`: see `rules/", $id, ".md`.")]
            pub static $name: $crate::Rule = $crate::Rule {
                id: $id,
                severity: $crate::Severity::$severity,
                page: $crate::rule_page!($id),
            };
        )*
        /// All rules of this crate, in the order in which they are listed.
        pub static ALL: &[&$crate::Rule] = &[$(&$name),*];
    };
}

/// The page of a rule.
#[cfg(not(target_family = "wasm"))]
#[macro_export]
macro_rules! rule_page {
    ($id:literal) => {
        include_str!(concat!("../rules/", $id, ".md"))
    };
}

/// The page of a rule, which is empty in the playground, because its module must be small and shows no pages.
#[cfg(target_family = "wasm")]
#[macro_export]
macro_rules! rule_page {
    ($id:literal) => {
        ""
    };
}

declare_rules! {
    CLASS_CONTRADICTORY = "class-contradictory" Warning;
    CLASS_SHADOWED = "class-shadowed" Warning;
    CLASS_WITHOUT_TRAFFIC = "class-without-traffic" Note;
    CLASSES_OVERLAP = "classes-overlap" Note;
    CONDITIONS_TOO_COMPLEX = "conditions-too-complex" Note;
    CLASS_STARVES = "class-starves" Warning;
    PRIORITY_UNBOUNDED = "priority-unbounded" Warning;
    PRIORITY_ABOVE_THIRD = "priority-above-third" Note;
    SHAPE_ABOVE_INTERFACE = "shape-above-interface" Warning;
    SHAPERS_ABOVE_PORT = "shapers-above-port" Warning;
    WIRE_OVERBOOKED = "wire-overbooked" Warning;
    POLICE_BURST_BELOW_PACKET = "police-burst-below-packet" Warning;
    POLICE_BURST_SMALL = "police-burst-small" Note;
    POLICE_BURST_LARGE = "police-burst-large" Note;
    POLICE_RATE_SLOW = "police-rate-slow" Note;
    PRIORITY_BURST_SMALL = "priority-burst-small" Note;
    RATES_ABOVE_PARENT = "rates-above-parent" Warning;
    SHAPE_BURST_LARGE = "shape-burst-large" Note;
    WRED_MAX_ABOVE_LIMIT = "wred-max-above-limit" Warning;
    WRED_PRECEDENCE_ORDER = "wred-precedence-order" Warning;
    WRED_AVERAGE_SLOW = "wred-average-slow" Note;
    RED_UNGUARDED = "red-unguarded" Warning;
    QUEUE_DELAY = "queue-delay" Note;
    RING_DELAY = "ring-delay" Warning;
    NQB_MAY_GET_PRIORITY = "nqb-may-get-priority" Note;
    NQB_GETS_PRIORITY = "nqb-gets-priority" Warning;
    NQB_REMARKED = "nqb-remarked" Warning;
    COMMAND_UNKNOWN = "command-unknown" Warning;
    COMMAND_NOT_MODELLED = "command-not-modelled" Warning;
    LITTLE_RECOGNIZED = "little-recognized" Warning;
    PLATFORM_NOT_SUPPORTED = "platform-not-supported" Error;
    SCENARIO_INVALID = "scenario-invalid" Error;
    SCENARIO_DOUBTFUL = "scenario-doubtful" Warning;
}
