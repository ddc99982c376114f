// SPDX-License-Identifier: Apache-2.0
#include "harness/workers/fork_server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace gradverify {

namespace {

/// Set in the environment of a server.
constexpr const char* server_variable = "GRADVERIFY_FORK_SERVER";
/// The server's end of the socket. A worker's own descriptors take its place.
constexpr int server_socket_fd = 3;
// Far more than a program takes to load.
constexpr int most_milliseconds = 30'000;

/// A message that carries a worker's descriptors, and the numbers that it has them at.
struct ForkRequest {
    static constexpr std::size_t most = 8;
    std::array<int, most> numbers{};
    iovec data{numbers.data(), sizeof numbers};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(most * sizeof(int))> control{};
    msghdr message{};

    explicit ForkRequest(std::size_t count = most) {
        data.iov_len = count * sizeof(int);
        message.msg_iov = &data;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    }
    ForkRequest(const ForkRequest&) = delete;
    ForkRequest& operator=(const ForkRequest&) = delete;
};

bool send_request(int socket, const DescriptorMoves& moves) {
    if (moves.size() > ForkRequest::most) return false;
    ForkRequest request(moves.size());
    cmsghdr* const header = CMSG_FIRSTHDR(&request.message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(moves.size() * sizeof(int));
    for (std::size_t i = 0; i < moves.size(); ++i) {
        std::memcpy(CMSG_DATA(header) + i * sizeof(int), &moves[i].first, sizeof(int));
        request.numbers[i] = moves[i].second;
    }
    return sendmsg(socket, &request.message, MSG_NOSIGNAL) ==
           static_cast<ssize_t>(request.data.iov_len);
}

/// Nothing when the driver has gone.
std::optional<DescriptorMoves> receive_request(int socket) {
    ForkRequest request;
    ssize_t bytes = 0;
    do bytes = recvmsg(socket, &request.message, MSG_CMSG_CLOEXEC);
    while (bytes < 0 && errno == EINTR);
    const cmsghdr* const header = CMSG_FIRSTHDR(&request.message);
    if (bytes <= 0 || header == nullptr ||
        header->cmsg_len != CMSG_LEN(static_cast<std::size_t>(bytes)))
        return std::nullopt;
    DescriptorMoves moves(static_cast<std::size_t>(bytes) / sizeof(int));
    for (std::size_t i = 0; i < moves.size(); ++i) {
        std::memcpy(&moves[i].first, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
        moves[i].second = request.numbers[i];
    }
    return moves;
}

bool has_one_thread() {
    std::error_code none;
    const std::filesystem::directory_iterator tasks("/proc/self/task", none);
    return !none && std::distance(begin(tasks), end(tasks)) == 1;
}

/// A fork whose child is the parent's sibling, so that the driver can wait for it. What is to run
/// at a fork is not run: this process has one thread, which holds no lock.
pid_t fork_sibling() {
    // Where the C library keeps the thread's number.
    int* number = nullptr;
    unsigned long flags = CLONE_PARENT | SIGCHLD;
    if (prctl(PR_GET_TID_ADDRESS, &number) == 0 && number != nullptr)
        flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
    // Some processors take the number's address as the fourth argument, some as the fifth.
    return static_cast<pid_t>(syscall(SYS_clone, flags, nullptr, nullptr, number, number));
}

/// Moves the descriptors to their numbers.
void place(DescriptorMoves moves) {
    // First to numbers above all of them, since one of them may itself be one of those.
    int above = 0;
    for (const auto& [from, to] : moves) above = std::max({above, from + 1, to + 1});
    for (std::pair<int, int>& move : moves) {
        const int moved = fcntl(move.first, F_DUPFD, above);
        close(move.first);
        move.first = moved;
    }
    for (const auto& [from, to] : moves) {
        dup2(from, to);
        close(from);
    }
}

}  // namespace

ForkServers::~ForkServers() {
    for (const auto& [command, server] : servers_) {
        if (!server.pid) continue;
        kill(*server.pid, SIGKILL);
        waitpid(*server.pid, nullptr, 0);
    }
}

ForkServers::Server ForkServers::start(Command command) {
    Server server;
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return server;
    Descriptor ours(ends[0]);
    const Descriptor theirs(ends[1]);
    command.second.push_back(std::string(server_variable) + "=1");
    server.pid = spawn(std::move(command.first), std::move(command.second),
                       {{theirs.get(), server_socket_fd}});
    if (server.pid) server.socket = std::move(ours);
    return server;
}

std::optional<pid_t> ForkServers::fork_worker(const std::vector<std::string>& words,
                                              const std::vector<std::string>& variables,
                                              const DescriptorMoves& moves) {
    const Command command{words, variables};
    auto found = servers_.find(command);
    if (found == servers_.end()) found = servers_.emplace(command, start(command)).first;
    Descriptor& socket = found->second.socket;
    pollfd answer{.fd = socket.get(), .events = POLLIN, .revents = 0};
    pid_t pid = -1;
    if (answer.fd < 0 || !send_request(answer.fd, moves) ||
        poll(&answer, 1, most_milliseconds) != 1 ||
        recv(answer.fd, &pid, sizeof pid, 0) != sizeof pid || pid <= 0) {
        socket.close();
        return std::nullopt;
    }
    // As the worker does, whichever comes first.
    setpgid(pid, pid);
    return pid;
}

void serve_forks() {
    if (std::getenv(server_variable) == nullptr) return;
    unsetenv(server_variable);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (const auto moves = receive_request(server_socket_fd)) {
        const pid_t pid = has_one_thread() ? fork_sibling() : -1;
        if (pid == 0) {
            setpgid(0, 0);
            place(*moves);
            return;
        }
        for (const auto& [from, to] : *moves) close(from);
        if (send(server_socket_fd, &pid, sizeof pid, MSG_NOSIGNAL) != sizeof pid) break;
    }
    _exit(0);
}

}  // namespace gradverify
