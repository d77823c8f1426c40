"""What is tried: a row of the table for each kind of target. Letters of modes are those of target.cpp."""
import dataclasses


# What fade does to calls besides recording them. The target must not notice: an answer is one that it allows, and an
# argument gets the value that it has.
ACTS = {
    "skip": ["--inject", "hipStreamQuery:error=hipErrorNotReady:every=2"],
    "delay": ["--inject", "hipStreamQuery:delay=2ms:every=3", "--inject", "hipMemset:delay_exit=1ms:every=5"],
    "replace": ["--replace", "hipMemset.sizeBytes=512", "--replace", "hipStreamQuery.result=hipErrorNotReady:every=2"],
    "actions": ["--actions", "{folder}/rules"],
    "numbers": ["--watch-numbers", "nan,inf,range,checksum"],
}
ACTED = {**dict.fromkeys(("skip", "delay", "replace"), "SELECT count(*) FROM injection_hits"),
         "actions": "SELECT count(*) FROM actions",
         "numbers": "SELECT count(*) FROM numbers"}
RULES = """on hipMemset limit 100000 do stack
on hipMemcpy if kind == 'hipMemcpyDeviceToHost' limit 40 do dump dst sizeBytes
on hipFree limit 30 do snapshot
on hipStreamQuery limit 20 do exec /bin/true
on hipDeviceSynchronize limit 1000 do mark round
"""


@dataclasses.dataclass(frozen=True)
class Row:
    runtime: str          # the stand-in: v5 bodies, v6 dispatch, hard entries
    modes: str
    threads: int
    launched: bool = False  # its first fade is a fade-run
    taps: bool = False      # its fades record with taps: the fade-run; if there is none, each fade-attach
    budget: bool = False    # they have a --budget that no function keeps, and time to reduce all
    faults: bool = False    # fade has too little of something: descriptors, memory, disk
    acts: str = ""          # they act on calls: a word of ACTS

    @property
    def name(self):
        more = ("+run" if self.launched else "") + ("+taps" if self.taps else "") + (
            "+budget" if self.budget else "") + ("+faults" if self.faults else "")
        more += f"+{self.acts}" if self.acts else ""
        return f"{self.runtime}/{self.modes}/{self.threads}{more}"

    @property
    def options(self):
        """Without the default engine: a loop of tapped calls fills the disk."""
        return ["--engine", "taps" if self.taps else "breakpoints", *(["--budget", "0.1%"] if self.budget else [])]

    def acting(self, folder):
        """Options of each fade. Writes the file that they name."""
        if self.acts == "actions":
            (folder / "rules").write_text(RULES)
        return [word.format(folder=folder) for word in ACTS.get(self.acts, [])]

    @property
    def seen(self):
        """What a fade that is not disturbed must have recorded."""
        return ["SELECT count(*) FROM calls", *([ACTED[self.acts]] if self.acts else [])]

    @property
    def skipped(self):
        """The function of which fewer calls are executed than the target makes."""
        return "hipStreamQuery" if self.acts == "skip" else None

    @property
    def tracing(self):
        """Seconds from the attachment to a kill. Each step of a budget takes one, and a gate is the third."""
        return 6 if self.budget else 0.02


ROWS = [
    Row("v6", "sfx", 1), Row("v5", "sfx", 4), Row("hard", "sfx", 4), Row("v6", "sfx", 64),
    Row("v5", "s", 64), Row("v6", "sm", 1),
    Row("hard", "sp", 4), Row("v5", "sb", 4), Row("v6", "sfxB", 4), Row("v6", "sl", 4),
    Row("v5", "scg", 4), Row("v6", "sL", 4),
    Row("v5", "sfx", 1, launched=True), Row("v6", "sfxp", 4, launched=True), Row("hard", "s", 64, launched=True),
    Row("v6", "sfxlcg", 4, launched=True), Row("v5", "sfpbBcg", 4, launched=True),
    Row("v6", "sfx", 4, faults=True), Row("v5", "sfxpbBlcgm", 4),
    # with taps
    Row("v6", "sfx", 1, launched=True, taps=True), Row("v5", "sfx", 4, launched=True, taps=True),
    Row("hard", "sfx", 64, launched=True, taps=True), Row("v6", "sfxe", 4, launched=True, taps=True),
    Row("v6", "sfxlcg", 4, launched=True, taps=True), Row("v5", "sfpbBcg", 4, launched=True, taps=True),
    Row("v6", "sfx", 1, taps=True), Row("v5", "sfx", 4, taps=True), Row("hard", "sfx", 4, taps=True),
    Row("v6", "sfx", 64, taps=True),
    Row("v6", "sp", 4, taps=True), Row("v6", "sl", 4, taps=True), Row("v5", "scg", 4, taps=True),
    Row("v6", "sL", 4, taps=True),
    Row("v5", "sfxpbBlcg", 4, taps=True), Row("v6", "sce", 4, taps=True),
    # with a budget, so with gates
    Row("v6", "sfx", 4, launched=True, taps=True, budget=True), Row("v5", "scg", 4, taps=True, budget=True),
    Row("hard", "sfx", 4, taps=True, budget=True), Row("v6", "sfxl", 64, taps=True, budget=True),
    # with rules that act on calls
    Row("v6", "sfx", 4, acts="skip"), Row("v5", "sfxpbBlcg", 4, acts="skip"),
    Row("hard", "sfx", 4, launched=True, acts="skip"),
    Row("v6", "sfx", 4, acts="delay"), Row("v5", "spcg", 4, acts="delay"),
    Row("v6", "sfx", 4, launched=True, taps=True, acts="delay"),
    Row("v6", "sfx", 4, acts="replace"), Row("v5", "sfxpbBlcg", 4, launched=True, acts="replace"),
    Row("v6", "sfx", 4, acts="actions"), Row("v5", "scg", 4, launched=True, acts="actions"),
    Row("v6", "sfx", 4, acts="numbers"), Row("v5", "spcg", 4, launched=True, acts="numbers"),
    # executes itself
    Row("v6", "se", 1), Row("v5", "sxpe", 4), Row("hard", "sfbe", 4), Row("v6", "slBe", 4), Row("v6", "sce", 16),
    Row("v6", "sfxe", 4, launched=True), Row("v5", "splBe", 4, launched=True),
    # has children without signal handlers
    Row("v6", "sk", 1), Row("v5", "skBl", 4), Row("hard", "sfxk", 4, launched=True), Row("v6", "ske", 4),
]


def named(names):
    """The rows with these names, or whose name contains one of them."""
    chosen = [row for row in ROWS if row.name in names] or [row for row in ROWS
                                                            if any(name in row.name for name in names)]
    if not chosen:
        raise SystemExit(f"no such row; there are: {' '.join(row.name for row in ROWS)}")
    return chosen
