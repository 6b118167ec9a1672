# SPDX-License-Identifier: Apache-2.0
"""Rules about text: tables of the documentation against the code, and what the repository may hold."""
