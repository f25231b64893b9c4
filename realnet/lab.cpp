#include "realnet/lab.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <thread>

#include "realnet/measure.hpp"
#include "realnet/remote/agent_link.hpp"
#include "realnet/remote/order_text.hpp"

namespace linerate::realnet {
namespace {

namespace files = std::filesystem;

constexpr const char* kNamespaces = "/run/netns";  // where iproute2 keeps them, so `ip netns` works
constexpr const char* kLocks = "/run/linerate";
/// For an agent to look at its interfaces, or to read an experiment of thousands of hosts.
constexpr Time kAgentPatience = Time::seconds(30);

std::string lock_path(const std::string& id) { return fmt::format("{}/{}.lock", kLocks, id); }

bool same_file(int descriptor, const std::string& path) {
  struct stat open_file {
  }, named{};
  return ::fstat(descriptor, &open_file) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open_file.st_ino == named.st_ino && open_file.st_dev == named.st_dev;
}

/// Makes /run/netns a mount that other mount namespaces see, once for all users, as iproute2 does.
void prepare_namespace_directory() {
  files::create_directories(kNamespaces);
  if (::mount("", kNamespaces, "none", MS_SHARED | MS_REC, nullptr) == 0) return;
  // EINVAL: it is no mount point yet.
  if (errno != EINVAL) throw_errno(fmt::format("mount {} shared", kNamespaces));
  checked(::mount(kNamespaces, kNamespaces, "none", MS_BIND | MS_REC, nullptr),
          fmt::format("mount {}", kNamespaces));
  checked(::mount("", kNamespaces, "none", MS_SHARED | MS_REC, nullptr),
          fmt::format("mount {} shared", kNamespaces));
}

bool has_ipv6() { return files::exists("/proc/sys/net/ipv6"); }

void add_routes(const PlannedNode& node, NetworkNamespace& place) {
  for (const PlannedRoute& route : node.routes) {
    if (route.destination.find(':') != std::string::npos && !has_ipv6()) continue;
    place.devices().add_route(route);
  }
}

/// In the namespace of `node`.
void set_parameters(const PlannedNode& node) {
  for (const auto& [parameter, value] : node.parameters) {
    if (parameter.starts_with("net/ipv6/") && !has_ipv6()) continue;
    write_parameter("/proc/sys/" + parameter, value);
  }
}

/// For the devices of the calling thread's namespace, which otherwise do as the machine's do.
void allow_ipv6(bool allowed) {
  if (!has_ipv6()) return;
  for (const char* which : {"all", "default"})
    write_parameter(fmt::format("/proc/sys/net/ipv6/conf/{}/disable_ipv6", which),
                    allowed ? "0" : "1");
}

void remove_namespace(const std::string& path) {
  ::umount2(path.c_str(), MNT_DETACH);
  ::unlink(path.c_str());
}

}  // namespace

RunLock::RunLock() {
  files::create_directories(kLocks);
  for (;;) {
    std::uint32_t random = 0;
    checked(static_cast<int>(::getrandom(&random, sizeof random, 0)), "getrandom");
    id_ = fmt::format("{}-{:08x}", ::getpid(), random);
    const std::string path = lock_path(id_);
    file_ = FileDescriptor(
        checked(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), "open " + path));
    checked(::flock(file_.number(), LOCK_EX), "lock " + path);
    // Someone who looked for leftovers may have taken the file between open and lock.
    if (same_file(file_.number(), path)) return;
  }
}

RunLock::~RunLock() { ::unlink(lock_path(id_).c_str()); }

namespace {

/// The run id that follows `prefix` in a name, "<process>-<8 hexadecimal digits>"; empty if the
/// name is not of that form, or of no process there can be, and so not ours.
std::string run_id_in(const std::string& name, const std::string& prefix) {
  if (!name.starts_with(prefix)) return {};
  const std::size_t dash = name.find_first_not_of("0123456789", prefix.size());
  if (dash == std::string::npos || dash == prefix.size() || name[dash] != '-') return {};
  const std::size_t end = name.find_first_not_of("0123456789abcdef", dash + 1);
  if (end == std::string::npos || end != dash + 9 || (name[end] != '-' && name[end] != '.'))
    return {};
  pid_t process = 0;
  const char* first = name.data() + prefix.size();
  if (std::from_chars(first, name.data() + dash, process).ec != std::errc{}) return {};
  return name.substr(prefix.size(), end - prefix.size());
}

/// Takes the lock of the run `id`, or false if the run lives. A killed run's last child may hold
/// the lock for a moment longer than the run, so a dead process is waited for.
bool take_dead_lock(const FileDescriptor& lock, const std::string& id) {
  const auto process = static_cast<pid_t>(std::stol(id));
  const Time give_up = monotonic_now() + Time::seconds(1);
  while (::flock(lock.number(), LOCK_EX | LOCK_NB) != 0) {
    const bool alive = ::kill(process, 0) == 0 || errno == EPERM;
    if (alive || monotonic_now() > give_up) return false;
    sleep_until(monotonic_now() + Time::milliseconds(5));
  }
  return true;
}

}  // namespace

std::vector<std::string> remove_leftovers() {
  std::map<std::string, std::vector<std::string>> runs;
  std::error_code none;
  for (const auto& entry : files::directory_iterator(kNamespaces, none)) {
    const std::string name = entry.path().filename();
    const std::string id = run_id_in(name, "linerate-");
    if (!id.empty() && name.starts_with("linerate-" + id + "-")) runs[id].push_back(name);
  }
  for (const auto& entry : files::directory_iterator(kLocks, none)) {
    const std::string name = entry.path().filename();
    const std::string id = run_id_in(name, "");
    if (!id.empty() && name == id + ".lock") runs[id];
  }
  std::vector<std::string> removed;
  for (const auto& [id, names] : runs) {
    const std::string path = lock_path(id);
    const FileDescriptor lock(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    // The lock goes with its process: one that can be taken, or is gone, belongs to a dead run.
    if (lock.number() < 0 && errno != ENOENT) continue;
    if (lock.number() >= 0 && !take_dead_lock(lock, id)) continue;
    for (const std::string& name : names) {
      remove_namespace(fmt::format("{}/{}", kNamespaces, name));
      removed.push_back(name);
    }
    if (lock.number() >= 0) ::unlink(path.c_str());
  }
  return removed;
}

NetworkNamespace::NetworkNamespace(const std::string& name)
    : path_(fmt::format("{}/{}", kNamespaces, name)) {
  const FileDescriptor mount_point(checked(
      ::open(path_.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0), "create " + path_));
  std::exception_ptr failure;
  // unshare moves the calling thread, so a thread that ends afterwards does it.
  std::thread maker([&] {
    try {
      checked(::unshare(CLONE_NEWNET), "unshare(CLONE_NEWNET)");
      checked(::mount("/proc/thread-self/ns/net", path_.c_str(), "none", MS_BIND, nullptr),
              "mount " + path_);
      descriptor_ =
          FileDescriptor(checked(::open(path_.c_str(), O_RDONLY | O_CLOEXEC), "open " + path_));
      devices_ = std::make_unique<Devices>();
      devices_->set_up("lo");
    } catch (...) {
      failure = std::current_exception();
    }
  });
  maker.join();
  if (failure) {
    remove_namespace(path_);
    std::rethrow_exception(failure);
  }
}

namespace {

std::string wire_device(const PlannedLink& link, const PlannedPort& port) {
  return fmt::format("w{}-{}", link.number, &port == &link.ends[0] ? 0 : 1);
}

/// A namespace in which nothing answers: devices of wires have no addresses. No host has this name,
/// which begins with a capital.
std::unique_ptr<NetworkNamespace> make_wire_room(const std::string& run) {
  auto room = std::make_unique<NetworkNamespace>(fmt::format("linerate-{}-Wires", run));
  run_in_namespace(room->descriptor(), [] { allow_ipv6(false); });
  return room;
}

/// A wire ends with its parent; should it hang as well, the kernel ends it after so long.
Time longest_life(const experiments::Experiment& experiment) {
  Time life = Time::seconds(600);
  for (const auto& test : experiment.tests) {
    if (test.bytes || !test.writes.empty()) return Time::seconds(24 * 3600);
    life += (test.start + test.duration + Time::seconds(120)) * std::max(test.repeats, 1);
  }
  return life;
}

}  // namespace

NetworkNamespace::~NetworkNamespace() { remove_namespace(path_); }

Lab::Lab(const experiments::Experiment& experiment, const LabPlan& plan)
    : experiment_(experiment), plan_(plan) {
  if (experiment.lab == experiments::LabType::netns) build_namespaces();
  if (experiment.lab == experiments::LabType::hosts) start_agents();
}

Lab::~Lab() = default;

void Lab::build_namespaces() {
  remove_leftovers();
  prepare_namespace_directory();
  lock_ = std::make_unique<RunLock>();
  for (const PlannedNode& node : plan_.nodes) {
    nodes_.push_back(
        std::make_unique<NetworkNamespace>(fmt::format("linerate-{}-{}", lock_->id(), node.name)));
    NetworkNamespace& made = *nodes_.back();
    run_in_namespace(made.descriptor(), [&] {
      allow_ipv6(true);
      set_parameters(node);
    });
    for (const std::string& bridge : node.bridges) {
      made.devices().add_bridge(bridge);
      made.devices().set_up(bridge);
    }
  }
  for (const PlannedLink& link : plan_.links) build_link(link);
  for (const PlannedLink& link : plan_.links)
    wires_.push_back(link.wire ? build_wire(link) : nullptr);
  await_carriers();
  for (std::size_t i = 0; i < plan_.nodes.size(); ++i) add_routes(plan_.nodes[i], *nodes_[i]);
}

void Lab::start_agents() {
  agents_.resize(experiment_.hosts.size());
  for (const PlannedAgent& planned : plan_.agents) {
    agents_[planned.host] = std::make_unique<AgentLink>(*planned.how);
    AgentLink& agent = *agents_[planned.host];
    const std::string name = experiment_.hosts[planned.host].name;
    const auto answer = agent.ask(to_message(planned.setup), kAgentPatience);
    agent.understand(answer, [&](const Json& said) {
      for (const std::string note : said.at("notes"))
        agent_notes_.push_back({"hosts." + name + ".parameters", "ignored", shown(note)});
    });
    agent.ask({{"do", "experiment"}, {"text", experiment_.resolved}}, kAgentPatience);
    for (const auto& [fact, value] : agent.machine()) facts_[name + "." + fact] = value;
  }
}

void Lab::synchronise_agents() const {
  for (std::size_t host = 0; host < agents_.size(); ++host) {
    if (!agents_[host]) continue;
    const Time error = agents_[host]->synchronise();
    facts_[experiment_.hosts[host].name + ".clock"] =
        fmt::format("compared within {:.3f} ms", error.seconds() * 1e3);
  }
}

template <class Action>
void Lab::for_each_port(Action action) const {
  if (nodes_.empty()) return;
  for (const PlannedLink& link : plan_.links) {
    for (const PlannedPort& port : link.ends) action(port, nodes_[port.node]->devices());
  }
}

void Lab::await_carriers() const {
  const Time give_up = monotonic_now() + Time::seconds(5);
  for_each_port([&](const PlannedPort& port, const Devices& devices) {
    while (!devices.operational(port.device)) {
      if (monotonic_now() > give_up) {
        throw EnvironmentError(fmt::format("port {} does not come up", port.label));
      }
      sleep_until(monotonic_now() + Time::milliseconds(2));
    }
  });
}

void Lab::build_link(const PlannedLink& link) {
  const PlannedPort& a = link.ends[0];
  const PlannedPort& b = link.ends[1];
  // Indices must differ: the kernel takes equal ones in two namespaces for a device without a peer
  // and then sees its carrier up to a second late.
  const auto pair = [&](NetworkNamespace& near, const std::string& near_device,
                        NetworkNamespace& far, const std::string& far_device) {
    const VethEnd near_end{near_device, next_index_++}, far_end{far_device, next_index_++};
    near.devices().add_veth(near_end, far_end, far.descriptor());
  };
  if (link.wire) {
    if (!wire_room_) wire_room_ = make_wire_room(lock_->id());
    for (const PlannedPort* port : {&a, &b}) {
      const std::string device = wire_device(link, *port);
      pair(*nodes_[port->node], port->device, *wire_room_, device);
      wire_room_->devices().set_mtu(device, link.wire->largest - kEthernetHeader);
      wire_room_->devices().disable_offloads(device, true);
      wire_room_->devices().set_up(device);
    }
  } else {
    pair(*nodes_[a.node], a.device, *nodes_[b.node], b.device);
  }
  finish_port(a);
  finish_port(b);
}

std::unique_ptr<Wire> Lab::build_wire(const PlannedLink& link) {
  return std::make_unique<Wire>(
      *link.wire, std::array{wire_device(link, link.ends[0]), wire_device(link, link.ends[1])},
      wire_room_->descriptor(), longest_life(experiment_));
}

void Lab::finish_port(const PlannedPort& port) {
  Devices& devices = nodes_[port.node]->devices();
  devices.set_mtu(port.device, port.mtu);
  // After the MTU: changing that resets the limit. Offloads alone are not enough: TCP builds
  // multi-segment packets for any device, and a token bucket adds its overhead once a packet.
  if (port.single_frames) devices.set_largest_burst(port.device, 1);
  if (port.single_frames || port.plain_frames)
    devices.disable_offloads(port.device, port.plain_frames);
  if (port.unsegmented) devices.disable_segmentation(port.device);
  if (port.shaper) devices.shape(port.device, *port.shaper);
  if (plan_.nodes[port.node].is_switch) {
    devices.set_master(port.device, port.bridge);
  } else {
    devices.add_address(port.device, fmt::format("{}/{}", port.ipv4, kIpv4Prefix));
    if (has_ipv6() && !port.ipv6.empty())
      devices.add_address(port.device, fmt::format("{}/{}", port.ipv6, kIpv6Prefix));
  }
  devices.set_up(port.device);
}

Place Lab::place(int host, int nic, int ip) const {
  if (!agents_.empty()) {
    const auto agent = std::find_if(plan_.agents.begin(), plan_.agents.end(),
                                    [&](const PlannedAgent& a) { return a.host == host; });
    LINERATE_CHECK(agent != plan_.agents.end(), "a planned test ends at planned hosts");
    Place place;
    place.address = agent->address(experiment_.hosts[host].nics[nic].name, ip);
    place.interface = agent->device(experiment_.hosts[host].nics[nic].name);
    place.agent = agents_[host].get();
    return place;
  }
  if (nodes_.empty()) return {-1, ip == 6 ? "::1" : "127.0.0.1", ""};
  const auto& owner = experiment_.hosts[host];
  const PlannedPort* port = plan_.port(owner.name + ":" + owner.nics[nic].name);
  LINERATE_CHECK(port, "a planned test ends at planned ports");
  return {nodes_[host]->descriptor(), ip == 6 ? port->ipv6 : port->ipv4,
          port->shaper || port->plain_frames ? port->device : "", port->device};
}

std::map<std::string, experiments::PortCounters> Lab::counters() const {
  std::map<std::string, experiments::PortCounters> counters;
  for_each_port([&](const PlannedPort& port, const Devices& devices) {
    if (port.shaper) counters[port.label] = devices.counters(port.device);
  });
  for (std::size_t i = 0; i < wires_.size(); ++i) {
    if (!wires_[i]) continue;
    wires_[i]->check();
    for (int end = 0; end < 2; ++end) {
      auto seen = wires_[i]->counters(end);
      auto& port = counters[plan_.links[i].ends[end].label];
      // What the port's own queue dropped stays; frames are counted where the line is.
      seen.drops.merge(port.drops);
      port = std::move(seen);
    }
  }
  return counters;
}

void Lab::drain() const {
  const Time give_up = monotonic_now() + Time::seconds(2);
  const auto until = [&](auto condition) {
    while (!condition() && monotonic_now() < give_up) {
      sleep_until(monotonic_now() + Time::milliseconds(10));
    }
  };
  for_each_port([&](const PlannedPort& port, const Devices& devices) {
    until([&] { return devices.backlog(port.device) == Bytes(0); });
  });
  synchronise_agents();
  for (const auto& wire : wires_) {
    if (!wire) continue;
    wire->check();
    until([&] { return wire->idle(); });
  }
}

void Lab::begin(Time start) const {
  for (const auto& wire : wires_) {
    if (wire) wire->begin(start);
  }
  start_ = start;
  for (const auto& [port, made] : followed_) {
    if (made > 0) nodes_[port->node]->devices().shape(port->device, *port->shaper);
  }
  followed_.clear();
}

Time Lab::follow(Time now) const {
  Time next = Time::never();
  if (start_ == Time::never()) return next;
  for_each_port([&](const PlannedPort& port, const Devices&) {
    if (port.shaper_changes.empty()) return;
    for (std::size_t& made = followed_[&port]; made < port.shaper_changes.size(); ++made) {
      const auto& [at, shaper] = port.shaper_changes[made];
      if (start_ + at > now) {
        next = std::min(next, start_ + at);
        return;
      }
      nodes_[port.node]->devices().shape(port.device, shaper);
    }
  });
  return next;
}

std::vector<experiments::Realisation> Lab::observations() const {
  std::vector<experiments::Realisation> observations = agent_notes_;
  for (std::size_t i = 0; i < wires_.size(); ++i) {
    if (!wires_[i]) continue;
    observations.push_back({"links." + plan_.links[i].name + ".wire", "realised",
                            "user-space wire: " + wires_[i]->lateness()});
  }
  return observations;
}

}  // namespace linerate::realnet
