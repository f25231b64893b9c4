// What encryption costs a host: rates of ciphers on a core, for tunnels and for programs.
#pragma once

#include <optional>
#include <vector>

#include "experiments/definition/encapsulation.hpp"
#include "sim/units.hpp"

namespace linerate::experiments {

/// How fast a core encrypts or decrypts, with what keeps data whole: AES-GCM, AES-CBC with an HMAC,
/// ChaCha20-Poly1305. A cipher without a rate is free.
struct Ciphers {
  std::optional<BitRate> aes_gcm, aes_cbc, chacha20;
  Time packet{};  ///< of each packet in a tunnel, in turn, beside its bytes
  int cores = 1;  ///< that share the bytes of WireGuard
  bool operator==(const Ciphers&) const = default;
  std::optional<BitRate> rate(Cipher cipher) const {
    if (cipher == Cipher::aes_gcm) return aes_gcm;
    if (cipher == Cipher::aes_cbc) return aes_cbc;
    return cipher == Cipher::chacha20 ? chacha20 : std::nullopt;
  }
  /// Of data that a program encrypts (ssh, TLS).
  Time time(Cipher cipher, Bytes size) const {
    const std::optional<BitRate> known = rate(cipher);
    return known ? serialization_time(size, *known) : Time{};
  }
  /// Of a packet that enters or leaves the tunnels of a NIC. WireGuard hands packets to workers on
  /// all cores (Donenfeld, NDSS 2017, section 7); IPsec and MACsec encrypt where the packet is.
  Time tunnel_time(const std::vector<Encapsulation>& layers, Bytes size) const {
    Time sum{};
    for (const Encapsulation& layer : layers)
      if (const Cipher cipher = cipher_of(layer); cipher != Cipher::none)
        sum += packet + time(cipher, size) / (cipher == Cipher::chacha20 ? cores : 1);
    return sum;
  }
};

}  // namespace linerate::experiments
