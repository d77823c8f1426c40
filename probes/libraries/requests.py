#!/usr/bin/python3
"""Makes driver.probes: the names of requests to the GPU's drivers, from the headers of the kernel and of libdrm.

usage: requests.py [--kfd FILE] [--drm FOLDER]

FILE is linux/kfd_ioctl.h (package linux-libc-dev), FOLDER has drm.h and amdgpu_drm.h (package libdrm-dev). The number
of a request is that of its type and function: the size of its structure, which grows from release to release, is left
out.
"""
import argparse
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
KFD_TYPE, DRM_TYPE, AMDGPU_BASE = 0x4B, 0x64, 0x40
HEAD = """# Made by requests.py from linux/kfd_ioctl.h, drm.h and amdgpu_drm.h. Do not edit: change requests.py.
#
# What a program does with the device nodes of GPUs through the functions of libc. Other files and requests are not
# recorded.

api driver
group driver
library "libc.so*"

flags open_flags { O_WRONLY = 0x1 O_RDWR = 0x2 O_NONBLOCK = 0x800 O_CLOEXEC = 0x80000 }
"""
NODES = '@only("/dev/kfd*", "/dev/dri/*")'
FUNCTIONS = f"""
int open(const char *path {NODES}, int flags @flags(open_flags))
int open64(const char *path {NODES}, int flags @flags(open_flags))
int openat(int folder, const char *path {NODES}, int flags @flags(open_flags))
int openat64(int folder, const char *path {NODES}, int flags @flags(open_flags))
int ioctl(int fd, gpu_request request @only("AMDKFD_*", "DRM_*"), void *argument)
"""


def kfd_requests(text):
    for name, number in re.findall(r"#define\s+(AMDKFD_IOC_\w+)\s*\\?\s*AMDKFD_IO\w*\(\s*(0x\w+)", text):
        yield name, KFD_TYPE << 8 | int(number, 16)


def drm_requests(drm, amdgpu):
    for name, number in re.findall(r"#define\s+(DRM_IOCTL_\w+)\s+DRM_IO\w*\(\s*(0x\w+)", drm):
        if int(number, 16) < AMDGPU_BASE or int(number, 16) >= 0xA0:
            yield name, DRM_TYPE << 8 | int(number, 16)
    for name, number in re.findall(r"#define\s+DRM_(AMDGPU_\w+)\s+(0x\w+)", amdgpu):
        yield f"DRM_IOCTL_{name}", DRM_TYPE << 8 | AMDGPU_BASE + int(number, 16)


def lines_of(requests):
    """The first name of a number, at most 150 characters a line."""
    line, seen = " ", set()
    for name, number in requests:
        if number in seen:
            continue
        seen.add(number)
        word = f" {name} = {number:#06x}"
        if len(line) + len(word) > 150:
            yield line
            line = " "
        line += word
    yield line


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kfd", type=pathlib.Path, default=pathlib.Path("/usr/include/linux/kfd_ioctl.h"))
    parser.add_argument("--drm", type=pathlib.Path, default=pathlib.Path("/usr/include/libdrm"))
    options = parser.parse_args()
    requests = [*kfd_requests(options.kfd.read_text())]
    requests += drm_requests((options.drm / "drm.h").read_text(), (options.drm / "amdgpu_drm.h").read_text())
    text = HEAD + "enum gpu_request 2 {\n" + "\n".join(lines_of(requests)) + "\n}\n" + FUNCTIONS
    (HERE / "driver.probes").write_text(text)


if __name__ == "__main__":
    main()
