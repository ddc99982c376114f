// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/apart/confine.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace gradverify {

namespace {

// Numbers that every architecture has alike; glibc's headers may be older than these calls.
constexpr int landlock_create = 444, landlock_add = 445, landlock_restrict = 446;
constexpr int close_range_call = 436, clone3_call = 435;
constexpr unsigned long clone_thread = 0x10000;

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t architecture = 0;
#endif

/// The instructions of a filter of system calls.
class Filter {
  public:
    Filter() {
        load(offsetof(seccomp_data, arch));
        add(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0);
        deny();
        load(offsetof(seccomp_data, nr));
        // The other numbers of x86-64.
        add(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
        deny();
    }

    void deny(int call, std::uint32_t error = EPERM) {
        add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1);
        deny_now(error);
    }
    /// Only with an argument that has one of these bits.
    void need_bits(int call, int argument, std::uint32_t bits) {
        add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4);
        load_argument(argument);
        add(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0);
        deny_now(EPERM);
        allow();
    }
    /// Only with an argument that is one of the two.
    void need_value(int call, int argument, std::uint32_t one, std::uint32_t other) {
        add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 5);
        load_argument(argument);
        add(BPF_JMP | BPF_JEQ | BPF_K, one, 2, 0);
        add(BPF_JMP | BPF_JEQ | BPF_K, other, 1, 0);
        deny_now(EPERM);
        allow();
    }
    bool install() {
        if (architecture == 0) return false;  // its calls have other numbers
        allow();
        const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    }

  private:
    void add(int code, std::uint32_t value, std::uint8_t if_true, std::uint8_t if_false) {
        code_.push_back({static_cast<std::uint16_t>(code), if_true, if_false, value});
    }
    void load(std::size_t offset) {
        add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset), 0, 0);
    }
    // Of both architectures the lower half is first.
    void load_argument(int which) {
        load(offsetof(seccomp_data, args) + static_cast<std::size_t>(which) * 8);
    }
    void deny() { deny_now(EPERM); }
    void deny_now(std::uint32_t error) { add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error, 0, 0); }
    void allow() { add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0); }

    std::vector<sock_filter> code_;
};

// clang-format off
constexpr int denied[] = {
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_socketpair,
    SYS_connect, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_mount, SYS_umount2,
    SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, SYS_keyctl, SYS_add_key, SYS_request_key,
    SYS_setsid, SYS_setpgid, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load,
    SYS_reboot, SYS_swapon, SYS_swapoff, SYS_open_by_handle_at, SYS_acct, SYS_settimeofday,
    SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex, SYS_sethostname, SYS_setdomainname,
    SYS_quotactl, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_fanotify_init,
#ifdef SYS_fork
    SYS_fork, SYS_vfork,
#endif
    // By number, as headers may be older: pidfd_*, io_uring_*, mounts, process_madvise.
    424, 434, 438, 425, 426, 427, 428, 429, 430, 431, 432, 433, 442, 440};
// clang-format on

/// Threads are made as before, processes are not; signals reach this one alone.
void filter_calls(bool uses_gpu) {
    Filter filter;
    for (const int call : denied) filter.deny(call);
    // Its flags lie in memory, where a filter can't look; the C library then takes the older call.
    filter.deny(clone3_call, ENOSYS);
    filter.need_bits(SYS_clone, 0, clone_thread);
    const auto own = static_cast<std::uint32_t>(getpid());
    for (const int call : {SYS_kill, SYS_tkill, SYS_tgkill}) filter.need_value(call, 0, own, own);
    filter.need_value(SYS_prlimit64, 0, own, 0);
    // CUDA gives a local socket a name, and asks nobody there.
    const int families = uses_gpu ? AF_UNIX : AF_UNSPEC;
    filter.need_value(SYS_socket, 0, static_cast<std::uint32_t>(families), families);
    if (!uses_gpu) filter.deny(SYS_bind);
    filter.install();
}

/// Files that programs and a GPU's driver read, and those that they write. Nothing where the kernel
/// has no Landlock.
int ruleset(int program, const std::string& folder, bool uses_gpu) {
    struct Rules {
        std::uint64_t files;
    };
    struct Beneath {
        std::uint64_t allowed;
        std::int32_t parent;
    } __attribute__((packed));
    constexpr std::uint64_t run = 1, write_file = 2, read_file = 4, read_folder = 8,
                            truncate = 1 << 14;
    const long version = syscall(landlock_create, nullptr, 0, 1);
    if (version < 1) return -1;
    const Rules handled{((1 << 13) - 1) | (version >= 3 ? truncate : 0)};
    const int rules = static_cast<int>(syscall(landlock_create, &handled, sizeof handled, 0));
    if (rules < 0) return -1;
    const auto permit = [&](int fd, std::uint64_t allowed) {
        const Beneath beneath{allowed & handled.files, fd};
        if (fd >= 0) syscall(landlock_add, rules, 1, &beneath, 0);
    };
    const auto permit_path = [&](const std::string& path, std::uint64_t allowed) {
        const int fd = open(path.c_str(), O_PATH | O_CLOEXEC);
        struct stat of{};
        const bool is_folder = fd >= 0 && fstat(fd, &of) == 0 && S_ISDIR(of.st_mode);
        permit(fd, is_folder ? allowed : allowed & (run | write_file | read_file | truncate));
        if (fd >= 0) close(fd);
    };
    for (const char* path : {"/usr", "/lib", "/lib64", "/bin", "/opt", "/etc", "/proc", "/sys"})
        permit_path(path, run | read_file | read_folder);
    permit_path(folder, run | read_file);
    for (const char* path : {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"})
        permit_path(path, read_file | write_file);
    permit(program, run | read_file);
    if (!uses_gpu) return rules;
    // Files that CUDA shares, its threads' names, and the GPUs.
    permit_path("/dev/shm", read_file | write_file | read_folder | truncate | (1 << 8) | (1 << 5));
    permit_path("/proc/self", read_file | write_file | read_folder | truncate);
    std::error_code none;
    for (const auto& device : std::filesystem::directory_iterator("/dev", none))
        if (device.path().filename().string().starts_with("nvidia"))
            permit_path(device.path(), read_file | write_file | read_folder);
    return rules;
}

/// What the program needs of the environment; the rest may hold a user's secrets.
std::vector<char*> modest_environment() {
    std::vector<char*> kept;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        for (const std::string_view begin : {"PATH=", "LANG=", "LC_", "LD_", "MALLOC_", "CUDA_",
                                             "NVIDIA_", "OMP_", "TZ=", "ASAN_", "UBSAN_"})
            if (text.starts_with(begin)) kept.push_back(*variable);
    }
    kept.push_back(nullptr);
    return kept;
}

void drop_privileges(int program) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    for (unsigned long capability = 0; prctl(PR_CAPBSET_DROP, capability) == 0;) ++capability;
    // Nobody's user must be able to load the program.
    struct stat of{};
    constexpr unsigned nobody = 65534, for_others = S_IROTH | S_IXOTH;
    if (geteuid() == 0 && fstat(program, &of) == 0 && (of.st_mode & for_others) == for_others &&
        setgroups(0, nullptr) == 0 && setresgid(nobody, nobody, nobody) == 0)
        static_cast<void>(setresuid(nobody, nobody, nobody) == 0);
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    __user_cap_data_struct none[2]{};
    syscall(SYS_capset, &header, none);
}

}  // namespace

void become_confined(const std::string& program, std::vector<std::string> words, int third,
                     int fourth, bool uses_gpu) {
    // First above the numbers that they are to have.
    const int file = open(program.c_str(), O_RDONLY | O_CLOEXEC);
    const int fds[] = {fcntl(third, F_DUPFD, 10), fcntl(fourth, F_DUPFD, 10),
                       fcntl(file, F_DUPFD, 10)};
    for (int i = 0; i < 3; ++i)
        if (dup3(fds[i], 3 + i, i == 2 ? O_CLOEXEC : 0) < 0) return;
    const int executable = 5;
    const int rules = ruleset(executable, program.substr(0, program.rfind('/') + 1), uses_gpu);
    drop_privileges(executable);
    if (rules >= 0) syscall(landlock_restrict, rules, 0);
    syscall(close_range_call, 6, ~0U, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    filter_calls(uses_gpu);
    std::vector<char*> arguments, variables = modest_environment();
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    syscall(SYS_execveat, executable, "", arguments.data(), variables.data(), AT_EMPTY_PATH);
}

void forbid_exec() {
    Filter filter;
    filter.deny(SYS_execve);
    filter.deny(SYS_execveat);
    filter.install();
}

}  // namespace gradverify
