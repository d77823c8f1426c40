-- Copies of device properties in programs' memory, which --set at fade-attach does not reach.

-- One search of a process's memory. "left": bytes that were not searched. held_ns: all threads stood still for so long.
CREATE TABLE cached_search_ (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, ts INTEGER NOT NULL, ns INTEGER NOT NULL, bytes INTEGER NOT NULL,
  "left" INTEGER NOT NULL, copies INTEGER NOT NULL, held_ns INTEGER NOT NULL, "limit" TEXT) STRICT;

-- parent: of a copy in a forked child, the copy that it was made from. changed, put_back: when fade did so.
CREATE TABLE cached_copy_ (
  id INTEGER PRIMARY KEY, parent INTEGER, process INTEGER NOT NULL, ts INTEGER NOT NULL, addr INTEGER NOT NULL,
  layout TEXT NOT NULL, device INTEGER, name TEXT, arch TEXT, pci TEXT, library TEXT, mapping TEXT, known_by TEXT,
  changed INTEGER, put_back INTEGER, problem TEXT) STRICT;

-- The fields of a copy that are not what a rule says. Children have those of their parent's copy.
CREATE TABLE cached_field_ (
  id INTEGER PRIMARY KEY, copy INTEGER NOT NULL, rule INTEGER NOT NULL, offset INTEGER NOT NULL, field TEXT NOT NULL,
  was TEXT, became TEXT, old BLOB, new BLOB) STRICT;
