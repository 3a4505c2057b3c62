# Ten Agent/TCP/Reno flows through a RED bottleneck, with the defaults of ns-2 in 1999.
#     ns red.tcl SEED SECONDS WARMUP   prints: delivered packets per second, drops in percent, mean queue in packets
set seed [lindex $argv 0]
set seconds [lindex $argv 1]
set warmup [lindex $argv 2]

source [file join [file dirname [info script]] ../../../../tests/ns2/tcp-1999.tcl]
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set gentle_ false
Queue/RED set adaptive_ 0
Queue/RED set thresh_ 5
Queue/RED set maxthresh_ 15
Queue/RED set q_weight_ 0.002
Queue/RED set linterm_ 10
Queue/RED set wait_ true
Queue/RED set mean_pktsize_ 1000
Queue/RED set summarystats_ true

set ns [new Simulator]
$defaultRNG seed [expr 12345 + $seed * 7919]
set random [new RNG]
$random seed [expr 1 + $seed * 104729]
set r1 [$ns node]
set r2 [$ns node]
$ns simplex-link $r1 $r2 5Mb 20ms RED
$ns simplex-link $r2 $r1 5Mb 20ms DropTail
$ns queue-limit $r1 $r2 60
$ns queue-limit $r2 $r1 1000
set monitor [$ns monitor-queue $r1 $r2 ""]
set integral [$monitor get-pkts-integrator]
for {set flow 0} {$flow < 10} {incr flow} {
    set source [$ns node]
    set sink [$ns node]
    $ns duplex-link $source $r1 100Mb [expr 1 + $flow]ms DropTail
    $ns duplex-link $r2 $sink 100Mb 1ms DropTail
    $ns queue-limit $source $r1 1000
    set tcp [new Agent/TCP/Reno]
    $ns attach-agent $source $tcp
    set end [new Agent/TCPSink]
    $ns attach-agent $sink $end
    $ns connect $tcp $end
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [$random uniform 0 1] "$ftp start"
}
proc begin {} {
    global ns monitor integral before
    $integral newpoint [$ns now] [$monitor set pkts_]
    set before [list [$monitor set pdepartures_] [$monitor set pdrops_] [$monitor set parrivals_] [$integral set sum_]]
}
proc finish {} {
    global ns monitor integral before seconds warmup
    $integral newpoint [$ns now] [$monitor set pkts_]
    set span [expr double($seconds - $warmup)]
    set departures [expr [$monitor set pdepartures_] - [lindex $before 0]]
    set drops [expr [$monitor set pdrops_] - [lindex $before 1]]
    set arrivals [expr [$monitor set parrivals_] - [lindex $before 2]]
    set queue [expr ([$integral set sum_] - [lindex $before 3]) / $span]
    puts "[expr $departures / $span] [expr 100.0 * $drops / $arrivals] $queue"
    exit 0
}
$ns at $warmup "begin"
$ns at $seconds "finish"
$ns run
