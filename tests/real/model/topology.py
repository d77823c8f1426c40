#!/usr/bin/env python3
"""Writes a KFD topology folder (the layout of /sys/class/kfd/kfd/topology) for a host with simulated graphics cards.

Every card is a Radeon RX 7900 XTX: gfx1100, 96 compute units, 24 GiB. Where the simulation needs a value other than a
real card's, the comment beside it says so. The folder is what HSA_MODEL_TOPOLOGY names.
"""
import argparse
from pathlib import Path

CPU = {
    "cpu_cores_count": 16, "simd_count": 0, "mem_banks_count": 1, "caches_count": 0, "io_links_count": 0,
    "p2p_links_count": 0, "cpu_core_id_base": 0, "simd_id_base": 0, "max_waves_per_simd": 0, "lds_size_in_kb": 0,
    "gds_size_in_kb": 0, "num_gws": 0, "wave_front_size": 0, "array_count": 0, "simd_arrays_per_engine": 0,
    "cu_per_simd_array": 0, "simd_per_cu": 0, "max_slots_scratch_cu": 0, "gfx_target_version": 0, "vendor_id": 0,
    "device_id": 0, "location_id": 0, "domain": 0, "drm_render_minor": 0, "hive_id": 0, "num_sdma_engines": 0,
    "num_sdma_xgmi_engines": 0, "num_sdma_queues_per_engine": 0, "num_cp_queues": 0, "max_engine_clk_ccompute": 5083,
}

GPU = {
    "cpu_cores_count": 0,
    "simd_count": 192,  # / simd_per_cu = 96 compute units
    "mem_banks_count": 1,
    "caches_count": 3,
    "io_links_count": 1,
    "p2p_links_count": 0,
    "cpu_core_id_base": 0,
    "simd_id_base": 2147487744,
    "max_waves_per_simd": 16,
    "lds_size_in_kb": 64,
    "gds_size_in_kb": 0,
    "num_gws": 0,  # a real card has 64; the runtime's model has no such call
    "wave_front_size": 32,
    "array_count": 12,
    "simd_arrays_per_engine": 2,
    "cu_per_simd_array": 8,
    "simd_per_cu": 2,
    "max_slots_scratch_cu": 32,
    "gfx_target_version": 110000,
    "vendor_id": 4098,
    "device_id": 29772,
    "location_id": 768,  # PCI bus 3; the following cards take the next buses
    "domain": 0,
    "drm_render_minor": 128,
    "hive_id": 0,
    "num_sdma_engines": 0,  # a real card has 2; without them the runtime copies by kernels, which the model swallows
    "num_sdma_xgmi_engines": 0,
    "num_sdma_queues_per_engine": 6,
    "num_cp_queues": 8,
    "max_engine_clk_fcompute": 2482,
    "local_mem_size": 0,
    "fw_version": 2150,
    "capability": 0x08072280,  # a real card has more bits: the debugger's runtime call is not modelled
    "debug_prop": 1495,
    "sdma_fw_version": 21,
    "unique_id": 11420932837461522459,
    "num_xcc": 1,
    "family_id": 145,  # the real driver tells this elsewhere
    "max_engine_clk_ccompute": 5083,
}

# level, KiB, line size in bytes
CACHES = [(1, 32, 128), (2, 6144, 128), (3, 98304, 64)]


def write(path, properties):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = properties if isinstance(properties, str) else "".join(f"{k} {v}\n" for k, v in properties.items())
    path.write_text(text)


def link(source, target):
    return {"type": 2, "version_major": 0, "version_minor": 0, "node_from": source, "node_to": target, "weight": 20,
            "min_latency": 0, "max_latency": 0, "min_bandwidth": 312, "max_bandwidth": 31504,
            "recommended_transfer_size": 0, "recommended_sdma_engine_id_mask": 0, "flags": 1}


def bank(heap, size, width, clock):
    return {"heap_type": heap, "size_in_bytes": size, "flags": 0, "width": width, "mem_clk_max": clock}


def write_cpu(node, gpus):
    write(node / "gpu_id", "0\n")
    write(node / "name", "simulated host\n")
    write(node / "properties", {**CPU, "io_links_count": gpus})
    write(node / "mem_banks/0/properties", bank(0, 32 << 30, 64, 3200))
    for i in range(gpus):
        write(node / f"io_links/{i}/properties", link(0, i + 1))


def write_gpu(node, number, first):
    card = first + number - 1
    write(node / "gpu_id", f"{number + 1}\n")  # the runtime's model insists on node number + 1
    write(node / "name", "navi31\n")
    write(node / "properties", {**GPU, "location_id": GPU["location_id"] + (card << 8),
                                "drm_render_minor": GPU["drm_render_minor"] + card,
                                "unique_id": GPU["unique_id"] + card})
    write(node / "mem_banks/0/properties", bank(1, 24 << 30, 384, 1249))
    write(node / "io_links/0/properties", link(number, 0))
    for i, (level, size, line) in enumerate(CACHES):
        write(node / f"caches/{i}/properties",
              {"processor_id_low": GPU["simd_id_base"], "level": level, "size": size, "cache_line_size": line,
               "cache_lines_per_tag": 1, "association": 16, "latency": 1, "type": 9, "sibling_map": 1})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the first card's number, which tells its PCI bus")
    options = parser.parse_args()
    write(options.folder / "generation_id", "1\n")
    write(options.folder / "system_properties", {"platform_oem": 0, "platform_id": 0, "platform_rev": 0})
    write_cpu(options.folder / "nodes/0", options.gpus)
    for number in range(1, options.gpus + 1):
        write_gpu(options.folder / f"nodes/{number}", number, options.first)


if __name__ == "__main__":
    main()
