# TCP and UDP of several precedences through one RED of ns-2.35: a case of tests/test_ns2_laws.py.
#     ns law.tcl SEED 'SPEC'
# SPEC is a Tcl list of keys and values. Prints arrived and dropped packets of each precedence, then the mean
# queue (packets).
set seed [lindex $argv 0]
array set spec {
    queue dsRED/core mode WRED rate 1.7Mb delay 30ms limit 60 mean 1000 seconds 120 warmup 20
    curves {} weight 0.002 tcp {} cbr {} bursts {} size 1000
    wait true gentle false bytes false compat false mark true
}
array set spec [lindex $argv 1]

source [file join [file dirname [info script]] tcp-1999.tcl]
Queue/RED set adaptive_ 0
Queue/RED set queue_in_bytes_ false
Queue/RED set bytes_ $spec(bytes)
Queue/RED set gentle_ $spec(gentle)
Queue/RED set wait_ $spec(wait)
Queue/RED set ns1_compat_ $spec(compat)
Queue/RED set use_mark_p_ $spec(mark)
Queue/RED set mean_pktsize_ $spec(mean)
Queue/RED set q_weight_ $spec(weight)
if {$spec(queue) eq "RED"} {
    Queue/RED set thresh_ [lindex $spec(curves) 0 0]
    Queue/RED set maxthresh_ [lindex $spec(curves) 0 1]
    Queue/RED set linterm_ [expr 1.0 / [lindex $spec(curves) 0 2]]
}

if {$spec(queue) eq "RED/RIO"} {
    foreach {place which} {0 in 1 out} {
        Queue/RED/RIO set ${which}_thresh_ [lindex $spec(curves) $place 0]
        Queue/RED/RIO set ${which}_maxthresh_ [lindex $spec(curves) $place 1]
    }
    Queue/RED/RIO set in_linterm_ [expr 1.0 / [lindex $spec(curves) 0 2]]
    Queue/RED/RIO set linterm_ [expr 1.0 / [lindex $spec(curves) 1 2]]
    Queue/RED/RIO set wait_ $spec(wait)
    Queue/RED/RIO set gentle_ $spec(gentle)
    Queue/RED/RIO set mean_pktsize_ $spec(mean)
    Queue/RED/RIO set q_weight_ $spec(weight)
    # "In" packets are the packets of all flows except flow 0.
    Queue/RED/RIO set priority_method_ 1
}

set ns [new Simulator]
$defaultRNG seed [expr 12345 + $seed * 7919]
set random [new RNG]
$random seed [expr 1 + $seed * 104729]
set r1 [$ns node]
set r2 [$ns node]
$ns simplex-link $r1 $r2 $spec(rate) $spec(delay) $spec(queue)
$ns simplex-link $r2 $r1 $spec(rate) $spec(delay) DropTail
$ns queue-limit $r1 $r2 $spec(limit)
$ns queue-limit $r2 $r1 1000
if {$spec(queue) eq "dsRED/core"} {
    set core [[$ns link $r1 $r2] queue]
    $core set numQueues_ 1
    $core setNumPrec [llength $spec(curves)]
    $core meanPktSize $spec(mean)
    $core setMREDMode $spec(mode)
    set precedence 0
    foreach curve $spec(curves) {
        $core addPHBEntry [expr 10 + $precedence] 0 $precedence
        $core configQ 0 $precedence [lindex $curve 0] [lindex $curve 1] [lindex $curve 2] $spec(weight)
        incr precedence
    }
}
set monitor [$ns monitor-queue $r1 $r2 ""]
set integral [$monitor get-pkts-integrator]
set flows [$ns makeflowmon Fid]
$ns attach-fmon [$ns link $r1 $r2] $flows

proc fid {precedence} {
    global spec
    return [expr {$spec(queue) eq "RED/RIO" ? 1 - $precedence : $precedence}]
}
# Attaches an agent of a precedence to a separate host. The link to the first router has this `delay`.
proc attach {agent end precedence delay} {
    global ns r1 r2
    set source [$ns node]
    set sink [$ns node]
    $ns duplex-link $source $r1 100Mb $delay DropTail
    $ns duplex-link $r2 $sink 100Mb 1ms DropTail
    $ns queue-limit $source $r1 1000
    $agent set prio_ [expr 10 + $precedence]
    $agent set fid_ [fid $precedence]
    $ns attach-agent $source $agent
    $ns attach-agent $sink $end
    $ns connect $agent $end
}
set number 0
foreach {precedence count} $spec(tcp) {
    for {set i 0} {$i < $count} {incr i} {
        set tcp [new Agent/TCP/Reno]
        attach $tcp [new Agent/TCPSink] $precedence [expr 1 + $number]ms
        set ftp [new Application/FTP]
        $ftp attach-agent $tcp
        $ns at [$random uniform 0 1] "$ftp start"
        incr number
    }
}
proc cbr {precedence rate} {
    global spec
    set udp [new Agent/UDP]
    $udp set packetSize_ $spec(size)
    attach $udp [new Agent/Null] $precedence 1ms
    set source [new Application/Traffic/CBR]
    $source set packetSize_ $spec(size)
    $source set rate_ $rate
    $source attach-agent $udp
    return $source
}
foreach {precedence rate} $spec(cbr) {
    $ns at [$random uniform 0 1] "[cbr $precedence $rate] start"
}
# Bursts: precedence, rate, seconds on, seconds off
foreach {precedence rate on off} $spec(bursts) {
    set source [cbr $precedence $rate]
    for {set at [$random uniform 0 [expr $on + $off]]} {$at < $spec(seconds)} {set at [expr $at + $on + $off]} {
        $ns at $at "$source start"
        $ns at [expr $at + $on] "$source stop"
    }
}
proc counts {} {
    global ns monitor integral flows spec
    $integral newpoint [$ns now] [$monitor set pkts_]
    set all {}
    for {set precedence 0} {$precedence < [llength $spec(curves)]} {incr precedence} {
        set arrived 0
        set dropped 0
        foreach flow [$flows flows] {
            if {[$flow set flowid_] == [fid $precedence]} {
                incr arrived [$flow set parrivals_]
                incr dropped [$flow set pdrops_]
            }
        }
        lappend all $arrived $dropped
    }
    lappend all [$integral set sum_]
}
$ns at $spec(warmup) {set before [counts]}
$ns at $spec(seconds) {
    set now [counts]
    set last [expr [llength $now] - 1]
    for {set i 0} {$i < $last} {incr i} {
        puts -nonewline "[expr [lindex $now $i] - [lindex $before $i]] "
    }
    puts [expr ([lindex $now $last] - [lindex $before $last]) / double($spec(seconds) - $spec(warmup))]
    exit 0
}
$ns run
