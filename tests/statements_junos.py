"""Configurations of Junos and of VPNs of two makers, for rules about single statements."""

from __future__ import annotations


def firewall() -> str:
    return """system {
    host-name fw;
}
interfaces {
    ge-0/0/0 {
        unit 0 {
            family inet {
                address 192.0.2.2/30;
            }
        }
    }
    ge-0/0/1 {
        unit 5 {
            family inet {
                address 10.5.0.1/24;
            }
        }
    }
    ge-0/0/2 {
        unit 0 {
            family inet {
                address 10.6.0.1/24;
            }
        }
    }
}
routing-options {
    autonomous-system 65002;
}
protocols {
    bgp {
        group OUT {
            type external;
            neighbor 192.0.2.1 {
                peer-as 65001;
                bfd-liveness-detection {
                    minimum-interval 300;
                }
            }
        }
    }
}
security {
    zones {
        security-zone out {
            interfaces {
                ge-0/0/0.0;
            }
        }
        security-zone in {
            interfaces {
                ge-0/0/1.5;
                ge-0/0/2.0;
            }
        }
    }
}
class-of-service {
    classifiers {
        dscp READ {
            forwarding-class SPEECH {
                loss-priority low code-points ef;
            }
            forwarding-class ORDERS {
                loss-priority low code-points af31;
            }
            forwarding-class REST {
                loss-priority low code-points be;
            }
        }
    }
    interfaces {
        ge-0/0/0 {
            unit 0 {
                classifiers {
                    dscp READ;
                }
            }
        }
        ge-0/0/1 {
            unit 5 {
                classifiers {
                    dscp READ;
                }
            }
        }
        ge-0/0/2 {
            unit 0 {
                classifiers {
                    dscp READ;
                }
            }
        }
    }
    rewrite-rules {
        dscp WRITE {
            forwarding-class SPEECH {
                loss-priority low code-point ef;
            }
            forwarding-class ORDERS {
                loss-priority low code-point af31;
            }
            forwarding-class REST {
                loss-priority low code-point be;
            }
        }
    }
}
"""


def edge() -> str:
    return """system {
    host-name pe;
}
interfaces {
    ge-0/0/0 {
        unit 0 {
            family inet {
                address 192.0.2.1/30;
            }
        }
    }
    lo0 {
        unit 0 {
            family inet {
                filter {
                    input ENGINE;
                }
                address 10.0.0.1/32;
            }
        }
    }
}
routing-options {
    autonomous-system 65001;
}
protocols {
    bgp {
        group CUSTOMERS {
            type external;
            neighbor 192.0.2.2 {
                peer-as 65002;
                bfd-liveness-detection {
                    minimum-interval 300;
                }
            }
        }
    }
}
policy-options {
    prefix-list PEERS {
        192.0.2.0/24;
    }
}
firewall {
    family inet {
        filter ENGINE {
            term BGP {
                from {
                    source-prefix-list {
                        PEERS;
                    }
                    protocol tcp;
                    port bgp;
                }
                then accept;
            }
            term REST {
                then discard;
            }
        }
        filter SITE-A {
            term SPEECH {
                from {
                    dscp ef;
                }
                then accept;
            }
        }
        filter SITE-B {
            term SPEECH {
                from {
                    dscp ef;
                }
                then accept;
            }
        }
        filter SITE-C {
            term SPEECH {
                from {
                    dscp ef;
                }
                then accept;
            }
        }
        filter SITE-D {
            term SPEECH {
                from {
                    dscp ef;
                }
                then accept;
            }
        }
    }
}
class-of-service {
    traffic-control-profiles {
        LINE-20M {
            shaping-rate 19m;
        }
    }
}
"""


EDGE_OF_XR = """hostname xr
vrf BLUE
 address-family ipv4 unicast
  import route-target
   65000:20
  !
  export route-target
   65000:20
  !
 !
!
interface Loopback0
 ipv4 address 10.254.0.1 255.255.255.255
!
interface TenGigE0/0/0/0
 ipv4 address 10.9.9.1 255.255.255.252
!
interface TenGigE0/0/0/1
 vrf BLUE
 ipv4 address 10.20.1.1 255.255.255.0
!
router bgp 65000
 address-family vpnv4 unicast
 !
 vrf BLUE
  rd 65000:201
  address-family ipv4 unicast
   redistribute connected
  !
 !
!
"""
EDGE_OF_JUNOS = """system {
    host-name mx;
}
interfaces {
    xe-0/0/0 {
        unit 0 {
            family inet {
                address 10.9.9.2/30;
            }
        }
    }
    xe-0/0/1 {
        unit 0 {
            family inet {
                address 10.20.2.1/24;
            }
        }
    }
}
routing-options {
    autonomous-system 65000;
}
routing-instances {
    BLUE {
        instance-type vrf;
        interface xe-0/0/1.0;
        route-distinguisher 65000:202;
        vrf-target target:65000:20;
        vrf-table-label;
    }
}
"""
