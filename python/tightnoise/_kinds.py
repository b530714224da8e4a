"""Arrays of other libraries come in by NumPy's protocols or DLPack; the same kind goes out.

No library is imported for it: an array of one is there only if the library is.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from tightnoise._hints import check_keywords

P = ParamSpec("P")
R = TypeVar("R")

_PLAIN = frozenset({np.ndarray, np.float64, np.float32, float, int, str, bool, type(None)})


def is_foreign(value: object) -> bool:
    """Return whether `value` is an array of another library, or a pandas column or table."""
    if type(value) in _PLAIN or isinstance(value, (np.ndarray, np.generic)):
        return False
    return _is_pandas(value) or hasattr(value, "__dlpack__")


def as_numpy(name: str, value: Any) -> NDArray[Any]:
    """Return an array of another library as NumPy sees it, without a copy where that is possible.

    TypeError names what cannot be seen so. From a device the numbers are copied.
    """
    torch = sys.modules.get("torch")
    try:
        if torch is not None and isinstance(value, torch.Tensor):
            return _of_tensor(name, value)
        if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
            try:
                return np.asarray(value)
            except TypeError:  # CuPy copies from its device on request only
                if not hasattr(value, "get"):
                    raise
                return np.asarray(value.get())
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError) as error:
        raise TypeError(
            f"{name} must be an array that NumPy can read; got {_kind(value)}: {error}"
        ) from None


def like(value: Any, result: Any) -> Any:
    """Return a result as the kind of array that `value` is: on its device, with its index."""
    array = np.asarray(result)
    if _is_pandas(value):
        if array.shape != value.shape:
            return result
        labels = {"name": value.name} if value.ndim == 1 else {"columns": value.columns}
        return type(value)(array, index=value.index, **labels)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return torch.from_numpy(array).to(value.device)
    if hasattr(value, "__array_namespace__"):
        namespace = value.__array_namespace__()
        device = getattr(value, "device", None)
        return namespace.asarray(array, **({} if device is None else {"device": device}))
    root = sys.modules.get(type(value).__module__.partition(".")[0])
    asarray = getattr(root, "asarray", None)
    return result if asarray is None else asarray(array)


def numpy_view(name: str, out: object) -> NDArray[Any]:
    """Return what is written to, as NumPy sees it: an array, or a tensor in the memory of the CPU.

    TypeError for every other kind: NumPy would write to a copy.
    """
    if isinstance(out, np.ndarray):
        return out
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(out, torch.Tensor):
        if out.device.type != "cpu":
            raise TypeError(
                f"{name} must be in the memory of the CPU; got a tensor on {out.device} "
                f"(without {name}, what is returned is on the device of what is given)"
            )
        return _of_tensor(name, out)
    raise TypeError(
        f"{name} must be a numpy array, a torch tensor of the CPU, or None; got {_kind(out)}"
    )


def keeps_kind(method: Callable[P, R]) -> Callable[P, R]:
    """Return a method that takes arrays of other libraries and returns the kind of the first one.

    `out` is written in place and returned itself. Lists of arrays become lists. Names of arguments
    that other libraries use for the same are answered with this one's.
    """
    names = [name for name in inspect.signature(method).parameters if name != "self"]
    known = frozenset(names)

    @functools.wraps(method)
    def kept(self: Any, *args: Any, **options: Any) -> Any:
        if not known.issuperset(options):
            check_keywords(method.__qualname__, options, known)
        if not any(map(_is_or_has_foreign, (*args, *options.values()))):
            return method(self, *args, **options)
        first = next(filter(_is_or_has_foreign, (*args, *options.values())))
        positional = [_seen(name, arg) for name, arg in zip(names, args, strict=False)]
        by_name = {name: _seen(name, option) for name, option in options.items() if name != "out"}
        out = options.get("out")
        if out is not None:
            by_name["out"] = _places(out)
        result = method(self, *positional, *args[len(names) :], **by_name)
        return _returned(first, result) if out is None else out

    return cast("Callable[P, R]", kept)


def _is_or_has_foreign(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return bool(value) and is_foreign(value[0])
    return is_foreign(value)


def _seen(name: str, value: object) -> Any:
    if isinstance(value, (list, tuple)) and _is_or_has_foreign(value):
        return [as_numpy(f"{name}[{i}]", each) for i, each in enumerate(value)]
    return as_numpy(name, value) if is_foreign(value) else value


def _places(out: object) -> Any:
    if isinstance(out, (list, tuple)):
        return [numpy_view(f"out[{i}]", each) for i, each in enumerate(out)]
    return numpy_view("out", out)


def _returned(first: Any, result: Any) -> Any:
    if isinstance(first, (list, tuple)):
        if not isinstance(result, list):  # numbers of another library
            return like(first[0], result)
        return [like(each, r) for each, r in zip(first, result, strict=True)]
    if isinstance(result, tuple):
        shape = tuple(first.shape)
        return tuple(like(first, r) if np.shape(r) == shape else r for r in result)
    return like(first, result)


def _is_pandas(value: object) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, (pandas.Series, pandas.DataFrame))


def _of_tensor(name: str, tensor: Any) -> NDArray[Any]:
    if tensor.requires_grad:
        raise TypeError(f"{name} must not require a gradient: pass {name}.detach()")
    if str(tensor.dtype) == "torch.bfloat16":
        raise TypeError(
            f"{name} must hold numbers that NumPy has, not bfloat16: pass {name}.float()"
        )
    if str(tensor.layout) != "torch.strided":
        raise TypeError(f"{name} must be dense: pass {name}.to_dense()")
    array: NDArray[Any] = tensor.cpu().resolve_neg().numpy()
    return array


def _kind(value: object) -> str:
    return f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
