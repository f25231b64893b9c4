// Programs on hosts whose cores cost something: each does one call after the other, gives its core
// up, sleeps and is woken, and what it does and sends takes time.
#include <algorithm>

#include "models/network/network.hpp"

namespace linerate::models {

namespace {

// A long write is copied and sent piece by piece, so that its first segments need not wait for the
// rest and what interrupts it comes between. What is handed over whole is a buffer for segmentation
// offload, which is filled before it is sent (Linux tcp_push_one()).
constexpr Bytes kCopyPiece{16384}, kOffloadPiece{65536};

Time copy_time(Bytes size, const std::optional<BitRate>& rate) {
  return rate ? serialization_time(size, *rate) : Time{};
}

}  // namespace

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

// Linux wakes a program on its last core if that is idle, else on another that is
// (select_idle_sibling); cores that take interrupts come last.
std::uint32_t Network::core_to_wake_on(Time now, const Process& process) const {
  if (process.pinned || cores_[process.core].idle(now)) return process.core;
  const std::uint32_t host = cores_[process.core].host;
  const std::uint32_t first = first_core_[host];
  std::uint32_t chosen = process.core;
  for (std::uint32_t core = first;
       core < first + static_cast<std::uint32_t>(experiment_.hosts[host].cpu.cores); ++core) {
    if (!cores_[core].idle(now)) continue;
    if (!cores_[core].interrupted) return core;
    if (chosen == process.core) chosen = core;
  }
  return chosen;
}

void Network::wake_process(Time now, std::uint32_t index) {
  Process& process = processes_[index];
  if (process.state != Process::State::asleep) {
    process.again = true;
    return;
  }
  process.core = core_to_wake_on(now, process);
  CoreWork& core = cores_[process.core];
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
  const auto index = static_cast<std::size_t>(&end - ends_.data());
  const experiments::Cipher cipher = config_.tests[tcp_flows_[index / 2].test]->cipher;
  const Time sealed = experiment_.hosts[end.host].cpu.ciphers.time(cipher, copied);
  core.spend(Cause::cipher, sealed);
  if (nic_at(processes_[index].nic).offloads.checksum) return entering + copy + sealed;
  const Time sum = copy_time(copied, cost.checksum);
  core.spend(Cause::checksum, sum);
  return entering + copy + sealed + sum;
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
    process.goes_on =
        writer->step(now, end.endpoint, end.hands_over_whole ? kOffloadPiece : kCopyPiece);
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

// Between two steps softirq work runs in the context of the program that had the core last.
void Network::charge_between(CoreWork& core) {
  if (core.current == CoreWork::kNobody || !counts_interruptions(core) ||
      experiment_.hosts[core.host].cpu.slice == Time{})
    return;
  const Time between = core.core.softirq_busy() - core.softirq_charged;
  processes_[core.current].current += between;
  processes_[core.current].used += between;
}

// The core turns to another program.
void Network::take_turn(Time now, CoreWork& core, std::uint32_t index) {
  core.current = index;
  core.turn_began = now;
  processes_[index].owed += costs(core).turn;
  core.spend(Cause::turn, costs(core).turn);
}

// Whether a program that could go on keeps the core though others may wait for it.
bool Network::keeps_core(Time now, const CoreWork& core) const {
  return now - core.turn_began < experiment_.hosts[core.host].cpu.slice;
}

void Network::begin_work(Time now, CoreWork& core, Process& process, Time work) {
  process.work += work;
  if (!counts_interruptions(core)) process.used += work;
  core.core.begin_process(now, work);
}

// Gives the core to a program; false if it may not run now.
bool Network::begin_call(Time now, std::uint32_t core_index, std::uint32_t index) {
  if (throttled(now, index) || waits_for_disk(now, index)) return false;
  CoreWork& core = cores_[core_index];
  Process& process = processes_[index];
  core.running = index;
  process.state = Process::State::calling;
  process.again = false;
  charge_between(core);
  if (core.current != index) take_turn(now, core, index);
  Time work = process.owed + calling(now, core, index);
  process.owed = Time{};
  core.core.rouse(now, experiment_.hosts[core.host].cpu.idle_states);
  const Time leaves = core.core.process_start(now) + work;
  work += serve_on_core(now, ends_[index], index, leaves);
  begin_work(now, core, process, work);
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
  const Time current = core.core.finish_process(now);
  core.softirq_charged = core.core.softirq_busy();
  process.current += current;
  if (counts_interruptions(core)) process.used += current;
  if (process.state == Process::State::calling) {
    process.state = Process::State::following;
    const Time work = follow(now, core, index);
    if (work > Time{}) {
      begin_work(now, core, process, work);
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
      core.spend(Cause::block, block);
      begin_work(now, core, process, block);
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
    if (!slept && keeps_core(now, core) && begin_call(now, core_index, index)) return rearm(index);
    if (process.state == Process::State::ready) core.ready.push_back(index);
  }
  rearm(index);
  next_process(now, core_index);
}

// What tunnels of an end's NIC cost for so much payload in so many packets.
Time Network::tunnel_cost(CoreWork& core, std::size_t end, Bytes payload, std::int64_t packets) {
  const experiments::Nic& nic = nic_at(processes_[end].nic);
  if (nic.encapsulation.empty()) return {};
  constexpr Bytes kHeaders{52};  // IP and TCP with timestamps
  const experiments::Ciphers& ciphers = experiment_.hosts[ends_[end].host].cpu.ciphers;
  const Time cost = ciphers.tunnel_time(nic.encapsulation, payload / packets + kHeaders) * packets;
  core.spend(Cause::cipher, cost);
  return cost;
}

// WireGuard hands what it has to seal to workers on other cores, of which one sends what is sealed
// in turn (Linux wg_packet_tx_worker()): the last core that the program is not on. Nothing where
// one core does all, and for IPsec and MACsec.
CoreWork* Network::tunnel_worker(std::size_t end) {
  const experiments::Nic& nic = nic_at(processes_[end].nic);
  const experiments::Cpu& cpu = experiment_.hosts[ends_[end].host].cpu;
  if (nic.encapsulation.empty() || cpu.cores == 1 || cpu.ciphers.cores == 1) return nullptr;
  const auto workers = [](const experiments::Encapsulation& layer) {
    return cipher_of(layer) == experiments::Cipher::chacha20;
  };
  if (std::none_of(nic.encapsulation.begin(), nic.encapsulation.end(), workers)) return nullptr;
  const std::uint32_t last =
      first_core_[ends_[end].host] + static_cast<std::uint32_t>(cpu.cores) - 1;
  return &cores_[processes_[end].core == last ? last - 1 : last];
}

// When a segment that its stack has made at `made` is sealed, if others do that.
Time Network::sealed_by_worker(Time made, std::size_t end, const tcp::Segment& segment) {
  CoreWork* worker = tunnel_worker(end);
  if (worker == nullptr) return made;
  return worker->core.append_program(made, tunnel_cost(*worker, end, Bytes(segment.length), 1));
}

// With segmentation offload what is sent in one go is one buffer for the stack.
Time Network::sending_cost(CoreWork& core, const TcpEnd& end, const tcp::Segment& segment,
                           tcp::Sequence& merged_to) {
  constexpr std::uint64_t kLargest = 65536;
  const experiments::CpuCosts& cost = costs(core);
  const auto index = static_cast<std::size_t>(&end - ends_.data());
  const Process& process = processes_[index];
  const Time sealed =
      tunnel_worker(index) ? Time{} : tunnel_cost(core, index, Bytes(segment.length), 1);
  if (segment.length == 0) {
    core.spend(Cause::ack, cost.ack_sent);
    return cost.ack_sent + sealed;
  }
  // A stack that fills buffers for segmentation offload passes TCP and IP with one that its NIC
  // cannot cut, cuts it up behind them and hands the driver frame after frame (Linux GSO).
  const bool cut_late =
      !nic_at(process.nic).offloads.tso && experiment_.hosts[end.host].stack.tso_autosize;
  const Time cutting = cut_late ? cost.frame : Time{};
  core.spend(Cause::frame, cutting);
  const std::uint64_t sequence = segment.sequence;
  const bool merged = sequence < merged_to && merged_to - sequence <= kLargest &&
                      sequence + segment.length <= merged_to;
  if (merged) return cutting + sealed;
  if (nic_at(process.nic).offloads.tso || cut_late) merged_to = sequence + kLargest;
  core.spend(Cause::segment, cost.segment_sent);
  return cost.segment_sent + cutting + sealed;
}

}  // namespace linerate::models
