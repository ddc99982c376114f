// SPDX-License-Identifier: Apache-2.0
// Which work of a call is ordered with which, as CUDA's streams and events order it: work is run at
// once here, but a GPU may run what nothing orders in any order. Decides whether all work of a call
// is ordered by one stream, and says what is not. Legacy semantics of the default stream; where
// CUDA's own documentation leaves it open whether a call waits, it does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gradverify_simt/runtime_types.hpp"
#include "gradverify_simt/state.hpp"

namespace gradverify::simt {

/// For each stream, by its number, up to which piece of its work something is known to be done.
class StreamClock {
  public:
    std::uint64_t operator[](std::size_t stream) const {
        return stream < done_.size() ? done_[stream] : 0;
    }
    void set(std::size_t stream, std::uint64_t piece);
    void join(const StreamClock& other);

  private:
    std::vector<std::uint64_t> done_;
};

/// A piece of work: a call of the run-time API, or a kernel and where it is launched.
struct WorkName {
    const char* call = "";
    unit::Place launch{nullptr, 0};
    bool is_on_buffers = false;  ///< of the call, for all that is known
};

/// The streams of one OS thread.
class Streams {
  public:
    static Streams& of_this_thread();
    Streams();
    ~Streams();
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    cudaStream_t create(bool blocking);
    /// **Errors** false when it is not one that `create` gave.
    bool destroy(cudaStream_t stream);

    /// A call begins: what came before it is done, and both the given and the default stream have
    /// work of the caller's that this call's must come after.
    void begin_call(cudaStream_t given);
    /// Why the work since then is not ordered by the given stream, or, unless `given_alone`, by the
    /// default one; empty when it is. What the host has waited for is ordered with what comes next,
    /// and if it is not on the call's buffers, with what came before.
    std::string why_unordered(bool given_alone);

    /// A piece of work is put on a stream.
    void enqueue(cudaStream_t stream, const WorkName& name);
    void wait_for(cudaStream_t stream);
    void wait_for(const StreamClock& event) { host_.join(event); }
    void wait_for_device();
    StreamClock record(cudaStream_t stream);
    void make_wait(cudaStream_t stream, const StreamClock& event);

  private:
    struct Stream {
        cudaStream_t handle = nullptr;
        bool blocking = true;  ///< ordered with the default stream
        bool destroyed = false;
        bool owned = false;  ///< made here, and not yet destroyed
        std::uint64_t pieces = 0;
        StreamClock known;  ///< done before what comes next on it, its own work included
    };
    /// Work of the call: the last piece of a stream's with these answers, which speaks for those
    /// before it.
    struct Work {
        std::size_t stream = 0;
        std::uint64_t piece = 0;
        bool after_given = false, after_default = false;
        WorkName name;
    };

    std::size_t number_of(cudaStream_t stream);
    std::size_t add(cudaStream_t handle, bool blocking);
    /// One more piece on a stream, ordered as CUDA does.
    std::uint64_t advance(std::size_t stream);
    bool is_waited_for(const Work& work) const { return host_[work.stream] >= work.piece; }
    /// The first work that this stream does not order; null when there is none.
    const Work* first_unordered(std::size_t by, bool Work::* after);
    std::string print(const Work& work) const;

    std::vector<Stream> streams_;
    StreamClock host_;
    std::vector<Work> works_;
    std::size_t given_ = 0;
    std::uint64_t given_begin_ = 0, default_begin_ = 0;
};

}  // namespace gradverify::simt
