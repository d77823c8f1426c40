#!/bin/sh
# compile_with.sh COMPILER OTHER [OPTIONS...]: runs COMPILER in place of OTHER (FADE_TEST_COMPILER).
compiler=$1
shift 2
exec "$compiler" "$@"
