// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What libfurrow_mpi.so offers: a table of functions in C, so that it needs nothing of the library, and the library
/// nothing of MPI. All functions that return text return null where all went well, and otherwise a sentence that stays
/// until the next call.
extern "C" {

struct furrow_mpi_piece {
  int rank;
  void* data; ///< only read where it is sent
  long long bytes;
};

struct furrow_mpi_group;

struct furrow_mpi_functions {
  int version; ///< of this table
  /// `comm`: points to an MPI_Comm; null: that of all ranks. Begins MPI where nobody has.
  const char* (*open)(const void* comm, furrow_mpi_group** group);
  /// Ends MPI where `open` began it.
  void (*close)(furrow_mpi_group* group);
  int (*rank)(const furrow_mpi_group* group);
  int (*size)(const furrow_mpi_group* group);
  const char* (*gather_all)(furrow_mpi_group* group, const void* mine, long long bytes, void* all);
  const char* (*start)(furrow_mpi_group* group, const furrow_mpi_piece* sends, int send_count,
                       const furrow_mpi_piece* receives, int receive_count);
  const char* (*finish)(furrow_mpi_group* group);
  void (*abort)(furrow_mpi_group* group, int exit_code); ///< does not return
};

inline constexpr int furrow_mpi_version = 1;

/// The one name that the module exports: null for another version of the table.
using furrow_mpi_table = const furrow_mpi_functions* (*)(int version);
}
