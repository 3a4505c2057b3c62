# A bottleneck with ns-2's DiffServ module: sources through one token bucket, RIO-C with two precedences.
#     ns dsred.tcl SEED KIND PAIRS SECONDS WARMUP
# KIND is udp (12 Mb/s of CBR in total) or tcp (bulk transfers). Prints for the time after the warm-up: sent packets
# per second, dropped packets in percent of the arriving green and yellow packets, and the mean queue in packets.
set seed [lindex $argv 0]
set kind [lindex $argv 1]
set pairs [lindex $argv 2]
set seconds [lindex $argv 3]
set warmup [lindex $argv 4]

source [file join [file dirname [info script]] ../../tests/ns2/tcp-1999.tcl]

set ns [new Simulator]
$defaultRNG seed [expr 12345 + $seed * 7919]
set random [new RNG]
$random seed [expr 1 + $seed * 104729]
set r1 [$ns node]
set r2 [$ns node]
$ns simplex-link $r1 $r2 10Mb 20ms dsRED/edge
$ns simplex-link $r2 $r1 10Mb 20ms DropTail
$ns queue-limit $r1 $r2 200
$ns queue-limit $r2 $r1 1000
set bottleneck [[$ns link $r1 $r2] queue]
$bottleneck meanPktSize 1000
$bottleneck set numQueues_ 1
$bottleneck setNumPrec 2
$bottleneck setMREDMode RIO-C 0
$bottleneck addPolicyEntry -1 -1 TokenBucket 10 6000000 10000
$bottleneck addPolicerEntry TokenBucket 10 11
$bottleneck addPHBEntry 10 0 0
$bottleneck addPHBEntry 11 0 1
$bottleneck configQ 0 0 40 70 0.02
$bottleneck configQ 0 1 10 40 0.10
set monitor [$ns monitor-queue $r1 $r2 ""]
set integral [$monitor get-pkts-integrator]

for {set pair 0} {$pair < $pairs} {incr pair} {
    set source [$ns node]
    set sink [$ns node]
    $ns duplex-link $source $r1 100Mb 1ms DropTail
    $ns duplex-link $r2 $sink 100Mb 1ms DropTail
    $ns queue-limit $source $r1 1000
    if {$kind == "tcp"} {
        set sender [new Agent/TCP/Reno]
        set receiver [new Agent/TCPSink]
        set application [new Application/FTP]
        set start [$random uniform 0 1]
    } else {
        set sender [new Agent/UDP]
        $sender set packetSize_ 1000
        set receiver [new Agent/Null]
        set application [new Application/Traffic/CBR]
        $application set packetSize_ 1000
        $application set rate_ [expr 12000000 / $pairs]
        set start [$random uniform 0 0.1]
    }
    $ns attach-agent $source $sender
    $ns attach-agent $sink $receiver
    $ns connect $sender $receiver
    $application attach-agent $sender
    $ns at $start "$application start"
}

proc counted {} {
    global ns monitor integral bottleneck
    $integral newpoint [$ns now] [$monitor set pkts_]
    set found [list [$monitor set pdepartures_] [$integral set sum_]]
    foreach point {10 11} {
        lappend found [$bottleneck getStat pkts $point]
        lappend found [expr [$bottleneck getStat drops $point] + [$bottleneck getStat edrops $point]]
    }
    return $found
}
proc begin {} {
    global before
    set before [counted]
}
proc finish {} {
    global before seconds warmup
    set span [expr double($seconds - $warmup)]
    foreach now [counted] old $before { lappend during [expr $now - $old] }
    foreach {departures queue green green_lost yellow yellow_lost} $during break
    puts "[expr $departures / $span] [expr 100.0 * $green_lost / $green] [expr 100.0 * $yellow_lost / $yellow] [expr $queue / $span]"
    exit 0
}
$ns at $warmup "begin"
$ns at $seconds "finish"
$ns run
