// SPDX-License-Identifier: BSD-3-Clause
#include "io_test_kit.hpp"

#include <csignal>
#include <sys/stat.h>
#include <thread>

using namespace furrow;
using namespace furrow::io_test;

namespace {

const std::string head = "%%MatrixMarket matrix coordinate real general\n";
const std::string matrix = head + "2 2 2\n1 1 3\n2 2 4\n";
const std::vector<entry> wanted{{0, 0, 3}, {1, 1, 4}};

/// A FIFO into which `bytes` are written by a thread, once somebody reads.
struct fifo {
  folder here;
  std::filesystem::path file = here / "pipe";
  std::thread writer;
  explicit fifo(std::string bytes) {
    std::signal(SIGPIPE, SIG_IGN); // of a reader that found something wrong
    ::mkfifo(file.c_str(), 0600);
    writer = std::thread([this, bytes = std::move(bytes)] { put_file(file, bytes); });
  }
  ~fifo() { writer.join(); }
};

/// A body of several batches of a stream; `wrong` stands in the place of line `line`, counted from 1.
std::string long_text(index_t line, const std::string& wrong) {
  std::string text = head + "300000 300000 300000\n";
  for (index_t k = 3; k < 300003; ++k)
    text += k == line ? wrong : std::to_string(k - 2) + " " + std::to_string(k - 2) + " 1.25000000\n";
  return text;
}

std::string sentence(const std::string& message) { return message.substr(message.find(':')); }

} // namespace

TEST(input, a_file_that_changes_is_refused) {
  const folder here;
  const coo<double> a = make({3, 3}, {{0, 0, 1}, {1, 1, 2}, {2, 2, 3}});
  const auto file = here / "m";
  const auto change = [&](int how) {
    const auto size = std::filesystem::file_size(file);
    if (how == 0) std::filesystem::resize_file(file, 0);
    if (how == 1) std::filesystem::resize_file(file, size / 2);
    if (how == 2) std::filesystem::resize_file(file, size + 1);
    if (how == 3) {                                               // another byte in the same place
      std::this_thread::sleep_for(std::chrono::milliseconds(20)); // clocks of file systems tick slowly
      std::string bytes = bytes_of(file);
      bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
      std::fstream(file, std::ios::in | std::ios::out | std::ios::binary) << bytes;
    }
  };
  for (int kind = 0; kind < 4; ++kind)
    for (int how = 0; how < 4; ++how)
      for (const bool looked : {false, true}) {
        write_cache({a, {}, "m", ""}, file);
        if (kind == 0) put_file(file, matrix);
        if (kind == 1) put_file(file, gzip(matrix));
        if (kind == 2) put_file(file, tar_member("m/m.mtx", matrix) + tar_end);
        const source from = file;
        if (looked) read_header(from);
        change(how);
        EXPECT_TRUE(refusal([&] { read_matrix(from); }).ends_with("/m: the file changed while it was read"))
            << kind << how << looked;
      }
  put_file(file, "1\n2\n3\n");
  const source from = file;
  change(1);
  EXPECT_TRUE(refusal([&] { read_vector(from); }).ends_with("/m: the file changed while it was read"));
}

TEST(input, a_large_file_that_gets_shorter_under_the_reader) {
  const folder here;
  const auto file = here / "m.mtx";
  const std::string text = long_text(0, "");
  for (const std::size_t size : {std::size_t(0), text.size() / 2, text.size() - 1}) {
    put_file(file, text);
    const source from = file;
    std::thread other([&] { std::filesystem::resize_file(file, size); });
    try {
      EXPECT_EQ(read_matrix(from).a.nnz(), 300000); // the reader was faster
    } catch (const error& wrong) {
      EXPECT_TRUE(std::string(wrong.what()).ends_with(": the file changed while it was read")) << wrong.what();
    }
    other.join();
    EXPECT_TRUE(refusal([&] { read_matrix(from); }).ends_with(": the file changed while it was read"));
  }
}

TEST(input, pipes_of_every_kind) {
  folder here;
  write_cache({make({2, 2}, wanted), {}, "m", ""}, here / "m.furrow");
  const std::string tar = tar_member("m/m.mtx", matrix) + tar_end;
  for (const std::string& bytes : {matrix, gzip(matrix), tar, gzip(tar), bytes_of(here / "m.furrow")}) {
    const fifo pipe(bytes);
    const source from = pipe.file;
    const matrix_header head = read_header(from);
    EXPECT_EQ(head.stored, 2);
    EXPECT_GT(estimate_read_memory(from, head), 0);
    EXPECT_EQ(list(read_matrix(from).a), wanted);
  }
  const fifo numbers("1\n2\n3\n");
  EXPECT_EQ(read_vector(numbers.file).size(), 3);
}

TEST(input, a_pipe_is_read_once) {
  const fifo pipe(long_text(0, ""));
  const source from = pipe.file;
  EXPECT_EQ(read_header(from).stored, 300000);
  EXPECT_EQ(read_matrix(from).a.nnz(), 300000);
  EXPECT_TRUE(refusal([&] { read_matrix(from); }).ends_with("has been read already, and a pipe can be read only once"));
}

TEST(input, a_pipe_that_nobody_writes_into) {
  const folder here;
  const auto file = here / "pipe";
  ::mkfifo(file.c_str(), 0600);
  EXPECT_TRUE(
      refusal([&] { read_matrix(file); }).ends_with("is not a regular file but a pipe that nobody writes into"));
  EXPECT_TRUE(
      refusal([&] { read_vector(file); }).ends_with("is not a regular file but a pipe that nobody writes into"));
  std::thread writer([&] { put_file(file, ""); });
  EXPECT_TRUE(refusal([&] { read_matrix(file); }).ends_with(": the file is empty"));
  writer.join();
}

TEST(input, streams_name_the_line_that_files_name) {
  const folder here;
  const auto file = here / "m";
  const std::string more = "1 1 1\n", short_line = "5 5\n", outside = "300001 1 1\n", comment = "\n\n% no\n";
  for (const index_t line : {3, 4, 150000, 299999, 300002})
    for (const std::string& wrong :
         {short_line, outside, comment, more + more, std::string("\n"), std::string("7 7 x")}) {
      const std::string text = long_text(line, wrong);
      put_file(file, text);
      const std::string of_file = sentence(refusal([&] { read_matrix(file); }));
      put_file(file, pack(io::packing::zstd, text));
      EXPECT_EQ(sentence(refusal([&] { read_matrix(file); })), of_file);
      const fifo pipe(text);
      EXPECT_EQ(sentence(refusal([&] { read_matrix(pipe.file); })), of_file);
    }
}
