#include "models/capture/pcapng.hpp"

namespace linerate::models {

namespace {

// Block types and option codes of the draft, sections 4 and 3.5.
constexpr std::uint32_t kSectionHeader = 0x0a0d0d0a, kInterface = 1, kEnhancedPacket = 6;
constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr std::uint16_t kEndOfOptions = 0, kUserApplication = 4, kInterfaceName = 2,
                        kInterfaceSpeed = 8, kTimeResolution = 9, kPacketFlags = 2;
constexpr std::uint16_t kEthernet = 1;  // LINKTYPE_ETHERNET
// 10^-9 s: readers in use overflow where a second has more parts.
constexpr std::uint8_t kNanoseconds = 9;
constexpr std::size_t kPacketBlockOverhead = 32 + 8 + 4;  // fixed fields, flags, end of options

std::size_t padded(std::size_t n) { return (n + 3) / 4 * 4; }

// A block in the making; numbers are little-endian, as the magic says.
class Block {
 public:
  explicit Block(std::uint32_t type) {
    number(type, 4);
    number(0, 4);  // length, known at the end
  }
  void number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) text_.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  }
  void raw(const char* data, std::size_t size) {
    text_.append(data, size);
    text_.append(padded(size) - size, '\0');
  }
  void option(std::uint16_t code, const std::string& value) {
    number(code, 2);
    number(value.size(), 2);
    raw(value.data(), value.size());
  }
  void option(std::uint16_t code, std::uint64_t value, int bytes) {
    number(code, 2);
    number(static_cast<std::uint64_t>(bytes), 2);
    number(value, bytes);
    number(0, static_cast<int>(padded(static_cast<std::size_t>(bytes))) - bytes);
  }
  std::string finish() {
    number(kEndOfOptions, 4);  // code and length 0
    const std::size_t length = text_.size() + 4;
    number(length, 4);
    for (std::size_t i = 0; i < 4; ++i) text_[4 + i] = static_cast<char>(length >> (8 * i) & 0xff);
    return std::move(text_);
  }

 private:
  std::string text_;
};

}  // namespace

PcapngWriter::PcapngWriter(std::ostream& out, const Interface& interface) : out_(out) {
  Block section(kSectionHeader);
  section.number(kByteOrderMagic, 4);
  section.number(1, 2);  // version 1.0
  section.number(0, 2);
  section.number(~std::uint64_t{0}, 8);  // length of the section: not given
  section.option(kUserApplication, "linerate");
  write(section.finish());

  Block description(kInterface);
  description.number(kEthernet, 2);
  description.number(0, 2);
  description.number(0, 4);  // every length may occur
  description.option(kInterfaceName, interface.name);
  description.option(kInterfaceSpeed, static_cast<std::uint64_t>(interface.speed.bits_per_second()),
                     8);
  description.option(kTimeResolution, kNanoseconds, 1);
  write(description.finish());
}

void PcapngWriter::add(Time at, std::span<const std::uint8_t> bytes, std::uint32_t original_length,
                       CaptureDirection direction) {
  Block packet(kEnhancedPacket);
  packet.number(0, 4);  // the interface
  const auto time = static_cast<std::uint64_t>(at.picoseconds() / 1000);
  packet.number(time >> 32, 4);
  packet.number(time & 0xffffffff, 4);
  packet.number(bytes.size(), 4);
  packet.number(original_length, 4);
  packet.raw(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  packet.option(kPacketFlags, static_cast<std::uint64_t>(direction), 4);
  write(packet.finish());
}

std::int64_t PcapngWriter::size_of(std::size_t bytes) {
  return static_cast<std::int64_t>(kPacketBlockOverhead + padded(bytes));
}

void PcapngWriter::write(const std::string& block) {
  out_.write(block.data(), static_cast<std::streamsize>(block.size()));
  written_ += static_cast<std::int64_t>(block.size());
}

}  // namespace linerate::models
