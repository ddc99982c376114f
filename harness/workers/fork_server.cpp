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

/// A message of one byte that carries the descriptors of a worker.
struct ForkRequest {
    char byte = 'f';
    iovec data{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(WorkerEnds))> control{};
    msghdr message{};

    ForkRequest() {
        message.msg_iov = &data;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
    }
    ForkRequest(const ForkRequest&) = delete;
    ForkRequest& operator=(const ForkRequest&) = delete;
};

bool send_request(int socket, const WorkerEnds& ends) {
    ForkRequest request;
    cmsghdr* const header = CMSG_FIRSTHDR(&request.message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof ends);
    std::memcpy(CMSG_DATA(header), ends.data(), sizeof ends);
    return sendmsg(socket, &request.message, MSG_NOSIGNAL) == 1;
}

/// Nothing when the driver has gone.
std::optional<WorkerEnds> receive_request(int socket) {
    ForkRequest request;
    ssize_t count = 0;
    do count = recvmsg(socket, &request.message, MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    const cmsghdr* const header = CMSG_FIRSTHDR(&request.message);
    if (count != 1 || header == nullptr || header->cmsg_len != CMSG_LEN(sizeof(WorkerEnds)))
        return std::nullopt;
    WorkerEnds ends{};
    std::memcpy(ends.data(), CMSG_DATA(header), sizeof ends);
    return ends;
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

/// Moves a worker's descriptors to where it looks for them.
void place_ends(WorkerEnds ends) {
    // First to numbers above all of them, since one of them may itself be one of those.
    const int above =
        std::max(*std::ranges::max_element(ends), *std::ranges::max_element(worker_fds)) + 1;
    for (int& end : ends) {
        const int moved = fcntl(end, F_DUPFD, above);
        close(end);
        end = moved;
    }
    for (std::size_t i = 0; i < ends.size(); ++i) {
        dup2(ends[i], worker_fds[i]);
        close(ends[i]);
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
                                              const WorkerEnds& ends) {
    const Command command{words, variables};
    auto found = servers_.find(command);
    if (found == servers_.end()) found = servers_.emplace(command, start(command)).first;
    Descriptor& socket = found->second.socket;
    pollfd answer{.fd = socket.get(), .events = POLLIN, .revents = 0};
    pid_t pid = -1;
    if (answer.fd < 0 || !send_request(answer.fd, ends) ||
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
    while (const auto ends = receive_request(server_socket_fd)) {
        const pid_t pid = has_one_thread() ? fork_sibling() : -1;
        if (pid == 0) {
            setpgid(0, 0);
            place_ends(*ends);
            return;
        }
        for (const int end : *ends) close(end);
        if (send(server_socket_fd, &pid, sizeof pid, MSG_NOSIGNAL) != sizeof pid) break;
    }
    _exit(0);
}

}  // namespace gradverify
