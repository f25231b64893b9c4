#include "realnet/probe/nic_facts.hpp"

#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "realnet/system.hpp"

namespace linerate::realnet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kClass = "/sys/class/net/";

std::optional<int> number_in(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

/// One device and the socket through which its driver is asked.
class Ethtool {
 public:
  explicit Ethtool(const std::string& device)
      : device_(device),
        socket_(checked(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket for ethtool")) {}

  /// Fills `question`, whose first field is the command; false where the driver has no answer.
  template <class Question>
  bool ask(Question& question) const {
    ifreq request{};
    std::strncpy(request.ifr_name, device_.c_str(), IFNAMSIZ - 1);
    request.ifr_data = reinterpret_cast<char*>(&question);
    return ::ioctl(socket_.number(), SIOCETHTOOL, &request) == 0;
  }

  std::optional<bool> flag(std::uint32_t command) const {
    ethtool_value value{command, 0};
    if (!ask(value)) return std::nullopt;
    return value.data != 0;
  }

 private:
  std::string device_;
  FileDescriptor socket_;
};

void ask_rings(const Ethtool& ethtool, NicFacts& facts) {
  ethtool_ringparam rings{};
  rings.cmd = ETHTOOL_GRINGPARAM;
  if (!ethtool.ask(rings) || rings.tx_pending == 0) return;
  facts.transmit_ring = static_cast<int>(rings.tx_pending);
  facts.receive_ring = static_cast<int>(rings.rx_pending);
  facts.most_transmit_ring = static_cast<int>(rings.tx_max_pending);
  facts.most_receive_ring = static_cast<int>(rings.rx_max_pending);
}

void ask_coalescing(const Ethtool& ethtool, NicFacts& facts) {
  ethtool_coalesce moderation{};
  moderation.cmd = ETHTOOL_GCOALESCE;
  if (!ethtool.ask(moderation)) return;
  facts.receive_coalescing = {static_cast<int>(moderation.rx_coalesce_usecs),
                              static_cast<int>(moderation.rx_max_coalesced_frames),
                              moderation.use_adaptive_rx_coalesce != 0};
  facts.transmit_coalescing = {static_cast<int>(moderation.tx_coalesce_usecs),
                               static_cast<int>(moderation.tx_max_coalesced_frames),
                               moderation.use_adaptive_tx_coalesce != 0};
}

void ask_driver(const Ethtool& ethtool, NicFacts& facts) {
  ethtool_drvinfo driver{};
  driver.cmd = ETHTOOL_GDRVINFO;
  if (!ethtool.ask(driver)) return;
  facts.driver = driver.driver;
  facts.driver_version = driver.version;
}

void ask_queues(const Ethtool& ethtool, NicFacts& facts) {
  ethtool_channels channels{};
  channels.cmd = ETHTOOL_GCHANNELS;
  if (!ethtool.ask(channels)) return;
  facts.queues =
      static_cast<int>(channels.combined_count + std::max(channels.rx_count, channels.tx_count));
}

/// "8.0 GT/s PCIe" (PCI Express Base Specification: 2.5, 5, 8, 16, 32 and 64 GT/s a lane).
std::optional<int> generation_of(const std::string& speed) {
  const std::pair<const char*, int> speeds[] = {{"2.5 ", 1},  {"5.0 ", 2},  {"8.0 ", 3},
                                                {"16.0 ", 4}, {"32.0 ", 5}, {"64.0 ", 6}};
  for (const auto& [prefix, generation] : speeds) {
    if (speed.starts_with(prefix)) return generation;
  }
  return std::nullopt;
}

std::optional<BusFacts> ask_bus(const std::string& device) {
  // A virtio device hangs below its PCI function.
  std::error_code none;
  fs::path place = fs::canonical(kClass + device + "/device", none);
  while (!none && place.has_relative_path() && !fs::exists(place / "config")) {
    place = place.parent_path();
  }
  if (none || !fs::exists(place / "config")) return std::nullopt;
  std::ifstream file(place / "config", std::ios::binary);
  BusFacts facts = parse_configuration_space(
      {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  const auto word = [&](const char* name) { return first_line(place / name); };
  facts.address = place.filename();
  facts.generation = generation_of(word("current_link_speed"));
  facts.most_generation = generation_of(word("max_link_speed"));
  if (facts.generation) {
    facts.lanes = number_in(word("current_link_width"));
    facts.most_lanes = number_in(word("max_link_width"));
  }
  return facts;
}

}  // namespace

std::vector<std::string> hardware_devices() {
  std::vector<std::string> hardware, others;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(kClass, none)) {
    const std::string name = entry.path().filename();
    if (!fs::exists(entry.path() / "mtu")) continue;  // a file of the bonding driver
    if (fs::exists(entry.path() / "device")) {
      hardware.push_back(name);
    } else if (name != "lo") {
      others.push_back(name);
    }
  }
  std::vector<std::string>& found = hardware.empty() ? others : hardware;
  std::sort(found.begin(), found.end());
  return found;
}

NicFacts facts_of(const std::string& device) {
  const std::string place = kClass + device;
  if (!fs::exists(place)) {
    errno = ENODEV;
    throw_errno("look up " + device);
  }
  NicFacts facts;
  facts.device = device;
  facts.mtu = number_in(first_line(place + "/mtu")).value_or(0);
  facts.transmit_queue = number_in(first_line(place + "/tx_queue_len")).value_or(0);
  const auto speed = number_in(first_line(place + "/speed"));
  if (speed && *speed > 0) facts.megabits = speed;  // -1: no link, or a virtual device
  const auto node = number_in(first_line(place + "/device/numa_node"));
  if (node && *node >= 0) facts.numa_node = node;
  const Ethtool ethtool(device);
  ask_driver(ethtool, facts);
  ask_rings(ethtool, facts);
  ask_coalescing(ethtool, facts);
  ask_queues(ethtool, facts);
  facts.checksum = ethtool.flag(ETHTOOL_GTXCSUM);
  facts.tso = ethtool.flag(ETHTOOL_GTSO);
  facts.gso = ethtool.flag(ETHTOOL_GGSO);
  facts.gro = ethtool.flag(ETHTOOL_GGRO);
  ethtool_value flags{ETHTOOL_GFLAGS, 0};
  if (ethtool.ask(flags)) facts.lro = (flags.data & ETH_FLAG_LRO) != 0;
  facts.bus = ask_bus(device);
  return facts;
}

BusFacts parse_configuration_space(const std::string& bytes) {
  const auto byte = [&](std::size_t at) {
    return at < bytes.size() ? static_cast<std::uint8_t>(bytes[at]) : 0u;
  };
  constexpr std::size_t kStatus = 0x06, kCapabilities = 0x34;
  constexpr unsigned kHasCapabilities = 0x10, kPciExpress = 0x10;
  BusFacts facts;
  if ((byte(kStatus) & kHasCapabilities) == 0) return facts;
  // A list of 4-byte-aligned entries; 48 of them fill the space, more are a loop.
  std::size_t at = byte(kCapabilities) & ~3u;
  for (int steps = 0; steps < 48 && at >= 0x40; ++steps, at = byte(at + 1) & ~3u) {
    if (byte(at) != kPciExpress || at + 10 > bytes.size()) continue;
    // Device Control, 8 bytes into the capability: bits 7:5 and 14:12 mean 128 B times 2^n.
    const unsigned control = byte(at + 8) | byte(at + 9) << 8;
    const unsigned payload = control >> 5 & 7, request = control >> 12 & 7;
    if (payload < 6) facts.max_payload = 128 << payload;
    if (request < 6) facts.max_read_request = 128 << request;
    break;
  }
  return facts;
}

}  // namespace linerate::realnet
