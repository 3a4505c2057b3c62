# The rows without drop precedence in ns-2.35 (Debian: ns2), with the defaults of ns-2 in 1999:
# 45 Agent/TCP/Reno and 5 CBR sources behind five access routers, one RED bottleneck.
#     ns none.tcl SEED UDP_RATE SINK WAIT
#     ns none.tcl 1 128Kb TCPSink/DelAck false
# Prints the number of packets that reached each of the 50 sinks in 100.1 s; every tenth sink is UDP.
set seed [lindex $argv 0]
set udp_rate [lindex $argv 1]
set sink [lindex $argv 2]
set wait [lindex $argv 3]

Agent/TCP set windowInit_ 1
Agent/TCP set tcpTick_ 0.1
Agent/TCP set minrto_ 0
Agent/TCP set maxrto_ 100000
Agent/TCP set rtxcur_init_ 6.0
Agent/TCP set rfc2988_ false
Agent/TCP set useHeaders_ false
Agent/TCP set packetSize_ 576
Agent/TCP set window_ 64
Agent/TCP set singledup_ 0
Agent/TCP set syn_ false
Agent/TCP set delay_growth_ false
Agent/TCP set precisionReduce_ false
Agent/TCP set exitFastRetrans_ false
Agent/TCP set timerfix_ false
Agent/TCP set bugfix_ss_ 0
Agent/TCP set SetCWRonRetransmit_ false
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set gentle_ false
Queue/RED set adaptive_ 0
Queue/RED set thresh_ 20
Queue/RED set maxthresh_ 40
Queue/RED set q_weight_ 0.002
Queue/RED set linterm_ 30
Queue/RED set wait_ $wait
Queue/RED set mean_pktsize_ 500
Queue/RED set use_mark_p_ false
# A forced drop does not reset the count of packets since the last drop, as before May 1999.
Queue/RED set ns1_compat_ true
Queue set limit_ 60

set ns [new Simulator]
$defaultRNG seed [expr 12345 + $seed * 7919]
set random [new RNG]
$random seed [expr 1 + $seed * 104729]
set r1 [$ns node]
set r2 [$ns node]
$ns simplex-link $r1 $r2 1.5Mb 30ms RED
$ns simplex-link $r2 $r1 1.5Mb 30ms DropTail
set flows 0
for {set group 0} {$group < 5} {incr group} {
    set access [$ns node]
    $ns duplex-link $access $r1 1.5Mb 0.005ms DropTail
    for {set member 0} {$member < 10} {incr member} {
        set source [$ns node]
        set destination [$ns node]
        $ns duplex-link $source $access 10Mb 0.001ms DropTail
        $ns duplex-link $r2 $destination 1.5Mb 0.005ms DropTail
        if {$member < 9} {
            set sender [new Agent/TCP/Reno]
            set receiver [new Agent/$sink]
            set application [new Application/FTP]
            set start 0
        } else {
            set sender [new Agent/UDP]
            $sender set packetSize_ 576
            set receiver [new Agent/Null]
            set application [new Application/Traffic/CBR]
            $application set packetSize_ 576
            $application set rate_ $udp_rate
            set start [$random uniform 0 0.036]
        }
        $ns attach-agent $source $sender
        $ns attach-agent $destination $receiver
        $ns connect $sender $receiver
        $application attach-agent $sender
        $ns at $start "$application start"
        set arrived($flows) [$ns monitor-queue $r2 $destination ""]
        incr flows
    }
}
proc finish {} {
    global arrived flows
    set counts {}
    for {set flow 0} {$flow < $flows} {incr flow} { lappend counts [$arrived($flow) set pdepartures_] }
    puts $counts
    exit 0
}
$ns at 100.1 "finish"
$ns run
