#!/bin/sh
# A router's uplink.
set -e
DEV=${1:-eth0}
UP=20
TC="sudo /sbin/tc"
$TC qdisc del dev "$DEV" root 2> /dev/null || true
ip link set dev $DEV txqueuelen 500 mtu 1500
$TC qdisc add dev $DEV root handle 1: stab overhead 4 linklayer ethernet prio bands 4 \
    priomap 2 3 3 3 2 3 0 0 2 2 2 2 2 2 2 2
$TC qdisc add dev $DEV parent 1:1 handle 10: tbf rate $((UP * 100))kbit burst 15k latency 50ms
$TC qdisc add dev $DEV parent 1:2 handle 20: drr
$TC class add dev $DEV parent 20: classid 20:1 drr quantum 3000
$TC class add dev $DEV parent 20: classid 20:2 drr
$TC qdisc add dev $DEV parent 20:1 handle 21: codel target 5ms interval 100ms ecn
$TC qdisc add dev $DEV parent 20:2 handle 22: red limit 60000 min 15000 max 45000 avpkt 1000 burst 20 ecn
$TC filter add dev $DEV parent 20: protocol ip pref 1 u32 match ip sport 80 0xffff flowid 20:1
$TC filter add dev $DEV parent 20: protocol all pref 2 matchall flowid 20:2
$TC qdisc add dev $DEV parent 1:3 handle 30: fq_codel limit 1000 flows 64 memory_limit 4Mb
$TC qdisc add dev $DEV parent 1:4 handle 40: sfq perturb 10 divisor 512
$TC filter add dev $DEV parent 1: protocol ip pref 1 u32 match ip tos 0xb8 0xff flowid 1:1
$TC filter add dev $DEV parent 1: protocol ipv6 pref 2 u32 match ip6 priority 0xb8 0xfc flowid 1:1
$TC filter add dev $DEV parent 1: protocol ip pref 3 flower ip_proto tcp src_ip 10.0.0.0/8 dst_port 443 classid 1:2
$TC filter add dev $DEV parent 1: protocol ip pref 4 handle 7 fw classid 1:4
$TC qdisc add dev $DEV clsact
$TC filter add dev $DEV ingress protocol ip pref 1 u32 match ip protocol 17 0xff action police rate 10mbps burst 20k conform-exceed drop/pipe action skbedit mark 7 pipe action pass
$TC filter add dev $DEV egress protocol ip pref 1 u32 match u16 0x4000 0xc000 at 2 police rate 1mbit burst 9k
for IF in eth1 eth2; do
  tc qdisc add dev $IF root pie
done
tc qdisc add dev eth3 root handle 1: hfsc default 2
tc class add dev eth3 parent 1: classid 1:1 hfsc rt m1 4mbit d 10ms m2 1mbit ls m2 2mbit ul rate 9mbit
tc class add dev eth3 parent 1: classid 1:2 hfsc sc umax 1500b dmax 20ms rate 1mbit
tc filter add dev eth3 parent 1: protocol ip pref 1 basic match 'cmp(u8 at 1 layer 1 mask 0xfc eq 0xb8)' classid 1:1
tc qdisc add dev eth4 root handle 1: htb default 30 r2q 10
tc class add dev eth4 parent 1: classid 1:1 htb rate 10mbit ceil 10mbit burst 15k
tc class add dev eth4 parent 1:1 classid 1:30 htb rate 1mbit ceil 10mbit prio 1 quantum 1514
tc qdisc add dev eth5 root cake bandwidth 20Mbit diffserv4 nat docsis ack-filter
tc qdisc add dev eth6 root gred setup DPs 3 default 2 grio
tc qdisc change dev eth6 root gred DP 2 limit 60000 min 15000 max 45000 avpkt 1000 burst 20 prio 3
tc qdisc add dev eth7 root handle 1: ets bands 4 strict 2 quanta 3000 1500 priomap 3 3 3 3 3 3 0 1
tc qdisc replace dev eth8 root dualpi2 limit 1000 step_thresh 2ms coupling_factor 2
