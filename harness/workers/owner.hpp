// SPDX-License-Identifier: Apache-2.0
// The process that owns a device, as the driver of its clients sees it. When it dies with several
// calls in hand, a new one makes each of them alone, which shows whose it was.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/devices/owner/exchange.hpp"
#include "harness/workers/history.hpp"
#include "harness/workers/process.hpp"

namespace gradverify {

class DeviceOwner {
  public:
    struct Death {
        WorkerEnd end;
        WorkerHistory history;      ///< what it had taken part in
        std::optional<int> client;  ///< whose call it died of, which `forget` is to end
        bool had_several = false;   ///< it died with several in hand, and of none of them alone
    };

    /// `forks`: as a worker's.
    /// **Errors** EnvironmentError, as below.
    DeviceOwner(std::vector<std::string> command, std::string device, int clients,
                std::shared_ptr<ForkServers> forks);

    const std::string& device() const { return device_; }
    int exchange_fd() const { return memory_.get(); }
    /// What a client is told first.
    std::string greeting(int client) const;
    /// Whether the client waits for a call.
    bool has_asked(int client) const;
    /// The client is gone, and with it what it has asked for.
    void forget(int client);
    /// Clients do not ask for this kernel any more.
    void leave_out(const Kernel& kernel);
    /// A case of a client was answered, in which the owner took part.
    void answered(const Task& task);

    bool is_ending() const { return process_.is_ending(); }
    int answer_fd() const { return is_ending() ? -1 : process_.answer_fd(); }
    int print_fd() const { return is_ending() ? -1 : process_.print_fd(); }
    void read_prints() { process_.read_prints(); }

    /// Starts the process where a call waits for it, and looks whether it has ended.
    /// **Errors** also when several in a row can't reach the device.
    std::optional<Death> look();
    /// The same, and ends it when a client's calls take more than this, beside the images; or when
    /// it takes a minute to open its device.
    std::optional<Death> watch(WorkerAllowance allowed);
    /// It ends in good order, or is a death; at once where a client still waits for a call.
    std::optional<Death> finish();

  private:
    void start();
    bool is_asked() const;
    std::optional<Death> bury(WorkerEnd end);
    std::optional<Death> unexplained();
    void count_idle_death(const WorkerEnd& end);

    std::vector<std::string> command_;
    std::shared_ptr<ForkServers> forks_;
    std::string device_;
    Descriptor memory_;
    Exchange exchange_;
    int clients_;
    WorkerProcess process_;
    WorkerHistory history_;
    /// What a client has asked for by the last look.
    struct Asked {
        std::uint32_t turn = 0;
        Watchdog watchdog;
    };
    std::vector<Asked> asked_;  ///< by client
    std::int32_t in_hand_ = 0;  ///< by the last look
    /// A death with several calls in hand and their kernels, while nobody knows of which; and how
    /// often that came out so. One that dies at its hundredth call does not do so alone.
    std::optional<Death> unclear_;
    std::set<std::uint32_t> in_hand_at_death_;
    std::map<std::uint32_t, int> strikes_;
    std::uint64_t rounds_at_start_ = 0;
    int idle_deaths_ = 0;      ///< in a row, of owners that made no call
    std::string unreachable_;  ///< why this owner can't reach its device
};

}  // namespace gradverify
