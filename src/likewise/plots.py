"""Pictures of a study as matplotlib figures, the same as in the report of the command line.

>>> import likewise as lw
>>> study = lw.Study(lw.Box([0.0], [1.0]), lw.RBF())
>>> for x in (0.1, 0.4, 0.6, 0.9):
...     study.tell([x], -((x - 0.3) ** 2))
>>> [axis.get_xlabel() for axis in progress(study).axes]
['measurement']
"""

from likewise.interfaces.plots import calibration, object_map, predicted, progress, weights

__all__ = ["calibration", "object_map", "predicted", "progress", "weights"]
