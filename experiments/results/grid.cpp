#include "experiments/results/grid.hpp"

#include <algorithm>
#include <numeric>

#include "sim/check.hpp"

namespace linerate::experiments {
namespace {

constexpr std::size_t gap = 2;

/// Columns on a terminal: UTF-8 continuation bytes take none.
std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string painted(const std::string& text, Paint paint, bool colour) {
  if (!colour || paint == Paint::none) return text;
  const char* start = "\x1b[1m";
  if (paint == Paint::good) start = "\x1b[32m";
  if (paint == Paint::bad) start = "\x1b[31m";
  if (paint == Paint::doubtful) start = "\x1b[33m";
  return start + text + "\x1b[0m";
}

std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::string out;
  std::string line;
  const auto flush = [&] {
    if (!line.empty()) out += std::string(indent, ' ') + line + "\n";
    line.clear();
  };
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n", start), text.size());
    const std::string word = text.substr(start, end - start);
    start = end + 1;
    if (word.empty()) continue;
    if (!line.empty() && indent + columns_of(line) + 1 + columns_of(word) > width) flush();
    line += (line.empty() ? "" : " ") + word;
  }
  flush();
  return out;
}

Grid::Grid(std::vector<std::string> headings) {
  for (std::string& heading : headings) {
    right_.push_back(heading.starts_with('>'));
    headings_.push_back({right_.back() ? heading.substr(1) : std::move(heading), Paint::none});
  }
}

void Grid::add(std::vector<Cell> cells) {
  LINERATE_CHECK(cells.size() <= headings_.size(), "a row has no more cells than the heading");
  cells.resize(headings_.size());
  rows_.push_back(std::move(cells));
}

void Grid::add_title(const std::string& text, Paint paint) { rows_.push_back({{text, paint}}); }

std::vector<std::size_t> Grid::widths() const {
  std::vector<std::size_t> widths(headings_.size(), 0);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    for (const auto& row : rows_)
      if (row.size() > 1) widths[i] = std::max(widths[i], columns_of(row[i].text));
    if (widths[i] > 0) widths[i] = std::max(widths[i], columns_of(headings_[i].text));
  }
  return widths;
}

std::size_t Grid::width() const {
  std::size_t total = 0;
  for (const std::size_t width : widths())
    if (width > 0) total += width + (total > 0 ? gap : 0);
  return total;
}

std::string Grid::text(std::size_t indent, bool colour) const {
  const std::vector<std::size_t> columns = widths();
  std::string out;
  const auto append = [&](const std::vector<Cell>& row) {
    std::string line(indent, ' ');
    std::size_t pending = 0;  // spaces owed before the next text, so that none end a line
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (columns[i] == 0) continue;
      const std::size_t rest = columns[i] - columns_of(row[i].text);
      if (row[i].text.empty()) {
        pending += columns[i] + gap;
        continue;
      }
      line.append(pending + (right_[i] ? rest : 0), ' ');
      line += painted(row[i].text, row[i].paint, colour);
      pending = (right_[i] ? 0 : rest) + gap;
    }
    out += line + "\n";
  };
  const bool headed = std::any_of(headings_.begin(), headings_.end(),
                                  [](const Cell& heading) { return !heading.text.empty(); });
  if (headed) append(headings_);
  for (const auto& row : rows_) {
    if (row.size() > 1)
      append(row);
    else
      out += std::string(indent, ' ') + painted(row[0].text, row[0].paint, colour) + "\n";
  }
  return out;
}

}  // namespace linerate::experiments
