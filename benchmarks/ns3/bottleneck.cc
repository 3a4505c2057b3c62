// The scenarios of crates/perhop-sim/benches/engine.rs in ns-3: CBR sources of 120 Mb/s together, or bulk
// transfers with NewReno, every packet acknowledged; 1000-byte packets, RED on the 100 Mb/s bottleneck,
// 1 Gb/s access links.   bottleneck udp|tcp PAIRS [SECONDS]   It prints the packets that entered a wire.
//
// ns-3 has neither RIO nor markers in its core: one RED stands for both precedences, with the thresholds
// of the second (10, 40, 0.1), and no source has a token bucket; that is less work than perhop does.
// Where ns-3 offers a choice, this takes what costs it least: the access links have no queue disc, a packet
// need not be compared with the addresses of all interfaces of its router, and routes are nix-vectors in a
// long run (a static table is a list that every packet walks along) and static in a short one (a
// nix-vector is found by a search through the whole network).

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace
{

// A packet is 1000 bytes on the wire, the 2 of PPP included.
const uint32_t PACKET = 1000 - 2;
const uint32_t UDP_PAYLOAD = PACKET - 20 - 8;
const uint32_t TCP_PAYLOAD = PACKET - 20 - 20;
const uint64_t CBR_BITS_PER_SECOND = 120000000;
const uint16_t PORT = 9;

uint64_t packetHops = 0;

void
EntersWire(Ptr<const Packet>)
{
    ++packetHops;
}

void
CountHops(const NetDeviceContainer& devices)
{
    for (auto device = devices.Begin(); device != devices.End(); ++device)
    {
        (*device)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&EntersWire));
    }
}

// RFC 5681 without selective acknowledgment: NewReno's recovery.
void
ConfigureTcp()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(TCP_PAYLOAD));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    // RFC 5681 for segments of at most 1095 bytes.
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(4));
    // The window of 65,535 bytes. It is the sender's buffer that holds no more, since 3.37 crashes where the
    // receiver's limits the window (TcpRateLinux::SkbSent is handed no packet).
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(65535 / TCP_PAYLOAD * TCP_PAYLOAD));
}

void
InstallInternet(bool withNixVectors)
{
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    if (withNixVectors)
    {
        stack.SetRoutingHelper(Ipv4NixVectorHelper());
    }
    else
    {
        stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
    }
    stack.InstallAll();
}

void
AddDefaultRoute(Ptr<Node> node)
{
    // Interface 0 is the loopback.
    Ipv4StaticRoutingHelper().GetStaticRouting(node->GetObject<Ipv4>())->SetDefaultRoute(Ipv4Address::GetAny(), 1);
}

NetDeviceContainer
Link(Ptr<Node> from, Ptr<Node> to, const char* rate, const char* delay, const char* limit)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(limit));
    NetDeviceContainer devices = link.Install(from, to);
    CountHops(devices);
    return devices;
}

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
    Config::SetDefault("ns3::Ipv4::WeakEsModel", BooleanValue(false));
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
