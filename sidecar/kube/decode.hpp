// SPDX-License-Identifier: Apache-2.0
// Kubernetes objects from JSON.
#pragma once

#include "kube/json.hpp"
#include "kube/objects.hpp"

namespace kube {

/// Each throws json::Error that names the field if the object is malformed.
void decode(json::Value object, ObjectMeta &meta);
void decode(json::Value object, Pod &pod);
void decode(json::Value object, Node &node);
void decode(json::Value object, Namespace &ns);
void decode(json::Value object, PodGroup &group);
void decode(json::Value object, JobSet &set);

/// "namespace/name" as far as it can be read, for messages about an object; never throws.
std::string name_of(json::Value object) noexcept;

}  // namespace kube
