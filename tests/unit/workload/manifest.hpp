// SPDX-License-Identifier: Apache-2.0
// Kubernetes objects for tests, written as users write them.
#pragma once

#include <string>

#include "kube/decode.hpp"

namespace manifest {

template <typename Object>
Object decoded(const std::string &json)
{
  const kube::json::Document document(json);
  Object object;
  kube::decode(document.root(), object);
  return object;
}

/// A pod with that spec.
inline kube::Pod pod(const std::string &spec)
{
  return decoded<kube::Pod>(R"({"metadata":{"name":"p","namespace":"ns","uid":"u"},"spec":)" +
                            spec + "}");
}

/// A pod with one container that requests `resources`.
inline kube::Pod pod_requesting(const std::string &resources)
{
  return pod(R"({"containers":[{"name":"c","resources":{"requests":)" + resources + "}}]}");
}

}  // namespace manifest
