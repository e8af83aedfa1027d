from bosaris_py.calibration.bounds import BoundedCalibration as BoundedCalibration
from bosaris_py.calibration.bounds import LLRBounds as LLRBounds
from bosaris_py.calibration.bounds import llr_bounds as llr_bounds
from bosaris_py.calibration.cross_fitting import CrossFit as CrossFit
from bosaris_py.calibration.cross_fitting import cross_fit as cross_fit
from bosaris_py.calibration.gaussian import GaussianCalibration as GaussianCalibration
from bosaris_py.calibration.linear import LinearCalibration as LinearCalibration
from bosaris_py.calibration.pav import PAVCalibration as PAVCalibration
