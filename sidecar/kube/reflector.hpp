// SPDX-License-Identifier: Apache-2.0
// Keeps decoded copies of the objects of one collection and tells of each change once.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "kube/decode.hpp"
#include "kube/watcher.hpp"

namespace kube {

template <typename T>
class Reflector {
public:
  struct Handler {
    std::function<void(const T &)> upsert;
    std::function<void(const T &)> remove;
    std::function<void()> synced;  ///< each time when all that exists has been told
  };

  Reflector(Client &client, Timers &timers, Collection collection, Handler handler)
      : handler_(std::move(handler)),
        watcher_(client, timers, std::move(collection),
                 {[this] { ++round_; }, [this](json::Value object) { seen(object); },
                  [this](json::Value object) { deleted(object); }, [this] { complete(); },
                  [this] { return objects_.empty(); }})
  {
  }

  void start() { watcher_.start(); }
  void stop() { watcher_.stop(); }
  bool synced() const { return synced_; }
  bool absent() const { return watcher_.absent(); }
  std::size_t size() const { return objects_.size(); }

private:
  struct Entry {
    T object;
    unsigned round = 0;  ///< the listing that saw it last
  };
  using Name = std::pair<std::string, std::string>;

  static Name name_of(json::Value object)
  {
    const json::Value meta = object["metadata"];
    return {meta["namespace"].string(), meta["name"].string()};
  }

  void seen(json::Value object)
  {
    const auto found = objects_.find(name_of(object));
    if (found != objects_.end())
      found->second.round = round_;  // also if it turns out to be malformed: it is there
    T fresh;
    decode(object, fresh);
    if (found == objects_.end()) {
      const Name name{fresh.meta.ns, fresh.meta.name};
      const Entry &entry = objects_.emplace(name, Entry{std::move(fresh), round_}).first->second;
      handler_.upsert(entry.object);
      return;
    }
    if (found->second.object.meta.resource_version == fresh.meta.resource_version)
      return;
    // The same name may have come back as another object.
    if (found->second.object.meta.uid != fresh.meta.uid)
      handler_.remove(found->second.object);
    found->second.object = std::move(fresh);
    handler_.upsert(found->second.object);
  }

  void deleted(json::Value object)
  {
    const auto found = objects_.find(name_of(object));
    if (found == objects_.end())
      return;
    T last = std::move(found->second.object);
    objects_.erase(found);
    try {
      T fresh;
      decode(object, fresh);
      last = std::move(fresh);
    } catch (const json::Error &) {
      // It is gone all the same; what we knew before must do.
    }
    handler_.remove(last);
  }

  void complete()
  {
    for (auto entry = objects_.begin(); entry != objects_.end();) {
      if (entry->second.round == round_) {
        ++entry;
        continue;
      }
      const T gone = std::move(entry->second.object);
      entry = objects_.erase(entry);
      handler_.remove(gone);
    }
    synced_ = true;
    handler_.synced();
  }

  Handler handler_;
  std::map<Name, Entry> objects_;
  unsigned round_ = 0;
  bool synced_ = false;
  Watcher watcher_;
};

}  // namespace kube
