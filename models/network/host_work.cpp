// Hosts whose cores cost something: frames wait for interrupt and softirq, programs for their core,
// and what both do takes time. A host without costs never comes here.
#include <algorithm>

#include "models/network/network.hpp"

namespace linerate::models {

namespace {

// A long write is copied and sent piece by piece, so that its first segments need not wait for the
// rest and what interrupts it comes between.
constexpr Bytes kCopyPiece{16384};

Time copy_time(Bytes size, const std::optional<BitRate>& rate) {
  return rate ? serialization_time(size, *rate) : Time{};
}

}  // namespace

// Programs of file transfers take time even where the kernel costs nothing.
void Network::find_costly_hosts() {
  for (const experiments::Host& host : experiment_.hosts) costly_.push_back(host.cpu.modelled());
  for (const experiments::Test* test : config_.tests) {
    if (test->type != experiments::TestType::file_transfer) continue;
    for (const experiments::Test::Pair& pair : test->pairs)
      costly_[static_cast<std::size_t>(pair.from_host)] =
          costly_[static_cast<std::size_t>(pair.to_host)] = true;
  }
}

void Network::build_cores() {
  if (std::find(costly_.begin(), costly_.end(), true) == costly_.end()) return;
  nic_work_.resize(nics_.size());
  processes_.resize(ends_.size());
  for (std::uint32_t h = 0; h < experiment_.hosts.size(); ++h) {
    const experiments::Host& host = experiment_.hosts[h];
    first_core_.push_back(static_cast<std::uint32_t>(cores_.size()));
    if (!costly_[h]) continue;
    const auto cores = static_cast<std::uint32_t>(host.cpu.cores);
    cores_.resize(cores_.size() + cores);
    for (std::uint32_t c = 0; c < cores; ++c) cores_[first_core_[h] + c].host = h;
    for (std::uint32_t n = 0; n < host.nics.size(); ++n) {
      const int core = host.cpu.interrupt_core.value_or(static_cast<int>(n % cores));
      nic_work_[first_nic_[h] + n].core = first_core_[h] + static_cast<std::uint32_t>(core);
    }
  }
  std::vector<std::uint32_t> placed(experiment_.hosts.size());
  for (std::uint32_t index = 0; index < ends_.size(); ++index) {
    TcpEnd& end = ends_[index];
    const experiments::Host& host = experiment_.hosts[end.host];
    if (!costly_[end.host]) continue;
    end.on_core = true;
    const experiments::Test& test = *config_.tests[tcp_flows_[index / 2].test];
    Process& process = processes_[index];
    // Programs spread over the cores, beginning behind the one that serves the first NIC.
    const std::uint32_t next = ++placed[end.host] % static_cast<std::uint32_t>(host.cpu.cores);
    const int core = test.core.value_or(host.cpu.application_core.value_or(static_cast<int>(next)));
    process.core = first_core_[end.host] + static_cast<std::uint32_t>(core);
    if (test.type == experiments::TestType::file_transfer)
      process.file =
          std::make_unique<FileProgram>(index % 2 == 0 ? test.client : test.server, host,
                                        std::holds_alternative<StreamWriter>(end.application));
    if (test.cpu_quota) process.allowance = kQuotaPeriod.scaled(*test.cpu_quota);
    const std::uint32_t wire = routes_[end.route].wires.front();
    const experiments::PortRef& port = experiment_.links[wire / 2].ends[wire % 2];
    process.nic = nic_index(port.node, port.port);
  }
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
  CoreWork& core = cores_[work.core];
  const experiments::CpuCosts& cost = costs(core);
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
  const bool data = packets_.get(core.in_service).segment.length > 0;
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

void Network::heed_news(Time now, std::uint32_t index, const tcp::Signals& news) {
  TcpEnd& end = ends_[index];
  Process& process = processes_[index];
  CoreWork& core = cores_[process.core];
  if (news.connected) {
    process.owed += costs(core).connection;
    core.spend(Cause::connection, costs(core).connection);
  }
  if (std::visit([&](auto& app) { return app.wants(news); }, end.application))
    wake_process(now, index);
  // A writer sleeps when its peer closes; nobody needs to wake it for that.
  const bool writes = std::holds_alternative<StreamWriter>(end.application);
  if (writes && end.closed == Time::never() && end.endpoint.peer_closed()) end.closed = now;
  if (!end.streams || end.closed != Time::never()) check_finished(index);
}

void Network::wake_process(Time now, std::uint32_t index) {
  Process& process = processes_[index];
  CoreWork& core = cores_[process.core];
  if (process.state != Process::State::asleep) {
    process.again = true;
    return;
  }
  process.owed += costs(core).wake;
  core.spend(Cause::wake, costs(core).wake);
  process.state = Process::State::ready;
  core.ready.push_back(index);
  next_process(now, process.core);
}

void Network::next_process(Time now, std::uint32_t index) {
  CoreWork& core = cores_[index];
  if (core.in_softirq) return;
  while (core.running == CoreWork::kNobody && !core.ready.empty())
    begin_call(now, index, core.ready.take_front());
}

bool Network::throttled(Time now, std::uint32_t index) {
  Process& process = processes_[index];
  if (process.allowance == Time::never()) return false;
  const std::int64_t period = now / kQuotaPeriod;
  // What was used above the allowance is owed to the next periods.
  process.used = later(Time{}, process.used - process.allowance * (period - process.period));
  process.period = period;
  if (process.used < process.allowance) return false;
  process.state = Process::State::throttled;
  ++process.throttles;
  engine_->schedule(end_source(index), kQuotaPeriod * (period + 1), Kind::quota, index);
  return true;
}

bool Network::waits_for_disk(Time now, std::uint32_t index) {
  Process& process = processes_[index];
  if (process.not_before <= now) return false;
  process.state = Process::State::throttled;
  engine_->schedule(end_source(index), process.not_before, Kind::quota, index);
  return true;
}

void Network::on_quota(Time now, std::uint32_t index) {
  Process& process = processes_[index];
  process.state = Process::State::ready;
  cores_[process.core].ready.push_back(index);
  next_process(now, process.core);
}

// What so many calls cost that have copied so much.
Time Network::call_cost(CoreWork& core, const TcpEnd& end, std::int64_t calls, Bytes copied,
                        bool written) {
  const experiments::CpuCosts& cost = costs(core);
  const Time entering = cost.call * calls;
  const Time copy = copy_time(copied, written ? cost.write_copy : cost.read_copy);
  core.spend(Cause::call, entering);
  core.spend(Cause::copy, copy);
  const std::uint32_t nic = processes_[static_cast<std::size_t>(&end - ends_.data())].nic;
  const experiments::Host& host = experiment_.hosts[core.host];
  if (host.nics[nic - first_nic_[core.host]].offloads.checksum) return entering + copy;
  const Time sum = copy_time(copied, cost.checksum);
  core.spend(Cause::checksum, sum);
  return entering + copy + sum;
}

// What a program of a file transfer does with so much data besides: its own work, and a copy from
// or to the page cache, behind which the disk may lag.
Time Network::file_work(Time now, CoreWork& core, Process& process, Bytes size) {
  if (!process.file || size == Bytes(0)) return {};
  FileProgram& file = *process.file;
  const Time own = file.program.call + copy_time(size, file.program.rate);
  const Time copy = costs(core).call + copy_time(size, file.copy);
  core.spend(Cause::program, own);
  core.spend(Cause::file, copy);
  process.not_before = file.cache.pass(now, size);
  return own + copy;
}

// Begins what the program does next; returns how long it takes.
Time Network::calling(Time now, CoreWork& core, std::uint32_t index) {
  TcpEnd& end = ends_[index];
  Process& process = processes_[index];
  process.reading = Bytes(0);
  process.goes_on = false;
  if (auto* writer = std::get_if<StreamWriter>(&end.application)) {
    const std::int64_t calls = writer->calls(), bytes = writer->bytes();
    process.goes_on = writer->step(now, end.endpoint, kCopyPiece);
    if (!process.goes_on) writer->close_when_done(now, end.endpoint);
    const Bytes written{writer->bytes() - bytes};
    return call_cost(core, end, writer->calls() - calls, written, true) +
           file_work(now, core, process, written);
  }
  if (auto* reader = std::get_if<StreamReader>(&end.application)) {
    process.reading = reader->next_read(now, end.endpoint);
    const bool calls = process.reading > Bytes(0) || reader->at_end(end.endpoint);
    return call_cost(core, end, calls ? 1 : 0, process.reading, false) +
           file_work(now, core, process, process.reading);
  }
  process.reading = end.endpoint.readable();
  return call_cost(core, end, process.reading > Bytes(0) ? 1 : 0, process.reading, false);
}

// Gives the core to a program; false if it may not run now.
bool Network::begin_call(Time now, std::uint32_t core_index, std::uint32_t index) {
  if (throttled(now, index) || waits_for_disk(now, index)) return false;
  CoreWork& core = cores_[core_index];
  Process& process = processes_[index];
  core.running = index;
  process.state = Process::State::calling;
  process.again = false;
  Time work = process.owed + calling(now, core, index);
  process.owed = Time{};
  const Time leaves = core.core.process_start(now) + work;
  work += serve_on_core(now, ends_[index], index, leaves);
  process.work += work;
  process.used += work;
  core.core.begin_process(now, work);
  watch_process(now, core_index);
  return true;
}

// The call is done: its effect where that comes last. Returns what follows from it.
Time Network::follow(Time now, CoreWork& core, std::uint32_t index) {
  TcpEnd& end = ends_[index];
  Process& process = processes_[index];
  Time written{};
  if (auto* writer = std::get_if<StreamWriter>(&end.application)) {
    writer->note_return(now);
  } else if (auto* reader = std::get_if<StreamReader>(&end.application)) {
    if (process.reading > Bytes(0)) {
      reader->take(now, end.endpoint, process.reading);
      last_progress_ = now;
    } else if (reader->at_end(end.endpoint)) {
      reader->finish(now, end.endpoint);
    }
    process.goes_on =
        reader->next_read(now, end.endpoint) > Bytes(0) || reader->at_end(end.endpoint);
  } else {
    const tcp::CallCounts before = end.endpoint.calls();
    std::visit([&](auto& app) { app.run(now, end.endpoint); }, end.application);
    const tcp::CallCounts& after = end.endpoint.calls();
    written = call_cost(core, end, after.writes - before.writes,
                        Bytes(after.written - before.written), true);
  }
  if (end.closed == Time::never() && end.endpoint.peer_closed()) end.closed = now;
  if (!end.streams || end.closed != Time::never()) check_finished(index);
  return written + serve_on_core(now, end, index, now + written);
}

void Network::on_process(Time now, std::uint32_t core_index, std::uint64_t generation) {
  CoreWork& core = cores_[core_index];
  const sim::LazyTimer::Fired fired = core.process_due.on_event(now, generation);
  if (!fired.expired || core.core.process_end() > now) {
    if (fired.expired || fired.again != Time::never()) watch_process(now, core_index);
    return;
  }
  const std::uint32_t index = core.running;
  Process& process = processes_[index];
  process.current += core.core.finish_process(now);
  if (process.state == Process::State::calling) {
    process.state = Process::State::following;
    const Time work = follow(now, core, index);
    if (work > Time{}) {
      process.work += work;
      process.used += work;
      core.core.begin_process(now, work);
      return watch_process(now, core_index);
    }
  }
  end_call(now, core_index, index);
}

// The program goes on, behind others that wait for the core, or sleeps until there is news.
void Network::end_call(Time now, std::uint32_t core_index, std::uint32_t index) {
  CoreWork& core = cores_[core_index];
  Process& process = processes_[index];
  const Time block = costs(core).block;
  const bool slept = process.state == Process::State::blocking;
  if (!slept && !process.goes_on && !process.again) {
    ++process.blocks;
    if (block > Time{}) {
      process.state = Process::State::blocking;
      process.work += block;
      process.used += block;
      core.spend(Cause::block, block);
      core.core.begin_process(now, block);
      return watch_process(now, core_index);
    }
  }
  core.running = CoreWork::kNobody;
  process.state = Process::State::asleep;
  if (process.goes_on || process.again) {
    process.goes_on = false;
    if (slept) {
      process.owed += costs(core).wake;
      core.spend(Cause::wake, costs(core).wake);
    }
    process.state = Process::State::ready;
    core.ready.push_back(index);
  }
  rearm(index);
  next_process(now, core_index);
}

// With segmentation offload what is sent in one go is one buffer for the stack.
Time Network::sending_cost(CoreWork& core, const TcpEnd& end, const tcp::Segment& segment,
                           tcp::Sequence& merged_to) {
  constexpr std::uint64_t kLargest = 65536;
  const experiments::CpuCosts& cost = costs(core);
  if (segment.length == 0) {
    core.spend(Cause::ack, cost.ack_sent);
    return cost.ack_sent;
  }
  const std::uint32_t nic = processes_[static_cast<std::size_t>(&end - ends_.data())].nic;
  const experiments::Host& host = experiment_.hosts[core.host];
  const std::uint64_t sequence = segment.sequence;
  const bool merged = sequence < merged_to && merged_to - sequence <= kLargest &&
                      sequence + segment.length <= merged_to;
  if (merged) return {};
  if (host.nics[nic - first_nic_[core.host]].offloads.tso) merged_to = sequence + kLargest;
  core.spend(Cause::segment, cost.segment_sent);
  return cost.segment_sent;
}

// A frame of this end has been handed to the device, which tells when it has gone if that costs.
void Network::watch_completion(TcpEnd& end, std::uint32_t index) {
  const Process& process = processes_[index];
  NicWork& work = nic_work_[process.nic];
  if (costs(cores_[work.core]).completion == Time{} || end.in_device.empty()) return;
  const Time departure =
      end.in_device.departure(static_cast<std::size_t>(end.in_device.frames() - 1));
  if (!work.transmitting.empty() && work.transmitting.back() >= departure) return;
  work.transmitting.push_back(departure);
  if (work.completion_due) return;
  work.completion_due = true;
  const experiments::Host& host = experiment_.hosts[end.host];
  const Time delay = host.nics[process.nic - first_nic_[end.host]].transmit_coalescing.delay;
  engine_->schedule(nic_source(process.nic), later(departure + delay, engine_->now()),
                    Kind::completion, process.nic);
}

void Network::on_completion(Time now, std::uint32_t nic) {
  NicWork& work = nic_work_[nic];
  CoreWork& core = cores_[work.core];
  core.core.interrupt(now, costs(core).completion);
  core.spend(Cause::completion, costs(core).completion);
  while (!work.transmitting.empty() && work.transmitting.front() <= now)
    work.transmitting.pop_front();
  work.completion_due = !work.transmitting.empty();
  if (!work.completion_due) return;
  const experiments::Host& host = experiment_.hosts[core.host];
  const Time delay = host.nics[nic - first_nic_[core.host]].transmit_coalescing.delay;
  engine_->schedule(nic_source(nic), work.transmitting.front() + delay, Kind::completion, nic);
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
