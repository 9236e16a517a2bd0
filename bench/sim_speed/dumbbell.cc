// The dumbbell of bench/sim_speed.py in ns-3: prints the bottleneck's packets, their CPU seconds,
// and the payload delivered.
#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>
#include <sys/resource.h>

#include <cstdint>
#include <iostream>
#include <string>

using namespace ns3;

namespace {

constexpr std::uint16_t kPort = 5001;
std::uint64_t bottleneck_packets = 0;

void Count(Ptr<const Packet>) { ++bottleneck_packets; }

double CpuSeconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// CUBIC with SACK, an initial window of 10 segments, and sockets that never limit.
void SetTcp() {
  Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpCubic"));
  Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
  Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
  Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(16 << 20));
  Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(16 << 20));
}

PointToPointHelper Link(const std::string& rate, Time delay) {
  PointToPointHelper link;
  link.SetDeviceAttribute("DataRate", StringValue(rate));
  link.SetChannelAttribute("Delay", TimeValue(delay));
  return link;
}

// One sender and one receiver, each on its own access link.
ApplicationContainer AddFlow(std::uint32_t flow, Ptr<Node> left, Ptr<Node> right) {
  NodeContainer ends(2);
  InternetStackHelper().Install(ends);
  PointToPointHelper access = Link("10Gbps", MicroSeconds(10));
  const auto address = [flow](std::uint32_t first) {
    const std::string base = std::to_string(first) + "." + std::to_string(flow >> 8) + "." + std::to_string(flow & 255) + ".0";
    return Ipv4AddressHelper(base.c_str(), "255.255.255.0");
  };
  address(11).Assign(access.Install(ends.Get(0), left));
  const auto far = address(12).Assign(access.Install(right, ends.Get(1)));
  PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), kPort));
  ApplicationContainer sinks = sink.Install(ends.Get(1));
  sinks.Start(Seconds(0));
  BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(far.GetAddress(1), kPort));
  source.SetAttribute("SendSize", UintegerValue(1448));
  source.Install(ends.Get(0)).Start(Seconds(0));
  return sinks;
}

}  // namespace

int main(int argc, char* argv[]) {
  std::uint32_t flows = 4;
  double seconds = 30;
  std::string queue = "ns3::FqCoDelQueueDisc";
  CommandLine command;
  command.AddValue("flows", "bulk flows", flows);
  command.AddValue("seconds", "simulated", seconds);
  command.AddValue("queue", "queue discipline of the bottleneck", queue);
  command.Parse(argc, argv);

  SetTcp();
  NodeContainer routers(2);
  InternetStackHelper().Install(routers);
  PointToPointHelper line = Link("100Mbps", MicroSeconds(9980));
  // Packets wait in the queue discipline, not in the device.
  line.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
  NetDeviceContainer devices = line.Install(routers);
  TrafficControlHelper control;
  control.SetRootQueueDisc(queue);
  control.Install(devices);
  Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
  ApplicationContainer sinks;
  for (std::uint32_t flow = 0; flow < flows; ++flow) {
    sinks.Add(AddFlow(flow, routers.Get(0), routers.Get(1)));
  }
  Ipv4GlobalRoutingHelper::PopulateRoutingTables();
  devices.Get(0)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Count));

  const double before = CpuSeconds();
  Simulator::Stop(Seconds(seconds));
  Simulator::Run();
  const double used = CpuSeconds() - before;
  std::uint64_t delivered = 0;
  for (std::uint32_t i = 0; i < sinks.GetN(); ++i) {
    delivered += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
  }
  std::cout << bottleneck_packets << ' ' << used << ' ' << delivered << ' ' << Simulator::GetEventCount() << std::endl;
  Simulator::Destroy();
}
