"""Stops as python_program.py does, again and again in stacks that are almost the same: whoever takes one for the other
shows wrong frames."""
import asyncio
import random
import threading

from python_program import nested_in_c, stop


def leaf():
    stop("leaf")


def middle():
    leaf()


def left():
    middle()


def right():
    middle()


def outer_left(which):
    which()


def outer_right(which):
    which()


def lines_of_one_frame(order):
    for line in order:
        if line == 0:
            stop("a line")
        elif line == 1:
            stop("a line")
        else:
            leaf()


def numbers():
    while True:
        stop("generator")
        yield 1
        stop("generator, later")
        yield 2


def one(generator):
    next(generator)


def another(generator):
    next(generator)


async def waiting(turns):
    for _ in range(turns):
        await asyncio.sleep(0)
        stop("coroutine")


async def also_waiting(turns):
    await waiting(turns)


async def together():
    await asyncio.gather(waiting(10), also_waiting(10), waiting(10))


def raises(depth):
    if depth == 0:
        stop("before an exception")
        raise ValueError
    raises(depth - 1)


def catches(depth):
    try:
        raises(depth)
    except ValueError:
        stop("behind an exception")


def chains(choice):
    for _ in range(150):
        choice.choice([outer_left, outer_right])(choice.choice([left, right]))
    lines_of_one_frame([choice.randrange(3) for _ in range(150)])


def generators(choice):
    running = [numbers() for _ in range(3)]
    for _ in range(100):
        choice.choice([one, another])(choice.choice(running))


def main():
    choice = random.Random(5)
    chains(choice)
    generators(choice)
    asyncio.run(together())
    for _ in range(40):
        catches(choice.randrange(3))
        nested_in_c(choice.randrange(1, 3), choice.choice([left, right]))
    threads = [threading.Thread(target=chains, args=(random.Random(seed),)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(200):  # code objects that come and go, at the same addresses, in frames at the same addresses
        name = choice.choice("ab")
        exec(compile("\n" * choice.randrange(3) + f"def passing_{name}(): stop('passing')\npassing_{name}()",
                     f"file{i % 2}", "exec"), {"stop": stop})


main()
