"""The experiments of NISTIR 7722 and of Wu et al. 2016: standard errors of standard errors."""
