// SPDX-License-Identifier: BSD-3-Clause
#include "write_on_ranks.hpp"

#include "gather_rows.hpp"
#include "load/tell.hpp"
#include "machine.hpp"
#include "memory.hpp"
#include "together.hpp"

#include "io/vector_format.hpp"

#include <furrow/load_on_ranks.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace furrow {
namespace {

constexpr index_t piece_size = io::vector_format::piece_numbers;

struct piece_range {
  index_t first = 0, last = 0;
  index_t size() const { return last - first; }
};

/// Which pieces of the file a rank writes: those that begin in its part.
piece_range pieces_of(const std::vector<index_t>& begins, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  const auto from = [](index_t element) { return (element + piece_size - 1) / piece_size; };
  return {from(begins[r]), from(begins[r + 1])};
}

/// What of the last piece of `owner` lies in the part of another rank behind it.
piece_range lent_by(const std::vector<index_t>& begins, int owner, int rank) {
  const piece_range own = pieces_of(begins, owner);
  if (rank <= owner || own.size() == 0) return {};
  const auto r = static_cast<std::size_t>(rank);
  const index_t end = std::min(begins.back(), own.last * piece_size);
  return {begins[r], std::max(begins[r], std::min(begins[r + 1], end))};
}

/// The numbers of a rank's pieces: its part, but for the last piece, which ends in the parts of others.
class numbers_of_pieces {
public:
  numbers_of_pieces(communicator& c, cview<double> mine, const std::vector<index_t>& begins)
      : mine_(mine), first_(begins[static_cast<std::size_t>(c.rank())]), end_(begins.back()) {
    const piece_range own = pieces_of(begins, c.rank());
    const index_t from = (own.last - 1) * piece_size, have = first_ + mine.size;
    if (own.size() > 0) last_ = host_array<double>(std::min(piece_size, end_ - from));
    if (!last_.empty()) std::copy(mine.data + (from - first_), mine.data + mine.size, last_.begin());
    std::vector<outgoing> out;
    std::vector<incoming> in;
    index_t at = have - from;
    for (int r = 0; r < c.size(); ++r) {
      const piece_range lent = lent_by(begins, r, c.rank()), borrowed = lent_by(begins, c.rank(), r);
      if (lent.size() > 0) out.push_back({r, bytes_of(cview<double>(mine.data + (lent.first - first_), lent.size()))});
      if (borrowed.size() > 0) in.push_back({r, bytes_of(view<double>(last_.data() + at, borrowed.size()))});
      at += borrowed.size();
    }
    c.start(out, in);
    c.finish();
  }

  cview<double> operator()(index_t piece) const {
    const index_t from = piece * piece_size, to = std::min(end_, from + piece_size);
    if (to <= first_ + mine_.size) return {mine_.data + (from - first_), to - from};
    return as_cview(last_);
  }

private:
  cview<double> mine_;
  index_t first_, end_;
  host_array<double> last_;
};

/// The bytes of a rank's pieces: made when they are asked for where each number has as many, otherwise kept, for where
/// they go is known when all ranks have theirs.
class bytes_of_pieces {
public:
  bytes_of_pieces(const io::vector_format& format, const numbers_of_pieces& numbers, piece_range pieces)
      : format_(format), numbers_(numbers), pieces_(pieces) {
    if (const index_t each = format.bytes_of_number()) {
      for (index_t k = pieces.first; k < pieces.last; ++k) bytes_ += each * numbers(k).size;
      return;
    }
    kept_.resize(static_cast<std::size_t>(pieces.size()));
    cpu::for_each_range(pieces.size(), 1, [&](index_t first, index_t last) {
      io::text_piece room;
      for (index_t k = first; k < last; ++k) kept_[static_cast<std::size_t>(k)] = make(pieces.first + k, room);
    });
    for (const std::string& text : kept_) bytes_ += static_cast<index_t>(text.size());
  }

  index_t size() const { return bytes_; }
  index_t count() const { return pieces_.size(); }
  /// Of the k-th of them; until the next call.
  std::string_view operator()(index_t k) {
    if (!kept_.empty()) return kept_[static_cast<std::size_t>(k)];
    format_.put(numbers_(pieces_.first + k), room_);
    return room_.text();
  }

private:
  std::string_view make(index_t piece, io::text_piece& room) const {
    format_.put(numbers_(piece), room);
    if (format_.packed()) room.pack();
    return room.text();
  }

  const io::vector_format& format_;
  const numbers_of_pieces& numbers_;
  piece_range pieces_;
  index_t bytes_ = 0;
  std::vector<std::string> kept_;
  io::text_piece room_;
};

/// The file as the ranks write it: each its own bytes at their place, or the first one for it.
class file_of_ranks {
public:
  file_of_ranks(communicator& c, const std::filesystem::path& file, const part_opener& opens) : c_(c) {
    alike(c, [&] {
      if (c.rank() == 0) whole_.emplace(file);
    });
    const bool direct = c.of_first(whole_ && whole_->beside().empty()) != 0;
    const std::string name = tell(c, 0, file.string());
    const auto beside =
        tell(c, 0, whole_ && !direct ? std::filesystem::absolute(whole_->beside()).string() : std::string());
    const machine_name first_one = gather_each(c, name_of_machine()).front();
    const bool apart = c.any(first_one != name_of_machine());
    if (c.rank() > 0 && !direct) part_ = opens(name, beside, apart);
    direct_ = direct;
  }

  /// Whether the first rank writes this rank's bytes.
  bool is_sent() const { return c_.rank() > 0 && !(part_ && part_->is_open()); }
  bool is_direct() const { return direct_; }

  /// `before`: where this rank's bytes begin.
  void write(std::string_view head, bytes_of_pieces& bytes, index_t before) {
    keep_failure(failed_, [&] {
      if (whole_) whole_->write(head);
      if (is_sent()) return;
      for (index_t k = 0; k < bytes.count(); ++k) {
        const std::string_view text = bytes(k);
        if (!whole_) part_->write_at(text.data(), text.size(), before);
        else if (direct_) whole_->write(text);
        else whole_->write_at(text.data(), text.size(), before);
        before += static_cast<index_t>(text.size());
      }
    });
  }

  /// All of them: rank r sends its `count` pieces, one at a time, to the first, which puts them at `before`.
  void send(int r, index_t count, bytes_of_pieces& bytes, index_t before) {
    std::string come;
    for (index_t k = 0; k < count; ++k) {
      std::string_view text;
      keep_failure(failed_, [&] {
        if (c_.rank() == r) text = bytes(k);
      });
      const index_t size = tell(c_, r, static_cast<index_t>(text.size()));
      std::vector<outgoing> out;
      std::vector<incoming> in;
      if (c_.rank() == r) out.push_back({0, bytes_of(cview<char>(text.data(), size))});
      if (c_.rank() == 0) {
        come.resize(static_cast<std::size_t>(size));
        in.push_back({r, bytes_of(view<char>(come.data(), size))});
      }
      if (size == 0) continue; // it failed there
      c_.start(out, in);
      c_.finish();
      if (c_.rank() == 0)
        keep_failure(failed_, [&] {
          if (direct_) whole_->write(come);
          else whole_->write_at(come.data(), come.size(), before);
        });
      before += size;
    }
  }

  void finish() {
    keep_failure(failed_, [&] {
      if (part_ && part_->is_open()) part_->close();
    });
    throw_first_fault(c_, failed_);
    alike(c_, [&] {
      if (whole_) whole_->commit();
    });
  }

private:
  communicator& c_;
  std::optional<io::atomic_file> whole_; ///< of the first rank
  std::unique_ptr<io::part_of_atomic_file> part_;
  std::optional<error> failed_;
  bool direct_ = false; ///< it has no places: a pipe
};

/// `name` and `format`: on all ranks alike.
std::string write_pieces_of(communicator& c, const io::vector_format& format, cview<double> mine,
                            const std::vector<index_t>& begins, const std::filesystem::path& name,
                            const part_opener& opens) {
  const piece_range own = pieces_of(begins, c.rank());
  const numbers_of_pieces numbers(c, mine, begins);
  const bool digits = format.bytes_of_number() == 0;
  check_memory_of_machine(c, digits ? double(io::longest_value) * double(own.size() * piece_size) : 0);
  std::optional<bytes_of_pieces> bytes;
  alike(c, [&] { bytes.emplace(format, numbers, own); });
  const std::vector<index_t> sizes = gather_each(c, bytes->size());
  std::vector<index_t> offsets{static_cast<index_t>(format.head().size())};
  for (const index_t n : sizes) offsets.push_back(offsets.back() + n);

  file_of_ranks out(c, name, opens);
  const auto at = [&](int r) { return offsets[static_cast<std::size_t>(r)]; };
  out.write(format.head(), *bytes, at(c.rank()));
  const auto sent = gather_each(c, char(out.is_sent() && own.size() > 0));
  std::string who;
  for (int r = 1; r < c.size(); ++r) {
    if (!sent[static_cast<std::size_t>(r)]) continue;
    if (who.empty() && !out.is_direct()) who = fmt::format("rank {} does not see its folder", r);
    out.send(r, pieces_of(begins, r).size(), *bytes, at(r));
  }
  out.finish();
  return who;
}

} // namespace

part_opener usual_opener() {
  return [](const std::string& name, const std::filesystem::path& beside, bool apart) {
    return std::make_unique<io::part_of_atomic_file>(name, beside, apart);
  };
}

std::string write_parts(communicator& c, cview<double> mine, const std::filesystem::path& file,
                        const part_opener& opens) {
  return as_one(c, [&] {
    const std::vector<index_t> begins = begins_of_parts(c, mine.size);
    const std::filesystem::path name = tell(c, 0, file.string());
    std::optional<io::vector_format> format;
    alike(c, [&] { format.emplace(name, begins.back()); });
    return write_pieces_of(c, *format, mine, begins, name, opens);
  });
}

std::string write_parts_behind(communicator& c, std::string_view head, cview<double> mine,
                               const std::filesystem::path& file, const part_opener& opens) {
  return as_one(c, [&] {
    const std::vector<index_t> begins = begins_of_parts(c, mine.size);
    const std::filesystem::path name = tell(c, 0, file.string());
    const io::vector_format format(std::string_view(tell(c, 0, std::string(head))), begins.back());
    return write_pieces_of(c, format, mine, begins, name, opens);
  });
}

std::string write_vector_on_ranks(communicator& c, cview<double> mine, const std::filesystem::path& file) {
  return write_parts(c, mine, file, usual_opener());
}

} // namespace furrow
