// The networks of crates/perhop-sim/benches/scale.rs in ns-3.
//   scale chain|topology|tcp SIZE [SECONDS]   Prints the number of packets that entered a wire.
//
// ns-3 records fewer results: no classes, delays or losses per flow. No link has a queue disc. Routes are
// nix-vectors, which are searched once for each flow. If every host has its own flow, routes are static, because
// the search for 10,000 nix-vectors in a network of 20,000 nodes takes longer than the run.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "common.h"

namespace
{

// A packet has 500 bytes, including its IP header.
const uint32_t UDP_PAYLOAD = 500 - 20 - 8;

// A sender of Poisson packets. The clients of ns-3 send at fixed intervals.
class PoissonSender : public Application
{
  public:
    PoissonSender(Ipv4Address to, double bitsPerSecond)
        : m_to(to),
          m_gap(CreateObject<ExponentialRandomVariable>())
    {
        m_gap->SetAttribute("Mean", DoubleValue(500 * 8 / bitsPerSecond));
    }

  private:
    void StartApplication() override
    {
        m_socket = Socket::CreateSocket(GetNode(), UdpSocketFactory::GetTypeId());
        m_socket->Connect(InetSocketAddress(m_to, PORT));
        Schedule();
    }

    void Schedule()
    {
        Simulator::Schedule(Seconds(m_gap->GetValue()), &PoissonSender::Send, this);
    }

    void Send()
    {
        m_socket->Send(Create<Packet>(UDP_PAYLOAD));
        Schedule();
    }

    Ipv4Address m_to;
    Ptr<ExponentialRandomVariable> m_gap;
    Ptr<Socket> m_socket;
};

// The links of a network, each with its own subnet.
class Network
{
  public:
    Network()
        : m_addresses("10.0.0.0", "255.255.255.252")
    {
    }

    // Connects two nodes. Returns the address of `to`.
    Ipv4Address Connect(Ptr<Node> from, Ptr<Node> to, const std::string& rate, const char* delay)
    {
        return Connect(from, to, rate, delay, "1000p");
    }

    Ipv4Address Connect(Ptr<Node> from,
                        Ptr<Node> to,
                        const std::string& rate,
                        const char* delay,
                        const std::string& limit)
    {
        const NetDeviceContainer devices = Link(from, to, rate, delay, limit);
        const Ipv4Address address = m_addresses.Assign(devices).GetAddress(1);
        m_addresses.NewNetwork();
        // The assignment of an address installs a queue disc, which is removed here.
        TrafficControlHelper().Uninstall(devices);
        return address;
    }

  private:
    Ipv4AddressHelper m_addresses;
};

void
AddPoisson(Ptr<Node> source, Ptr<Node> sink, Ipv4Address to, double bitsPerSecond, double start)
{
    PacketSinkHelper("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT)).Install(sink);
    Ptr<PoissonSender> sender = CreateObject<PoissonSender>(to, bitsPerSecond);
    source->AddApplication(sender);
    sender->SetStartTime(Seconds(start));
}

void
AddBulk(Ptr<Node> source, Ptr<Node> sink, Ipv4Address to, double start)
{
    PacketSinkHelper("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT)).Install(sink);
    BulkSendHelper transfer("ns3::TcpSocketFactory", InetSocketAddress(to, PORT));
    transfer.SetAttribute("SendSize", UintegerValue(TCP_PAYLOAD));
    transfer.Install(source).Start(Seconds(start));
}

// Four flows through `count` routers in a row.
void
Chain(uint32_t count, Ptr<UniformRandomVariable> start)
{
    NodeContainer routers(count);
    NodeContainer sources(4);
    NodeContainer sinks(4);
    InstallInternet(true);
    Network network;
    for (uint32_t router = 1; router < count; ++router)
    {
        network.Connect(routers.Get(router - 1), routers.Get(router), "100Mbps", "1ms");
    }
    for (uint32_t flow = 0; flow < 4; ++flow)
    {
        network.Connect(sources.Get(flow), routers.Get(0), "1Gbps", "1ms");
        const Ipv4Address to = network.Connect(routers.Get(count - 1), sinks.Get(flow), "1Gbps", "1ms");
        AddPoisson(sources.Get(flow), sinks.Get(flow), to, 24e6, start->GetValue(0, 0.001));
    }
}

// A tenth of the `nodes` are routers in a ring with chords. Each other node is a host that sends to a distant host.
void
Topology(uint32_t nodes, Ptr<UniformRandomVariable> start)
{
    const uint32_t count = nodes / 10;
    const uint32_t leaves = nodes - count;
    NodeContainer routers(count);
    NodeContainer hosts(leaves);
    InstallInternet(true);
    Network network;
    const uint32_t chord = std::max<uint32_t>(2, std::sqrt(count));
    for (uint32_t router = 0; router < count; ++router)
    {
        for (const uint32_t reach : {1u, chord})
        {
            network.Connect(routers.Get(router), routers.Get((router + reach) % count), "1Gbps", "2ms");
        }
    }
    std::vector<Ipv4Address> addresses;
    for (uint32_t host = 0; host < leaves; ++host)
    {
        addresses.push_back(network.Connect(routers.Get(host % count), hosts.Get(host), "100Mbps", "1ms"));
    }
    for (uint32_t host = 0; host < leaves; ++host)
    {
        const uint32_t to = (host + leaves / 2 + 1) % leaves;
        AddPoisson(hosts.Get(host), hosts.Get(to), addresses[to], 1e6, start->GetValue(0, 0.01));
    }
}

// Bulk transfers between `pairs` pairs of hosts. The bottleneck has 1 Mb/s for each transfer.
void
Tcp(uint32_t pairs, Ptr<UniformRandomVariable> start)
{
    NodeContainer routers(2);
    NodeContainer sources(pairs);
    NodeContainer sinks(pairs);
    InstallInternet(false);
    Network network;
    const std::string limit = std::to_string(5 * pairs) + "p";
    network.Connect(routers.Get(0), routers.Get(1), std::to_string(pairs) + "Mbps", "20ms", limit);
    for (uint32_t pair = 0; pair < pairs; ++pair)
    {
        network.Connect(sources.Get(pair), routers.Get(0), "1Gbps", "1ms");
        const Ipv4Address to = network.Connect(routers.Get(1), sinks.Get(pair), "1Gbps", "1ms");
        AddBulk(sources.Get(pair), sinks.Get(pair), to, start->GetValue(0, 0.1));
    }
    // The first device of every node leads to the other nodes.
    std::for_each(NodeList::Begin(), NodeList::End(), AddDefaultRoute);
}

} // namespace

int
main(int count, char* words[])
{
    const std::string kind = count < 3 ? "" : words[1];
    if (kind != "chain" && kind != "topology" && kind != "tcp")
    {
        std::cerr << "usage: scale chain|topology|tcp SIZE [SECONDS]\n";
        return 2;
    }
    const uint32_t size = std::atoi(words[2]);
    const double seconds = count > 3 ? std::atof(words[3]) : 2;
    ConfigureTcp();
    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    (kind == "chain" ? Chain : kind == "topology" ? Topology : Tcp)(size, start);
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::cout << packetHops << '\n';
    return 0;
}
