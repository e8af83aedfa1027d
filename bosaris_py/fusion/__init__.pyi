from bosaris_py.fusion.linear import LinearFusion as LinearFusion
from bosaris_py.fusion.models import read_model as read_model
from bosaris_py.fusion.quality import QualityFusion as QualityFusion
from bosaris_py.fusion.quality import quality_systems as quality_systems
from bosaris_py.fusion.sasv import SASVFusion as SASVFusion
