// `--encapsulation vxlan,esp=gcm+nat-traversal`: how letters become the list of an experiment file.
#pragma once

#include <string>

namespace linerate::cli {

/// "[vxlan, {esp: {cipher: gcm, nat_traversal: on}}]". Layers stand from the packet outwards, their
/// options behind `=`, joined by `+`: a word for a switch, `ip6` for the outer IP version,
/// `key:value`, or the value alone of a layer's main option (labels, cipher, VNI, …). What the
/// words mean is left to the parser. Throws Failure (bad usage) where a layer has no name.
std::string encapsulation_list(const std::string& letters);

}  // namespace linerate::cli
