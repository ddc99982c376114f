// SPDX-License-Identifier: Apache-2.0
// Decides whether one stream orders all work of a call, which a GPU may else run in any order. The
// default stream has legacy semantics; a call waits where CUDA's documentation leaves that open.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gradverify_simt/runtime_types.hpp"
#include "gradverify_simt/state.hpp"

namespace gradverify::simt {

/// For each stream, by its number, the last piece of its work that is known to be done.
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
    bool is_on_buffers = false;  ///< whether it may touch the call's buffers
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

    // As in simt.hpp. When a call begins, earlier work is done, but the given and the default
    // stream each have work of the caller, which this call's work must come after.
    void begin_call(cudaStream_t given);
    std::string why_unordered(bool given_alone);

    /// Puts a piece of work on a stream.
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
        StreamClock known;  ///< done before the stream's next work, its own work included
    };
    /// A piece of the call's work; it stands for the stream's earlier pieces with the same answers.
    struct Work {
        std::size_t stream = 0;
        std::uint64_t piece = 0;
        bool after_given = false, after_default = false;
        WorkName name;
    };

    std::size_t number_of(cudaStream_t stream);
    std::size_t add(cudaStream_t handle, bool blocking);
    /// Adds a piece to a stream, ordered as by CUDA.
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
