"""Stands in many kinds of Python frames and sends itself SIGUSR1 in each, having written into the file of its first
argument what its stack is there: one line of JSON for each stop, a list of [qualified name, file, line], innermost
first. Runs on 3.10 and later.
With a second argument, a HIP runtime, it calls hipFree(NULL) of that instead."""
import asyncio
import ctypes
import functools
import json
import os
import signal
import sys
import threading

OUT = open(sys.argv[1], "a", encoding="utf-8", errors="backslashreplace")
libc = ctypes.CDLL(None)
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


act = functools.partial(ctypes.CDLL(sys.argv[2]).hipFree,
                        None) if len(sys.argv) > 2 else functools.partial(signal.raise_signal, signal.SIGUSR1)


def named(frame):
    code = frame.f_code
    return [getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno or 0]


def write_stack(what):
    frame, stack = sys._getframe(1), []
    while frame is not None:
        stack.append(named(frame))
        frame = frame.f_back
    OUT.write(json.dumps([what, threading.get_native_id(), stack]) + "\n")
    OUT.flush()


def stop(what):
    write_stack(what), act()


def nested_in_c(depth, then):
    """Python -> qsort of the C library -> Python, so many times."""
    if depth == 0:
        return then()
    done = []

    @CALLBACK
    def compare(a, b):
        if not done:
            done.append(True)
            nested_in_c(depth - 1, then)
        return 0

    array = (ctypes.c_int * 2)(1, 2)
    libc.qsort(array, 2, ctypes.sizeof(ctypes.c_int), compare)


def generator():
    stop("generator")
    yield 1
    yield from inner_generator()


def inner_generator():
    stop("yield from")
    yield 2


def recursion(depth):
    if depth:
        return recursion(depth - 1) + 1
    stop("recursion")
    return 0


def many_locals(depth):
    a, b, c, d, e, f, g, h = range(8)
    i, j, k, l, m, n, o, p = (a, b, c, d, e, f, g, h)
    return many_locals(depth - 1) + p if depth else stop("across chunks") or 0


class Base:
    def __init__(self):
        stop("__init__")

    def method(self):
        class Inner:
            def __enter__(self):
                stop("with")

            def __exit__(self, *error):
                stop("leaving with")

        with Inner():
            pass

    @property
    def attribute(self):
        stop("property")

    def __del__(self):
        stop("__del__")

    def __eq__(self, other):
        stop("__eq__")
        return True

    __hash__ = None


class Grün(Base):
    stop("class body")

    def größe(self):
        stop("non-ASCII names")

    def 漢字(self):
        (lambda: stop("漢字"))()


async def coroutine(depth):
    if depth:
        return await coroutine(depth - 1)
    await asyncio.sleep(0)
    stop("coroutine")


async def agenerator():
    yield 1
    stop("asynchronous generator")
    yield 2


async def for_each():
    async for _ in agenerator():
        pass


def decorated(function):
    @functools.wraps(function)
    def wrapper(*words, **named_words):
        return function(
            *words,
            **named_words,
        )
    return wrapper


@decorated
def over_lines(a, b):
    return [
        a,
        stop(
            "over several lines"),
        b,
    ]


def comprehensions():
    [stop("list comprehension") for _ in range(1)]
    {k: stop("dict comprehension") for k in range(1)}
    list(stop("generator expression") for _ in range(1))
    [[stop("nested comprehension") for _ in range(1)] for _ in range(1)]


def exceptions():
    try:
        raise ValueError("one")
    except ValueError:
        stop("except")
    finally:
        stop("finally")


def executed():
    for name in ("<string>", "/tmp/Übung/träne.py", "/tmp/漢字.py", "/tmp/\U0001f600.py"):
        exec(compile("def f():\n\n    stop('exec')\nf()\n", name, "exec"), {"stop": stop})
    eval("stop('eval')")


def tracing():
    sys.setprofile(lambda frame, event, argument: None)
    stop("profiled")
    sys.setprofile(None)


def in_threads():
    def body():
        nested_in_c(2, lambda: stop("thread"))
        hold.wait(60)

    hold = threading.Event()
    threads = [threading.Thread(target=body) for _ in range(3)]
    for thread in threads:
        thread.start()
    stop("main beside threads")
    hold.set()
    for thread in threads:
        thread.join()


def sorted_by_key():
    sorted([2, 1], key=lambda x: (stop("key") if x == 1 else None, x)[1])
    list(map(lambda _: stop("map"), [1]))
    functools.reduce(lambda a, b: stop("reduce") or a, [1, 2])


def main():
    stop("main")
    list(generator())
    recursion(40)
    many_locals(400)
    nested_in_c(1, lambda: stop("callback"))
    nested_in_c(4, lambda: list(generator()))
    base = Base()
    base.method()
    base.attribute
    base == base
    del base
    Grün().größe()
    Grün().漢字()
    asyncio.run(coroutine(3))
    asyncio.run(for_each())
    over_lines(1, 2)
    comprehensions()
    exceptions()
    executed()
    tracing()
    sorted_by_key()
    in_threads()
    for i in range(300):  # code objects that come and go, at the same addresses
        exec(compile("\n" * (i % 7) + f"def passing_{i % 3}(): stop('passing')\npassing_{i % 3}()",
                     f"file{i % 2}", "exec"), {"stop": stop})


if __name__ == "__main__":
    main()
