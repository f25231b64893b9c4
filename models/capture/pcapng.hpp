// Writes captures in the pcapng format (draft-ietf-opsawg-pcapng): one section, one interface.
// Knows nothing of networks and of files: bytes go to a stream.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>

#include "sim/units.hpp"

namespace linerate::models {

enum class CaptureDirection : std::uint8_t { inbound = 1, outbound = 2 };

class PcapngWriter {
 public:
  struct Interface {
    std::string name;  ///< "a:eth0"
    BitRate speed;
  };
  /// Writes the section and interface blocks: Ethernet without FCS, time stamps in nanoseconds.
  PcapngWriter(std::ostream& out, const Interface& interface);

  /// Appends a frame: the bytes kept of it and its length on the wire, both without FCS.
  void add(Time at, std::span<const std::uint8_t> bytes, std::uint32_t original_length,
           CaptureDirection direction);
  /// What add() would write for so many bytes.
  static std::int64_t size_of(std::size_t bytes);
  std::int64_t written() const { return written_; }

 private:
  void write(const std::string& block);

  std::ostream& out_;
  std::int64_t written_ = 0;
};

}  // namespace linerate::models
