// SPDX-License-Identifier: Apache-2.0
// What the sidecar and the plugins say to each other, as plain values and their JSON form.
//
//   claim  sidecar -> job_submit/k8s, in a job's `comment`: "this allocation is for that gang"
//   tag    job_submit/k8s -> everybody, in `admin_comment`: the same, and now it can be trusted
//   verb   sidecar -> job_submit/k8s, in the `comment` of a will-run request: "end that job", …
//   batch  prep/k8s -> sidecar, body of POST /v1/events: hints that something changed
//
// Every parse function is bounded (size, depth, unknown keys ignored), never throws on bad input
// and returns nothing when the text is not exactly of its kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace protocol {

/// Slurm keeps at most this many bytes in comment, admin_comment and extra.
inline constexpr std::size_t kMaxCommentBytes = 1024;

/// Which gang of which Kubernetes cluster; the key by which jobs and gangs find each other.
struct Identity {
  std::string cluster;  ///< ClusterId
  std::string ns;       ///< Kubernetes namespace
  std::string kind;     ///< "Pod", "PodGroup", …
  std::string name;     ///< object name, for humans
  std::string uid;      ///< object UID
  std::string stage;    ///< dependency stage within the object, "" if it has only one

  bool operator==(const Identity &) const = default;
};

struct Claim {
  Identity identity;
  std::string comment;  ///< the user's own job comment, "" for none
  // What cannot travel in the job's own fields: the policy decides about it. "" for none.
  std::string user, group;     ///< name or number of who the job is to belong to
  std::string priority_class;  ///< priorityClassName of the pods
  // These slurmctld would drop or refuse before the plugin sees them: the submitter is no operator.
  std::optional<std::uint32_t> priority;
  std::optional<std::int32_t> nice;  ///< as in `sbatch --nice`
};

/// Without control characters ('?' in their place): one line of a log stays one.
std::string one_line(std::string text);

/// What job_submit/k8s says to a claim that it refuses, in its err_msg. libslurm puts err_msg into its
/// log only, which all threads share: the UID tells whose it is.
std::string encode_refusal(std::string_view uid, std::string_view reason);
/// The reason, if `line` ends with a refusal of that gang's claim.
std::optional<std::string> parse_refusal(std::string_view line, std::string_view uid);

enum class VerbKind : std::uint8_t {
  complete,  ///< end a job with a status
  cancel,    ///< end a job as scancel does
  update,    ///< change a job that waits
  drain,     ///< no more jobs on a node
  resume,    ///< take back a drain of ours
};

/// A node's reason in Slurm is ours if it begins so.
inline constexpr std::string_view kReasonPrefix = "k8s: ";
inline constexpr std::size_t kMaxReasonBytes = 255;

/// What it is about is a job (complete, cancel, update) or a node (drain, resume); the fields of
/// the other are void.
struct Verb {
  VerbKind kind = VerbKind::cancel;
  std::uint32_t job_id = 0;
  std::uint32_t status = 0;  ///< complete only: wait(2) status, exit code N is N * 256
  std::string cluster;       ///< must be the plugin's ClusterId
  std::string uid;           ///< UID that the job's tag must carry
  // update only; what has no value stays as it is.
  std::optional<std::string> excluded_nodes;  ///< Slurm's node list, "" for none
  std::optional<std::uint32_t> time_limit_min;
  std::optional<std::int32_t> nice;
  std::string node;    ///< one node's name, no list
  std::string reason;  ///< drain only: kReasonPrefix and more

  bool operator==(const Verb &) const = default;
  bool is_for_node() const { return kind == VerbKind::drain || kind == VerbKind::resume; }
};

/// job_submit/k8s answers a verb with one of these as Slurm error code.
enum VerbAnswer : int {
  kVerbAccepted = 28801,   ///< queued; the effect will be seen in Slurm's state
  kVerbRefused = 28802,    ///< not allowed, or not understood; do not repeat
  kVerbQueueFull = 28803,  ///< ask again later
};

enum class HintKind : std::uint8_t {
  job_start,
  job_end,
  jobs_changed,
  nodes_changed,
  rules_changed,  ///< k8s.conf, slurm.conf, partitions or reservations: what was refused may be granted
};

struct Hint {
  HintKind kind = HintKind::jobs_changed;
  std::uint32_t job_id = 0;  ///< job_start and job_end only
};

/// One POST of prep/k8s. An empty list of hints is a sign of life.
struct Batch {
  std::uint64_t epoch = 0;  ///< differs after each start of slurmctld
  std::uint64_t seq = 0;  ///< number of the first hint; the next batch starts at seq + hints.size()
  std::vector<Hint> hints;
};

/// Seconds between signs of life when nothing happens.
inline constexpr int kHeartbeatSeconds = 10;
/// A body of /v1/events is at most this long.
inline constexpr std::size_t kMaxBatchBytes = 256 * 1024;
/// A batch holds at most this many hints.
inline constexpr std::size_t kMaxBatchHints = 2048;

std::string encode_claim(const Claim &claim);
std::optional<Claim> parse_claim(std::string_view text);
/// True if the text means to be a claim, also a broken or forged one.
bool looks_like_claim(std::string_view text);

std::string encode_tag(const Identity &identity);
std::optional<Identity> parse_tag(std::string_view text);
/// True if the text means to be a tag, also a broken or forged one.
bool looks_like_tag(std::string_view text);

std::string encode_verb(const Verb &verb);
std::optional<Verb> parse_verb(std::string_view text);
bool looks_like_verb(std::string_view text);

std::string encode_batch(const Batch &batch);
std::optional<Batch> parse_batch(std::string_view text);

const char *to_string(VerbKind kind) noexcept;
const char *to_string(HintKind kind) noexcept;

}  // namespace protocol
