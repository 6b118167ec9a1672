# SPDX-License-Identifier: Apache-2.0
"""Speed, as ratios to bare calls that are measured in the same run."""
