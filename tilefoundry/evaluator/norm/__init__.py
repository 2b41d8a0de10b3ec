"""Evaluation of the ops of tilefoundry/ir/hir/norm."""
