// SPDX-License-Identifier: Apache-2.0
// How much one pod needs, by Kubernetes' own rules, in Slurm's units.
#pragma once

#include <string>

#include "kube/objects.hpp"
#include "workload/job_request.hpp"

namespace workload {

/// What the kubelet will charge the pod: containers, init containers and sidecars in their order,
/// pod-level requests, overhead. CPU in millicores, the rest in whole units.
kube::ResourceList pod_requests(const kube::Pod &pod);

/// pod_requests() rounded up to Slurm's whole CPUs and MiB. `problem` names a resource that no
/// GRES stands for; the shape is then not usable.
TaskShape pod_shape(const kube::Pod &pod, std::string &problem);

/// Makes `shape` cover `other` too.
void widen(TaskShape &shape, const TaskShape &other);

}  // namespace workload
