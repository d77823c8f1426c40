-- Copies between host and device.

-- In the order of returns; no key, because SQLite would search each row's place. kind: hipMemcpyKind, by the addresses
-- if the call says default, or -1 for fills (memset). memory: of the host's side: 1 pageable as far as fade saw, 2
-- pinned, 3 managed; NULL: no such side, or unknown.
CREATE TABLE copy_ (
  call INTEGER, kind INTEGER, bytes INTEGER, src INTEGER, dst INTEGER, stream INTEGER, memory INTEGER) ;

-- small: below 64 KiB
CREATE TABLE copy_stat_ (
  process INTEGER NOT NULL, fn INTEGER NOT NULL, kind INTEGER NOT NULL, n INTEGER NOT NULL, bytes INTEGER NOT NULL,
  max_bytes INTEGER NOT NULL, small INTEGER NOT NULL, host_ns INTEGER NOT NULL,
  PRIMARY KEY (process, fn, kind)) STRICT, WITHOUT ROWID;

-- kind: hipMemcpyKind, by the addresses if the call had none, -1 fills. memory: as in copy_, 0 for NULL. bucket: 0 for
-- no bytes, else 1 + log2.
CREATE TABLE copy_size_ (
  process INTEGER NOT NULL, fn INTEGER NOT NULL, kind INTEGER NOT NULL, memory INTEGER NOT NULL,
  bucket INTEGER NOT NULL, n INTEGER NOT NULL, bytes INTEGER NOT NULL, max_bytes INTEGER NOT NULL,
  host_ns INTEGER NOT NULL,
  PRIMARY KEY (process, fn, kind, memory, bucket)) STRICT, WITHOUT ROWID;

-- Buffers that came back to the host and went up again between the same two addresses, 16 times or more. launches: of
-- the process meanwhile.
CREATE TABLE copy_trip_ (
  process INTEGER NOT NULL, device_addr INTEGER NOT NULL, host_addr INTEGER NOT NULL, bytes INTEGER NOT NULL,
  trips INTEGER NOT NULL, launches INTEGER NOT NULL, host_ns INTEGER NOT NULL, ts INTEGER NOT NULL,
  ts_last INTEGER NOT NULL, call INTEGER NOT NULL,
  PRIMARY KEY (process, device_addr, host_addr, bytes)) STRICT, WITHOUT ROWID;
