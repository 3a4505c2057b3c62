// The scenarios of crates/perhop-sim/benches/engine.rs in ns-3: CBR sources of 120 Mb/s together, or bulk
// transfers with NewReno, every packet acknowledged; 1000-byte packets, RED on the 100 Mb/s bottleneck,
// 1 Gb/s access links.   bottleneck udp|tcp PAIRS [SECONDS]   It prints the packets that entered a wire.
//
// ns-3 has neither RIO nor markers in its core: one RED stands for both precedences, with the thresholds
// of the second (10, 40, 0.1), and no source has a token bucket; that is less work than perhop does.
// Routes are nix-vectors in a long run (a static table is a list that every packet walks along) and static in a
// short one (a nix-vector is found by a search through the whole network).

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

#include "common.h"

namespace
{

// A packet is 1000 bytes on the wire, the 2 of PPP included.
const uint32_t UDP_PAYLOAD = 1000 - 2 - 20 - 8;
const uint64_t CBR_BITS_PER_SECOND = 120000000;

void
InstallRed(Ptr<NetDevice> device)
{
    TrafficControlHelper red;
    red.SetRootQueueDisc("ns3::RedQueueDisc",
                         "MaxSize", StringValue("200p"),
                         "MeanPktSize", UintegerValue(1000),
                         "MinTh", DoubleValue(10),
                         "MaxTh", DoubleValue(40),
                         "LInterm", DoubleValue(10),
                         "Gentle", BooleanValue(false),
                         "LinkBandwidth", StringValue("100Mbps"),
                         "LinkDelay", StringValue("20ms"));
    red.Install(device);
    // The packets wait in the queue disc: the device holds the one that is next.
    DynamicCast<PointToPointNetDevice>(device)->GetQueue()->SetMaxSize(QueueSize("1p"));
}

void
AddTraffic(const std::string& kind, Ptr<Node> source, Ptr<Node> sink, Ipv4Address to, uint32_t pairs, double start)
{
    const bool tcp = kind == "tcp";
    const std::string protocol = tcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
    PacketSinkHelper receiver(protocol, InetSocketAddress(Ipv4Address::GetAny(), PORT));
    receiver.Install(sink);
    ApplicationContainer sender;
    if (tcp)
    {
        BulkSendHelper transfer(protocol, InetSocketAddress(to, PORT));
        transfer.SetAttribute("SendSize", UintegerValue(TCP_PAYLOAD));
        sender = transfer.Install(source);
    }
    else
    {
        // The rate is of whole packets, the interval therefore theirs.
        UdpClientHelper cbr(to, PORT);
        cbr.SetAttribute("PacketSize", UintegerValue(UDP_PAYLOAD));
        cbr.SetAttribute("MaxPackets", UintegerValue(UINT32_MAX));
        cbr.SetAttribute("Interval", TimeValue(Seconds(8000.0 * pairs / CBR_BITS_PER_SECOND)));
        sender = cbr.Install(source);
    }
    sender.Start(Seconds(start));
}

} // namespace

int
main(int count, char* words[])
{
    if (count < 3)
    {
        std::cerr << "usage: bottleneck udp|tcp PAIRS [SECONDS]\n";
        return 2;
    }
    const std::string kind = words[1];
    const uint32_t pairs = std::atoi(words[2]);
    const double seconds = count > 3 ? std::atof(words[3]) : 100;
    ConfigureTcp();

    NodeContainer routers(2);
    NodeContainer sources(pairs);
    NodeContainer sinks(pairs);
    const bool isLong = seconds >= 5;
    InstallInternet(isLong);

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    NetDeviceContainer bottleneck = Link(routers.Get(0), routers.Get(1), "100Mbps", "20ms", "64p");
    InstallRed(bottleneck.Get(0));
    addresses.Assign(bottleneck);
    // What an address brings with it, where nothing was installed before.
    TrafficControlHelper none;
    none.Uninstall(bottleneck.Get(1));
    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    for (uint32_t pair = 0; pair < pairs; ++pair)
    {
        NetDeviceContainer before = Link(sources.Get(pair), routers.Get(0), "1Gbps", "1ms", "1000p");
        NetDeviceContainer behind = Link(routers.Get(1), sinks.Get(pair), "1Gbps", "1ms", "1000p");
        addresses.NewNetwork();
        addresses.Assign(before);
        addresses.NewNetwork();
        const Ipv4Address to = addresses.Assign(behind).GetAddress(1);
        none.Uninstall(before);
        none.Uninstall(behind);
        AddTraffic(kind, sources.Get(pair), sinks.Get(pair), to, pairs, start->GetValue(0, 0.01));
    }
    if (!isLong)
    {
        // The first device of every node is the one that leads on to the others.
        std::for_each(NodeList::Begin(), NodeList::End(), AddDefaultRoute);
    }
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::cout << packetHops << '\n';
    return 0;
}
