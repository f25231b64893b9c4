// Whether a report that came from elsewhere can be what an end of a transfer has seen.
#pragma once

#include "realnet/report.hpp"

namespace linerate::realnet {

/// False if something in the report would lead whoever reads it out of an array, a division or the
/// range of a number: the bytes are another program's.
bool plausible(const SenderReport& report);
bool plausible(const ReceiverReport& report);

}  // namespace linerate::realnet
