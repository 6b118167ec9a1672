// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "listener_rig.hpp"

using rig::Response;
using rig::Rig;

namespace {

const std::string kBatch = protocol::encode_batch({7, 1, {}});

/// A listener whose senders must show the token of a file.
class Guarded : public Rig {
public:
  explicit Guarded(const std::string &token)
  {
    write(token);
    listen(address, token_path);
  }

  /// As an administrator does; times differ as they do between two edits.
  void write(const std::string &token)
  {
    std::ofstream(token_path, std::ios::binary) << token;
    std::filesystem::last_write_time(
        token_path, std::filesystem::file_time_type(std::chrono::seconds(1'000'000 + ++edits_)));
  }
  long status_with(const std::string &header)
  {
    return post(kBatch, {"Authorization: " + header}).status;
  }

  const std::string token_path = folder + "/token";

private:
  int edits_ = 0;
};

}  // namespace

TEST_CASE("hints are taken from those who show the token")
{
  for (const char *file : {"s3cret", "s3cret\n", "  s3cret \r\n"}) {
    Guarded rig(file);
    CHECK(rig.status_with("Bearer s3cret") == 204);
    CHECK(rig.batches.size() == 1);
  }
}

TEST_CASE("hints without the right token are refused and not heard")
{
  Guarded rig("s3cret");
  CHECK(rig.post(kBatch).status == 401);
  for (const char *header : {"Bearer", "Bearer ", "Bearer s3cre", "Bearer s3cret2", "Bearer S3cret",
                             "s3cret", "Basic s3cret", "Bearer  s3cret", "Bearer s3cret s3cret"}) {
    INFO(header);
    CHECK(rig.status_with(header) == 401);
  }
  CHECK(rig.batches.empty());
}

TEST_CASE("without the token nobody learns whether a body is good or too long")
{
  Guarded rig("s3cret");
  CHECK(rig.post("{").status == 401);
  CHECK(rig.send({"GET", "/v1/events"}).status == 405);
  CHECK(rig.send({"POST", "/v1/events", kBatch, {"X-Token: s3cret"}}).status == 401);
}

TEST_CASE("health and metrics need no token")
{
  Guarded rig("s3cret");
  for (const char *path : {"/healthz", "/readyz", "/metrics"})
    CHECK(rig.send({"GET", path}).status == 200);
}

TEST_CASE("a new token counts from the next request on, the old one no more")
{
  Guarded rig("old");
  CHECK(rig.status_with("Bearer old") == 204);
  rig.write("new");
  CHECK(rig.status_with("Bearer old") == 401);
  CHECK(rig.status_with("Bearer new") == 204);
}

TEST_CASE("an empty token file opens the door to nobody")
{
  for (const std::string &token : {std::string(), std::string(" \n"), std::string(5000, 'x')}) {
    Guarded rig(token);
    CHECK(rig.status_with("Bearer ") == 401);
    CHECK(rig.status_with("Bearer") == 401);
    CHECK(rig.status_with("Bearer " + token) == 401);
  }
}

TEST_CASE("a token file that goes closes the door, and opens it again when it is back")
{
  Guarded rig("s3cret");
  std::filesystem::remove(rig.token_path);
  CHECK(rig.status_with("Bearer s3cret") == 401);
  rig.write("s3cret");
  CHECK(rig.status_with("Bearer s3cret") == 204);
}
