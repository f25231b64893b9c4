// IP fragmentation: into which packets an IP payload goes that one packet does not hold.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/units.hpp"

namespace linerate::experiments {

/// The packets of one IP payload. All but the last are alike.
struct Fragments {
  std::int64_t count = 1;
  Bytes full, last;  ///< sizes of the IP packets; with one packet `last` is it

  /// IP header of each, with the IPv6 fragment header if there are several.
  Bytes header;
  /// Size of the packet with this number, from 0.
  Bytes packet(std::int64_t number) const { return number + 1 < count ? full : last; }
};

/// How `payload` (what follows the IP header) crosses an MTU. Offsets count units of 8 bytes, so
/// every fragment but the last carries a multiple of 8 (RFC 791 3.2); IPv6 adds a header of 8 bytes
/// to each (RFC 8200 4.5). The MTU has room for 8 bytes at least.
constexpr Fragments fragments(int ip, Bytes payload, Bytes mtu) {
  const Bytes header(ip == 6 ? 40 : 20);
  if (header + payload <= mtu)
    return {.count = 1, .full = header + payload, .last = header + payload, .header = header};
  const Bytes with_offset = header + Bytes(ip == 6 ? 8 : 0);
  const Bytes unit((mtu - with_offset).count() / 8 * 8);
  const std::int64_t count = (payload.count() + unit.count() - 1) / unit.count();
  return {.count = count,
          .full = with_offset + unit,
          .last = with_offset + payload - unit * (count - 1),
          .header = with_offset};
}

}  // namespace linerate::experiments
