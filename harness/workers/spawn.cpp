// SPDX-License-Identifier: Apache-2.0
#include "harness/workers/spawn.hpp"

#include <fcntl.h>
#include <link.h>
#include <spawn.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "harness/base/errors.hpp"
#include "harness/workers/fork_server.hpp"

namespace gradverify {

namespace {

[[noreturn]] void refuse(const std::string& what, int error) {
    throw EnvironmentError(what + ": " + std::strerror(error));
}

struct Pipe {
    Descriptor read, write;
};

Pipe make_pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) refuse("can't make a pipe", errno);
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// The library of the running C library's version that checks the heap; empty without one.
std::string malloc_checker() {
#ifdef __SANITIZE_ADDRESS__
    return {};  // it has a heap of its own, which it checks itself
#else
    std::string path;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* found) {
            const std::string_view name(info->dlpi_name);
            if (!name.ends_with("/libc.so.6")) return 0;
            *static_cast<std::string*>(found) =
                std::string(name.substr(0, name.rfind('/') + 1)) + "libc_malloc_debug.so.0";
            return 1;
        },
        &path);
    return !path.empty() && access(path.c_str(), R_OK) == 0 ? path : std::string();
#endif
}

/// This process's environment; with a strict heap, plus what makes malloc check.
std::vector<std::string> environment(bool strict_heap) {
    static const std::string checker = malloc_checker();
    std::vector<std::string> variables;
    std::string preload;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        if (text.starts_with("LD_PRELOAD="))
            preload = text.substr(text.find('=') + 1);
        else
            variables.emplace_back(text);
    }
    if (strict_heap && !checker.empty()) {
        preload = checker + (preload.empty() ? "" : ":" + preload);
        // Abort at a damaged block, with a message.
        variables.emplace_back("MALLOC_CHECK_=3");
    }
    if (!preload.empty()) variables.push_back("LD_PRELOAD=" + preload);
    return variables;
}

/// Released by its `destroy` function when the scope ends.
template <class T>
using Released = std::unique_ptr<T, int (*)(T*)>;

/// Moves the descriptors to these numbers; stdin is empty.
void place_descriptors(posix_spawn_file_actions_t* actions, const DescriptorMoves& moves) {
    posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    // First to numbers above all of them, since one of them may itself be one of these.
    int free = 0;
    for (const auto& [from, to] : moves) free = std::max({free, from + 1, to + 1});
    for (std::size_t i = 0; i < moves.size(); ++i)
        posix_spawn_file_actions_adddup2(actions, moves[i].first, free + static_cast<int>(i));
    for (const auto& [from, to] : moves) {
        posix_spawn_file_actions_adddup2(actions, free, to);
        posix_spawn_file_actions_addclose(actions, free);
        ++free;
    }
}

/// The worker's group is its own, so that what a kernel forks ends with it and Ctrl-C reaches the
/// driver alone. No signal is blocked or ignored, whatever the driver does.
void set_group_and_signals(posix_spawnattr_t* attributes) {
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setflags(
        attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

}  // namespace

std::vector<char*> argument_pointers(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

std::optional<pid_t> spawn(std::vector<std::string> words, std::vector<std::string> variables,
                           const DescriptorMoves& moves) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    const Released<posix_spawn_file_actions_t> actions_end(&actions,
                                                           posix_spawn_file_actions_destroy);
    place_descriptors(&actions, moves);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    const Released<posix_spawnattr_t> attributes_end(&attributes, posix_spawnattr_destroy);
    set_group_and_signals(&attributes);
    pid_t pid = -1;
    errno = posix_spawn(&pid, words.front().c_str(), &actions, &attributes,
                        argument_pointers(words).data(), argument_pointers(variables).data());
    return errno == 0 ? std::optional(pid) : std::nullopt;
}

SpawnedWorker spawn_worker(const std::vector<std::string>& command, bool strict_heap, int exchange,
                           ForkServers* forks) {
    Pipe requests = make_pipe(), answers = make_pipe(), prints = make_pipe();
    const Descriptor note(memfd_create("gradverify-note", MFD_CLOEXEC));
    if (note.get() < 0 || ftruncate(note.get(), sizeof(WorkerNote)) != 0)
        refuse("can't make shared memory", errno);
    DescriptorMoves moves{{requests.read.get(), worker_request_fd},
                          {answers.write.get(), worker_answer_fd},
                          {note.get(), worker_note_fd},
                          {prints.write.get(), STDERR_FILENO}};
    if (exchange >= 0) moves.emplace_back(exchange, worker_exchange_fd);
    SpawnedWorker worker;
    const std::vector<std::string> variables = environment(strict_heap);
    std::optional<pid_t> pid;
    if (forks != nullptr) pid = forks->fork_worker(command, variables, moves);
    if (!pid) pid = spawn(command, variables, moves);
    if (!pid) refuse("can't start a worker (" + command.front() + ")", errno);
    worker.pid = *pid;
    void* const page = mmap(nullptr, sizeof(WorkerNote), PROT_READ, MAP_SHARED, note.get(), 0);
    if (page == MAP_FAILED) refuse("can't map shared memory", errno);
    worker.note.reset(static_cast<WorkerNote*>(page));
    // No pipe may block the driver, even if a worker stops reading or a fork holds an end.
    for (const int fd : {requests.write.get(), answers.read.get(), prints.read.get()})
        fcntl(fd, F_SETFL, O_NONBLOCK);
    worker.requests = std::move(requests.write);
    worker.answers = std::move(answers.read);
    worker.prints = std::move(prints.read);
    return worker;
}

}  // namespace gradverify
