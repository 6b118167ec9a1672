// SPDX-License-Identifier: Apache-2.0
// A folder that goes away with the test.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

class Folder {
public:
  Folder()
  {
    std::string name = (std::filesystem::temp_directory_path() / "kube-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  const std::string &path() const { return path_; }
  std::string write(const std::string &name, const std::string &text, mode_t mode = 0644) const
  {
    const std::string path = path_ + "/" + name;
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path;
  }

private:
  std::string path_;
};
