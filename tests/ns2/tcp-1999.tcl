# The defaults of TCP in ns-2 of 1999, for ns-2.35. The scripts for comparisons with ns-2 source this file.
Agent/TCP set windowInit_ 1
Agent/TCP set tcpTick_ 0.1
Agent/TCP set minrto_ 0
Agent/TCP set maxrto_ 100000
Agent/TCP set rtxcur_init_ 6.0
Agent/TCP set rfc2988_ false
Agent/TCP set useHeaders_ false
Agent/TCP set packetSize_ 1000
Agent/TCP set singledup_ 0
Agent/TCP set syn_ false
Agent/TCP set delay_growth_ false
Agent/TCP set precisionReduce_ false
Agent/TCP set exitFastRetrans_ false
Agent/TCP set timerfix_ false
Agent/TCP set bugfix_ss_ 0
Agent/TCP set SetCWRonRetransmit_ false
Agent/TCP set window_ 64
