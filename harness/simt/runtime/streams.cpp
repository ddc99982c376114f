// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/runtime/streams.hpp"

#include <algorithm>
#include <string_view>

#include "harness/simt/runtime/host_access.hpp"
#include "harness/simt/runtime/mapping.hpp"
#include "harness/simt/runtime/source_line.hpp"

/// What a cudaStream_t of the CPU device points to.
struct CUstream_st {
    bool blocking = true;
};

namespace gradverify::simt {

namespace {

constexpr std::size_t default_stream = 0;

bool is_made(cudaStream_t stream) {
    return stream != nullptr && stream != cudaStreamLegacy && stream != cudaStreamPerThread;
}

}  // namespace

void StreamClock::set(std::size_t stream, std::uint64_t piece) {
    if (done_.size() <= stream) done_.resize(stream + 1);
    done_[stream] = piece;
}

void StreamClock::join(const StreamClock& other) {
    if (done_.size() < other.done_.size()) done_.resize(other.done_.size());
    for (std::size_t i = 0; i < other.done_.size(); ++i)
        done_[i] = std::max(done_[i], other.done_[i]);
}

bool StreamClock::covers(const StreamClock& other) const {
    for (std::size_t i = 0; i < other.done_.size(); ++i)
        if ((*this)[i] < other.done_[i]) return false;
    return true;
}

Streams::Streams() { add(nullptr, true); }

std::size_t Streams::add(cudaStream_t handle, bool blocking) {
    // The work of a destroyed stream matters until the next call begins.
    const auto reusable = std::ranges::find(streams_, true, &Stream::destroyed);
    if (works_.empty() && reusable != streams_.end()) {
        // Its number goes on counting, so that clocks that knew the stream before stay right.
        *reusable = {
            .handle = handle, .blocking = blocking, .pieces = reusable->pieces, .known = {}};
        return static_cast<std::size_t>(reusable - streams_.begin());
    }
    streams_.push_back({.handle = handle, .blocking = blocking, .known = {}});
    return streams_.size() - 1;
}

std::size_t Streams::number_of(cudaStream_t stream) {
    if (stream == nullptr || stream == cudaStreamLegacy) return default_stream;
    for (std::size_t i = 1; i < streams_.size(); ++i)
        if (streams_[i].handle == stream && !streams_[i].destroyed) return i;
    return add(stream, stream == cudaStreamPerThread || stream->blocking);
}

cudaStream_t Streams::create(bool blocking) {
    cudaStream_t stream = new CUstream_st{blocking};
    streams_[add(stream, blocking)].owned = true;
    return stream;
}

bool Streams::destroy(cudaStream_t stream) {
    if (!is_made(stream)) return false;
    Stream& one = streams_[number_of(stream)];
    if (!one.owned) return false;
    one.destroyed = true;
    one.owned = false;
    delete stream;
    return true;
}

std::uint64_t Streams::advance(std::size_t stream) {
    Stream& on = streams_[stream];
    on.known.join(host_);
    if (stream == default_stream) {
        for (const Stream& other : streams_)
            if (other.blocking) on.known.join(other.known);
    } else if (on.blocking) {
        on.known.join(streams_[default_stream].known);
    }
    on.known.set(stream, ++on.pieces);
    return on.pieces;
}

void Streams::begin_call(cudaStream_t given) {
    wait_for_device();
    host_copies_.take_changed();
    works_.clear();
    log_.clear();
    touches_.clear();
    for (Stream& stream : streams_) stream.last_logged = 0;
    ++call_;
    was_denied_ = false;
    given_ = number_of(given);
    default_begin_ = advance(default_stream);
    given_begin_ = given_ == default_stream ? default_begin_ : advance(given_);
}

void Streams::enqueue(cudaStream_t stream, const WorkName& name, bool is_programmatic) {
    const std::size_t number = number_of(stream);
    Work work{.stream = number, .piece = advance(number), .name = name};
    const StreamClock& known = streams_[number].known;
    const auto before = std::ranges::find(log_.rbegin(), log_.rend(), number, &LoggedWork::stream);
    std::vector<std::size_t> may_go_on;
    // Behind an event, or other work than a launch, it begins once that is done.
    if (is_programmatic && before != log_.rend() && before->piece + 1 == work.piece &&
        before->has_launched_dependents) {
        if (!before->has_waited_first) may_go_on = before->may_go_on;
        may_go_on.push_back(static_cast<std::size_t>(log_.rend() - before) - 1);
    }
    log(number, work.piece, name).may_go_on = std::move(may_go_on);
    host_copies_.begin_work();
    begin_device_work();
    work.after_given = known[given_] >= given_begin_;
    work.after_default = known[default_stream] >= default_begin_;
    for (Work& other : works_)
        if (other.stream == number && other.after_given == work.after_given &&
            other.after_default == work.after_default &&
            other.name.is_on_buffers == name.is_on_buffers) {
            other = work;
            return;
        }
    works_.push_back(work);
}

LoggedWork& Streams::log(std::size_t stream, std::uint64_t piece, const WorkName& name) {
    LoggedWork work{.stream = stream, .piece = piece, .name = name};
    const StreamClock& known = streams_[stream].known;
    for (std::size_t i = 0; i < streams_.size(); ++i)
        work.follows_all = work.follows_all && known[i] >= streams_[i].last_logged;
    if (!work.follows_all) work.follows = known;
    log_.push_back(std::move(work));
    streams_[stream].last_logged = piece;
    return log_.back();
}

void Streams::launch_dependents(bool has_waited) {
    log_.back().has_launched_dependents = true;
    log_.back().has_waited_first |= has_waited;
}

// It comes after what the host has waited for, and before all that the host does next.
void Streams::write_on_host(const char* call, const void* begin, std::size_t bytes) {
    if (host_stream_ == 0) host_stream_ = add(nullptr, false);
    log(host_stream_, advance(host_stream_), {.call = call});
    host_.join(streams_[host_stream_].known);
    touch(begin, bytes, Touch::writes);
}

void Streams::allocate(cudaStream_t stream, const void* begin, std::size_t bytes) {
    const std::size_t number = number_of(stream);
    log(number, advance(number), {.call = "cudaMallocAsync"});
    touch(begin, bytes, Touch::allocates);
    touch(begin, bytes, Touch::writes);
}

void Streams::touch(const void* begin, std::size_t bytes, Touch how) {
    touches_.push_back({log_.size() - 1, number(begin), number(begin) + bytes, how});
}

bool Streams::draw_late() {
    if (schedule_.threads == Order::ascending) return false;
    if (schedule_.threads == Order::descending) return true;
    // Multiplicative hashing (Knuth): the highest bit of a product with the golden ratio.
    return (schedule_.seed + ++scheduled_) * 0x9e3779b97f4a7c15ULL >> 63 != 0;
}

void Streams::copy_beside_host(void* to, const void* from, std::size_t bytes) {
    const LoggedWork& work = log_.back();
    const auto add = [&](std::byte* host, bool is_to_host, std::vector<std::byte> content) {
        host_copies_.add({{work.stream, work.piece},
                          print(work.stream, work.name),
                          host,
                          is_to_host,
                          std::move(content)});
    };
    if (is_pinned(from)) {
        auto* const host = static_cast<std::byte*>(const_cast<void*>(from));
        add(host, false, {host, host + bytes});
    }
    // Until then it holds neither what was there nor what will be.
    if (is_pinned(to) && draw_late())
        add(static_cast<std::byte*>(to), true, std::vector<std::byte>(bytes, std::byte{0xff}));
}

void Streams::end_work() {
    end_device_work();
    host_copies_.end_work();
}

void Streams::run_host_function(cudaHostFn_t function, void* data) {
    host_copies_.begin_work();
    function(data);
    host_copies_.end_work();
}

void Streams::forget_unpinned() {
    host_copies_.complete([](const HostCopies::Copy& copy) { return !is_pinned(copy.host); });
}

void Streams::host_has_waited() {
    host_copies_.complete([this](const HostCopies::Copy& copy) {
        return host_[copy.piece.stream] >= copy.piece.number;
    });
}

StreamClock Streams::clock_of(cudaStream_t stream) {
    const std::size_t number = number_of(stream);
    StreamClock clock = streams_[number].known;
    if (number == default_stream) {
        for (const Stream& other : streams_)
            if (other.blocking) clock.join(other.known);
    }
    return clock;
}

void Streams::wait_for(cudaStream_t stream) { wait_for(clock_of(stream)); }

void Streams::wait_for(const StreamClock& event) {
    host_.join(event);
    host_has_waited();
}

bool Streams::is_done(const StreamClock& event) {
    // Never twice in a row, so that a loop which records its event anew ends, too.
    was_denied_ = !was_denied_ && !host_.covers(event) && !denied_.covers(event) && draw_late();
    if (was_denied_)
        denied_.join(event);
    else
        wait_for(event);
    return !was_denied_;
}

void Streams::wait_for_device() {
    for (const Stream& stream : streams_) host_.join(stream.known);
    host_has_waited();
}

StreamClock Streams::record(cudaStream_t stream) {
    const std::size_t number = number_of(stream);
    advance(number);
    return streams_[number].known;
}

void Streams::make_wait(cudaStream_t stream, const StreamClock& event) {
    streams_[number_of(stream)].known.join(event);
}

const Streams::Work* Streams::first_unordered(std::size_t by, bool Work::* after) {
    advance(by);
    for (const Work& work : works_) {
        const bool waited_for = is_waited_for(work);
        const bool begins_late = work.*after || (waited_for && !work.name.is_on_buffers);
        const bool ends_early = waited_for || streams_[by].known[work.stream] >= work.piece;
        if (!begins_late || !ends_early) return &work;
    }
    return nullptr;
}

std::string Streams::print(std::size_t stream, const WorkName& name) const {
    const unit::Place& launch = name.launch;
    const char* const call = name.call;
    std::string text = call;
    if (launch.file) text = short_place(launch.file, launch.line) + ": launch of " + call;
    if (stream == host_stream_ && host_stream_ != 0) return text + " on the host";
    if (stream == given_ && given_ != default_stream) return text + " on the given stream";
    if (stream == default_stream) return text + " on the default stream";
    return text + " on a stream of the launcher's own";
}

std::string Streams::why_unordered(bool given_alone) {
    // The caller waits for the device.
    host_copies_.complete([](const HostCopies::Copy&) { return true; });
    if (std::string changed = host_copies_.take_changed(); !changed.empty()) return changed;
    const Work* not_by_given = first_unordered(given_, &Work::after_given);
    if (!not_by_given) return "";
    const std::string too_early = print(*not_by_given) +
                                  ": the host waits for it, but it is on buffers of the call and "
                                  "may begin before the given stream's earlier work is done; ";
    if (given_alone && is_waited_for(*not_by_given))
        return too_early + "put it on that stream, or have it wait for an event of that stream's";
    if (given_alone)
        return print(*not_by_given) +
               ": the given stream, which the kernel declares to use, does "
               "not order it";
    const Work* not_by_default = first_unordered(default_stream, &Work::after_default);
    if (!not_by_default) return "";
    if (is_waited_for(*not_by_given))
        return too_early + "put all work on one stream, or join it by events";
    if (not_by_default == not_by_given)
        return print(*not_by_given) +
               ": neither the given nor the default stream orders it; join it to one by events, or "
               "wait for it";
    const bool is_tensors_end = std::string_view(not_by_default->name.call) == "cudaFreeAsync";
    const bool is_on_default = not_by_given->stream == default_stream;
    return print(*not_by_given) + ", but " + print(*not_by_default) +
           (is_tensors_end ? ", as at a tensor's end" : "") +
           ": nothing orders the two; put all work on one stream, or join it by events" +
           (is_on_default ? "; a launcher that is for callers on the default stream alone declares "
                            ".on_default_stream()"
                          : "");
}

}  // namespace gradverify::simt
