"""A threshold that one set chooses, evaluated on another one."""
