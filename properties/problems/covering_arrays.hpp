// SPDX-License-Identifier: Apache-2.0
// Keeps the covering arrays of kernels, one for all that support the same problems at the same
// cost, and makes those that will soon be asked for on a thread of its own: a tenth of a second
// each, in which a process that feeds workers would otherwise let them wait.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "properties/problems/covering_array.hpp"

namespace gradverify {

class CoveringArrays {
  public:
    CoveringArrays() = default;
    CoveringArrays(const CoveringArrays&) = delete;
    CoveringArrays& operator=(const CoveringArrays&) = delete;
    /// What was to be made ahead and is not is left.
    ~CoveringArrays() = default;

    /// The array, made now unless it is made; the same whichever kernel asks for it first. The
    /// operator must live longer.
    const CoveringArray& of(const SupportedProblems& problems);

    /// Returns at once; what the kernel declares is called from another thread.
    void make_ahead(const SupportedProblems& problems);

  private:
    /// An array, and what it is of.
    class Entry {
      public:
        Entry(const Operator& op, const PassSpec& pass, const KernelDeclaration& kernel);
        /// Made by the first thread that asks; others wait for it.
        const CoveringArray& array();

      private:
        const Operator& op_;
        const PassSpec& pass_;
        KernelDeclaration kernel_;  ///< what matters of it, and no more
        std::mutex making_;
        std::optional<SupportedProblems> problems_;
        std::optional<CoveringArray> array_;
    };

    Entry& entry_of(const SupportedProblems& problems);
    void make_all(const std::stop_token& stopped);

    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::map<std::string, Entry> entries_;
    std::deque<Entry*> ahead_;
    std::jthread maker_;  ///< last, so that it ends before what it works on
};

}  // namespace gradverify
