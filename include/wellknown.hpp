// SPDX-License-Identifier: Apache-2.0
// Every label, annotation, finalizer and name that other programs can see, each defined once.
// A test compares the "key:" lines below with the tables in docs/user.md.
#pragma once

namespace wellknown {

// --- written by us on pods -----------------------------------------------------------------------
/// key: pod label, the Slurm job id.
inline constexpr char kJobIdLabel[] = "scheduler.slinky.slurm.net/slurm-jobid";
/// key: pod annotation, the Slurm node name.
inline constexpr char kSlurmNodeAnnotation[] = "slinky.slurm.net/slurm-node";

// --- read by us on Kubernetes nodes --------------------------------------------------------------
/// key: node label, the node's name in Slurm where it differs from the Kubernetes name.
inline constexpr char kSlurmNodeNameLabel[] = "slinky.slurm.net/slurm-nodename";

// --- prefixes of job options on pods and group objects -------------------------------------------
inline constexpr char kSlinkyPrefix[] = "slurmjob.slinky.slurm.net/";
inline constexpr char kSunkPrefix[] = "sunk.coreweave.com/";
inline constexpr char kOwnPrefix[] = "slurm-k8s.dev/";

// --- other projects' keys that we read -----------------------------------------------------------
/// key: pod label, the name of its scheduling.x-k8s.io PodGroup.
inline constexpr char kPodGroupLabel[] = "scheduling.x-k8s.io/pod-group";
inline constexpr char kJobSetUidLabel[] = "jobset.sigs.k8s.io/jobset-uid";
inline constexpr char kReplicatedJobNameLabel[] = "jobset.sigs.k8s.io/replicatedjob-name";
inline constexpr char kJobSetJobIndexLabel[] = "jobset.sigs.k8s.io/job-index";
inline constexpr char kCompletionIndexLabel[] = "batch.kubernetes.io/job-completion-index";

// --- names ---------------------------------------------------------------------------------------
/// Scheduler name when the configuration lists none.
inline constexpr char kDefaultSchedulerName[] = "slurm-bridge-scheduler";
/// reportingController of Events, field manager of writes, name of the plugins in logs.
inline constexpr char kComponentName[] = "slurm-k8s";

}  // namespace wellknown
