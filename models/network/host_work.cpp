// Hosts whose cores cost something: frames wait for interrupt and softirq, programs for their core,
// and what both do takes time. A host without costs never comes here.
#include <algorithm>

#include "models/network/network.hpp"
#include "models/nic/receive_hash.hpp"

namespace linerate::models {

// The first host of the machine that `host` is one of; itself if it has a machine of its own.
std::uint32_t Network::core_owner(std::uint32_t host) const {
  const std::vector<experiments::Host>& hosts = experiment_.hosts;
  if (hosts[host].machine.empty()) return host;
  const auto first = std::find_if(hosts.begin(), hosts.end(), [&](const experiments::Host& other) {
    return other.machine == hosts[host].machine;
  });
  return static_cast<std::uint32_t>(first - hosts.begin());
}

// Programs of file transfers take time even where the kernel costs nothing.
void Network::find_costly_hosts() {
  for (const experiments::Host& host : experiment_.hosts) costly_.push_back(host.cpu.modelled());
  const auto& hosts = experiment_.hosts;
  for (const experiments::Test* test : config_.tests) {
    if (test->type != experiments::TestType::file_transfer) continue;
    for (const experiments::Test::Pair& pair : test->pairs)
      for (const int end : {pair.from_host, pair.to_host})
        for (std::uint32_t h = 0; h < hosts.size(); ++h)
          if (core_owner(h) == core_owner(static_cast<std::uint32_t>(end))) costly_[h] = true;
  }
}

// The receive queues of NICs at hosts that cost something, so that each can have a core (RSS);
// where all interrupts go to one core they are as one.
void Network::spread_receive_queues() {
  const auto nics = static_cast<std::uint32_t>(nics_.size());
  for (std::uint32_t n = 0; n < nics; ++n) {
    const NicPlace place = nic_places_[n];
    const experiments::Host& host = experiment_.hosts[place.host];
    const int queues = std::min(host.nics[place.nic].queues, host.cpu.cores);
    if (!costly_[place.host] || host.cpu.interrupt_core || queues <= 1) continue;
    more_queues_.resize(nics);
    more_queues_[n] = {static_cast<std::uint32_t>(nics_.size()),
                       static_cast<std::uint32_t>(queues - 1)};
    for (int q = 1; q < queues; ++q) {
      nics_.emplace_back(host.nics[place.nic]);
      nic_places_.push_back(place);
    }
  }
}

void Network::build_cores() {
  if (std::find(costly_.begin(), costly_.end(), true) == costly_.end()) return;
  nic_work_.resize(nics_.size());
  processes_.resize(ends_.size());
  for (std::uint32_t h = 0; h < experiment_.hosts.size(); ++h) {
    const experiments::Host& host = experiment_.hosts[h];
    const std::uint32_t owner = core_owner(h);
    first_core_.push_back(owner < h ? first_core_[owner]
                                    : static_cast<std::uint32_t>(cores_.size()));
    if (!costly_[h]) continue;
    const auto cores = static_cast<std::uint32_t>(host.cpu.cores);
    if (owner == h) {
      cores_.resize(cores_.size() + cores);
      for (std::uint32_t c = 0; c < cores; ++c) cores_[first_core_[h] + c].host = h;
    }
    for (std::uint32_t n = 0; n < host.nics.size(); ++n) {
      const std::uint32_t nic = first_nic_[h] + n;
      const auto first =
          static_cast<std::uint32_t>(host.cpu.interrupt_core.value_or(static_cast<int>(n % cores)));
      nic_work_[nic].core = first_core_[h] + first;
      if (more_queues_.empty()) continue;
      for (std::uint32_t q = 1; q <= more_queues_[nic].count; ++q)
        nic_work_[receive_queue(nic, q)].core = first_core_[h] + (first + q) % cores;
    }
  }
  place_programs();
}

// Marks the cores that interrupts will come to: those of receive queues that flows hash to, and of
// NICs with one queue.
void Network::direct_interrupts() {
  for (std::uint32_t index = 0; index < ends_.size(); ++index) {
    if (!costly_[ends_[index].host]) continue;
    const std::uint32_t queue =
        receive_queue(nic_of_wire(routes_[ends_[index].route].wires.front()), receive_hash(index));
    cores_[nic_work_[queue].core].interrupted = true;
  }
  for (std::uint32_t index = 0; index < datagram_flows_.size(); ++index) {
    const DatagramFlow& flow = datagram_flows_[index];
    if (!costly_[flow.to_host]) continue;
    const std::uint32_t nic = nic_of_wire(routes_[flow.route].wires.back() ^ 1u);
    cores_[nic_work_[receive_queue(nic, receive_hash(index))].core].interrupted = true;
  }
  for (std::uint32_t n = 0; n < nic_work_.size(); ++n)
    if (nic_work_[n].on_core() &&
        (more_queues_.empty() || (n < more_queues_.size() && more_queues_[n].count == 0)))
      cores_[nic_work_[n].core].interrupted = true;
}

// The NIC that sends on a wire.
std::uint32_t Network::nic_of_wire(std::uint32_t wire) const {
  const experiments::PortRef& port = experiment_.links[wire / 2].ends[wire % 2];
  return nic_index(port.node, port.port);
}

void Network::place_programs() {
  direct_interrupts();
  std::vector<ProgramCores> placed;
  for (std::uint32_t h = 0; h < experiment_.hosts.size(); ++h) {
    std::vector<bool> interrupted(static_cast<std::size_t>(experiment_.hosts[h].cpu.cores));
    for (std::size_t c = 0; costly_[h] && c < interrupted.size(); ++c)
      interrupted[c] = cores_[first_core_[h] + c].interrupted;
    placed.emplace_back(interrupted);
  }
  for (std::uint32_t index = 0; index < ends_.size(); ++index) {
    TcpEnd& end = ends_[index];
    const experiments::Host& host = experiment_.hosts[end.host];
    if (!costly_[end.host]) continue;
    end.on_core = true;
    const experiments::Test& test = *config_.tests[tcp_flows_[index / 2].test];
    Process& process = processes_[index];
    const int next = placed[core_owner(end.host)].next();
    const int core = test.core.value_or(host.cpu.application_core.value_or(next));
    process.core = first_core_[end.host] + static_cast<std::uint32_t>(core);
    process.pinned = test.core || host.cpu.application_core;
    if (test.type == experiments::TestType::file_transfer)
      process.file =
          std::make_unique<FileProgram>(index % 2 == 0 ? test.client : test.server, host,
                                        std::holds_alternative<StreamWriter>(end.application));
    if (test.cpu_quota) process.allowance = kQuotaPeriod.scaled(*test.cpu_quota);
    process.nic = nic_of_wire(routes_[end.route].wires.front());
    if (!is_virtual_pair(routes_[end.route])) continue;
    const std::size_t queues = more_queues_.empty() ? 1 : more_queues_[process.nic].count + 1;
    for (std::size_t q = 0; q < queues; ++q)
      nic_work_[receive_queue(process.nic, q)].by_sender = true;
    end.hands_over_whole = nic_at(process.nic).offloads.tso;
  }
  place_datagram_programs(placed);
}

std::span<const CoreWork> Network::cores(std::uint32_t host) const {
  if (first_core_.empty() || !costly_[host]) return {};
  return {cores_.data() + first_core_[host],
          static_cast<std::size_t>(experiment_.hosts[host].cpu.cores)};
}

// Frames wait in the ring and nobody has been told.
void Network::tell_host(Time now, std::uint32_t nic) {
  NicWork& work = nic_work_[nic];
  if (work.told) return;
  work.told = true;
  if (work.by_sender) return told_by_sender(now, nic);
  CoreWork& core = cores_[work.core];
  const experiments::CpuCosts& cost = costs(core);
  core.core.rouse(now, experiment_.hosts[core.host].cpu.idle_states);
  ++core.interrupts;
  core.spend(Cause::interrupt, cost.interrupt);
  if (experiment_.hosts[core.host].cpu.interrupts == experiments::Interrupts::polling) {
    core.core.interrupt(now, cost.interrupt);
    core.polls.push_back(nic);
    return next_softirq(now, work.core);
  }
  work.counted = nics_[nic].waiting().size();
  const Time frames = cost.frame * static_cast<std::int64_t>(work.counted);
  core.spend(Cause::frame, frames);
  engine_->schedule(nic_source(nic), core.core.interrupt(now, cost.interrupt + frames),
                    Kind::handler, nic);
}

// A virtual interface raises no interrupt: its peer's softirq takes the packet in on the core that
// has sent it, so that a sender is charged for what the receiver's protocol does (Linux
// veth_xmit(), netif_rx()).
void Network::told_by_sender(Time now, std::uint32_t nic) {
  NicWork& work = nic_work_[nic];
  const Packet& packet = packets_.get(nics_[nic].waiting().front());
  if (packet.kind == PacketKind::tcp) work.core = processes_[packet.receiver ^ 1u].core;
  cores_[work.core].polls.push_back(nic);
  next_softirq(now, work.core);
}

// An interrupt handler of the older kind has taken its frames from the ring. The line is still
// raised for those that came meanwhile: handlers alone can use up a core, and what they have taken
// is then lost behind them (Mogul and Ramakrishnan, ACM TOCS 15(3), 1997).
void Network::on_handler(Time now, std::uint32_t nic) {
  NicWork& work = nic_work_[nic];
  CoreWork& core = cores_[work.core];
  ReceiveQueue& queue = nics_[nic];
  core.batch.clear();
  queue.take(work.counted, core.batch);
  queue.let_go(static_cast<std::int64_t>(core.batch.size()));
  const auto most = static_cast<std::size_t>(experiment_.hosts[core.host].cpu.backlog);
  for (const PacketHandle handle : core.batch) {
    if (core.backlog.size() < most) {
      core.backlog.push_back(handle);
    } else {
      ++core.backlog_drops;
      packets_.release(handle);
    }
  }
  core.batch.clear();
  core.next_of_batch = 0;
  work.told = false;
  if (queue.waiting().empty())
    queue.polled(now);
  else
    tell_host(now, nic);
  next_softirq(now, work.core);
}

// Finds frames for the softirq to process in the rings it polls; false if there are none. A ring
// found empty interrupts again.
bool Network::next_poll(Time now, CoreWork& core, Time& cost) {
  while (core.next_of_batch == core.batch.size()) {
    core.batch.clear();
    core.next_of_batch = 0;
    if (core.polls.empty()) return false;
    const std::uint32_t nic = core.polls.front();
    const std::int64_t budget = experiment_.hosts[core.host].cpu.poll_budget;
    ReceiveQueue& queue = nics_[nic];
    if (queue.waiting().empty()) {
      core.polls.pop_front();
      core.polled = 0;
      nic_work_[nic].told = false;
      queue.polled(now);
    } else if (core.polled >= budget && core.polls.size() > 1) {
      core.polls.push_back(core.polls.take_front());
      core.polled = 0;
    } else {
      queue.take(static_cast<std::size_t>(budget), core.batch);
      core.polled += static_cast<std::int64_t>(core.batch.size());
      cost += costs(core).poll;
      core.spend(Cause::poll, costs(core).poll);
    }
  }
  return true;
}

// The next polled frame with all that GRO merges into it; returns what the driver spends.
Time Network::take_polled(CoreWork& core) {
  ReceiveQueue& queue = nics_[core.polls.front()];
  core.in_service = core.batch[core.next_of_batch++];
  Packet& merged = packets_.get(core.in_service);
  std::int64_t frames = 1;
  for (; queue.gro() && core.next_of_batch < core.batch.size(); ++core.next_of_batch, ++frames) {
    const PacketHandle next = core.batch[core.next_of_batch];
    if (!gro_continues(merged, packets_.get(next))) break;
    merged.segment.length += packets_.get(next).segment.length;
    merged.segment.flags |= packets_.get(next).segment.flags;
    merged.segment.frames = static_cast<std::uint8_t>(merged.segment.frames + 1);
    packets_.release(next);
  }
  queue.let_go(frames);
  core.spend(Cause::frame, costs(core).frame * frames);
  return costs(core).frame * frames;
}

void Network::next_softirq(Time now, std::uint32_t index) {
  CoreWork& core = cores_[index];
  if (core.serving || core.in_softirq) return;
  Time cost{};
  if (!core.backlog.empty()) {
    core.in_service = core.backlog.take_front();
  } else {
    if (!next_poll(now, core, cost)) return;
    cost += take_polled(core);
  }
  const Packet& packet = packets_.get(core.in_service);
  if (packet.kind == PacketKind::tcp)
    cost += tunnel_cost(core, packet.receiver, Bytes(packet.segment.length), packet.segment.frames);
  else if (packet.kind != PacketKind::raw)
    cost += datagram_tunnel(core, datagram_flows_[packet.receiver].programs.to_nic,
                            datagram_flows_[packet.receiver]);
  const bool data = packet.segment.length > 0;
  const Time protocol = data ? costs(core).segment_received : costs(core).ack_received;
  core.spend(data ? Cause::segment : Cause::ack, protocol);
  core.serving = true;
  core.core.begin_softirq(now, cost + protocol);
  watch_softirq(now, index);
}

void Network::watch_softirq(Time now, std::uint32_t index) {
  CoreWork& core = cores_[index];
  const Time at = core.softirq_due.set(core.core.softirq_end());
  if (at != Time::never())
    engine_->schedule(host_core_source(index), later(at, now), Kind::softirq, index,
                      core.softirq_due.generation());
}

void Network::watch_process(Time now, std::uint32_t index) {
  CoreWork& core = cores_[index];
  const Time at = core.process_due.set(core.core.process_end());
  if (at != Time::never())
    engine_->schedule(host_core_source(index), later(at, now), Kind::process, index,
                      core.process_due.generation());
}

void Network::on_softirq(Time now, std::uint32_t index, std::uint64_t generation) {
  CoreWork& core = cores_[index];
  const sim::LazyTimer::Fired fired = core.softirq_due.on_event(now, generation);
  if (!fired.expired || core.core.softirq_end() > now) {
    if (fired.expired || fired.again != Time::never()) watch_softirq(now, index);
    return;
  }
  core.core.finish_softirq(now);
  core.serving = false;
  core.in_softirq = true;
  core.core.append_softirq(now, take_in(now, core));
  core.in_softirq = false;
  next_softirq(now, index);
  next_process(now, index);
}

// A frame of this end has been handed to the device, which tells when it has gone if that costs.
void Network::watch_completion(TcpEnd& end, std::uint32_t index) {
  const Process& process = processes_[index];
  // A transmit queue is that of the core that sends (XPS), and tells the core it belongs to.
  const CoreWork& sender = cores_[process.core];
  const std::uint32_t queue = receive_queue(process.nic, process.core - first_core_[sender.host]);
  NicWork& work = nic_work_[queue];
  if (costs(cores_[work.core]).completion == Time{} || end.in_device.empty()) return;
  const Time departure =
      end.in_device.departure(static_cast<std::size_t>(end.in_device.frames() - 1));
  if (!work.transmitting.empty() && work.transmitting.back() >= departure) return;
  work.transmitting.push_back(departure);
  if (work.completion_due) return;
  work.completion_due = true;
  const Time delay = nic_at(process.nic).transmit_coalescing.delay;
  engine_->schedule(nic_source(queue), later(departure + delay, engine_->now()), Kind::completion,
                    queue);
}

void Network::on_completion(Time now, std::uint32_t index) {
  NicWork& work = nic_work_[index];
  CoreWork& core = cores_[work.core];
  core.core.rouse(now, experiment_.hosts[core.host].cpu.idle_states);
  core.core.interrupt(now, costs(core).completion);
  core.spend(Cause::completion, costs(core).completion);
  while (!work.transmitting.empty() && work.transmitting.front() <= now)
    work.transmitting.pop_front();
  work.completion_due = !work.transmitting.empty();
  if (!work.completion_due) return;
  engine_->schedule(nic_source(index),
                    work.transmitting.front() + nic_at(index).transmit_coalescing.delay,
                    Kind::completion, index);
}

std::int64_t Network::held_by_hosts() const {
  std::int64_t held = 0;
  for (const CoreWork& core : cores_)
    held +=
        static_cast<std::int64_t>(core.backlog.size() + core.batch.size() - core.next_of_batch) +
        (core.serving ? 1 : 0);
  return held;
}

}  // namespace linerate::models
