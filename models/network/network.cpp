#include "models/network/network.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "models/nic/receive_hash.hpp"

namespace linerate::models {

namespace {

// A run in which no payload reaches an application for so long will not get anywhere: longer than
// the longest retransmission timeout (RFC 6298 2.5 allows 60 s, Linux 120 s) several times over.
constexpr Time kHopeless = Time::seconds(600);

}  // namespace

inline Network::HandedDown Network::transmit(Time now, std::uint32_t index,
                                             sim::SlotPool<Packet>::Taken frame, Time not_before) {
  Wire& wire = wires_[index];
  const Wire::Sent sent = wire.send(now, frame.handle, frame.value, not_before);
  if (sent.drop != Drop::none) [[unlikely]]
    return not_sent(now, index, frame, not_before, {sent.drop, sent.departure});
  if (sent.wake) engine_->schedule(index, sent.arrival, Kind::arrival, index);
  return {Drop::none, sent.departure};
}

inline void Network::hand_up(Time now, PacketHandle handle, const Packet& packet) {
  if (packet.kind == PacketKind::tcp) return hand_up_segment(now, handle, packet);
  if (packet.kind > PacketKind::raw) [[unlikely]]
    return heed_control(now, handle, packet);
  DatagramFlow& flow = datagram_flows_[packet.receiver];
  stations_[flow.to_host].receive(now);
  last_progress_ = now;
  if (flow.programs.receiver != DatagramPrograms::kFree) [[unlikely]] {
    now = read_on_core(now, flow);
    if (now == Time::never()) return packets_.release(handle, packet);
  }
  flow.sink.receive(now, {.sent = packet.sent,
                          .ordinal = static_cast<std::int64_t>(packet.segment.sequence),
                          .payload = packet.segment.length,
                          .wire = packet.wire_bytes});
  packets_.release(handle, packet);
}

inline void Network::on_arrival(Time now, std::uint32_t index) {
  Wire& wire = wires_[index];
  const PacketHandle handle = wire.arrive();
  // The next head is scheduled before anything else, so that it takes this event's place.
  if (wire.wants_event()) engine_->schedule(index, wire.next_arrival(), Kind::arrival, index);
  arrive(now, index, handle, packets_.get(handle));
}

// What becomes of a frame at the end of a wire.
inline void Network::arrive(Time now, std::uint32_t index, PacketHandle handle, Packet& packet) {
  const Junction& at = junctions_[index];
  const std::uint32_t next = hops_[++packet.hop];
  if (next == kArrived) {
    if (at.landing != Junction::Landing::hand_up) {
      if (at.landing == Junction::Landing::gather) return enqueue(now, at.nic, handle);
      return land(now, at.nic, handle, packet);
    }
    return hand_up(now, handle, packet);
  }
  Time ready = packet.tail + at.latency;
  if (at.kind != Junction::Kind::plain_switch) [[unlikely]] {
    if (packet.hop < reframed_.size()) change_framing(packet);
    if (at.kind == Junction::Kind::other_switch)
      return through_switch(now, switches_[at.node], wires_[index], next, {handle, packet});
    if (at.detour) return pass_host(now, at.nic, handle, packet);
    ready = stations_[at.node].transmit(stations_[at.node].receive(now));
  }
  transmit(now, next, {handle, packet}, ready);
}

// `ready`: when its sender has made the frame.
inline Drop Network::send_frame(Time now, Time ready, std::uint32_t index, std::int64_t ordinal,
                                std::uint32_t wire_bytes) {
  const DatagramFlow& flow = datagram_flows_[index];
  const auto frame = packets_.take();
  Packet& packet = frame.value;
  packet.receiver = index;
  packet.hop = flow.first_hop;
  packet.kind = flow.kind;
  packet.priority = flow.priority;
  packet.outside_mtu = flow.outside_mtu;
  packet.wire_bytes = wire_bytes;
  packet.sent = now;
  packet.segment.sequence = static_cast<std::uint64_t>(ordinal);
  packet.segment.length = flow.payload;
  packet.segment.retransmission = false;
  packet.segment.ecn = tcp::Ecn::not_ect;
  return transmit(now, hops_[flow.first_hop], frame, stations_[flow.from_host].transmit(ready))
      .drop;
}

inline void Network::send_datagram(Time now, std::uint32_t index) {
  DatagramFlow& flow = datagram_flows_[index];
  Time ready = now;
  if (flow.programs.sender != DatagramPrograms::kFree) [[unlikely]] {
    ready = made_on_core(now, index);
    if (ready == Time::never()) return finish_source(flow);
  }
  const std::int64_t ordinal = flow.pattern ? next_of_pattern(flow) : flow.source.next();
  const Drop drop = flow.kind == PacketKind::fragment
                        ? send_fragments(now, ready, index, ordinal)
                        : send_frame(now, ready, index, ordinal, flow.wire_bytes);
  if (drop == Drop::queue) ++flow.refused;
  const Time due = flow.source.due();
  if (due != Time::never())
    engine_->schedule(datagram_source(index), std::max(due, now), Kind::due, index);
  else
    finish_source(flow);
}

inline void Network::dispatch(const sim::Event& event) {
  const Time now = engine_->now();
  const Kind kind = event.kind_as<Kind>();
  if (kind == Kind::arrival) [[likely]]
    return on_arrival(now, event.target);
  switch (kind) {
    case Kind::arrival:
      return;
    case Kind::timer:
      return on_timer(now, event.target, event.argument);
    case Kind::start:
      return start_flow(now, event.target);
    case Kind::due:
      return send_datagram(now, event.target);
    case Kind::poll:
      if (event.argument != nics_[event.target].batch()) return;
      if (on_core(event.target)) return tell_host(now, event.target);
      return poll(now, event.target);
    case Kind::device:
      return on_device(now, event.target);
    case Kind::sample:
      return take_sample(now, event.target);
    case Kind::enqueue: {
      --between_ports_;
      const PacketHandle handle = PacketHandle::unpack(event.argument);
      enter_port(now, event.target, {handle, packets_.get(handle)});
      return;
    }
    case Kind::port:
      return on_port(now, event.target);
    case Kind::pause:
      return on_pause_refresh(now, event.target, static_cast<unsigned>(event.argument));
    case Kind::medium:
      return on_medium(now, event.target);
    case Kind::link_event:
      return on_link_event(now, event.target, event.argument != 0);
    case Kind::reroute:
      return on_reroute(event.target);
    case Kind::round:
      return open_barrier(now, event.target);
    case Kind::dma:
      return on_dma(now, event.target);
    case Kind::forward:
      return on_forwarded(now, event.target);
    case Kind::handler:
      return on_handler(now, event.target);
    case Kind::softirq:
      return on_softirq(now, event.target, event.argument);
    case Kind::process:
      return on_process(now, event.target, event.argument);
    case Kind::completion:
      return on_completion(now, event.target);
    case Kind::quota:
      return on_quota(now, event.target);
  }
}

bool Network::run() {
  Time last_start{};  // nothing is late before everything has begun
  for (const experiments::Test* test : config_.tests)
    if (!test->background) last_start = std::max(last_start, test->start);
  for (std::uint32_t i = 0; i < tcp_flows_.size(); ++i)
    engine_->schedule(end_source(tcp_flows_[i].client), tcp_flows_[i].start, Kind::start, i);
  for (std::uint32_t i = 0; i < datagram_flows_.size(); ++i) {
    DatagramFlow& flow = datagram_flows_[i];
    if (flow.pattern) flow.pattern->start(flow.start);
    flow.source.start(flow.start, flow.pattern ? flow.pattern->due() : flow.start);
    flow.sink.start(flow.start);
    if (flow.source.due() != Time::never())
      engine_->schedule(datagram_source(i), flow.source.due(), Kind::due, i);
    else if (!config_.tests[flow.test]->background)
      --unfinished_;  // none comes within its time
  }
  for (std::uint32_t i = 0; i < samples_.size(); ++i)
    engine_->schedule(test_source(i), config_.tests[i]->start + sample_period_[i], Kind::sample, i);
  schedule_link_changes();

  bool stopped = false;
  Time finished = Time::never();
  auto stop = [&] {
    stopped = config_.stop != nullptr && config_.stop->load(std::memory_order_relaxed);
    if (config_.progress) config_.progress(engine_->now(), engine_->events());
    gave_up_ = engine_->now() - std::max(last_progress_, last_start) > kHopeless;
    if (unfinished_ == 0) finished = std::min(finished, engine_->now());
    return stopped || gave_up_ ||
           (finished != Time::never() && engine_->now() - finished >= config_.drain);
  };
  // Asking often lets the run end soon after its last flow: what follows is only timers.
  engine_->run(*this, Time::never(), stop, 1024);
  // Flows for which nothing at all is to happen any more were given up too.
  gave_up_ = gave_up_ || (!stopped && unfinished_ > 0);
  if (capture_) capture_->finish(engine_->now());
  check_conservation();
  count_media();
  complete_ = !stopped && !gave_up_;
  return !stopped;
}

// A switch that cuts through or has a limited fabric puts a frame on its next wire when it can.
void Network::through_switch(Time now, SwitchState& at, const Wire& from, std::uint32_t next,
                             sim::SlotPool<Packet>::Taken frame) {
  const Packet& packet = frame.value;
  const Wire& to = wires_[next];
  // Cut-through needs an idle egress that is not faster than the ingress, or it would run dry. A
  // port that decides late wants the whole frame first.
  const bool cuts = at.cut_through && to.rate() <= from.rate() &&
                    to.idle_from() <= now + at.latency && !to.has_port();
  const Time ready = (cuts ? now : packet.tail) + at.latency;
  if (!at.fabric_rate && at.fabric_per_frame == Time{}) {
    transmit(now, next, frame, ready);
    return;
  }
  const Time cost = std::max(
      at.fabric_rate ? serialization_time(Bytes(packet.wire_bytes), *at.fabric_rate) : Time{},
      at.fabric_per_frame);
  const Time served = at.fabric.serve(now, cost);
  const HandedDown sent = transmit(now, next, frame, std::max(ready, served + at.latency));
  // A frame without memory to wait in never reaches the fabric.
  if (sent.drop == Drop::queue) at.fabric.refund(cost);
}

void Network::enqueue(Time now, std::uint32_t nic_index, PacketHandle handle) {
  // The MAC deals with control frames itself.
  if (const Packet& packet = packets_.get(handle); packet.kind >= PacketKind::pause) [[unlikely]]
    return heed_control(now, handle, packet);
  if (!more_queues_.empty())
    nic_index = receive_queue(nic_index, receive_hash(packets_.get(handle).receiver));
  ReceiveQueue& nic = nics_[nic_index];
  switch (nic.add(now, handle)) {
    case ReceiveQueue::Step::wait:
      return;
    case ReceiveQueue::Step::full:
      return packets_.release(handle);
    case ReceiveQueue::Step::poll:
      if (on_core(nic_index)) return tell_host(now, nic_index);
      return poll(now, nic_index);
    case ReceiveQueue::Step::arm:
      engine_->schedule(nic_source(nic_index), nic.due(), Kind::poll, nic_index, nic.batch());
      return;
  }
}

void Network::poll(Time now, std::uint32_t nic_index) {
  ReceiveQueue& nic = nics_[nic_index];
  // By index: what is handed up can send, and what it sends can loop back here only later.
  std::vector<PacketHandle>& waiting = nic.waiting();
  std::size_t i = 0;
  while (i < waiting.size()) {
    const PacketHandle head = waiting[i++];
    Packet& merged = packets_.get(head);
    while (nic.gro() && i < waiting.size()) {
      const Packet& next = packets_.get(waiting[i]);
      if (!gro_continues(merged, next)) break;
      merged.segment.length += next.segment.length;
      merged.segment.flags |= next.segment.flags;
      merged.segment.frames = static_cast<std::uint8_t>(merged.segment.frames + 1);
      packets_.release(waiting[i++]);
    }
    hand_up(now, head, merged);
  }
  nic.polled(now);
}

// Tells the endpoint what has left the device since it was last asked.
inline void Network::settle_device(Time now, TcpEnd& end) {
  if (end.in_device.empty()) return;
  const std::int64_t left = end.in_device.expire(now);
  if (left > 0) end.endpoint.on_transmitted(now, Bytes(left));
}

inline void Network::run_application(Time now, TcpEnd& end) {
  std::visit([&](auto& app) { app.run(now, end.endpoint); }, end.application);
  if (end.closed == Time::never() && end.endpoint.peer_closed()) end.closed = now;
}

// Lets the application act on what the endpoint has to tell; returns whether segments may have come
// of it.
inline bool Network::heed_signals(Time now, TcpEnd& end, std::uint32_t index) {
  const tcp::Signals signals = end.endpoint.take_signals();
  if (!signals.any()) return !end.endpoint.output().empty();
  if (signals.acked_all) end.last_acked = now;
  if (signals.connected) {
    end.connected = now;
    std::visit(
        [now](auto& app) {
          if constexpr (requires { app.start(now); }) app.start(now);
        },
        end.application);
    if (auto* reader = std::get_if<StreamReader>(&end.application)) {
      Time& first = first_reader_[tcp_flows_[index / 2].test];
      first = earlier(first, now);
      reader->count_from(first);
    }
  }
  if (signals.readable) last_progress_ = now;
  if (end.on_core) [[unlikely]] {
    heed_news(now, index, signals);
    return !end.endpoint.output().empty();
  }
  run_application(now, end);
  if (!end.streams || end.closed != Time::never()) check_finished(index);
  return end.endpoint.has_news();
}

// `segment` may lie in the endpoint's output, which on_transmitted() can move: it is copied first.
inline void Network::emit(Time now, TcpEnd& end, std::uint32_t receiver,
                          const tcp::Segment& segment) {
  // Options count as payload of a framing without any.
  const std::uint32_t carried = segment.length + segment.option_bytes;
  const auto frame = packets_.take();
  Packet& packet = frame.value;
  packet.receiver = receiver;
  packet.hop = end.first_hop;
  packet.kind = PacketKind::tcp;
  packet.priority = end.priority;
  packet.outside_mtu = end.outside_mtu;
  tcp::copy(segment, packet.segment);
  if (carried != end.last_sizes.payload) end.last_sizes = end.framing.sizes(Bytes(carried));
  const std::uint32_t ip_bytes = end.last_sizes.packet;
  packet.wire_bytes = end.last_sizes.wire;
  packet.sent = now;
  end.wire_bytes_sent += packet.wire_bytes;
  const std::uint32_t wire = hops_[end.first_hop];
  const HandedDown sent = transmit(now, wire, frame, stations_[end.host].transmit(now));
  if (wires_[wire].emulated_path() || sent.departure <= now)
    end.endpoint.on_transmitted(now, Bytes(ip_bytes));
  else if (sent.departure != Time::never())
    end.in_device.add(sent.departure, ip_bytes);
}

// Emits segments from the `first` of the output on that are one buffer for segmentation offload as
// the one packet that a virtual interface makes of it; returns how many there were.
std::size_t Network::emit_whole(Time now, TcpEnd& end, std::uint32_t receiver, std::size_t first) {
  constexpr std::uint32_t kLargest = 65535;  // of an IP packet (RFC 791)
  const std::vector<tcp::Segment>& output = end.endpoint.output();
  tcp::Segment whole = output[first];
  std::size_t next = first + 1;
  for (; next < output.size() && whole.length > 0 && !whole.has(tcp::kPush) && whole.frames < 255;
       ++next) {
    const tcp::Segment& segment = output[next];
    const bool continues = segment.length > 0 && !segment.has(tcp::kSyn) &&
                           segment.sequence == whole.sequence + whole.length &&
                           segment.option_bytes == whole.option_bytes;
    if (!continues || whole.length + segment.length + 100 > kLargest) break;
    whole.length += segment.length;
    whole.flags |= segment.flags;
    whole.frames = static_cast<std::uint8_t>(whole.frames + 1);
  }
  emit(now, end, receiver, whole);
  // The others' headers were never there, but their sender counts them below it.
  const std::int64_t headers = end.last_sizes.packet - whole.length;
  if (next - first > 1)
    end.endpoint.on_transmitted(now, Bytes(headers * static_cast<std::int64_t>(next - first - 1)));
  return next - first;
}

inline void Network::arm(TcpEnd& end, std::uint32_t index) {
  Time deadline = end.endpoint.next_timer();
  // A program that runs or is about to looks at the clock itself.
  if (!end.on_core || processes_[index].state == Process::State::asleep)
    deadline = earlier(deadline, end.program_deadline());
  const Time at = end.timer.set(deadline);
  if (at != Time::never())
    engine_->schedule(end_source(index), std::max(at, engine_->now()), Kind::timer, index,
                      end.timer.generation());
  if (!end.device_event && end.endpoint.waits_for_device()) watch_device(index);
}

// Has a sender called when its device lets go of a frame, if it waits for that.
void Network::watch_device(std::uint32_t index) {
  TcpEnd& end = ends_[index];
  if (end.device_event || end.in_device.empty() || !end.endpoint.waits_for_device()) return;
  end.device_event = true;
  engine_->schedule(end_source(index), std::max(end.in_device.departure(0), engine_->now()),
                    Kind::device, index);
}

// Moves on what the endpoint has sent and lets the application act, until neither has anything to
// say. A copy of its own stands on the way of a segment.
inline void Network::serve(Time now, TcpEnd& end, std::uint32_t index) {
  do {
    std::vector<tcp::Segment>& output = end.endpoint.output();
    // By index: a device that lets go at once lets the endpoint emit more meanwhile.
    const tcp::Segment* segment = nullptr;
    for (std::size_t i = 0; (segment = output.data() + i) != output.data() + output.size(); ++i)
      emit(now, end, index ^ 1u, *segment);
    output.clear();
  } while (heed_signals(now, end, index));
  arm(end, index);
}

void Network::service(Time now, std::uint32_t index) {
  TcpEnd& end = ends_[index];
  if (!end.on_core) return serve(now, end, index);
  cores_[processes_[index].core].core.append_softirq(now, serve_on_core(now, end, index, now));
}

// The stack takes in a frame; returns what sending has cost that came of it.
Time Network::take_in(Time now, CoreWork& core) {
  const Packet& packet = packets_.get(core.in_service);
  if (packet.kind != PacketKind::tcp) {
    hand_up(now, core.in_service, packet);
    return {};
  }
  const std::uint32_t index = packet.receiver;
  TcpEnd& end = ends_[index];
  settle_device(now, end);
  end.endpoint.on_packet(now, packet.segment);
  packets_.release(core.in_service);
  return serve_on_core(now, end, index, now);
}

void Network::rearm(std::uint32_t index) { arm(ends_[index], index); }

// The same as serve() on a host whose cores cost something: segments leave one after the other, the
// first when it has been made, which begins at `from`. Returns how long making them takes.
Time Network::serve_on_core(Time now, TcpEnd& end, std::uint32_t index, Time from) {
  CoreWork& core = cores_[processes_[index].core];
  Time leaves = from;
  tcp::Sequence merged_to = 0;
  do {
    std::vector<tcp::Segment>& output = end.endpoint.output();
    for (std::size_t i = 0; i < output.size();) {
      leaves += sending_cost(core, end, output[i], merged_to);
      stations_[end.host].cpu.set_free_at(sealed_by_worker(leaves, index, output[i]));
      if (end.hands_over_whole) {
        i += emit_whole(now, end, index ^ 1u, i);
        merged_to = 0;
        continue;
      }
      emit(now, end, index ^ 1u, output[i++]);
      watch_completion(end, index);
    }
    output.clear();
  } while (heed_signals(now, end, index));
  arm(end, index);
  return leaves - from;
}

void Network::hand_up_segment(Time now, PacketHandle handle, const Packet& packet) {
  const std::uint32_t index = packet.receiver;
  TcpEnd& end = ends_[index];
  stations_[end.host].receive(now);
  settle_device(now, end);
  end.endpoint.on_packet(now, packet.segment);
  packets_.release(handle, packet);
  serve(now, end, index);
}

void Network::start_flow(Time now, std::uint32_t index) {
  const std::uint32_t client = tcp_flows_[index].client;
  ends_[client].endpoint.connect(now);
  service(now, client);
}

void Network::on_timer(Time now, std::uint32_t index, std::uint64_t generation) {
  TcpEnd& end = ends_[index];
  const sim::LazyTimer::Fired fired = end.timer.on_event(now, generation);
  if (fired.again != Time::never()) {
    engine_->schedule(end_source(index), fired.again, Kind::timer, index, end.timer.generation());
    return;
  }
  if (!fired.expired) return;
  settle_device(now, end);
  end.endpoint.on_timer(now);
  if (!end.on_core) {
    run_application(now, end);
  } else if (end.program_deadline() <= now) {
    wake_process(now, index);
  }
  service(now, index);
}

void Network::on_device(Time now, std::uint32_t index) {
  TcpEnd& end = ends_[index];
  end.device_event = false;
  settle_device(now, end);
  service(now, index);
}

// All members go on at the moment at which the last of them arrived.
void Network::open_barrier(Time now, std::uint32_t test) {
  barriers_[test]->open(now);
  for (std::uint32_t i = flows_of_test_[test].first_tcp; i < flows_of_test_[test].end_tcp; ++i) {
    const std::uint32_t client = tcp_flows_[i].client;
    settle_device(now, ends_[client]);
    if (ends_[client].on_core) {
      wake_process(now, client);
    } else {
      run_application(now, ends_[client]);
      check_finished(client);
    }
    service(now, client);
  }
}

void Network::check_finished(std::uint32_t index) {
  TcpFlow& flow = tcp_flows_[index / 2];
  if (flow.finished) return;
  TcpEnd& client = ends_[flow.client];
  if (auto* requester = std::get_if<Requester>(&client.application)) {
    if (requester->take_barrier())
      engine_->schedule(test_source(flow.test), now(), Kind::round, flow.test);
    // Nobody closes; it is over when the server knows that its last response arrived.
    if (!requester->finished() || ends_[flow.server].last_acked < requester->last_response())
      return;
  } else {
    // Both directions are closed: every byte was read and the writer knows.
    for (const std::uint32_t i : {flow.client, flow.server})
      if (ends_[i].closed == Time::never()) return;
  }
  flow.finished = true;
  if (!config_.tests[flow.test]->background) --unfinished_;
}

void Network::take_sample(Time now, std::uint32_t test) {
  Time& period = sample_period_[test];
  Sample sample{
      .from = now - period, .to = now, .bytes = 0, .retransmits = 0, .cwnd = 0, .srtt = {}};
  const FlowRange& own = flows_of_test_[test];
  for (std::uint32_t i = own.first_tcp; i < own.end_tcp; ++i) {
    const TcpFlow& flow = tcp_flows_[i];
    const std::uint32_t sender = flow.data_from_client ? flow.client : flow.server;
    const tcp::Progress progress = ends_[sender].endpoint.progress();
    sample.bytes += ends_[sender ^ 1u].endpoint.progress().bytes_received;
    sample.retransmits += progress.retransmits;
    sample.cwnd += static_cast<double>(progress.cwnd);
    sample.srtt += progress.srtt;
  }
  for (std::uint32_t i = own.first_datagram; i < own.end_datagram; ++i)
    sample.bytes += datagram_flows_[i].sink.bytes();
  if (const std::int64_t flows = own.end_tcp - own.first_tcp; flows > 0) {
    sample.cwnd /= static_cast<double>(flows);
    sample.srtt = sample.srtt / flows;
  }
  samples_[test].push_back(sample);  // cumulative; the report takes differences
  const experiments::Test& t = *config_.tests[test];
  if (unfinished_ == 0 || now - later(last_progress_, t.start) > kHopeless) return;
  // What comes after the end of a timed test, until its last flow has closed, can last a hundred
  // times as long when a retransmission timeout is part of it: each interval is twice the last.
  if ((!t.bytes || t.arrivals) && now >= t.start + t.duration) period = period * 2;
  engine_->schedule(test_source(test), now + period, Kind::sample, test);
}

std::int64_t Network::packet_hops() const {
  std::int64_t hops = 0;
  for (const Wire& wire : wires_) hops += wire.frames_sent();
  return hops;
}

// Every frame is on a wire, waiting in a NIC, or gone: nothing is held that nobody can reach.
void Network::check_conservation() {
  std::int64_t held = 0;
  for (const Wire& wire : wires_) held += wire.holds();
  for (ReceiveQueue& nic : nics_) held += static_cast<std::int64_t>(nic.waiting().size());
  for (const auto& port : ports_)
    if (port) held += port->holds();
  for (const auto& medium : media_) held += medium->domain.holds();
  for (const auto& dma : receive_dma_)
    if (dma) held += dma->holds();
  for (const Router& router : routers_)
    for (const ForwardingCore& core : router.cores) held += core.holds();
  held += between_ports_ + held_by_hosts();
  LINERATE_CHECK(held == static_cast<std::int64_t>(packets_.live()),
                 "every packet is delivered, dropped or still somewhere");
  std::map<std::pair<std::uint32_t, std::int64_t>, std::int64_t> under_way;  // fragments
  packets_.for_each_live([&](PacketHandle, const Packet& packet) {
    if (packet.kind == PacketKind::datagram || packet.kind == PacketKind::raw)
      ++datagram_flows_[packet.receiver].in_flight;
    else if (packet.kind == PacketKind::fragment)
      ++under_way[{packet.receiver, static_cast<std::int64_t>(packet.segment.sequence)}];
  });
  for (const auto& [datagram, live] : under_way) {
    DatagramFlow& flow = datagram_flows_[datagram.first];
    if (live + flow.reassembly.arrived(datagram.second) == flow.fragments.count) ++flow.in_flight;
  }
}

}  // namespace linerate::models
