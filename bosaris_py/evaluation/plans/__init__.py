"""Plans of evaluations: what they publish, the parts of their trials, primary costs."""
