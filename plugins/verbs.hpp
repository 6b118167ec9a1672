// SPDX-License-Identifier: Apache-2.0
// Carries a verb out, as SlurmUser, by ordinary requests to our own slurmctld.
#pragma once

#include "verb_rules.hpp"

/// Blocks; never with a lock of slurmctld held. One line of the log says who asked for what, what
/// became of it, and which rule decided. `policy` may be null.
void carry_out(const Order &order, const Policy *policy);
