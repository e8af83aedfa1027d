from bosaris_py.fusion.linear_fusion import LinearFusion as LinearFusion
from bosaris_py.fusion.models import read_model as read_model
from bosaris_py.fusion.quality_fusion import QualityFusion as QualityFusion
from bosaris_py.fusion.quality_fusion import quality_systems as quality_systems
from bosaris_py.fusion.sasv import SASVFusion as SASVFusion
