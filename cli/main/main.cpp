// The executable: everything is in the library, where tests can reach it.
#include <string>
#include <vector>

#include "cli/command_line.hpp"

int main(int count, char** words) {
  return linerate::cli::run(std::vector<std::string>(words + (count > 0 ? 1 : 0), words + count));
}
