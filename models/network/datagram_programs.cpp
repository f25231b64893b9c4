// Programs that send and receive datagrams on hosts whose cores cost something. Each does one thing
// over and over, so it needs no event: its work is appended to what its core's programs have to do.
// And what any source of datagrams does next.
#include "models/network/network.hpp"

namespace linerate::models {

namespace {

// Linux net.core.rmem_default, with the overheads of 256 packets of 256 B (SK_RMEM_MAX), and
// FreeBSD net.inet.udp.recvspace, of payload.
constexpr Bytes kLinuxBuffer{212992}, kBsdBuffer{42080};

Bytes socket_memory(const experiments::Test& test, const experiments::Stack& stack) {
  if (test.receive_buffer)
    return std::min(*test.receive_buffer, stack.socket_buffer_limit) * stack.buffer_factor;
  return stack.buffer_accounting == experiments::BufferAccounting::truesize ? kLinuxBuffer
                                                                            : kBsdBuffer;
}

// What a datagram takes of it: beside its data the descriptors of its frames.
Bytes memory_of(const DatagramFlow& flow, const experiments::Stack& stack) {
  const Bytes payload{flow.payload};
  if (stack.buffer_accounting == experiments::BufferAccounting::payload) return payload;
  return payload + stack.packet_overhead * flow.fragments.count;
}

Time rate_time(Bytes size, const std::optional<BitRate>& rate) {
  return rate ? serialization_time(size, *rate) : Time{};
}

}  // namespace

void Network::place_datagram_programs(std::vector<ProgramCores>& placed) {
  for (DatagramFlow& flow : datagram_flows_) {
    if (flow.raw) continue;
    const experiments::Test& test = *config_.tests[flow.test];
    const auto place = [&](std::uint32_t host) {
      if (!costly_[host]) return DatagramPrograms::kFree;
      const experiments::Cpu& cpu = experiment_.hosts[host].cpu;
      const int next = placed[core_owner(host)].next();
      const int core = test.core.value_or(cpu.application_core.value_or(next));
      return first_core_[host] + static_cast<std::uint32_t>(core);
    };
    const std::vector<std::uint32_t>& wires = routes_[flow.route].wires;
    flow.programs.sender = place(flow.from_host);
    flow.programs.receiver = place(flow.to_host);
    flow.programs.from_nic = nic_of_wire(wires.front());
    flow.programs.to_nic = nic_of_wire(wires.back() ^ 1u);
    flow.programs.buffer = socket_memory(test, experiment_.hosts[flow.to_host].stack);
  }
}

// What a datagram costs whoever calls: the call, its copy and, without the NIC's help, its sum.
Time Network::datagram_call(CoreWork& core, std::uint32_t nic, Bytes payload, bool sends) {
  const experiments::CpuCosts& cost = costs(core);
  const Time copy = rate_time(payload, sends ? cost.write_copy : cost.read_copy);
  const bool summed = nic_at(nic).offloads.checksum;
  const Time sum = summed ? Time{} : rate_time(payload, cost.checksum);
  core.spend(Cause::call, cost.call);
  core.spend(Cause::copy, copy);
  core.spend(Cause::checksum, sum);
  return cost.call + copy + sum;
}

// What the tunnels of a NIC cost for a datagram.
Time Network::datagram_tunnel(CoreWork& core, std::uint32_t nic, const DatagramFlow& flow) {
  const experiments::Nic& tunnels = nic_at(nic);
  if (tunnels.encapsulation.empty()) return {};
  constexpr Bytes kHeaders{28};  // IP and UDP
  const Time sealed = experiment_.hosts[core.host].cpu.ciphers.tunnel_time(
      tunnels.encapsulation, Bytes(flow.payload) + kHeaders);
  core.spend(Cause::cipher, sealed);
  return sealed;
}

// The program of a flow sends its next datagram if its core lets it; returns when that is on its
// way, or never() if the core is busy, and then looks again when it may be free. A test that is not
// as long as its volume takes ends at its time, whatever is still due.
Time Network::made_on_core(Time now, std::uint32_t index) {
  DatagramFlow& flow = datagram_flows_[index];
  CoreWork& core = cores_[flow.programs.sender];
  if (const Time free = core.core.program_end(); free > now) {
    if (!config_.tests[flow.test]->bytes && free >= flow.source.end())
      flow.source.stop();
    else
      engine_->schedule(datagram_source(index), free, Kind::due, index);
    return Time::never();
  }
  core.core.rouse(now, experiment_.hosts[core.host].cpu.idle_states);
  const experiments::CpuCosts& cost = costs(core);
  const Time driver = cost.frame * (flow.fragments.count - 1);
  core.spend(Cause::segment, cost.segment_sent);
  core.spend(Cause::frame, driver);
  const Time work = cost.segment_sent + driver +
                    datagram_call(core, flow.programs.from_nic, Bytes(flow.payload), true) +
                    datagram_tunnel(core, flow.programs.from_nic, flow);
  return core.core.append_program(now, work);
}

// A datagram is in its socket; returns when it will have been read, or never() if it found no room
// there. A reader that has nothing to read sleeps.
Time Network::read_on_core(Time now, DatagramFlow& flow) {
  DatagramPrograms& programs = flow.programs;
  CoreWork& core = cores_[programs.receiver];
  const experiments::Host& host = experiment_.hosts[core.host];
  const Time done = core.core.program_done(now);
  while (!programs.unread.empty() && programs.unread.front() <= done) programs.unread.pop_front();
  const auto waiting = static_cast<std::int64_t>(programs.unread.size());
  // Linux takes one more as long as what waits is below the limit.
  if (memory_of(flow, host.stack) * waiting >= programs.buffer) {
    ++programs.lost;
    return Time::never();
  }
  Time work = datagram_call(core, programs.to_nic, Bytes(flow.payload), false);
  if (waiting == 0) {
    core.core.rouse(now, host.cpu.idle_states);
    core.spend(Cause::wake, host.cpu.costs.wake);
    core.spend(Cause::block, host.cpu.costs.block);
    work += host.cpu.costs.wake + host.cpu.costs.block;
  }
  const Time read = core.core.append_program(now, work);
  programs.unread.push_back(core.core.program_given());
  return read;
}

// Sizes the frame to send now; returns its ordinal.
std::int64_t Network::next_of_pattern(DatagramFlow& flow) {
  const DatagramPattern::Frame frame = flow.pattern->next();
  flow.payload = frame.payload;
  flow.wire_bytes = frame.wire;
  return flow.source.next(flow.pattern->due());
}

// A flow that has no more to send is one less to wait for.
void Network::finish_source(const DatagramFlow& flow) {
  if (flow.source.due() == Time::never() && !config_.tests[flow.test]->background) --unfinished_;
}

}  // namespace linerate::models
