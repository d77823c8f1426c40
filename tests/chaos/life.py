"""The life of one target: several fades in a row come to it, most of them are killed; at the end it must be well."""
import contextlib
import dataclasses
import os
import random
import shutil
import signal
import time

from attacker import Fade, Plan, Timing, make_plan
from state import describe
from target import PATIENCE, Lost, Target, process_name, status_fields

NOT_BEGUN = ("signal-witness", "fade-run")  # what a killed fade-run leaves besides its program: they die with it
CALM = Plan("none", 0, False, False, signal.SIGTERM)


@dataclasses.dataclass
class Outcome:
    row: str
    index: int
    kills: int = 0
    targets: int = 1
    lost: int = 0
    wrong: int = 0
    repaired: int = 0
    failed: int = 0     # fades that ended by themselves for lack of something
    unstarted: int = 0  # killed before the program began
    text: str = ""      # what happened, where something did


class Wrong(Exception):
    """The target lives, but fade did not do what it should."""


class Life:
    def __init__(self, build, row, index, seed, folder, disk, timing):
        self.build, self.row, self.folder, self.disk, self.timing = build, row, folder, disk, timing
        self.random = random.Random(f"{seed}:{row.name}:{index}")
        self.outcome = Outcome(row.name, index)
        self.target, self.fade, self.story, self.number, self.was_attacked = None, None, [], 0, False
        self.began = time.monotonic()

    def tell(self, what):
        self.story.append(f"{time.monotonic() - self.began:7.3f} s  {what}")

    def live(self, kills):
        try:
            self.go_through(kills)
        except Lost as lost:
            self.report("lost", lost)
        except Wrong as wrong:
            self.report("wrong", wrong)
        finally:
            self.clean_up()
        return self.outcome

    def report(self, how, what):
        setattr(self.outcome, how, 1)
        self.outcome.text = "\n".join([f"{self.row.name} target {self.outcome.index} {how}: {what}",
                                       *[f"  {line}" for line in self.story],
                                       describe(self.target, self.fade)])

    def clean_up(self):
        if self.fade:
            self.fade.clean_up(keeps_recording=bool(self.outcome.text))
        if self.target:
            self.target.kill()
        if not self.outcome.text:
            shutil.rmtree(self.folder, ignore_errors=True)

    def go_through(self, kills):
        if not (self.launch() if self.row.launched else self.start()):
            self.outcome.unstarted = 1
            return
        if not self.row.launched and self.random.random() < 0.25:
            self.calm()
        while self.outcome.kills + self.outcome.failed < kills and self.number < 3 * kills:
            self.attack()
            if self.random.random() < 0.2:
                self.calm()
        self.calm()
        self.target.end()

    # ---------------------------------------------------------------- how it begins

    def start(self):
        self.target = Target(self.build, self.row, self.folder)
        return self.target.wait_ready()

    def launch(self):
        """By a fade-run, which is killed; that may be before it has executed its program."""
        plan = make_plan(self.random, self.row)
        self.folder.mkdir(parents=True, exist_ok=True)
        options = [*self.row.options, *self.row.acting(self.folder)]
        prefix = [self.build.fade_run, "-qq", *options, "-o", self.folder / "run.db", "--"]
        self.tell(f"fade-run: {plan}")
        self.target = Target(self.build, self.row, self.folder, prefix)
        began, ready = time.monotonic(), False
        if plan.phase in ("trace", "detach"):
            ready = self.target.wait_ready()
            self.timing.learn("launch", time.monotonic() - began)
            if plan.phase == "detach":
                self.ask_to_let_go()
        time.sleep(self.timing.moment(plan, {"detach": "detach"}.get(plan.phase, "launch"))
                   if plan.phase != "trace" else plan.moment * self.row.tracing)
        self.target.process.send_signal(plan.signal)
        self.outcome.kills += self.target.process.wait() == -plan.signal
        self.target.is_launched, self.was_attacked = False, True
        return ready or self.target.wait_ready() or self.died_unstarted()

    def ask_to_let_go(self):
        for _ in range(2):  # the second one lets go
            self.target.process.send_signal(signal.SIGTERM)
            time.sleep(0.03)

    def died_unstarted(self):
        """The child of a fade-run that was killed early ends with 127, before exec."""
        with contextlib.suppress(ChildProcessError):
            while True:
                name = process_name(os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT).si_pid)
                pid, status = os.wait()
                if status not in (0, 127 << 8) and name not in NOT_BEGUN:  # 0: a child of an earlier target
                    raise Lost(f"process {pid} ended before it began, wait status {status:#x}")
        return False

    # ---------------------------------------------------------------- what comes to it

    def come(self, plan):
        self.number += 1
        self.tell(f"fade-attach {self.number}: {plan}")
        self.fade = Fade(self.build, self.target, plan, self.timing, self.disk, self.number)

    def gone(self):
        """Afterwards nobody traces it, and it goes on."""
        self.target.must_live()
        if status_fields(self.target.pid, self.target.some_thread()).get("TracerPid") != "0":
            raise Wrong("it is still traced")
        self.fade.clean_up()

    def attack(self):
        plan = make_plan(self.random, self.row)
        self.come(plan)
        self.was_attacked = True
        if not self.fade.go_to_the_moment():
            self.ended_early(plan)
        elif plan.phase == "none":
            self.starve(plan)
        else:
            self.fade.be_stopped()
            self.outcome.kills += self.fade.kill(plan.signal)
        if self.fade.database.exists():
            self.fade.query("SELECT count(*) FROM calls")
        self.gone()

    def ended_early(self, plan):
        status = self.fade.wait_end()
        self.tell(f"it ended with {status}")
        if plan.lack:
            self.outcome.failed += 1
        elif status != 0:
            raise Wrong(f"fade-attach ended with {status}: {self.fade.errors.read_text()}")

    def starve(self, plan):
        """With too little of something it goes on or gives up; after it was asked to go it must."""
        end = time.monotonic() + 0.05
        while time.monotonic() < end and not self.fade.has_ended():
            time.sleep(0.005)
        self.fade.ask_to_detach()
        status = self.fade.wait_end()
        self.outcome.failed += 1
        self.tell(f"it ended with {status}")

    def calm(self):
        """Nobody disturbs this one: it repairs what others left, records, and leaves nothing."""
        before = self.target.state()
        self.come(CALM)
        if not self.fade.go_to_the_moment():
            raise Wrong(f"fade-attach ended with {self.fade.wait_end()}: {self.fade.errors.read_text()}")
        self.target.goes_on()
        end = time.monotonic() + 30  # a new program's first calls come late on a busy machine
        waits = self.target.executes() or self.row.acts
        while waits and not all(map(self.fade.query, self.row.seen)) and time.monotonic() < end:
            time.sleep(0.05)
        self.fade.ask_to_detach()
        status = self.fade.wait_end()
        self.fade.has_detached()
        ended = self.fade.event("ended")
        if status != 0 or not ended or ended["calls"] == 0 or ended["dropped"] or ended["bytes_differing"]:
            raise Wrong(f"fade-attach ended with {status}: {ended}: {self.fade.errors.read_text()}")
        if not all(map(self.fade.query, self.row.seen)):
            raise Wrong(f"nothing was recorded of {self.row.seen}")
        self.outcome.repaired += bool(self.fade.query("SELECT count(*) FROM lifecycle WHERE kind = 'repaired'"))
        if changed := self.target.changed_text():
            raise Wrong(f"text was left changed: {changed}")
        if not self.was_attacked and not self.target.executes():
            self.compare(before)
        self.gone()

    def compare(self, before):
        """Where nobody was killed there is no trace. Threads and libraries may have come and gone; our pages stay where
        a child shares them, a signal handler will return into them, or an unwinder knows them."""
        after = self.target.state()
        may_stay = set(self.row.modes) & set("fgBk")
        for state in (before, after) if may_stay or self.row.taps else ():
            state["code"] = []
            for fields in state["threads"].values() if may_stay else ():
                fields["SigCgt"] = fields["SigBlk"] = None  # a handler blocks its signal
        for tid, fields in before["threads"].items():
            now = after["threads"].get(tid, {"Name": None})
            if now["Name"] and now["Name"] == fields["Name"] and now != fields:
                raise Wrong(f"thread {tid} was {fields}, is {now}")
        nameless = [[line for line in state["code"] if len(line.split()) < 6] for state in (before, after)]
        if nameless[0] != nameless[1]:
            raise Wrong(f"mappings stayed: {nameless[1]}")
