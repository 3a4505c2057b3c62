// The scenarios of crates/perhop-sim/benches/engine.rs in ns-3: CBR sources of 120 Mb/s in total, or bulk
// transfers with NewReno, in which every packet is acknowledged. Packets have 1000 bytes, the bottleneck of
// 100 Mb/s has RED, and access links have 1 Gb/s.
//   bottleneck udp|tcp PAIRS [SECONDS]   Prints the number of packets that entered a wire.
//
// The core of ns-3 has neither RIO nor markers. One RED with the thresholds of the second precedence (10, 40, 0.1)
// replaces both precedences, and no source has a token bucket. ns-3 therefore does less work than perhop.
// In a long run, routes are nix-vectors, because every packet searches the whole list of static routes. In a short
// run, routes are static, because a nix-vector needs a search through the whole network.

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

#include "common.h"

namespace
{

// A packet has 1000 bytes on the wire, including 2 bytes of PPP.
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
    // Packets wait in the queue disc. The queue of the device has only the next packet.
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
        // The rate counts whole packets, and so does the interval.
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
    // The assignment of an address installs a queue disc on devices without one; it is removed here.
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
        // The first device of every node leads to the other nodes.
        std::for_each(NodeList::Begin(), NodeList::End(), AddDefaultRoute);
    }
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::cout << packetHops << '\n';
    return 0;
}
