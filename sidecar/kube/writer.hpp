// SPDX-License-Identifier: Apache-2.0
// The writes that the controller makes to Kubernetes. Completions run in the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "kube/objects.hpp"

namespace kube {

/// Names one incarnation of an object; the UID makes each write conditional.
struct ObjectRef {
  std::string api_version, kind, ns, name, uid;
};

enum class Outcome : std::uint8_t {
  done,      ///< it is so (also if it was so before: bound to that node already, deleted already)
  gone,      ///< the object, or this incarnation of it, no longer exists
  conflict,  ///< the object is in a state that excludes the write (bound elsewhere, gated, terminating)
  rejected,  ///< 4xx that repetition cannot change; `message` says why
  failed,    ///< no answer or 5xx/429 after all retries, or superseded; may be tried again later
};

struct WriteResult {
  Outcome outcome = Outcome::failed;
  std::string message;  ///< the API server's words, "" when done
};

struct Event {
  bool warning = false;
  std::string reason, action, note;  ///< note is cut to 1,024 bytes by the writer
};

class Writer {
public:
  using Done = std::function<void(const WriteResult &)>;

  virtual ~Writer() = default;
  /// POST …/binding with UID precondition; labels and annotations travel in the same write.
  virtual void bind(const ObjectRef &pod, const std::string &node,
                    const std::map<std::string, std::string> &labels,
                    const std::map<std::string, std::string> &annotations, Done done) = 0;
  /// Strategic merge of one condition into pods/status, with UID precondition.
  virtual void set_pod_condition(const ObjectRef &pod, const Condition &condition,
                                 std::int64_t observed_generation, Done done) = 0;
  /// DELETE with UID precondition; grace is the pod's own when not given.
  virtual void delete_pod(const ObjectRef &pod, std::optional<std::int64_t> grace_s, Done done) = 0;
  /// events.k8s.io/v1; fire and forget, a failure is logged and counted by the writer.
  virtual void post_event(const ObjectRef &regarding, const Event &event) = 0;
};

}  // namespace kube
