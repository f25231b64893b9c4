// Open sources, as both back ends have them.
#pragma once

#include "experiments/definition/load.hpp"

namespace linerate::models {

using experiments::ArrivalProcess;
using experiments::imix_round;
using experiments::SizeSource;

}  // namespace linerate::models
