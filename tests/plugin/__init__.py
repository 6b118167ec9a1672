# SPDX-License-Identifier: Apache-2.0
"""The plugins in a real slurmctld, each supported version, without Kubernetes."""
