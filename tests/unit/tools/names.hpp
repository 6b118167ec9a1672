// SPDX-License-Identifier: Apache-2.0
// Users and groups that no machine needs to have.
#pragma once

#include <optional>
#include <string>

#include "policy.hpp"

inline NameService known_names()
{
  return {[](const std::string &name) -> std::optional<User> {
            if (name == "slurm-k8s")
              return User{"slurm-k8s", 990, 990, {990}};
            if (name == "alice")
              return User{"alice", 1001, 1001, {1001, 2001}};
            if (name == "bob")
              return User{"bob", 1002, 1002, {1002}};
            return std::nullopt;
          },
          [](const std::string &name) -> std::optional<gid_t> {
            return name == "physics" ? std::optional<gid_t>(2001) : std::nullopt;
          }};
}
