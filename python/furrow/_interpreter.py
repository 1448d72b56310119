# SPDX-License-Identifier: BSD-3-Clause
"""The interpreter that imports the package."""
from __future__ import annotations


def refuse_sub_interpreters() -> None:
    """The compiled part takes the lock of the main interpreter for every callback, and would wait for it for ever in
    another one that shares it; NumPy is made for the main one, too."""
    try:
        import ctypes

        api = ctypes.PyDLL(None)
        api.PyInterpreterState_Get.restype = ctypes.c_void_p
        api.PyInterpreterState_GetID.restype = ctypes.c_int64
        api.PyInterpreterState_GetID.argtypes = [ctypes.c_void_p]
        main = api.PyInterpreterState_GetID(api.PyInterpreterState_Get()) == 0
    except (AttributeError, OSError):  # another Python, or one whose functions are not in sight
        return
    except ImportError as e:  # ctypes refuses a sub-interpreter with a lock of its own before Python 3.13
        main = "subinterpreter" not in str(e)
    if not main:
        raise ImportError("furrow cannot be imported in a sub-interpreter, for its compiled part belongs to the main one: "
                          "import it there, or in a process of its own, as multiprocessing begins it")
