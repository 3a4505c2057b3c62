# The scenario `udp` of crates/perhop-sim/benches/engine.rs in ns-2 with its DiffServ module:
# CBR sources of 120 Mb/s in total, RIO-C with two precedences on the 100 Mb/s bottleneck, 1 Gb/s
# access links, 100 s.   ns udp.tcl PAIRS [SECONDS]
#
# A dsRED policy table has room for 20 entries, and a dsRED queue on each access link makes ns-2 six times
# slower. Therefore all sources share one token bucket at the bottleneck. ns-2 does less work than perhop.
set pairs [lindex $argv 0]
set ns [new Simulator]
set r1 [$ns node]
set r2 [$ns node]
$ns simplex-link $r1 $r2 100Mb 20ms dsRED/edge
$ns simplex-link $r2 $r1 100Mb 20ms DropTail
set bottleneck [[$ns link $r1 $r2] queue]

$bottleneck meanPktSize 1000
$bottleneck set numQueues_ 1
$bottleneck setNumPrec 2
$bottleneck setMREDMode RIO-C 0
$bottleneck addPolicyEntry -1 -1 TokenBucket 10 60000000 10000
$bottleneck addPolicerEntry TokenBucket 10 11
$bottleneck addPHBEntry 10 0 0
$bottleneck addPHBEntry 11 0 1
$bottleneck configQ 0 0 40 70 0.02
$bottleneck configQ 0 1 10 40 0.10

set random [new RNG]
$random seed 1
for {set pair 0} {$pair < $pairs} {incr pair} {
    set source [$ns node]
    set sink [$ns node]
    $ns duplex-link $source $r1 1000Mb 1ms DropTail
    $ns duplex-link $r2 $sink 1000Mb 1ms DropTail
    set udp [new Agent/UDP]
    $udp set packetSize_ 1000
    set null [new Agent/Null]
    $ns attach-agent $source $udp
    $ns attach-agent $sink $null
    $ns connect $udp $null
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ 1000
    $cbr set rate_ [expr 120000000 / $pairs]
    $cbr attach-agent $udp
    $ns at [$random uniform 0 0.01] "$cbr start"
}
$ns at [expr {$argc > 1 ? [lindex $argv 1] : 100.0}] "$bottleneck printStats; exit 0"
$ns run
