// SPDX-License-Identifier: Apache-2.0
// Decides whether one stream orders all work of a call, which a GPU may else run in any order, and
// keeps what orders two works of it. The default stream has legacy semantics; a call waits where
// CUDA's documentation leaves that open.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gradverify_simt/runtime_types.hpp"
#include "gradverify_simt/state.hpp"
#include "harness/simt/runtime/host_copies.hpp"
#include "harness/simt/runtime/of_call.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify::simt {

/// For each stream, by its number, the last piece of its work that is known to be done.
class StreamClock {
  public:
    std::uint64_t operator[](std::size_t stream) const {
        return stream < done_.size() ? done_[stream] : 0;
    }
    void set(std::size_t stream, std::uint64_t piece);
    bool covers(const StreamClock& other) const;
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

enum class Touch : std::uint8_t { reads, writes, frees, allocates };

/// A piece of work as the call made it, for the race detector.
struct LoggedWork {
    std::size_t stream = 0;
    std::uint64_t piece = 0;
    WorkName name;
    bool follows_all = true;  ///< earlier works of the call
    StreamClock follows{};    ///< else the pieces that it does
    /// Earlier works, by their numbers, that may go on while it runs: a launch by programmatic
    /// serialization follows them only where it has met griddepcontrol.wait.
    std::vector<std::size_t> may_go_on{};
    bool has_launched_dependents = false;
    bool has_waited_first = false;  ///< some thread had, for what may go on
    bool is_after(const LoggedWork& earlier) const {
        return follows_all || follows[earlier.stream] >= earlier.piece;
    }
};
/// Memory that a logged work which is no launch touches.
struct LoggedTouch {
    std::size_t work;  ///< its number in the log
    std::uintptr_t begin, end;
    Touch how;
};

/// The streams of the process, by `OfCall`.
class Streams {
  public:
    Streams();
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    cudaStream_t create(bool blocking);
    /// **Errors** false when it is not one that `create` gave.
    bool destroy(cudaStream_t stream);

    // As in simt.hpp. When a call begins, earlier work is done, but the given and the default
    // stream each have work of the caller, which this call's work must come after.
    void begin_call(cudaStream_t given);
    std::string why_unordered(bool given_alone);

    /// Puts a piece of work on a stream, which is done until `end_work`.
    void enqueue(cudaStream_t stream, const WorkName& name, bool is_programmatic = false);
    /// A thread of the launch that runs lets its dependents begin; whether it has waited for what
    /// its launch depends on.
    void launch_dependents(bool has_waited);
    /// The host itself writes to memory that a kernel may use.
    void write_on_host(const char* call, const void* begin, std::size_t bytes);
    void end_work();
    /// Memory that the last piece touches; no launch says what it does.
    void touch(const void* begin, std::size_t bytes, Touch how);
    /// Memory is new, and work that is not behind this piece of the stream may not touch it.
    void allocate(cudaStream_t stream, const void* begin, std::size_t bytes);
    /// The last piece copies to or from pinned memory, and the host does not wait for it.
    void copy_beside_host(void* to, const void* from, std::size_t bytes);
    /// Copies to and from memory that is no longer pinned are done.
    void forget_unpinned();
    /// On the host, in the order of a stream.
    void run_host_function(cudaHostFn_t function, void* data);
    void wait_for(cudaStream_t stream);
    void wait_for(const StreamClock& event);
    void wait_for_device();
    /// Whether a stream's work or an event is done; a host that has learned so may rely on it.
    /// Where nobody has waited for it, the schedule may deny it, once.
    bool is_done(cudaStream_t stream) { return is_done(clock_of(stream)); }
    bool is_done(const StreamClock& event);
    StreamClock record(cudaStream_t stream);
    void make_wait(cudaStream_t stream, const StreamClock& event);

    /// Decides which copies to the host arrive late, and which answers say that work is not done.
    void set_schedule(const Schedule& schedule) { schedule_ = schedule, scheduled_ = 0; }

    // The call's works and what they touch; `call` is the number of calls that have begun.
    std::uint64_t call() const { return call_; }
    const std::vector<LoggedWork>& log() const { return log_; }
    const std::vector<LoggedTouch>& touches() const { return touches_; }
    std::string print(std::size_t stream, const WorkName& name) const;

  private:
    struct Stream {
        cudaStream_t handle = nullptr;
        bool blocking = true;  ///< ordered with the default stream
        bool destroyed = false;
        bool owned = false;  ///< made here, and not yet destroyed
        std::uint64_t pieces = 0;
        std::uint64_t last_logged = 0;  ///< the last piece of the call's that is in the log
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
    std::string print(const Work& work) const { return print(work.stream, work.name); }
    LoggedWork& log(std::size_t stream, std::uint64_t piece, const WorkName& name);
    StreamClock clock_of(cudaStream_t stream);
    void host_has_waited();
    bool draw_late();

    std::vector<Stream> streams_;
    StreamClock host_;
    std::vector<Work> works_;
    std::vector<LoggedWork> log_;
    std::vector<LoggedTouch> touches_;
    std::uint64_t call_ = 0;
    HostCopies host_copies_;
    Schedule schedule_;
    std::uint64_t scheduled_ = 0;
    StreamClock denied_;  ///< what `is_done` has denied
    bool was_denied_ = false;
    std::size_t host_stream_ = 0;  ///< of what the host writes; 0: nothing yet
    std::size_t given_ = 0;
    std::uint64_t given_begin_ = 0, default_begin_ = 0;
};

}  // namespace gradverify::simt
