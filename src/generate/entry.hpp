// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "arguments.hpp"
#include "rows.hpp"

#include <furrow/io.hpp>

namespace furrow {

/// A generator as the rest of the library sees it. generate.cpp has the table.
struct generator_entry {
  std::string_view usage, about, example; ///< usage: NAME:ARGUMENTS
  matrix_header (*header)(const arguments&) = nullptr;
  coo<double> (*make)(const arguments&, index_t first, index_t last) = nullptr; ///< rows [first, last), from 0 on
  host_array<std::int32_t> (*lengths)(const arguments&, index_t first, index_t last) = nullptr; ///< of these rows
  vector_columns (*coordinates)(const arguments&) = nullptr; ///< of its nodes, a column a direction; null: it has none

  std::string_view name() const { return usage.substr(0, usage.find(':')); }
};

/// An entry from a row source that is made from its arguments.
template <row_source R>
constexpr generator_entry generator_of(std::string_view usage, std::string_view about, std::string_view example) {
  return {usage,
          about,
          example,
          [](const arguments& words) {
            const R rows(words);
            matrix_header h;
            h.shape = rows.shape();
            h.stored = count_entries(rows);
            return h;
          },
          [](const arguments& words, index_t first, index_t last) { return assemble(R(words), first, last); },
          [](const arguments& words, index_t first, index_t last) { return lengths_of_rows(R(words), first, last); },
          [] {
            if constexpr (requires(const R& rows) { rows.coordinates(); })
              return +[](const arguments& words) { return R(words).coordinates(); };
            else return nullptr;
          }()};
}

} // namespace furrow
