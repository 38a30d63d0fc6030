"""What a metric's function returned, looked at before it is used: anybody may have written it."""

from collections.abc import Callable, MutableMapping

import numpy as np

from etude.curriculum.metrics.arrays import FloatArray
from etude.curriculum.metrics.registry import Metric, Undefined, Value
from etude.curriculum.metrics.view import StudyView
from etude.envs.errors import in_words


def value_of(metric: Metric, view: StudyView) -> Value | Undefined:
    """What a metric makes of a view without resamples; where its function fails, that is the reason."""
    try:
        found = metric.function(view)
        if isinstance(found, Undefined):
            return found
        if not isinstance(found, Value):
            return Undefined(f"its function returned {type(found).__name__}, must return Value or Undefined")
        array = np.asarray(found.value, np.float64)
    except (Exception, SystemExit) as error:  # a metric of the user's own may do anything, and the others go on
        return Undefined(f"its function failed ({in_words(error)})")
    if array.ndim == 0 and not np.isfinite(array):
        return Undefined(f"its value is {array}, not a finite number")
    if not array.size:
        return Undefined("its value is an array without a place")
    labelled = tuple(map(len, found.labels))
    if labelled and labelled != array.shape:
        return Undefined(f"its labels are for an array of shape {labelled}, but its value has shape {array.shape}")
    return found


def resampled(metric: Metric, faults: MutableMapping[str, str]) -> Callable[[StudyView], FloatArray]:
    """The function that gives a number a resample, (B,); nan, and a line in `faults`, where the metric's does not."""

    def under_resamples(view: StudyView) -> FloatArray:
        try:
            found = metric.function(view)
            if isinstance(found, Value):
                array = np.asarray(found.value, np.float64)
                if array.shape == (view.resamples,):
                    return array
                fault = "its value is not one number a resample, (B,); reduce over named axes, as in min(axis=-1)"
            else:
                fault = "it is undefined under resamples though not of the curves themselves; decide by view.point"
        except (Exception, SystemExit) as error:
            fault = f"its function failed under resamples, {in_words(error)}"
        faults[metric.name] = f"{metric.name} has no interval: {fault}, or register it with resampled=False"
        return np.full(view.resamples, np.nan)

    return under_resamples
