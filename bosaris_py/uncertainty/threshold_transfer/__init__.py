"""A threshold that one set chooses, judged on another one."""
