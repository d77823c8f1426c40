-- Products and collective operations of libraries above HIP, with launches inside and their times on the GPU.
INSERT INTO function_ (id, session, name, api, grp, kind, library, arg_names, result_type, success) VALUES
 (50, 1, 'rocblas_sgemm', 'rocblas', 'blas', 'other', '/opt/rocm/lib/librocblas.so.4', '', 'rocblas_status', 0),
 (51, 1, 'hipblasSgemm', 'hipblas', 'blas', 'other', '/opt/rocm/lib/libhipblas.so.2', '', 'hipblasStatus_t', 0),
 (52, 1, 'rocblas_gemm_strided_batched_ex', 'rocblas', 'blas', 'other', '/opt/rocm/lib/librocblas.so.4',
  '', 'rocblas_status', 0),
 (53, 1, 'hipblasLtMatrixLayoutCreate', 'hipblaslt', 'blas', 'other', '/opt/rocm/lib/libhipblaslt.so.0',
  '', 'hipblasStatus_t', 0),
 (54, 1, 'hipblasLtMatrixLayoutSetAttribute', 'hipblaslt', 'blas', 'other',
  '/opt/rocm/lib/libhipblaslt.so.0', '', 'hipblasStatus_t', 0),
 (55, 1, 'hipblasLtMatmul', 'hipblaslt', 'blas', 'other', '/opt/rocm/lib/libhipblaslt.so.0', '', 'hipblasStatus_t', 0),
 (56, 1, 'ncclCommInitAll', 'rccl', 'comm', 'other', '/opt/rocm/lib/librccl.so.1', '', 'ncclResult_t', 0),
 (57, 1, 'ncclReduceScatter', 'rccl', 'comm', 'other', '/opt/rocm/lib/librccl.so.1', '', 'ncclResult_t', 0),
 (59, 1, 'ncclBcast', 'rccl', 'comm', 'other', '/opt/rocm/lib/librccl.so.1', '', 'ncclResult_t', 0),
 (60, 1, 'ncclBroadcast', 'rccl', 'comm', 'other', '/opt/rocm/lib/librccl.so.1', '', 'ncclResult_t', 0),
 (61, 1, 'ncclCommDestroy', 'rccl', 'comm', 'other', '/opt/rocm/lib/librccl.so.1', '', 'ncclResult_t', 0),
 (62, 1, 'ncclCommSplit', 'rccl', 'comm', 'other', '/opt/rocm/lib/librccl.so.1', '', 'ncclResult_t', 0),
 (63, 1, 'ncclCommCount', 'rccl', 'comm', 'other', '/opt/rocm/lib/librccl.so.1', '', 'ncclResult_t', 0),
 (64, 1, 'cublasCgemm3mEx', 'cublas', 'blas', 'other', '/opt/zluda/libcublas.so.12', '', 'cublasStatus_t', 0),
 (58, 1, 'cublasZgemm_v2', 'cublas', 'blas', 'other', '/opt/zluda/libcublas.so.12', '', 'cublasStatus_t', 0);
INSERT INTO call_ (id, ts, dur, thread, fn, caller, up, result, launch) VALUES
 (50, 5000000000, 90000, 1, 50, 1, NULL, NULL, NULL), (51, 5000010000, 12000, 1, 4, 3, 1, NULL, 1),
 (52, 5100000000, 80000, 1, 51, 1, NULL, NULL, NULL), (53, 5100010000, 60000, 1, 50, 1, 1, NULL, NULL),
 (54, 5100020000, 12000, 1, 4, 3, 1, NULL, 1),
 (55, 5200000000, 70000, 1, 52, 1, NULL, NULL, NULL), (56, 5200010000, 12000, 1, 4, 3, 1, NULL, 1),
 (57, 5300000000, 1000, 1, 53, 1, NULL, NULL, NULL), (58, 5300010000, 1000, 1, 53, 1, NULL, NULL, NULL),
 (59, 5300020000, 1000, 1, 53, 1, NULL, NULL, NULL),
 (60, 5300030000, 1000, 1, 54, 1, NULL, NULL, NULL), (61, 5300040000, 50000, 1, 55, 1, NULL, NULL, NULL),
 (62, 5400000000, 5000, 1, 56, 1, NULL, NULL, NULL), (63, 5400010000, 40000, 1, 57, 1, NULL, NULL, NULL),
 (64, 5400020000, 12000, 1, 4, 3, 1, NULL, 1),
 (65, 5500000000, 30000, 1, 58, 1, NULL, NULL, NULL), (66, 5600000000, 30000, 1, 50, 1, NULL, 11, NULL),
 -- A broadcast inside another one. A communicator ends, one is split off, and one tells its ranks.
 (67, 5700000000, 9000, 1, 59, 1, NULL, NULL, NULL), (68, 5700001000, 7000, 1, 60, 1, 1, NULL, NULL),
 (69, 5700020000, 2000, 1, 61, 1, NULL, NULL, NULL), (70, 5700030000, 2000, 1, 62, 1, NULL, NULL, NULL),
 (71, 5700040000, 40000, 1, 57, 1, NULL, NULL, NULL), (72, 5700090000, 40000, 1, 57, 1, NULL, NULL, NULL),
 (73, 5700140000, 500, 1, 63, 1, NULL, NULL, NULL), (74, 5700150000, 8000, 1, 60, 1, NULL, NULL, NULL),
 -- More than 65535 products in one call.
 (75, 5800000000, 1000, 1, 54, 1, NULL, NULL, NULL), (76, 5800040000, 20000, 1, 55, 1, NULL, NULL, NULL),
 (77, 5900000000, 30000, 1, 64, 1, NULL, NULL, NULL);
INSERT INTO result_name_ VALUES (50, 11, 'rocblas_status_invalid_value', 1);
INSERT INTO arg_ VALUES
 (50, '{"transA":"rocblas_operation_none","transB":"rocblas_operation_transpose","m":1024,"n":1024,"k":1024,'
      || '"lda":1024,"ldb":1024,"ldc":1024}'),
 (52, '{"transA":"HIPBLAS_OP_N","transB":"HIPBLAS_OP_C","m":512,"n":512,"k":256,"lda":512,"ldb":512,"ldc":512}'),
 (53, '{"transA":"rocblas_operation_none","transB":"rocblas_operation_conjugate_transpose","m":512,"n":512,"k":256,'
      || '"lda":512,"ldb":512,"ldc":512}'),
 (55, '{"transA":"rocblas_operation_none","transB":"rocblas_operation_none","m":128,"n":64,"k":32,'
      || '"a_type":"rocblas_datatype_f16_r","lda":128,"b_type":"rocblas_datatype_f16_r","ldb":32,'
      || '"d_type":"rocblas_datatype_f32_r","ldd":128,"batch_count":16,"compute_type":"rocblas_datatype_f32_r"}'),
 (57, '{"matLayout":"0xa0","type":"HIP_R_16BF","rows":64,"cols":32,"ld":64}'),
 (58, '{"matLayout":"0xb0","type":"HIP_R_16BF","rows":64,"cols":16,"ld":64}'),
 (59, '{"matLayout":"0xd0","type":"HIP_R_16BF","rows":32,"cols":16,"ld":32}'),
 (60, '{"matLayout":"0xd0","attr":"HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT","buf":"2c010000","sizeInBytes":4}'),
 (61, '{"Adesc":"0xa0","Bdesc":"0xb0","Cdesc":"0xd0","Ddesc":"0xd0"}'),
 (62, '{"comm":["0x10","0x20","0x30","0x40"],"ndev":4,"devlist":[0,1,2,3]}'),
 (63, '{"recvcount":1048576,"datatype":"ncclBfloat16","op":"ncclSum","comm":"0x30"}'),
 (65, '{"transa":"CUBLAS_OP_T","transb":"CUBLAS_OP_N","m":8,"n":8,"k":8,"lda":8,"ldb":8,"ldc":8}'),
 (67, '{"count":100,"datatype":"ncclFloat8e4m3","comm":"0x20"}'),
 (68, '{"count":100,"datatype":"ncclFloat8e4m3","comm":"0x20"}'),
 (69, '{"comm":"0x30"}'), (70, '{"comm":"0x20","newcomm":"0x10"}'),
 (71, '{"recvcount":512,"datatype":"ncclBfloat16","op":"ncclSum","comm":"0x30"}'),
 (72, '{"recvcount":512,"datatype":"ncclBfloat16","op":"ncclSum","comm":"0x10"}'),
 (73, '{"comm":"0x10","count":2}'), (74, '{"count":200,"datatype":"ncclFloat32","comm":"0x10"}'),
 (75, '{"matLayout":"0xd0","attr":"HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT","buf":"01000100","sizeInBytes":4}'),
 (76, '{"Adesc":"0xa0","Bdesc":"0xb0","Cdesc":"0xd0","Ddesc":"0xd0"}'),
 (77, '{"transa":"CUBLAS_OP_T","transb":"CUBLAS_OP_N","m":8,"n":8,"k":8,"Atype":"CUDA_C_32F","lda":8,'
      || '"Btype":"CUDA_C_32F","ldb":8,"Ctype":"CUDA_C_32F","ldc":8}'),
 (66, '{"transA":"rocblas_operation_none",'
     || '"transB":"rocblas_operation_none","m":-1,"n":1,"k":1,"lda":1,"ldb":1,"ldc":1}');
INSERT INTO call_stat_ (thread, fn, parent_fn, n, errors, total, self, min, max, hist, cost) VALUES
 (1, 50, 0, 2, 1, 120000, 108000, 30000, 90000, x'1201', 0), (1, 50, 51, 1, 0, 60000, 48000, 60000, 60000, x'1201', 0),
 (1, 51, 0, 1, 0, 80000, 20000, 80000, 80000, x'1201', 0),
 (1, 52, 0, 1, 0, 70000, 58000, 70000, 70000, x'1201', 0), (1, 53, 0, 3, 0, 3000, 3000, 1000, 1000, x'0903', 0),
 (1, 54, 0, 2, 0, 2000, 2000, 1000, 1000, x'0902', 0),
 (1, 55, 0, 2, 0, 50000, 60000, 20000, 50000, x'1101', 20000), (1, 56, 0, 1, 0, 5000, 5000, 5000, 5000, x'0a01', 0),
 (1, 57, 0, 3, 0, 96000, 84000, 32000, 32000, x'1003', 24000),
 (1, 58, 0, 1, 0, 30000, 30000, 30000, 30000, x'0f01', 0),
 (1, 59, 0, 1, 0, 9000, 2000, 9000, 9000, x'0d01', 0), (1, 60, 59, 1, 0, 7000, 7000, 7000, 7000, x'0c01', 0),
 (1, 60, 0, 1, 0, 8000, 8000, 8000, 8000, x'0c01', 0),
 (1, 61, 0, 1, 0, 2000, 2000, 2000, 2000, x'0a01', 0), (1, 62, 0, 1, 0, 2000, 2000, 2000, 2000, x'0a01', 0),
 (1, 63, 0, 1, 0, 500, 500, 500, 500, x'0501', 0),
 (1, 64, 0, 1, 0, 30000, 30000, 30000, 30000, x'0f01', 0);
INSERT INTO gpu_work_ VALUES (50, 1, 0, NULL, 1, 1, 1, 51, 1, 5000050000, 100000, NULL),
    (51, 1, 0, NULL, 1, 1, 1, 54, 1, 5100050000, 20000, NULL),
 (52, 1, 0, NULL, 1, 1, 1, 56, 1, 5200050000, 4000, NULL), (53, 1, 0, NULL, 1, 1, 1, 64, 1, 5400050000, 200000, NULL);
