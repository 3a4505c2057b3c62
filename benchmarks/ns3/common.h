// What the scenarios have in common: links, stacks, TCP, and the count of packets that enter a wire.
//
// Where ns-3 offers a choice, this takes what costs it least: a packet need not be compared with the addresses
// of all interfaces of its router, and the links have no queue disc unless one is asked for.

#pragma once

#include <cstdint>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

// A packet is 1000 bytes on the wire, the 2 of PPP included.
const uint32_t TCP_PAYLOAD = 1000 - 2 - 20 - 20;
const uint16_t PORT = 9;

inline uint64_t packetHops = 0;

inline void
EntersWire(Ptr<const Packet>)
{
    ++packetHops;
}

inline void
CountHops(const NetDeviceContainer& devices)
{
    for (auto device = devices.Begin(); device != devices.End(); ++device)
    {
        (*device)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&EntersWire));
    }
}

// Call it first. RFC 5681 without selective acknowledgment: NewReno's recovery.
inline void
ConfigureTcp()
{
    Config::SetDefault("ns3::Ipv4::WeakEsModel", BooleanValue(false));
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

inline void
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

inline void
AddDefaultRoute(Ptr<Node> node)
{
    // Interface 0 is the loopback.
    Ipv4StaticRoutingHelper().GetStaticRouting(node->GetObject<Ipv4>())->SetDefaultRoute(Ipv4Address::GetAny(), 1);
}

inline NetDeviceContainer
Link(Ptr<Node> from, Ptr<Node> to, const std::string& rate, const char* delay, const std::string& limit)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(limit));
    NetDeviceContainer devices = link.Install(from, to);
    CountHops(devices);
    return devices;
}
