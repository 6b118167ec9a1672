# SPDX-License-Identifier: Apache-2.0
"""What users and administrators see, on real Slurm and a real control plane."""
