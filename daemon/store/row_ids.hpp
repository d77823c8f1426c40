// The ids of rows in a recording. Each table has a type of its own, because all of them count alike: the row of a
// process is no row of a thread. 0: no row.
#pragma once
#include <cstdint>

#include "base/id.hpp"

namespace fade::store {

template <class Tag>
using RowId = Id<Tag, std::int64_t>;

// Rows for the ids of a session: the id, plus the number of rows of earlier sessions of the file.
using SessionRow = RowId<struct SessionRowTag>;        // session_
using ProcessRow = RowId<struct ProcessRowTag>;        // process_
using ThreadRow = RowId<struct ThreadRowTag>;          // thread_
using ModuleRow = RowId<struct ModuleRowTag>;          // module_
using FunctionRow = RowId<struct FunctionRowTag>;      // function_
using SiteRow = RowId<struct SiteRowTag>;              // call_site_
using CallRow = RowId<struct CallRowTag>;              // call_
using FrameRow = RowId<struct FrameRowTag>;            // frame_
using StackRow = RowId<struct StackRowTag>;            // stack_
using RuleRow = RowId<struct RuleRowTag>;              // override_
using PostmortemRow = RowId<struct PostmortemRowTag>;  // postmortem_

// Rows that the storing side counts itself.
using DeviceRow = RowId<struct DeviceRowTag>;              // device_
using DevicePropRow = RowId<struct DevicePropRowTag>;      // device_prop_
using StreamRow = RowId<struct StreamRowTag>;              // stream_
using KernelRow = RowId<struct KernelRowTag>;              // kernel_
using GeometryRow = RowId<struct GeometryRowTag>;          // geometry_
using LaunchRow = RowId<struct LaunchRowTag>;              // launch_
using GraphRow = RowId<struct GraphRowTag>;                // graph_
using AllocRow = RowId<struct AllocRowTag>;                // alloc_
using OomRow = RowId<struct OomRowTag>;                    // oom_
using MemoryFaultRow = RowId<struct MemoryFaultRowTag>;    // memory_fault_
using ErrorRow = RowId<struct ErrorRowTag>;                // error_
using OverrideHitRow = RowId<struct OverrideHitRowTag>;    // override_hit_
using CachedCopyRow = RowId<struct CachedCopyRowTag>;      // cached_copy_
using InjectionRow = RowId<struct InjectionRowTag>;        // injection_
using InjectionHitRow = RowId<struct InjectionHitRowTag>;  // injection_hit_
using NumberRow = RowId<struct NumberRowTag>;              // number_
using RangeRow = RowId<struct RangeRowTag>;                // range_
using RangeNameRow = RowId<struct RangeNameRowTag>;        // range_name_
using StepRow = RowId<struct StepRowTag>;                  // step_
using DropRow = RowId<struct DropRowTag>;                  // drop_

}  // namespace fade::store
