//! The rules about networks of devices. The page of each is the file of its name in `rules/`.

perhop_lint::declare_rules! {
    NETWORK_ACCESS_LIST_DENIES = "network-access-list-denies" Warning;
    NETWORK_ADDRESS_DUPLICATE = "network-address-duplicate" Warning;
    NETWORK_ATTACHMENT_UNUSUAL = "network-attachment-unusual" Warning;
    NETWORK_CIRCUIT_RATE_DIFFERS = "network-circuit-rate-differs" Warning;
    NETWORK_CLASS_DIFFERS = "network-class-differs" Warning;
    NETWORK_CLASS_MISSING = "network-class-missing" Warning;
    NETWORK_COST_DIFFERS = "network-cost-differs" Note;
    NETWORK_COST_UNUSUAL = "network-cost-unusual" Warning;
    NETWORK_DEVICE_NOT_COMPARED = "network-device-not-compared" Note;
    NETWORK_GROUP_DIFFERS = "network-group-differs" Warning;
    NETWORK_LINE_MISSING = "network-line-missing" Note;
    NETWORK_LINE_UNUSUAL = "network-line-unusual" Note;
    NETWORK_LIST_DIFFERS = "network-list-differs" Note;
    NETWORK_MARKING_MISSING = "network-marking-missing" Warning;
    NETWORK_MARK_CHANGED = "network-mark-changed" Warning;
    NETWORK_MARK_UNMATCHED = "network-mark-unmatched" Warning;
    NETWORK_MTU_DIFFERS = "network-mtu-differs" Warning;
    NETWORK_NAMESAKE_DIFFERS = "network-namesake-differs" Warning;
    NETWORK_NEIGHBORS_MISSING = "network-neighbors-missing" Warning;
    NETWORK_NEIGHBOR_VRF_DIFFERS = "network-neighbor-vrf-differs" Warning;
    NETWORK_NEXT_HOP_UNKNOWN = "network-next-hop-unknown" Warning;
    NETWORK_PEERS_DISAGREE = "network-peers-disagree" Warning;
    NETWORK_POLICER_BELOW_GUARANTEE = "network-policer-below-guarantee" Warning;
    NETWORK_POLICY_MISSING = "network-policy-missing" Warning;
    NETWORK_PORT_DOWN = "network-port-down" Warning;
    NETWORK_PROMISE_DIFFERS = "network-promise-differs" Warning;
    NETWORK_PROTOCOL_DENIED = "network-protocol-denied" Warning;
    NETWORK_QUEUE_DIFFERS = "network-queue-differs" Warning;
    NETWORK_RATE_NAME = "network-rate-name" Warning;
    NETWORK_ROUTER_ID_DUPLICATE = "network-router-id-duplicate" Warning;
    NETWORK_ROUTE_ASTRAY = "network-route-astray" Warning;
    NETWORK_ROUTE_ASYMMETRIC = "network-route-asymmetric" Warning;
    NETWORK_ROUTE_MISSING = "network-route-missing" Warning;
    NETWORK_SERVICE_DIFFERS = "network-service-differs" Warning;
    NETWORK_SESSION_DIFFERS = "network-session-differs" Warning;
    NETWORK_SETTING_DIFFERS = "network-setting-differs" Warning;
    NETWORK_SHAPER_ABOVE_POLICER = "network-shaper-above-policer" Warning;
    NETWORK_SUBNET_DIFFERS = "network-subnet-differs" Warning;
    NETWORK_SUBNET_UNUSUAL = "network-subnet-unusual" Note;
    NETWORK_TAG_DIFFERS = "network-tag-differs" Warning;
    NETWORK_TUNNEL_GROUP_UNKNOWN = "network-tunnel-group-unknown" Warning;
    NETWORK_TUNNEL_ONE_WAY = "network-tunnel-one-way" Warning;
    NETWORK_VLAN_MISSING = "network-vlan-missing" Warning;
}
