# SPDX-License-Identifier: Apache-2.0
"""Real Slurm and a real Kubernetes control plane, as many times as wanted, on one machine."""
