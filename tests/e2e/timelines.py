"""Reads the traces that fade-query export writes for viewers. Perfetto's goes through protoc and the schema in
timeline/perfetto.proto; slices are put together by the rules of Perfetto's trace processor. JSON goes through Python's
parser."""
import collections
import dataclasses
import gzip
import json
import pathlib
import re
import subprocess

SCHEMA = pathlib.Path(__file__).parent / "timeline" / "perfetto.proto"
LISTS = {"category": "event_categories", "name": "event_names", "key": "debug_annotation_names",
         "text": "debug_annotation_string_values"}


def decoded(data):
    """The message as nested dicts of lists, from protoc's text: 'name {', 'name: value', '}'."""
    done = subprocess.run(["protoc", f"--proto_path={SCHEMA.parent}", "--decode=fade.test.Trace", SCHEMA.name],
                          input=data, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    top = collections.defaultdict(list)
    stack = [top]
    for line in done.stdout.decode().splitlines():
        line = line.strip()
        if line == "}":
            stack.pop()
        elif line.endswith(" {"):
            inner = collections.defaultdict(list)
            stack[-1][line[:-2]].append(inner)
            stack.append(inner)
        else:
            key, value = line.split(": ", 1)
            assert not key.isdigit(), f"a field that the schema lacks: {line}"
            stack[-1][key].append(value_of(value))
    assert len(stack) == 1
    return top


def value_of(text):
    if text.startswith('"'):  # protoc escapes bytes as C does
        return re.sub(rb"\\([0-7]{3}|.)", unescape, text[1:-1].encode()).decode()
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return {"true": True, "false": False}.get(text, text)


def unescape(match):
    code = match.group(1)
    return bytes([int(code, 8)]) if len(code) == 3 else {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(code, code)


@dataclasses.dataclass
class Slice:
    track: int
    name: str
    category: str
    start: int
    end: int = None  # None: it did not end
    arguments: dict = None
    flows: list = None
    depth: int = 0


class Perfetto:
    """What a viewer shows of a trace."""

    def __init__(self, data):
        self.tracks, self.slices, self.instants, self.counts, self.clocks = {}, [], [], [], {}
        words, events = None, []
        for packet in decoded(data)["packet"]:
            if packet["sequence_flags"] and packet["sequence_flags"][0] & 1:
                words = {kind: {} for kind in LISTS}
            for interned in packet["interned_data"]:
                for kind, field in LISTS.items():
                    for entry in interned[field]:
                        assert entry["iid"][0] not in words[kind]
                        words[kind][entry["iid"][0]] = entry["str"][0]
            for snapshot in packet["clock_snapshot"]:
                self.clocks = {clock["clock_id"][0]: clock["timestamp"][0] for clock in snapshot["clocks"]}
            for descriptor in packet["track_descriptor"]:
                assert descriptor["uuid"][0] not in self.tracks
                self.tracks[descriptor["uuid"][0]] = descriptor
            for event in packet["track_event"]:
                assert packet["sequence_flags"][0] & 2 and event["track_uuid"][0] in self.tracks
                events.append((packet["timestamp"][0], self.named(event, words)))
        self.play(sorted(events, key=lambda pair: pair[0]))  # stable, as the trace processor sorts

    def named(self, event, words):
        out = {"type": event["type"][0], "track": event["track_uuid"][0],
               "value": (event["counter_value"] or [None])[0]}
        if event["name_iid"]:
            out["name"] = words["name"][event["name_iid"][0]]
            out["category"] = words["category"][event["category_iids"][0]]
            out["arguments"] = self.annotations(event["debug_annotations"], words)
            out["flows"] = event["flow_ids"]
        return out

    def annotations(self, entries, words):
        out = {}
        for entry in entries:
            key = words["key"][entry["name_iid"][0]]
            if entry["dict_entries"]:
                out[key] = self.annotations(entry["dict_entries"], words)
            elif entry["string_value_iid"]:
                out[key] = words["text"][entry["string_value_iid"][0]]
            else:
                out[key] = next((entry[k][0] for k in ("int_value", "string_value", "bool_value", "double_value")
                                 if entry[k]), {})
        return out

    def play(self, events):
        opened = collections.defaultdict(list)
        for at, event in events:
            kind, track = event["type"], event["track"]
            if kind == "TYPE_COUNTER":
                self.counts.append((track, at, event["value"]))
            elif kind == "TYPE_SLICE_END":
                assert opened[track], "an end without a beginning"
                opened[track].pop().end = at
            else:
                made = Slice(track, event["name"], event["category"], at, None, event["arguments"],
                             event["flows"], len(opened[track]))
                if kind == "TYPE_INSTANT":
                    self.instants.append(made)
                else:
                    opened[track].append(made)
                    self.slices.append(made)

    def label(self, track):
        """The name of a track: 'thread 12', 'errors' ..."""
        descriptor = self.tracks[track]
        for kind, name in (("process", "process_name"), ("thread", "thread_name")):
            if descriptor[kind]:
                return descriptor[kind][0][name][0]
        return descriptor["name"][0]

    def place(self, track):
        """(pid, tid) of the process or thread that a track belongs to; None where there is none."""
        descriptor = self.tracks[track]
        for kind in ("thread", "process"):
            if descriptor[kind]:
                return descriptor[kind][0]["pid"][0], (descriptor[kind][0]["tid"] or [None])[0]
        return self.place(descriptor["parent_uuid"][0]) if descriptor["parent_uuid"] else (None, None)

    def calls(self):
        return [s for s in self.slices if self.tracks[s.track]["thread"]]


def read_json(path_or_bytes):
    data = path_or_bytes if isinstance(path_or_bytes, bytes) else pathlib.Path(path_or_bytes).read_bytes()
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


HOST = {"cuda_runtime", "cuda_driver", "cpu_op", "user_annotation", "cpu_instant_event"}
GPU = {"kernel", "gpu_memcpy", "gpu_memset"}
PHASES = {"X": {"cat", "name", "pid", "tid", "ts", "dur"}, "i": {"cat", "name", "pid", "tid", "ts", "s"},
          "C": {"name", "pid", "tid", "ts", "args"},
          "M": {"name", "pid", "tid", "args"}, "s": {"cat", "name", "id", "pid", "tid", "ts"},
          "f": {"cat", "name", "id", "pid", "tid", "ts", "bp"}}
META = {"process_name": "name", "process_labels": "labels", "thread_name": "name", "thread_sort_index": "sort_index"}


def check_chrome(trace):
    """The rules of the Trace Event Format for the phases that fade writes."""
    assert trace["displayTimeUnit"] in ("ms", "ns") and isinstance(trace["traceEvents"], list)
    for event in trace["traceEvents"]:
        assert PHASES[event["ph"]] <= set(event), event
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int) and isinstance(event["name"], str)
        assert event["ph"] != "M" or META[event["name"]] in event["args"], event
        assert event.get("dur", 0) >= 0 and isinstance(event.get("args", {}), dict)
        assert event["ph"] != "C" or all(isinstance(value, (int, float)) for value in event["args"].values())
    starts = {event["id"] for event in trace["traceEvents"] if event["ph"] == "s"}
    assert {event["id"] for event in trace["traceEvents"] if event["ph"] == "f"} <= starts
    check_nesting(trace)


def check_nesting(trace):
    """Slices of one thread nest or follow each other: viewers draw nothing else. Work of a stream may overlap."""
    by_thread = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X" and event["cat"] not in GPU:
            start = round(event["ts"] * 1000)
            by_thread[event["pid"], event["tid"]].append((start, -(start + round(event["dur"] * 1000)), event["name"]))
    for slices in by_thread.values():
        ends = []
        for start, minus_end, name in sorted(slices):
            while ends and ends[-1] <= start:
                ends.pop()
            assert not ends or -minus_end <= ends[-1], name
            ends.append(-minus_end)


def check_kineto(trace):
    """What Holistic Trace Analysis and TensorBoard's plugin need (hta/common/trace_parser.py, trace_file.py,
    trace.py)."""
    check_chrome(trace)
    assert trace["schemaVersion"] == 1 and trace["baseTimeNanoseconds"] >= 0
    assert isinstance(trace["deviceProperties"], list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            assert event["cat"] in HOST | GPU, event
            on_gpu = event["cat"] in GPU
            assert (event["args"].get("stream", -1) >= 0) == on_gpu, event  # how HTA tells the GPU's rows
            assert not on_gpu or event["args"]["correlation"] >= 0
        if event["ph"] == "X" and event["name"].startswith("ProfilerStep"):
            assert re.match(r"ProfilerStep\s*#\s*(\d+)", event["name"])
