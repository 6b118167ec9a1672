# SPDX-License-Identifier: Apache-2.0
"""kill -9 of each part at each step of a gang's life: nothing is lost, nothing doubled."""
