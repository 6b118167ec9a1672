// SPDX-License-Identifier: Apache-2.0
// Carries a verb out, as SlurmUser, by ordinary requests to our own slurmctld.
#pragma once

#include "protocol.hpp"

/// Blocks; never with a lock of slurmctld held. What happened is logged.
void carry_out(const protocol::Verb &verb);
