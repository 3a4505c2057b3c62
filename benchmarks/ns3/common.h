// The common parts of the scenarios: links, stacks, TCP, and the count of packets that enter a wire.
//
// If ns-3 has several options, the fastest one is used: a router does not compare a packet with the addresses of
// all its interfaces, and a link has no queue disc by default.

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

// A packet has 1000 bytes on the wire, including 2 bytes of PPP.
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

// Sets the defaults of TCP: RFC 5681 with NewReno's recovery, without selective acknowledgment. Must be called first.
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
    // RFC 5681: the initial window for segments of at most 1095 bytes.
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(4));
    // The window of 65,535 bytes. The sender's buffer limits it, because ns-3.37 crashes if the receiver's buffer
    // limits the window (TcpRateLinux::SkbSent receives no packet).
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
