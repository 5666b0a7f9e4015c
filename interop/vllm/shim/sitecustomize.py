"""Puts lrmask in llguidance's place, in every process that has this folder on its path."""

import lrmask.compat

lrmask.compat.install("llguidance")
