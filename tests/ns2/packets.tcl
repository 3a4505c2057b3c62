# One Agent/TCP/Reno, and one source of UDP if its rate is not 0, through a queue with tail drop. Defaults of 1999.
#     ns packets.tcl SEED RATE DELAY LIMIT SECONDS UDP TIMERFIX   prints: time and number of each packet of TCP sent
foreach {seed rate delay limit seconds udp timerfix} $argv break

source [file join [file dirname [info script]] tcp-1999.tcl]
Agent/TCP set timerfix_ $timerfix

set ns [new Simulator]
# The seed determines the phase of the clock.
$defaultRNG seed $seed
foreach name {source r1 r2 sink} { set $name [$ns node] }
$ns duplex-link $source $r1 100Mb 1ms DropTail
$ns duplex-link $r1 $r2 $rate $delay DropTail
$ns duplex-link $r2 $sink 100Mb 1ms DropTail
# ns-2 drops the packet that would fill the queue, so the queue has room for one packet less than its limit.
$ns queue-limit $r1 $r2 [expr $limit + 1]
$ns queue-limit $r2 $r1 1000
$ns trace-queue $r1 $r2 stdout

set tcp [new Agent/TCP/Reno]
$ns attach-agent $source $tcp
set end [new Agent/TCPSink]
$ns attach-agent $sink $end
$ns connect $tcp $end
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 0.0 "$ftp start"
if {$udp > 0} {
    set sender [new Agent/UDP]
    $ns attach-agent $source $sender
    $sender set packetSize_ 1000
    set receiver [new Agent/Null]
    $ns attach-agent $sink $receiver
    $ns connect $sender $receiver
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ 1000
    $cbr set rate_ $udp
    $cbr attach-agent $sender
    $ns at 0.0123 "$cbr start"
}
$ns at $seconds "exit 0"
$ns run
