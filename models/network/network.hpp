// The simulated network of one run: nodes, wires and traffic, and the one switch over event kinds.
// Built from an experiment and a group of tests that run together; afterwards the report reads its
// counters.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "experiments/definition/topology.hpp"
#include "models/capture/capture.hpp"
#include "models/host/forwarder.hpp"
#include "models/host/host_bus.hpp"
#include "models/host/host_work.hpp"
#include "models/host/program_cores.hpp"
#include "models/host/station.hpp"
#include "models/link/collision_domain.hpp"
#include "models/link/wire.hpp"
#include "models/network/egress_port.hpp"
#include "models/network/flow.hpp"
#include "models/network/packet.hpp"
#include "models/nic/dma.hpp"
#include "models/nic/receive_queue.hpp"
#include "models/switch/shared_buffer.hpp"
#include "sim/engine.hpp"

namespace linerate::models {

/// What a network is built from. The pointers must outlive it.
struct NetworkConfig {
  const experiments::Experiment* experiment = nullptr;
  const experiments::Topology* topology = nullptr;
  std::vector<const experiments::Test*> tests;  ///< run together
  std::uint64_t seed = 0;                       ///< of this repeat
  std::function<void(Time now, std::uint64_t events)> progress;
  const std::atomic<bool>* stop = nullptr;
  const CaptureOptions* capture = nullptr;  ///< whether and what to capture …
  std::string job;                          ///< … in files of this name
  Time drain{};  ///< goes on so long after the last flow has sent: frames under way still arrive
};

/// What one sampling interval of one test saw.
struct Sample {
  Time from{}, to{};
  std::int64_t bytes = 0;  ///< payload read
  std::int64_t retransmits = 0;
  double cwnd = 0;  ///< segments, mean over flows
  Time srtt{};      ///< mean over flows
};

class Network {
 public:
  explicit Network(const NetworkConfig& config);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// Runs until every foreground flow has finished (or nothing can happen any more). Returns false
  /// if it was stopped.
  bool run();

  /// Called by the engine.
  [[gnu::always_inline]] void dispatch(const sim::Event& event);

  /// Whether anything in this network draws random numbers, so that repeats can differ.
  bool random() const { return random_; }

  // For the report.
  Time now() const { return engine_->now(); }
  std::uint64_t events() const { return engine_->events(); }
  /// Frames put on wires: the packet-hops by which cost is counted.
  std::int64_t packet_hops() const;
  const std::vector<TcpFlow>& tcp_flows() const { return tcp_flows_; }
  const std::vector<DatagramFlow>& datagram_flows() const { return datagram_flows_; }
  const experiments::Test& test(std::uint32_t index) const { return *config_.tests[index]; }
  std::size_t tests() const { return config_.tests.size(); }
  const TcpEnd& end(std::uint32_t index) const { return ends_[index]; }
  const Route& route(std::uint32_t index) const { return routes_[index]; }
  /// The route whose place in the list of hops `hop` is: where a packet is, whatever its flow does.
  std::uint32_t route_at(std::uint32_t hop) const;
  /// What a flow has sent over one of the routes it took in turn.
  struct Passage {
    std::uint32_t route = 0;
    std::int64_t wire_bytes = 0;
  };
  std::vector<Passage> passages(const TcpEnd& end) const;
  std::vector<Passage> passages(const DatagramFlow& flow) const;
  /// Wire 2i+e is link i with its end e transmitting.
  const std::vector<Wire>& wires() const { return wires_; }
  const std::vector<Sample>& samples(std::uint32_t test) const { return samples_[test]; }
  /// Frames a NIC lost because no descriptor was free.
  std::int64_t receive_drops(std::uint32_t nic) const {
    std::int64_t drops = nics_[nic].drops() + forward_drops_[nic].ring;
    if (nic < more_queues_.size())
      for (std::uint32_t q = 0; q < more_queues_[nic].count; ++q)
        drops += nics_[more_queues_[nic].first + q].drops();
    return drops;
  }
  /// Frames lost behind the interrupt that announced them.
  std::int64_t backlog_drops(std::uint32_t nic) const { return forward_drops_[nic].backlog; }
  /// The bus of a host and the receiving end of a NIC at it; null without one.
  const HostBus* bus(std::uint32_t host) const { return buses_[host].get(); }
  const ReceiveDma* receive_dma(std::uint32_t nic) const { return receive_dma_[nic].get(); }
  /// The cores of a host that forward frames, if that costs anything.
  const std::vector<ForwardingCore>& forwarding_cores(std::uint32_t host) const {
    return routers_[host].cores;
  }
  /// Index of a host's NIC among all NICs.
  std::uint32_t nic_index(int host, int nic) const { return first_nic_[host] + nic; }
  /// The cores of a host, none if they cost nothing.
  std::span<const CoreWork> cores(std::uint32_t host) const;
  /// The program at a TCP end on a host with such cores.
  const Process& process(std::uint32_t end) const { return processes_[end]; }
  /// How long the fabric of a switch has been busy, if it limits.
  Time fabric_busy(std::uint32_t index) const { return switches_[index].fabric.busy(); }
  /// The node a wire leads to.
  bool leads_to_switch(std::uint32_t wire) const {
    return junctions_[wire].kind <= Junction::Kind::other_switch;
  }
  std::uint32_t far_node(std::uint32_t wire) const { return junctions_[wire].node; }
  std::int64_t pause_frames(std::uint32_t wire) const { return pause_frames_[wire]; }
  /// The port in front of a wire, if it decides late.
  const EgressPort* port(std::uint32_t wire) const { return ports_[wire].get(); }
  /// One-way delays of datagrams, or latencies of transactions (of rounds, with a barrier).
  const LatencyRecorder& latencies(std::uint32_t test) const { return latencies_[test]; }
  /// Null for a test without one.
  const Barrier* barrier(std::uint32_t test) const { return barriers_[test].get(); }
  /// The MAC of a port at a shared medium, or nullptr.
  const MacCounters* mac(std::uint32_t wire) const {
    const EgressPort* at = ports_[wire].get();
    if (at == nullptr || at->medium == EgressPort::kNone) return nullptr;
    return &media_[at->medium]->domain.counters(at->station);
  }
  /// The shared media of the experiment, in the order of experiments::shared_media().
  std::size_t media() const { return media_.size(); }
  const CollisionDomain& medium(std::size_t index) const { return media_[index]->domain; }
  bool gave_up() const { return gave_up_; }
  /// Whether every foreground flow ran to its end.
  bool complete() const { return complete_; }

 private:
  enum class Kind : std::uint32_t {
    arrival,
    timer,
    start,
    due,
    poll,
    device,
    sample,
    enqueue,
    port,
    pause,
    link_event,
    reroute,
    round,
    medium,
    dma,
    forward,
    handler,
    softirq,
    process,
    completion,
    quota,
  };

  /// What a wire leads to.
  struct Junction {
    /// `plain` switches store and forward at the speed of their ports.
    enum class Kind : std::uint8_t { plain_switch, other_switch, host, hub };
    Kind kind = Kind::host;
    std::uint32_t node = 0;
    /// Of a host: what a frame for it meets. A NIC can gather frames before it interrupts.
    enum class Landing : std::uint8_t { hand_up, gather, bus };
    Landing landing = Landing::hand_up;
    bool detour = false;    ///< of a host: what passes it crosses a bus or takes a core's time
    std::uint32_t nic = 0;  ///< of a host: index among all NICs
    Time latency{};         ///< of a plain switch
  };
  struct SwitchState {
    Time latency{};
    bool cut_through = false;
    std::optional<BitRate> fabric_rate;
    Time fabric_per_frame{};
    Station fabric;
    std::unique_ptr<SharedBuffer> buffer;     // shared among ports
    std::optional<std::int64_t> port_memory;  // bytes of each port's own
  };

  /// What stations share.
  struct Medium {
    CollisionDomain domain;
    std::vector<std::uint32_t> wires;  ///< by station: what it transmits on
    Time wakes = Time::never();        ///< when its pending event is due
    bool running = false;              ///< its reports are being heeded
  };

  /// The cores of a host that forwards, and what a frame costs them.
  struct Router {
    std::vector<ForwardingCore> cores;
    std::uint32_t first_core = 0;            ///< number of the first among all routers'
    std::vector<std::uint32_t> first_queue;  ///< by NIC: among the host's receive queues
    // Of the frame forwarded last; most are like the one before.
    std::uint32_t last_bytes = 0, last_wire = 0;
    std::uint32_t last_nic = 0;
    Time last_cost{};
  };
  /// Frames a router lost of those a NIC received.
  struct ForwardDrops {
    std::int64_t ring = 0, backlog = 0;
  };
  /// Which NIC of which host.
  struct NicPlace {
    std::uint32_t host = 0, nic = 0;
  };

  /// The receive queues of a NIC beside its first, among `nics_`.
  struct MoreQueues {
    std::uint32_t first = 0, count = 0;
  };

  /// The flows of one test stand together: [first, end) of either kind.
  struct FlowRange {
    std::uint32_t first_tcp = 0, end_tcp = 0;
    std::uint32_t first_datagram = 0, end_datagram = 0;
  };
  /// What frames are behind a router or switch that makes them others.
  struct Reframing {
    Framing framing;  ///< of an IP packet
    Bytes added_tag;  ///< since the sender; negative: taken off
    std::uint8_t outside_mtu = 0;
  };
  /// At one moment some flows change their way; all routes were built before.
  struct Reroute {
    struct Move {
      std::uint32_t end = 0;  ///< of a TCP connection, or a datagram flow
      bool datagrams = false;
      std::uint32_t route = 0;
    };
    Time at{};
    std::vector<Move> moves;
  };
  // In a route's list of hops: there is none left.
  static constexpr std::uint32_t kArrived = ~0u;
  // A hop of which the frame is like that of the hop before.
  static constexpr std::uint32_t kSameFraming = ~0u;

  // Building (build.cpp).
  void build_switches();
  void build_hosts();
  void build_router(std::uint32_t host);
  void add_dma(EgressPort& port, const experiments::PortRef& from);
  void build_wires();
  void build_port(const experiments::Link& link, int from_end, std::uint64_t source);
  Junction junction_at(const experiments::PortRef& port) const;
  WireConfig wire_config(const experiments::Link& link, int from_end);
  void observe(EgressQueue& queue) const;
  bool decides_late(const experiments::Link& link, int from_end) const;
  void build_tests();
  /// One flow of a test; of several that arrive at one source, it has its own start and volume.
  struct FlowPlan {
    experiments::Test::Pair pair;
    std::uint64_t ordinal = 0;  ///< among all flows of the test
    bool reverse = false;       ///< data flows from `pair.to`
    Time start{};
    std::optional<Bytes> volume{};
  };
  void build_flows(std::uint32_t test);
  void build_arriving(std::uint32_t test, const FlowPlan& source, std::uint64_t& ordinal);
  std::optional<Bytes> volume_of(std::uint32_t test, const FlowPlan& plan);
  void build_tcp(std::uint32_t test, const FlowPlan& plan);
  Application application_of(std::uint32_t test, const FlowPlan& plan, bool client,
                             const LocalClock& clock);
  std::unique_ptr<DatagramPattern> pattern_of(std::uint32_t test, const FlowPlan& plan,
                                              BitRate line, const Framing& framing);
  /// The random stream of one flow for one purpose.
  sim::RandomStream stream_of(std::uint32_t test, const FlowPlan& plan,
                              std::string_view purpose) const;
  void build_datagrams(std::uint32_t test, const FlowPlan& plan);
  tcp::EndpointConfig endpoint_config(const experiments::Test& test, int host) const;
  /// One direction of a flow's traffic, with what its way is chosen by.
  struct Leg {
    experiments::Test::Pair ends;
    int ip = 4;
    experiments::FlowKey key;
  };
  std::uint32_t add_route(const Leg& leg);
  std::optional<std::uint32_t> find_route(const experiments::Topology& topology, const Leg& leg);
  void follow_encapsulation(Route& route, const std::vector<experiments::Hop>& path, int ip);
  void set_route(TcpEnd& end, std::uint32_t route) const;
  bool is_virtual_pair(const Route& route) const;
  bool takes_at_once(const Route& route) const;
  bool stays_local(const Route& route) const;
  Bytes datagram_mtu(int host, const Route& route) const;
  Bytes known_mtu(const experiments::Stack& stack, const Route& route) const;

  // Event sources: wires first, then TCP ends, datagram flows, NICs, tests.
  std::uint32_t end_source(std::uint32_t end) const { return end_base_ + end; }
  std::uint32_t datagram_source(std::uint32_t flow) const { return datagram_base_ + flow; }
  std::uint32_t nic_source(std::uint32_t nic) const { return nic_base_ + nic; }
  std::uint32_t test_source(std::uint32_t test) const { return test_base_ + test; }
  std::uint32_t core_source(std::uint32_t core) const { return core_base_ + core; }

  /// What became of a frame that was handed down; small enough to be returned in registers.
  struct HandedDown {
    Drop drop = Drop::none;
    Time departure{};  ///< as Wire::Sent; never() while a port holds it
  };

  // The way of a frame.
  [[gnu::always_inline]] void on_arrival(Time now, std::uint32_t wire);
  [[gnu::always_inline]] void arrive(Time now, std::uint32_t wire, PacketHandle handle,
                                     Packet& packet);
  void through_switch(Time now, SwitchState& at, const Wire& from, std::uint32_t next,
                      sim::SlotPool<Packet>::Taken frame);
  [[gnu::always_inline]] HandedDown transmit(Time now, std::uint32_t wire,
                                             sim::SlotPool<Packet>::Taken frame, Time not_before);
  void enqueue(Time now, std::uint32_t nic, PacketHandle handle);
  void poll(Time now, std::uint32_t nic);
  [[gnu::always_inline]] void hand_up(Time now, PacketHandle handle, const Packet& packet);
  void hand_up_segment(Time now, PacketHandle handle, const Packet& packet);
  void hand_up_fragment(Time now, PacketHandle handle, const Packet& packet);
  void change_framing(Packet& packet);

  // Ports that decide late (ports.cpp).
  HandedDown not_sent(Time now, std::uint32_t wire, sim::SlotPool<Packet>::Taken frame,
                      Time not_before, HandedDown refused);
  Drop enter_port(Time now, std::uint32_t wire, sim::SlotPool<Packet>::Taken frame);
  bool admits(Time now, EgressPort& port, const Packet& packet);
  void serve_port(Time now, EgressPort& port);
  void launch(Time now, EgressPort& port, const QueuedFrame& frame, Time not_before = Time{});
  void drop_evicted(Time now, EgressPort& port);
  void release_memory(Time now, EgressPort& port, const Packet& packet);
  bool leaves_its_host(const Packet& packet) const;
  Bytes ip_size(const Packet& packet) const;
  void let_go(Time now, const Packet& packet);
  void wake_port(EgressPort& port, Time at);
  void on_port(Time now, std::uint32_t wire);
  void count_ingress(Time now, const Packet& packet, std::int64_t bytes);
  std::uint32_t ingress_of(const Packet& packet) const;
  bool lossless(const Packet& packet) const;
  void tell_to_pause(Time now, std::uint32_t wire, unsigned group);
  void on_pause_refresh(Time now, std::uint32_t wire, unsigned group);
  void queue_pause(Time now, std::uint32_t wire, PauseFrame frame);
  void send_pause(Time now, EgressPort& port);
  void heed_control(Time now, PacketHandle handle, const Packet& packet);
  void heed_pause(Time now, PacketHandle handle, const Packet& packet);
  void on_link_event(Time now, std::uint32_t event, bool ends);
  void take_down(Time now, EgressPort& port);
  void bring_up(Time now, EgressPort& port);

  // Flows that leave a link that is down (reroute.cpp).
  void plan_reroutes();
  std::uint32_t way_around(const experiments::Topology& topology, const std::set<int>& down,
                           std::uint32_t built, std::uint32_t current);
  bool crosses(std::uint32_t route, const std::set<int>& links) const;
  bool can_replace(const Route& built, const Route& other) const;
  void schedule_link_changes();
  void on_reroute(std::uint32_t index);
  static std::int64_t sent_by(const DatagramFlow& flow) {
    return flow.source.sent() * flow.wire_bytes;
  }
  static std::vector<Passage> differences(std::vector<Passage> sums);

  // Buses and routers (hosts.cpp).
  void land(Time now, std::uint32_t nic, PacketHandle handle, Packet& packet);
  void on_dma(Time now, std::uint32_t nic);
  void run_dma(Time now, std::uint32_t nic);
  void in_memory(Time now, std::uint32_t nic, PacketHandle handle);
  void pass_host(Time now, std::uint32_t nic, PacketHandle handle, Packet& packet);
  Time forwarding_time(Router& router, std::uint32_t nic, const Packet& packet);
  void on_forwarded(Time now, std::uint32_t core);
  void wake_core(std::uint32_t core);
  ForwardingCore& core(std::uint32_t index);
  void serve_dma(Time now, EgressPort& port);
  void fetch(Time now, EgressPort& port, const QueuedFrame& frame);

  // Shared media (media.cpp).
  void build_media();
  std::uint32_t next_station(std::uint32_t hop) const;
  void load_station(Time now, EgressPort& port);
  void serve_station(Time now, EgressPort& port);
  void run_medium(Time now, std::uint32_t medium);
  void on_medium(Time now, std::uint32_t medium);
  void heed_report(Time now, Medium& medium, const MacReport& report);
  void leave_station(Time now, EgressPort& port, const Packet& packet);
  void deliver(Time now, PacketHandle handle, Packet& packet);
  void count_from(std::uint32_t wire, const MacCounters& counters);
  void count_media();

  // Hosts that cost something (host_work.cpp).
  void find_costly_hosts();
  void build_cores();
  void spread_receive_queues();
  void direct_interrupts();
  std::uint32_t nic_of_wire(std::uint32_t wire) const;
  void place_datagram_programs(std::vector<ProgramCores>& placed);
  Time datagram_call(CoreWork& core, std::uint32_t nic, Bytes payload, bool sends);
  Time datagram_tunnel(CoreWork& core, std::uint32_t nic, const DatagramFlow& flow);
  void finish_source(const DatagramFlow& flow);
  Time made_on_core(Time now, std::uint32_t flow);
  Time read_on_core(Time now, DatagramFlow& flow);
  /// The first host of the machine that `host` is one of.
  std::uint32_t core_owner(std::uint32_t host) const;
  void place_programs();
  /// The receive queue of a NIC that comes of this number when all are counted round.
  std::uint32_t receive_queue(std::uint32_t nic, std::uint64_t number) const {
    const MoreQueues more = nic < more_queues_.size() ? more_queues_[nic] : MoreQueues{};
    const std::uint64_t queue = more.count == 0 ? 0 : number % (more.count + 1);
    return queue == 0 ? nic : more.first + static_cast<std::uint32_t>(queue) - 1;
  }
  std::uint32_t host_core_source(std::uint32_t core) const { return host_core_base_ + core; }
  bool on_core(std::uint32_t nic) const { return !nic_work_.empty() && nic_work_[nic].on_core(); }
  const experiments::CpuCosts& costs(const CoreWork& core) const {
    return experiment_.hosts[core.host].cpu.costs;
  }
  const experiments::Nic& nic_at(std::uint32_t index) const {
    return experiment_.hosts[nic_places_[index].host].nics[nic_places_[index].nic];
  }
  /// Whether a program is charged for what interrupts it, by its host's clock and scheduler.
  bool counts_interruptions(const CoreWork& core) const {
    return experiment_.hosts[core.host].cpu.accounting == experiments::CpuAccounting::tick;
  }
  void tell_host(Time now, std::uint32_t nic);
  void told_by_sender(Time now, std::uint32_t nic);
  void on_handler(Time now, std::uint32_t nic);
  void next_softirq(Time now, std::uint32_t core);
  bool next_poll(Time now, CoreWork& core, Time& cost);
  Time take_polled(CoreWork& core);
  void on_softirq(Time now, std::uint32_t core, std::uint64_t generation);
  Time take_in(Time now, CoreWork& core);
  void rearm(std::uint32_t end);
  void watch_softirq(Time now, std::uint32_t core);
  void watch_process(Time now, std::uint32_t core);
  void heed_news(Time now, std::uint32_t end, const tcp::Signals& news);
  void wake_process(Time now, std::uint32_t end);
  void next_process(Time now, std::uint32_t core);
  void charge_between(CoreWork& core);
  void take_turn(Time now, CoreWork& core, std::uint32_t end);
  bool keeps_core(Time now, const CoreWork& core) const;
  void begin_work(Time now, CoreWork& core, Process& process, Time work);
  bool begin_call(Time now, std::uint32_t core, std::uint32_t end);
  Time calling(Time now, CoreWork& core, std::uint32_t end);
  Time follow(Time now, CoreWork& core, std::uint32_t end);
  void on_process(Time now, std::uint32_t core, std::uint64_t generation);
  void end_call(Time now, std::uint32_t core, std::uint32_t end);
  bool throttled(Time now, std::uint32_t end);
  bool waits_for_disk(Time now, std::uint32_t end);
  Time file_work(Time now, CoreWork& core, Process& process, Bytes size);
  void on_quota(Time now, std::uint32_t end);
  Time call_cost(CoreWork& core, const TcpEnd& end, std::int64_t calls, Bytes copied, bool written);
  Time serve_on_core(Time now, TcpEnd& end, std::uint32_t index, Time from);
  std::uint32_t core_to_wake_on(Time now, const Process& process) const;
  CoreWork* tunnel_worker(std::size_t end);
  Time sealed_by_worker(Time made, std::size_t end, const tcp::Segment& segment);
  Time tunnel_cost(CoreWork& core, std::size_t end, Bytes payload, std::int64_t packets);
  Time sending_cost(CoreWork& core, const TcpEnd& end, const tcp::Segment& segment,
                    tcp::Sequence& merged_to);
  void watch_completion(TcpEnd& end, std::uint32_t index);
  void on_completion(Time now, std::uint32_t nic);
  std::int64_t held_by_hosts() const;

  // TCP ends and applications.
  void start_flow(Time now, std::uint32_t flow);
  void on_timer(Time now, std::uint32_t end, std::uint64_t generation);
  void on_device(Time now, std::uint32_t end);
  [[gnu::always_inline]] void settle_device(Time now, TcpEnd& end);
  void service(Time now, std::uint32_t index);
  [[gnu::always_inline]] void serve(Time now, TcpEnd& end, std::uint32_t index);
  [[gnu::always_inline]] bool heed_signals(Time now, TcpEnd& end, std::uint32_t index);
  [[gnu::always_inline]] void run_application(Time now, TcpEnd& end);
  [[gnu::always_inline]] void emit(Time now, TcpEnd& end, std::uint32_t receiver,
                                   const tcp::Segment& segment);
  std::size_t emit_whole(Time now, TcpEnd& end, std::uint32_t receiver, std::size_t first);
  [[gnu::always_inline]] void arm(TcpEnd& end, std::uint32_t index);
  void watch_device(std::uint32_t index);
  void check_finished(std::uint32_t end);

  [[gnu::always_inline]] void send_datagram(Time now, std::uint32_t flow);
  [[gnu::always_inline]] Drop send_frame(Time now, Time ready, std::uint32_t flow,
                                         std::int64_t ordinal, std::uint32_t wire_bytes);
  Drop send_fragments(Time now, Time ready, std::uint32_t flow, std::int64_t ordinal);
  std::int64_t next_of_pattern(DatagramFlow& flow);
  void open_barrier(Time now, std::uint32_t test);
  void take_sample(Time now, std::uint32_t test);
  void check_conservation();

  NetworkConfig config_;
  const experiments::Experiment& experiment_;
  std::vector<SwitchState> switches_;
  std::vector<HostStations> stations_;
  std::vector<std::uint32_t> first_nic_;
  std::vector<ReceiveQueue> nics_;               // their first receive queues, then all others
  std::vector<MoreQueues> more_queues_;          // by NIC, if any has more than one
  std::vector<NicPlace> nic_places_;             // by receive queue
  std::vector<std::unique_ptr<HostBus>> buses_;  // by host; null without one
  std::vector<std::unique_ptr<ReceiveDma>> receive_dma_;  // by NIC; null without a bus
  std::vector<ForwardDrops> forward_drops_;               // by NIC
  std::vector<Router> routers_;                           // by host
  std::vector<std::uint32_t> core_hosts_;                 // of every router's cores
  std::vector<bool> costly_;                              // by host: its cores are modelled
  std::vector<CoreWork> cores_;                           // of all hosts that cost something
  std::vector<std::uint32_t> first_core_;                 // by host, if any costs something
  std::vector<NicWork> nic_work_;   // by receive queue, if any host costs something
  std::vector<Process> processes_;  // by TCP end, if any host costs something
  std::vector<Wire> wires_;
  std::vector<Junction> junctions_;                 // by wire
  std::vector<std::unique_ptr<EgressPort>> ports_;  // by wire, of those that decide late
  std::vector<Ingress> ingress_;                    // by wire, if a switch sends PAUSE frames
  std::vector<std::uint32_t> control_hops_;         // by wire: the way to its other end
  std::vector<std::int64_t> pause_frames_;          // by wire: sent
  std::int64_t between_ports_ = 0;                  // frames on their way through a switch
  std::vector<std::uint32_t> hops_;      // the wires of every route in order, each with kArrived
  std::vector<std::uint32_t> reframed_;  // by hop, as far as any: which framing begins there
  std::vector<Reframing> framings_;
  std::vector<std::unique_ptr<Medium>> media_;
  std::vector<Route> routes_;
  std::vector<Leg> legs_;  // by route, of those the network was built with
  std::vector<Reroute> reroutes_;
  // Of flows that were moved, by index: the routes before their present one, and all they had sent
  // when they left these.
  std::map<std::uint32_t, std::vector<Passage>> left_by_ends_, left_by_datagrams_;
  std::vector<TcpEnd> ends_;
  std::vector<TcpFlow> tcp_flows_;  // flow i has ends 2i and 2i+1
  std::vector<DatagramFlow> datagram_flows_;
  std::vector<FlowRange> flows_of_test_;
  std::vector<LatencyRecorder> latencies_;          // by test; stays where it is, flows point here
  std::vector<std::unique_ptr<Barrier>> barriers_;  // by test
  std::vector<std::vector<Sample>> samples_;
  std::vector<Time> sample_period_;  // by test
  std::vector<Time> first_reader_;   // by test: when the first of its readers had its connection
  sim::SlotPool<Packet> packets_;
  std::optional<sim::Engine<Network>> engine_;
  std::unique_ptr<Capture> capture_;
  std::uint32_t end_base_ = 0, datagram_base_ = 0, nic_base_ = 0, host_core_base_ = 0,
                test_base_ = 0, core_base_ = 0;
  std::int64_t unfinished_ = 0;  // foreground flows
  Time last_progress_{};         // when payload last reached an application
  bool random_ = false;
  bool gave_up_ = false;
  bool complete_ = false;
};

}  // namespace linerate::models
