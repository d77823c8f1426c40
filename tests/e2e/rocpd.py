"""Reads a rocpd database as AMD's rocpd package does: it finds the tables by the file's uuid, makes views without it
that join several files, and asks these by the names and columns of rocprofv3's schema 3."""
import sqlite3

INFO = "id guid nid pid"
TABLES = {
    "rocpd_metadata": "id tag value",
    "rocpd_string": "id guid string",
    "rocpd_info_node": "id guid hash machine_id system_name hostname release version hardware_name domain_name",
    "rocpd_info_process": f"{INFO} ppid init fini start end command environment extdata",
    "rocpd_info_thread": f"{INFO} ppid tid name start end extdata",
    "rocpd_info_agent": f"{INFO} type absolute_index logical_index type_index uuid name model_name vendor_name "
    f"product_name user_name extdata",
    "rocpd_info_queue": f"{INFO} name extdata",
    "rocpd_info_stream": f"{INFO} name extdata",
    "rocpd_info_pmc": f"{INFO} agent_id target_arch event_code instance_id name symbol description long_description "
    f"component units value_type block "
    "expression is_constant is_derived extdata",
    "rocpd_info_code_object": f"{INFO} agent_id uri load_base load_size load_delta storage_type extdata",
    "rocpd_info_kernel_symbol": f"{INFO} code_object_id kernel_name display_name kernel_object kernarg_segment_size "
    f"kernarg_segment_alignment "
    "group_segment_size private_segment_size sgpr_count arch_vgpr_count accum_vgpr_count extdata",
    "rocpd_track": f"{INFO} tid name_id extdata",
    "rocpd_event": "id guid category_id stack_id parent_stack_id correlation_id call_stack line_info extdata",
    "rocpd_arg": "id guid event_id position type name value extdata",
    "rocpd_pmc_event": "id guid event_id pmc_id value extdata",
    "rocpd_region": f"{INFO} tid start end name_id event_id extdata",
    "rocpd_sample": "id guid track_id timestamp event_id extdata",
    "rocpd_kernel_dispatch": f"{INFO} tid agent_id kernel_id dispatch_id queue_id stream_id start end "
    f"private_segment_size group_segment_size "
    "workgroup_size_x workgroup_size_y workgroup_size_z grid_size_x grid_size_y grid_size_z region_name_id event_id "
    "extdata",
    "rocpd_memory_copy": f"{INFO} tid start end name_id dst_agent_id dst_address src_agent_id src_address size "
    f"queue_id stream_id region_name_id event_id extdata",
    "rocpd_memory_allocate": f"{INFO} tid agent_id type level start end address size queue_id stream_id event_id "
    f"extdata",
}
AGENT = "agent_abs_index agent_log_index agent_type_index agent_type"
STACK = "stack_id parent_stack_id corr_id"
NODE = "nid machine_id system_name hostname system_release system_version guid ppid pid"
VIEWS = {
    "processes": f"{NODE} init start end fini command",
    "threads": f"{NODE} tid start end name",
    "code_objects": "id guid nid pid agent_abs_index uri load_base load_size load_delta storage_type_str "
    "code_object_size storage_type memory_base memory_size",
    "kernel_symbols": "id guid nid pid code_object_id kernel_name display_name kernel_object kernarg_segment_size "
    "group_segment_size private_segment_size "
    "sgpr_count arch_vgpr_count accum_vgpr_count kernel_id formatted_kernel_name demangled_kernel_name "
    "truncated_kernel_name kernel_address",
    "regions": f"id guid category name nid pid tid start end duration event_id {STACK} extdata call_stack line_info",
    "region_args": "id guid nid pid type name value",
    "samples": f"id guid category name nid pid tid timestamp event_id {STACK} extdata call_stack line_info",
    "sample_regions": f"id guid category name nid pid tid start end duration event_id {STACK} extdata",
    "regions_and_samples": f"id guid category name nid pid tid start end duration event_id {STACK} extdata",
    "kernels": f"id guid tid category region name nid pid {AGENT} code_object_id kernel_id dispatch_id stream_id "
    f"queue_id queue stream start end duration "
    f"grid_x grid_y grid_z workgroup_x workgroup_y workgroup_z lds_size scratch_size static_lds_size "
    f"static_scratch_size vgpr_count {STACK}",
    "pmc_info": "id guid nid pid agent_abs_index is_constant is_derived name description block expression",
    "pmc_events": "id guid pmc_id event_id category name nid pid dispatch_id start end duration counter_name "
    "counter_value",
    "events_args": "event_id category stack_id parent_stack_id correlation_id arg_position arg_type arg_name arg_value "
    "call_stack line_info extdata",
    "stream_args": "argument_id event_id arg_position arg_type arg_value stream_id nid pid stream_name extdata",
    "memory_copies": f"id guid category nid pid tid start end duration name region_name stream_id queue_id stream_name "
    f"queue_name size dst_device "
    f"dst_agent_abs_index dst_agent_type dst_address src_device src_agent_abs_index src_agent_type src_address {STACK}",
    "memory_allocations": f"id guid category nid pid tid start end duration type level agent_name {AGENT} address size "
    f"queue_id stream_id {STACK}",
    "scratch_memory": f"id guid nid pid operation agent_name {AGENT} queue_id tid alloc_flags start end size address "
    f"{STACK} category",
    "counters_collection": "id guid dispatch_id kernel_id event_id pid tid agent_id queue_id grid_size kernel_name "
    "workgroup_size counter_name value start end",
    "top_kernels": "name total_calls total_duration average percentage",
    "busy": "agent_id type GpuTime WallTime Busy",
    "top": "name total_calls total_duration average percentage",
}
# What rocpd's summaries ask of each view with durations.
SUMMARY = (
    'SELECT {name}, count(*), sum(duration), avg(duration), min(duration), max(duration) FROM {view} GROUP BY {name} '
    'ORDER BY sum(duration) DESC'
)
SUMMARIES = {"kernels": "name", "memory_copies": "name", "memory_allocations": "type", "regions": "name"}


class Rocpd:
    def __init__(self, *paths):
        self.connection = sqlite3.connect(":memory:")
        self.connection.execute("PRAGMA foreign_keys = ON")
        for n, path in enumerate(paths):
            self.connection.execute(f"ATTACH DATABASE ? AS db{n}", (str(path),))
            self.check_file(f"db{n}")
        self.unite(len(paths))
        self.check_views()
        self.check_times()

    def rows(self, sql):
        return self.connection.execute(sql).fetchall()

    def value(self, sql):
        return self.rows(sql)[0][0]

    def metadata(self):
        return dict(self.rows("SELECT tag, value FROM rocpd_metadata"))

    def check_file(self, name):
        assert self.rows(f"PRAGMA {name}.integrity_check") == [("ok",)]
        assert self.rows(f"PRAGMA {name}.foreign_key_check") == []
        told = dict(self.rows(f"SELECT tag, value FROM {name}.rocpd_metadata"))
        assert told["schema_version"] == "3" and told["uuid"] == "_" + told["guid"].replace("-", "_")
        for table, columns in TABLES.items():
            known = {row[1] for row in self.rows(f"PRAGMA {name}.table_info('{table}{told['uuid']}')")}
            assert known >= set(columns.split()), (table, set(columns.split()) - known)
            if "guid" in known:
                assert set(self.rows(f"SELECT DISTINCT guid FROM {name}.'{table}{told['uuid']}'")) <= {(told["guid"],)}

    def unite(self, n):
        for table, columns in TABLES.items():
            chosen = ", ".join(f'"{c}"' for c in columns.split())
            parts = " UNION ALL ".join(f"SELECT {chosen} FROM db{i}.{table}" for i in range(n))
            self.connection.execute(f"CREATE TEMPORARY VIEW {table} AS {parts}")

    def check_views(self):
        for view, columns in VIEWS.items():
            self.rows(f"SELECT {', '.join(chr(34) + c + chr(34) for c in columns.split())} FROM db0.{view}")
        for view, name in SUMMARIES.items():
            self.rows(SUMMARY.format(view=f"db0.{view}", name=name))
        categories = [c for (c,) in self.rows("SELECT DISTINCT category FROM db0.regions_and_samples")]
        assert all(c and "_" in c for c in categories), categories

    def check_times(self):
        for table in ("rocpd_region", "rocpd_kernel_dispatch", "rocpd_memory_copy", "rocpd_memory_allocate"):
            assert (
                self.value(
                    f'SELECT count(*) FROM {table} WHERE start > "end" OR typeof(start) <> \'integer\' OR start <= 0'
                )
                == 0
            ), table
        for table, parent in (("rocpd_region", "rocpd_info_thread"), ("rocpd_info_thread", "rocpd_info_process")):
            key = "tid" if parent.endswith("thread") else "pid"
            assert (
                self.value(
                    f"SELECT count(*) FROM {table} r JOIN {parent} p ON p.id = r.{key} AND p.guid = r.guid WHERE "
                    f"r.start < p.start"
                )
                == 0
            ), table
