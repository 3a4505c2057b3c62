"""Examples under the help of each command; short enough for a terminal of 80 columns."""

PERHOP = """\
Examples:
  perhop init first                  write a scenario to start from
  perhop run first.perhop.yaml       simulate it, show results by class
  perhop report results              one HTML file with plots and tables
  perhop study run --all             reproduce the published studies
  perhop live run first.perhop.yaml  run it on real packets
  perhop help run                    options and examples of a command

Exit codes: 0 ok, 1 findings of check, 2 invalid input, 3 interrupted,
4 assertion or claim not met, 5 missing capability, 70 internal error,
74 output not written, 75 failed
"""

RUN = """\
Examples:
  perhop run edge.perhop.yaml
  perhop run edge.perhop.yaml --set links.0.rate=2Mb/s --duration 60s
  perhop run edge.perhop.yaml --replications 10 -o results/edge
  perhop run edge.perhop.yaml --plot queue --plot delay-cdf=delay.html
  perhop run edge.perhop.yaml --watch    queues and shares as they evolve
  perhop run edge.perhop.yaml --watch=web --speed 0.1x    in the browser
  perhop run edge.perhop.yaml --pcap captures --pcap-link 'edge->core'
  perhop run edge.perhop.yaml --json | jq '.classes[].throughput_bps'
  generate-scenario | perhop run -
  perhop run router.cfg              infer and report hosts and traffic
  perhop run router.cfg --interface gi0/1 --traffic flows.csv
  perhop run switch.cfg --traffic 'microburst(10Gb/s->1Gb/s, 200 kB)'    a burst into each class
  perhop run uplink.tc --interface eth1    Linux tc commands
  perhop run policy.txt --rate 50Mb/s --assume 'VOICE = dscp ef'
  perhop run router.cfg --assert 'voice.delay_p99 < 20ms' --codec g729a-vad
  perhop run configs --load busy     a folder of configurations: load on each access link
  perhop run configs --traffic matrix.csv --report net.html    with a map
"""

TEST = """\
Examples:
  perhop test policy.tests.yaml
  perhop test examples/*.tests.yaml --only 'voice*'
  perhop test policy.tests.yaml --junit report.xml
  perhop test policy.tests.yaml --json | jq '.tests[] | .name, .outcome'

Exit codes: 0 all pass, 2 a test cannot run, 4 an assertion is not met
"""

SWEEP = """\
Examples:
  perhop sweep edge.perhop.yaml --set links.1.rate=1Mb/s,2Mb/s,4Mb/s
  perhop sweep edge.perhop.yaml --set traffic.voice.count=1,5,10 \\
    --replications 10 -o results/sweep --plot share.svg
  perhop sweep edge.perhop.yaml --set policies.wan.queueing.scheduler=wfq,drr
  perhop sweep edge.perhop.yaml --set links.1.rate=1Mb/s:4Mb/s:100kb/s \\
    --plot delay_p99 --watch=web
  perhop plot share results/sweep -o share.html
"""

TUNE = """\
Examples:
  perhop tune edge.perhop.yaml --goal 'voice.delay_p99 <= 20ms' \\
    --goal 'links.1.rate as small as possible' --vary links.1.rate=1Mb/s:4Mb/s:100kb/s
  perhop tune edge.perhop.yaml --goal 'bulk.throughput as large as possible' \\
    --goal 'voice.delay_p99 as small as possible' --vary links.1.rate=1Mb/s:4Mb/s -o results/tuning
  perhop tune branch.perhop.yaml --goal 'voice.loss <= 1%' --goal 'kbps as small as possible' \\
    --vary kbps=64:512 --set 'routers.branch.configuration.add=[policy-map wan, class voice, priority {kbps}]'

Exit codes: 0 the goals are met, 4 no trial meets every condition
"""

BUFFERBLOAT = """\
Examples:
  perhop bufferbloat --rate 50/10Mb/s --rtt 20ms --qdisc cake,fq_codel,fifo
  perhop bufferbloat --rate 20Mb/s --plot bufferbloat.html
  perhop bufferbloat --rate 50/10Mb/s --qdisc 'pfifo limit 100,fq_codel target 10ms'
  perhop bufferbloat --rate 50/10Mb/s --json | jq '.runs[] | .qdisc, .grade'
"""

CHECK = """\
Examples:
  perhop check edge.perhop.yaml
  perhop check sites/ --fail-on warning    every file in a folder tree
  perhop check 'sites/**/*.cfg' --output-format concise
  perhop check router.cfg            state of each configuration line
  ssh router show running-config | perhop check -
  perhop check router.cfg --json | jq '.files[].router.ports[].output'
  perhop check uplink.tc             Linux tc commands
  tc -s -d qdisc show | perhop check -
  tc -j -d qdisc show | perhop check - --platform linux
  perhop check router.cfg --ignore mark-unusual,queue-delay
  perhop check router.cfg --output-format sarif > findings.sarif
  perhop check router.cfg --fix corrected.cfg

Exit codes: 0 no finding that fails, 1 a finding of the severity of
--fail-on or above, 2 a file that cannot be read or used
"""

RATES = """\
Examples:
  perhop rates router.cfg                      every interface with queues
  perhop rates router.cfg --interface gi0/1
  perhop rates policy.txt --rate 50Mb/s        a policy without an interface
  perhop rates uplink.tc --rate 100Mb/s        tc does not show the line rate
  perhop rates edge.perhop.yaml --json | jq '.ports[].queues[].promised_bps'
"""

BUFFERS = """\
Examples:
  perhop buffers switch.cfg --interface te1/0/1
  perhop buffers switch.cfg --model c9300-24t --arrival 10Gb/s
  perhop buffers switch.cfg --frame 9000 --rules    jumbo frames, and the evidence
  perhop buffers queue-config.txt                   the switch's own output
  perhop buffers switch.cfg --json | jq '.ports[].queues[].soft'
"""

TRACE = """\
Examples:
  perhop trace router.cfg --packet 'udp 10.1.0.5:20000 > 10.2.0.9:16384 dscp ef len 200' --at Gi0/0
  perhop trace router.cfg --packet 'tcp 10.1.0.5:443 > 10.2.0.9:5000' --route '10.2.0.0/16 = Gi0/1'
  perhop trace router.cfg --pcap office.pcapng       packets of a capture by class
  perhop trace router.cfg --reach all                for every queue a packet that reaches it
  perhop trace uplink.tc --out eth1 --packet 'udp 10.1.0.5:20000 > 10.2.0.9:16384 dscp ef len 200'
  perhop trace edge.perhop.yaml --at edge:lan --packet 'tcp 10.1.0.5:443 > 10.2.0.9:50000 dscp af21'
"""

DIFF = """\
Examples:
  perhop diff old.cfg new.cfg                     with the results of each class
  perhop diff old.cfg new.cfg --at Gi0/0 --markdown > comment.md
  perhop diff old.cfg new.cfg --scenario branch.perhop.yaml --replications 20
  perhop diff old.perhop.yaml new.perhop.yaml --at R1:H1 --out R2
  perhop diff old.perhop.yaml new.perhop.yaml --simulate --chart change.svg
  perhop diff old.cfg new.cfg --strict            exit code 4 if anything differs
  perhop diff configs-old configs-new             two networks: the changes by pair
"""

PROVE = """\
Examples:
  perhop prove old.cfg new.cfg                    all ports, which have the same names
  perhop prove old.cfg == new.cfg --at Gi0/0
  perhop prove router.cfg linux.tc --at Gi0/0 --at eth0
  perhop prove a.cfg b.cfg --policy WAN --rate 50Mb/s
  perhop prove configs-old configs-new            all packets between all sites of two networks

Exit codes: 0 equal, 4 a packet is treated differently, 1 not decided
"""

EXPLAIN = """\
Examples:
  perhop explain                     all rules, a line each
  perhop explain class-shadowed
  perhop explain --platform ios-xe   queueing rules, with sources
  perhop explain --json | jq '.rules[] | select(.severity == "error").id'
"""

CONVERT = """\
Examples:
  perhop convert router.cfg --to yaml > policies.yaml
  perhop convert policies.yaml --to ios --platform ios-xe --rate 50Mb/s
  perhop convert router.cfg --to tc --interface gi0/1 -o shape.sh
  perhop convert router.cfg --to tc --json | jq '.remarks[].construct'
  perhop convert edge.perhop.yaml --policy wan --to ios --strict
"""

PLAYGROUND = """\
Examples:
  perhop playground                  open it in the browser
  perhop playground -o play.html     one file, for any static host
  perhop playground --teacher -o teacher.html    with solutions of the lessons

Exit codes: 0 ok, 5 this build has no playground
"""

PLOT = """\
Examples:
  perhop plot queue results/edge
  perhop plot throughput results/edge -o throughput.html
  perhop plot share results/sweep -o share.pdf
  perhop plot share results/rate-* --against links.1.rate
"""

DRAW = """\
Examples:
  perhop draw edge.perhop.yaml       writes edge.svg
  perhop draw router.cfg             each interface: queues, scheduler, ring
  perhop draw configs -o net.svg     a network of devices
  perhop draw edge.perhop.yaml -o - | rsvg-convert > edge.png
"""

REPORT = """\
Examples:
  perhop report results/edge         writes report.html
  perhop report results -o paper.html
"""

VERIFY = """\
Examples:
  perhop verify results/edge             checksums, then the run again
  perhop verify results/edge --no-repeat
  perhop verify results/sweep --json | jq '.repeated[].differences'
  perhop verify results/edge --base traces   folder of its traces

Exit codes: 0 identical, 2 damaged or unreadable, 4 different
"""

COMPARE = """\
Examples:
  perhop compare edge.perhop.yaml --duration 30s
  perhop compare edge.perhop.yaml --live-replications 5 -o results/edge
  perhop compare results/before results/after
  perhop compare --router show.txt router.cfg
  perhop compare edge.perhop.yaml --json | jq '.rows[] | select(.verdict == "differs")'
"""

SHOW = """\
Examples:
  perhop show policy-map interface router.cfg
  perhop show policy-map interface edge.perhop.yaml Gi0/0 --style ios-xe
  perhop show policy-map interface results/edge
  perhop show policy-map interface router.cfg --json | jq '.routers[]'
  perhop show policy-map control-plane router.cfg
  perhop show interfaces rate-limit router.cfg
  perhop show interfaces queue edge.conf ge-0/0/1
  perhop show interfaces extensive edge.conf ge-0/0/1
  perhop show firewall edge.conf
  perhop show class-of-service scheduler-map edge.conf
  perhop show class-of-service interface edge.conf ge-0/0/1
  perhop show platform hardware fed switch active qos queue stats interface switch.cfg Gi1/0/1
  perhop show qdisc uplink.tc
  perhop show class uplink.tc eth1
"""

EXPORT = """\
Examples:
  perhop export csv results/edge
  perhop export flent results/edge -o edge.flent.gz
  perhop export iperf3 results/edge -o edge.json
"""

NETWORK = """\
Examples:
  perhop network configs                 devices, links and sites, with the reason for each link
  perhop network configs --write         write them to configs/network.yaml, to correct them
  perhop trace configs --from 10.1.0.5 --to 10.9.0.20 --packet 'udp 16384 > 16384 dscp ef'
  perhop trace configs --matrix          kept, changed or lost: every codepoint between all sites
  perhop run configs                     simulate it, with results by pair of sites and class
"""

CITE = """\
Examples:
  perhop cite >> references.bib
  perhop cite --style text
"""

SCHEMA = """\
Examples:
  perhop schema > perhop.schema.json
  perhop schema run                  the output of perhop run --json
"""

INIT = """\
Examples:
  perhop init                        first.perhop.yaml in this folder
  perhop init lab/edge               lab/edge.perhop.yaml
  perhop init --template classes     also shaping, voice, wred
  perhop init --from router.cfg      router.perhop.yaml, inferred from it
  perhop init lab --from router.cfg --interface Serial0/0
"""

HELP = """\
Examples:
  perhop help
  perhop help run
  perhop help study run
"""

COMPLETION = """\
Examples:
  perhop completion bash > ~/.local/share/bash-completion/completions/perhop
  perhop completion zsh > "${fpath[1]}/_perhop"
  perhop completion fish > ~/.config/fish/completions/perhop.fish
"""

STUDY = """\
Examples:
  perhop study list
  perhop study run mred-af --only 2
"""

STUDY_LIST = """\
Examples:
  perhop study list
  perhop study list --json
"""

STUDY_SHOW = """\
Examples:
  perhop study show mred-af
"""

STUDY_RUN = """\
Examples:
  perhop study run mred-af
  perhop study run mred-af --only 2 --only 11 --replications 3
  perhop study run --all             one line for each study
  perhop study run --all -o results  tables and data in files, report.html
  perhop study run --all --tables    with all figures
  perhop study run mred-af --json > mred-af.json

Exit codes: 0 every claim is met, 4 a claim is not met, or only in part
"""

STUDY_LIVE = """\
Examples:
  perhop study live ef-star
  perhop study live mred-af --only '*wred' --live-replications 3
  perhop study live mred-af -o results/live && perhop report results/live
"""

BOUNDS = """\
Examples:
  perhop bounds edge.perhop.yaml
  perhop bounds edge.perhop.yaml --class voice --explain
  perhop bounds edge.perhop.yaml --simulate
  perhop bounds edge.perhop.yaml --ef 'R1->R2:voice=300kb/s'
  perhop bounds router.cfg --interface Serial0/0 --json | jq .queues
  perhop bounds configs --traffic matrix.csv    from end to end through a network
"""

DESIGN = """\
Examples:
  perhop design wred --bandwidth 2Mb/s --delay 100ms
  perhop design star --arrival 300kb/s --delay 20ms --link 2Mb/s
  perhop design policer --rate 2Mb/s --rtt 100ms
  perhop design calls --bandwidth 2Mb/s --codec g729 --framing ppp
"""

DESIGN_POLICER = """\
Examples:
  perhop design policer --rate 2Mb/s --rtt 100ms
  perhop design policer --calls 10 --codec g729 --jitter 30ms
"""

DESIGN_SHAPER = """\
Examples:
  perhop design shaper --rate 2Mb/s --line 10Mb/s
  perhop design shaper --rate 2Mb/s --line 10Mb/s --traffic data
"""

DESIGN_CALLS = """\
Examples:
  perhop design calls --bandwidth 2Mb/s --codec g729 --framing ppp
  perhop design calls --bandwidth 10Mb/s --interval 30ms --share 0.5
"""

DESIGN_QUEUE = """\
Examples:
  perhop design queue --bandwidth 2Mb/s --delay 50ms
  perhop design queue --bandwidth 10Mb/s --delay 20ms --rtt 80ms --flows 25
"""

DESIGN_RING = """\
Examples:
  perhop design ring --line 512kb/s --delay 10ms
  perhop design ring --line 2Mb/s --delay 15ms --packet 1507B --json
"""

DESIGN_BUFFERS = """\
Examples:
  perhop design buffers switch.cfg --interface gi1/0/1 --burst 200kB --arrival 10Gb/s
  perhop design buffers switch.cfg --interface gi1/0/1 --burst 1000kB --arrival 10Gb/s --queue BULK
"""

DESIGN_WRED = """\
Examples:
  perhop design wred --bandwidth 2Mb/s --delay 100ms
  perhop design wred --bandwidth 34Mb/s --delay 50ms --precedence 1=10
  perhop design wred --bandwidth 2Mb/s --delay 100ms --json
"""

DESIGN_STAR = """\
Examples:
  perhop design star --arrival 300kb/s --delay 20ms --link 2Mb/s
  perhop design star --arrival 300kb/s --delay 40ms --link 2Mb/s \\
    --best-effort 1028B --ring 5
  perhop design star --arrival 64kb/s --delay 10ms --link 2Mb/s \\
    --packet 200B --json
"""

LIVE = """\
Examples:
  perhop live run edge.perhop.yaml
  perhop live bridge --policy router.cfg --in eth1 --out eth2
  perhop doctor                      what this machine supports
"""

LIVE_RUN = """\
Examples:
  perhop live run edge.perhop.yaml --duration 10s
  perhop live run edge.perhop.yaml --time-scale 0.1 -o results/edge-live
  perhop live run edge.perhop.yaml --exec 'sink=iperf3 -s' \\
    --exec 'source=sleep 1; iperf3 -c sink -t 5'
  perhop live run edge.perhop.yaml --congestion-control source=bbr
  perhop live run edge.perhop.yaml --watch=web    queues in the browser
  perhop live run edge.perhop.yaml --json | jq .fidelity
"""

LIVE_UP = """\
Examples:
  perhop live up edge.perhop.yaml
  perhop live exec source ping sink  in another terminal
"""

LIVE_EXEC = """\
Examples:
  perhop live exec source            a shell in the host called source
  perhop live exec source -- iperf3 -c sink -u -b 5M
  perhop live exec router tcpdump -i eth1
"""

LIVE_TOP = """\
Examples:
  perhop live top
  perhop live top --json | jq '.forwarders[].lateness'
"""

LIVE_BRIDGE = """\
Examples:
  perhop live bridge --policy router.cfg --in eth1 --out eth2
  perhop live bridge --policy router.cfg \\
    --in eth1=FastEthernet0/0 --out eth2=Serial0/0 --rate 10Mb/s
  perhop live bridge --policy wan.perhop.yaml --name wan \\
    --in eth1 --out eth2 --rate 10Mb/s --both
  perhop live bridge --policy router.cfg --in eth1 --out eth2 --watch=web
"""

LIVE_CLEAN = """\
Examples:
  perhop live clean
"""

DOCTOR = """\
Examples:
  perhop doctor
  perhop doctor --json | jq .live
"""
