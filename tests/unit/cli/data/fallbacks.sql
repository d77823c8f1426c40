-- hipBLASLt has no algorithm, and another library computes: the same sizes, other sizes, in another thread.
INSERT INTO function_ (id, session, name, api, grp, kind, library, arg_names, result_type, success) VALUES
 (50, 1, 'hipblasLtMatrixLayoutCreate', 'hipblaslt', 'blas', 'other', '/opt/rocm/lib/libhipblaslt.so.1',
  '', 'hipblasStatus_t', 0),
 (51, 1, 'hipblasLtMatmulAlgoGetHeuristic', 'hipblaslt', 'blas', 'other',
  '/opt/rocm/lib/libhipblaslt.so.1', '', 'hipblasStatus_t', 0),
 (52, 1, 'hipblasLtMatmul', 'hipblaslt', 'blas', 'other', '/opt/rocm/lib/libhipblaslt.so.1', '', 'hipblasStatus_t', 0),
 (53, 1, 'hipblasGemmEx', 'hipblas', 'blas', 'other', '/opt/rocm/lib/libhipblas.so.3', '', 'hipblasStatus_t', 0),
 (54, 1, 'rocblas_gemm_ex', 'rocblas', 'blas', 'other', '/opt/rocm/lib/librocblas.so.5', '', 'rocblas_status', 0);
INSERT INTO call_ (id, ts, dur, thread, fn, caller, up, result, launch) VALUES
 (50, 5000000000, 1000, 1, 50, 1, NULL, NULL, NULL), (51, 5000010000, 1000, 1, 50, 1, NULL, NULL, NULL),
 (52, 5000020000, 1000, 1, 50, 1, NULL, NULL, NULL),
 -- none, twice; the same sizes follow by hipBLAS, which calls rocBLAS
 (53, 5000100000, 9000, 1, 51, 1, NULL, NULL, NULL), (54, 5000200000, 30000, 1, 53, 1, NULL, NULL, NULL),
 (55, 5000210000, 20000, 1, 54, 1, 1, NULL, NULL),
 (56, 5000300000, 9000, 1, 51, 1, NULL, NULL, NULL), (57, 5000400000, 30000, 1, 53, 1, NULL, NULL, NULL),
 (58, 5000410000, 20000, 1, 54, 1, 1, NULL, NULL),
 -- one algorithm, which fails; rocBLAS follows
 (59, 5001000000, 9000, 1, 51, 1, NULL, NULL, NULL), (60, 5001100000, 9000, 1, 52, 1, NULL, 7, NULL),
 (61, 5001200000, 20000, 1, 54, 1, NULL, NULL, NULL),
 -- none; other sizes follow
 (62, 5002000000, 9000, 1, 51, 1, NULL, NULL, NULL), (63, 5002100000, 20000, 1, 54, 1, NULL, NULL, NULL),
 -- none; another thread computes the same sizes. One algorithm that runs, and another one inside of rocBLAS, are none
-- either.
 (64, 5003000000, 9000, 1, 51, 1, NULL, NULL, NULL), (65, 5003100000, 20000, 2, 54, 1, NULL, NULL, NULL),
 (66, 5003200000, 20000, 1, 52, 1, NULL, NULL, NULL),
 (67, 5003300000, 40000, 1, 54, 1, NULL, NULL, NULL), (68, 5003310000, 9000, 1, 51, 1, 1, NULL, NULL);
INSERT INTO result_name_ VALUES (52, 7, 'HIPBLAS_STATUS_NOT_SUPPORTED', 1);
INSERT INTO arg_ SELECT id, CASE
  WHEN id = 50 THEN '{"matLayout":"0xa0","type":"HIP_R_8F_E4M3","rows":128,"cols":32,"ld":128}'
  WHEN id = 51 THEN '{"matLayout":"0xb0","type":"HIP_R_8F_E4M3","rows":32,"cols":64,"ld":32}'
  WHEN id = 52 THEN '{"matLayout":"0xd0","type":"HIP_R_16F","rows":128,"cols":64,"ld":128}'
  WHEN fn = 51 THEN '{"Adesc":"0xa0","Bdesc":"0xb0","Cdesc":"0xd0","Ddesc":"0xd0","requestedAlgoCount":1,'
                    || '"returnAlgoCount":' || (id = 59) || '}'
  WHEN fn = 52 THEN '{"Adesc":"0xa0","Bdesc":"0xb0","Cdesc":"0xd0","Ddesc":"0xd0"}'
  WHEN fn = 53 THEN '{"transA":"HIPBLAS_OP_N","transB":"HIPBLAS_OP_N","m":128,"n":64,"k":32,"aType":"HIP_R_16F",'
                    || '"lda":128,"bType":"HIP_R_16F","ldb":32,"cType":"HIP_R_16F","ldc":128}'
  ELSE '{"transA":"rocblas_operation_none","transB":"rocblas_operation_none","m":128,"n":' || iif(id = 63, 65, 64)
    || ',"k":32,"a_type":"rocblas_datatype_f16_r","lda":128,"b_type":"rocblas_datatype_f16_r","ldb":32,'
    || '"d_type":"rocblas_datatype_f16_r","ldd":128}' END
FROM call_ WHERE id BETWEEN 50 AND 68;
-- MIOpen: a find with less workspace than named; no solution, and a solution that fails, before the same convolution; a
-- find without a result before one of other sizes.
INSERT INTO function_ (id, session, name, api, grp, kind, library, arg_names, result_type, success) VALUES
 (60, 1, 'miopenSet4dTensorDescriptor', 'miopen', 'dnn', 'other', '/opt/rocm/lib/libMIOpen.so.1',
  '', 'miopenStatus_t', 0),
 (61, 1, 'miopenConvolutionForwardGetWorkSpaceSize', 'miopen', 'dnn', 'other',
  '/opt/rocm/lib/libMIOpen.so.1', '', 'miopenStatus_t', 0),
 (62, 1, 'miopenFindConvolutionForwardAlgorithm', 'miopen', 'dnn', 'other',
  '/opt/rocm/lib/libMIOpen.so.1', '', 'miopenStatus_t', 0),
 (63, 1, 'miopenConvolutionForward', 'miopen', 'dnn', 'other', '/opt/rocm/lib/libMIOpen.so.1', '', 'miopenStatus_t', 0),
 (64, 1, 'miopenConvolutionForwardGetSolutionCount', 'miopen', 'dnn', 'other',
  '/opt/rocm/lib/libMIOpen.so.1', '', 'miopenStatus_t', 0),
 (65, 1, 'miopenConvolutionForwardImmediate', 'miopen', 'dnn', 'other', '/opt/rocm/lib/libMIOpen.so.1',
  '', 'miopenStatus_t', 0);
INSERT INTO call_ (id, ts, dur, thread, fn, caller, up, result, launch) VALUES
 (80, 5010000000, 100, 1, 60, 1, NULL, NULL, NULL), (81, 5010001000, 100, 1, 60, 1, NULL, NULL, NULL),
 (82, 5010002000, 100, 1, 60, 1, NULL, NULL, NULL),
 (83, 5010003000, 100, 1, 61, 1, NULL, NULL, NULL), (84, 5010004000, 900, 1, 62, 1, NULL, NULL, NULL),
 (85, 5010005000, 900, 1, 63, 1, NULL, NULL, NULL),
 (86, 5010006000, 100, 1, 64, 1, NULL, NULL, NULL), (87, 5010007000, 100, 1, 65, 1, NULL, 3, NULL),
 (88, 5010008000, 900, 1, 65, 1, NULL, NULL, NULL),
 -- enough workspace, and a question with an answer: no fallbacks
 (89, 5010009000, 100, 1, 61, 1, NULL, NULL, NULL), (90, 5010010000, 900, 1, 62, 1, NULL, NULL, NULL),
 (91, 5010011000, 100, 1, 64, 1, NULL, NULL, NULL),
 -- no algorithm; then the input's descriptor has other sizes
 (92, 5010012000, 900, 1, 62, 1, NULL, NULL, NULL), (93, 5010013000, 100, 1, 60, 1, NULL, NULL, NULL),
 (94, 5010014000, 900, 1, 63, 1, NULL, NULL, NULL);
INSERT INTO result_name_ VALUES (65, 3, 'miopenStatusBadParm', 1);
INSERT INTO arg_ SELECT id, CASE
  WHEN id IN (80, 93) THEN '{"tensorDesc":"0x1a","dataType":"miopenFloat","n":32,"c":' ||
                        iif(id = 80, 64, 32) || ',"h":28,"w":28}'
  WHEN id = 81 THEN '{"tensorDesc":"0x1b","dataType":"miopenFloat","n":128,"c":64,"h":3,"w":3}'
  WHEN id = 82 THEN '{"tensorDesc":"0x1c","dataType":"miopenFloat","n":32,"c":128,"h":28,"w":28}'
  ELSE '{"xDesc":"0x1a","wDesc":"0x1b","yDesc":"0x1c"' || CASE fn WHEN 61 THEN ',"workSpaceSize":4096'
    WHEN 62 THEN ',"returnedAlgoCount":' || (id <> 92) || ',"workSpaceSize":' || iif(id = 84, 0, 4096)
    WHEN 63 THEN ',"algo":"miopenConvolutionFwdAlgoDirect","workSpaceSize":0'
                            WHEN 64 THEN ',"solutionCount":' || iif(id = 91, 2, 0)
    ELSE ',"workSpaceSize":0,"solution_id":' || iif(id = 87, 7, 85) END || '}' END
FROM call_ WHERE id BETWEEN 80 AND 94;
