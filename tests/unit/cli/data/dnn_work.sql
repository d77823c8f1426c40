-- Convolutions and Fourier transforms of libraries above HIP, with launches inside and their times on the GPU.
INSERT INTO function_ (id, session, name, api, grp, kind, library, arg_names, result_type, success)
SELECT id, 1, name, api, grp, 'other', '/opt/rocm/lib/lib' || api || '.so.1', '', api || 'Status_t', 0 FROM (
  SELECT column1 AS id, column2 AS name, column3 AS api, column4 AS grp FROM (VALUES
   (50, 'miopenSet4dTensorDescriptor', 'miopen', 'dnn'), (51, 'miopenSetTensorDescriptor', 'miopen', 'dnn'),
   (52, 'miopenInitConvolutionDescriptor', 'miopen', 'dnn'), (53, 'miopenSetConvolutionGroupCount', 'miopen', 'dnn'),
   (54, 'miopenConvolutionForward', 'miopen', 'dnn'), (55, 'miopenConvolutionForwardImmediate', 'miopen', 'dnn'),
   (56, 'miopenConvolutionBackwardData', 'miopen', 'dnn'), (57, 'miopenConvolutionBackwardWeights', 'miopen', 'dnn'),
   (58, 'miopenInitConvolutionNdDescriptor', 'miopen', 'dnn'), (59, 'miopenCreateOpConvForward', 'miopen', 'dnn'),
   (60, 'miopenExecuteFusionPlan', 'miopen', 'dnn'), (61, 'miopenDestroyTensorDescriptor', 'miopen', 'dnn'),
   (62, 'cudnnSetTensor4dDescriptor', 'cudnn', 'dnn'), (63, 'cudnnSetFilterNdDescriptor', 'cudnn', 'dnn'),
   (64, 'cudnnSetConvolution2dDescriptor', 'cudnn', 'dnn'), (65, 'cudnnConvolutionBackwardFilter', 'cudnn', 'dnn'),
   (66, 'miopenSetNdTensorDescriptorWithLayout', 'miopen', 'dnn'), (67, 'miopenCreateFusionPlan', 'miopen', 'dnn'),
   (70, 'hipfftPlan2d', 'hipfft', 'fft'), (71, 'hipfftExecR2C', 'hipfft', 'fft'),
   (72, 'rocfft_plan_create', 'rocfft', 'fft'),
   (73, 'rocfft_execute', 'rocfft', 'fft'), (74, 'cufftMakePlanMany', 'cufft', 'fft'),
   (75, 'cufftExecZ2Z', 'cufft', 'fft'),
   (76, 'hipfftXtMakePlanMany', 'hipfft', 'fft'), (77, 'hipfftXtExec', 'hipfft', 'fft'),
   (78, 'hipfftDestroy', 'hipfft', 'fft')));
INSERT INTO call_ (id, ts, dur, thread, fn, caller, up, result, launch) VALUES
 -- f32, NCHW, padded, two groups; forward twice, once by a solution, and both ways back
 (50, 5000000000, 1000, 1, 50, 1, NULL, NULL, NULL), (51, 5000010000, 1000, 1, 50, 1, NULL, NULL, NULL),
 (52, 5000020000, 1000, 1, 50, 1, NULL, NULL, NULL),
 (53, 5000030000, 1000, 1, 53, 1, NULL, NULL, NULL), (54, 5000040000, 1000, 1, 52, 1, NULL, NULL, NULL),
 (55, 5000050000, 1000, 1, 53, 1, NULL, NULL, NULL),
 (56, 5000100000, 90000, 1, 54, 1, NULL, NULL, NULL), (57, 5000110000, 12000, 1, 4, 3, 1, NULL, 1),
 (58, 5000200000, 80000, 1, 54, 1, NULL, NULL, NULL),
 (59, 5000300000, 70000, 1, 55, 1, NULL, NULL, NULL), (60, 5000310000, 12000, 1, 4, 3, 1, NULL, 1),
 (61, 5000400000, 60000, 1, 56, 1, NULL, NULL, NULL), (62, 5000500000, 50000, 1, 57, 1, NULL, NULL, NULL),
 -- bf16, NHWC in three dimensions; the group count of before does not hold any more
 (63, 5001000000, 1000, 1, 51, 1, NULL, NULL, NULL), (64, 5001010000, 1000, 1, 51, 1, NULL, NULL, NULL),
 (65, 5001020000, 1000, 1, 51, 1, NULL, NULL, NULL),
 (66, 5001030000, 1000, 1, 58, 1, NULL, NULL, NULL), (67, 5001100000, 40000, 1, 54, 1, NULL, NULL, NULL),
 -- transposed, inside a fusion plan; a plan without a convolution is none
 (68, 5002000000, 1000, 1, 67, 1, NULL, NULL, NULL), (69, 5002010000, 1000, 1, 66, 1, NULL, NULL, NULL),
 (70, 5002020000, 1000, 1, 50, 1, NULL, NULL, NULL),
 (71, 5002030000, 1000, 1, 50, 1, NULL, NULL, NULL), (72, 5002040000, 1000, 1, 52, 1, NULL, NULL, NULL),
 (73, 5002050000, 1000, 1, 59, 1, NULL, NULL, NULL),
 (74, 5002100000, 30000, 1, 60, 1, NULL, NULL, NULL), (75, 5002200000, 1000, 1, 67, 1, NULL, NULL, NULL),
 (76, 5002300000, 30000, 1, 60, 1, NULL, NULL, NULL),
 -- a descriptor that was destroyed; a call that failed
 (77, 5003000000, 1000, 1, 61, 1, NULL, NULL, NULL), (78, 5003100000, 20000, 1, 57, 1, NULL, NULL, NULL),
 (79, 5003200000, 20000, 1, 57, 1, NULL, 3, NULL),
 (80, 5004000000, 1000, 1, 62, 1, NULL, NULL, NULL), (81, 5004010000, 1000, 1, 63, 1, NULL, NULL, NULL),
 (82, 5004020000, 1000, 1, 62, 1, NULL, NULL, NULL),
 (83, 5004030000, 1000, 1, 64, 1, NULL, NULL, NULL), (84, 5004100000, 20000, 1, 65, 1, NULL, NULL, NULL),
 -- Fourier transforms. hipFFT calls rocFFT.
 (90, 5100000000, 90000, 1, 70, 1, NULL, NULL, NULL), (91, 5100010000, 80000, 1, 72, 1, 1, NULL, NULL),
 (92, 5100100000, 50000, 1, 71, 1, NULL, NULL, NULL),
 (93, 5100110000, 30000, 1, 73, 1, 1, NULL, NULL), (94, 5100120000, 12000, 1, 4, 3, 1, NULL, 1),
 (95, 5100200000, 50000, 1, 71, 1, NULL, NULL, NULL),
 (96, 5101000000, 80000, 1, 72, 1, NULL, NULL, NULL), (97, 5101100000, 30000, 1, 73, 1, NULL, NULL, NULL),
 (98, 5101110000, 12000, 1, 4, 3, 1, NULL, 1),
 (99, 5102000000, 1000, 1, 74, 1, NULL, NULL, NULL), (100, 5102100000, 30000, 1, 75, 1, NULL, NULL, NULL),
 (101, 5103000000, 1000, 1, 76, 1, NULL, NULL, NULL), (102, 5103100000, 30000, 1, 77, 1, NULL, NULL, NULL),
 (103, 5104000000, 1000, 1, 78, 1, NULL, NULL, NULL), (104, 5104100000, 30000, 1, 71, 1, NULL, NULL, NULL);
INSERT INTO result_name_ VALUES (57, 3, 'miopenStatusBadParm', 1);
INSERT INTO arg_ VALUES
 (50, '{"tensorDesc":"0x1","dataType":"miopenFloat","n":2,"c":8,"h":10,"w":10}'),
 (51, '{"tensorDesc":"0x2","dataType":"miopenFloat","n":4,"c":4,"h":3,"w":3}'),
 (52, '{"tensorDesc":"0x3","dataType":"miopenFloat","n":2,"c":4,"h":10,"w":10}'),
 (53, '{"convDesc":"0x4","groupCount":8}'),
 (54, '{"convDesc":"0x4","c_mode":"miopenConvolution","pad_h":1,"pad_w":1,"stride_h":1,"stride_w":1,"dilation_h":1,'
      || '"dilation_w":1}'), (55, '{"convDesc":"0x4","groupCount":2}'),
 (56, '{"xDesc":"0x1","wDesc":"0x2","convDesc":"0x4","algo":"miopenConvolutionFwdAlgoWinograd","yDesc":"0x3"}'),
 (58, '{"xDesc":"0x1","wDesc":"0x2","convDesc":"0x4","algo":"miopenConvolutionFwdAlgoWinograd","yDesc":"0x3"}'),
 (59, '{"xDesc":"0x1","wDesc":"0x2","convDesc":"0x4","yDesc":"0x3","solution_id":85}'),
 (61, '{"dyDesc":"0x3","wDesc":"0x2","convDesc":"0x4","algo":"miopenConvolutionBwdDataAlgoGEMM","dxDesc":"0x1"}'),
 (62, '{"dyDesc":"0x3","xDesc":"0x1","convDesc":"0x4","algo":"miopenConvolutionBwdWeightsAlgoDirect","dwDesc":"0x2"}'),
 (63, '{"tensorDesc":"0x1","dataType":"miopenBFloat16","nbDims":5,"dimsA":[1,4,6,7,8],"stridesA":[1344,1,224,32,4]}'),
 (64, '{"tensorDesc":"0x2","dataType":"miopenBFloat16","nbDims":5,"dimsA":[5,4,2,2,2],"stridesA":[32,1,16,8,4]}'),
 (65, '{"tensorDesc":"0x3","dataType":"miopenBFloat16","nbDims":5,"dimsA":[1,5,3,6,7],"stridesA":[630,1,210,35,5]}'),
 (66, '{"convDesc":"0x4","spatialDim":3,"padA":[0,0,0],"strideA":[2,1,1],"dilationA":[1,1,1],'
      || '"c_mode":"miopenConvolution"}'),
 (67, '{"xDesc":"0x1","wDesc":"0x2","convDesc":"0x4","algo":"miopenConvolutionFwdAlgoImplicitGEMM","yDesc":"0x3"}'),
 (68, '{"fusePlanDesc":"0x9","inputDesc":"0x1"}'),
 (69, '{"tensorDesc":"0x1","dataType":"miopenHalf","tensorLayout":"miopenTensorNHWC","lens":[1,3,5,5],"num_lens":4}'),
 (70, '{"tensorDesc":"0x2","dataType":"miopenHalf","n":3,"c":6,"h":2,"w":2}'),
 (71, '{"tensorDesc":"0x3","dataType":"miopenHalf","n":1,"c":6,"h":10,"w":10}'),
 (72, '{"convDesc":"0x4","c_mode":"miopenTranspose","pad_h":0,"pad_w":0,"stride_h":2,"stride_w":2,"dilation_h":1,'
      || '"dilation_w":1}'),
 (73, '{"fusePlanDesc":"0x9","convOp":"0xa","convDesc":"0x4","wDesc":"0x2"}'),
 (74, '{"fusePlanDesc":"0x9","inputDesc":"0x1","outputDesc":"0x3"}'),
 (75, '{"fusePlanDesc":"0x9","inputDesc":"0x1"}'), (76, '{"fusePlanDesc":"0x9","inputDesc":"0x1","outputDesc":"0x3"}'),
 (77, '{"tensorDesc":"0x3"}'),
 (78, '{"dyDesc":"0x3","xDesc":"0x1","convDesc":"0x4","algo":"miopenConvolutionBwdWeightsAlgoGEMM","dwDesc":"0x2"}'),
 (79, '{"dyDesc":"0x1","xDesc":"0x1","convDesc":"0x4","algo":"miopenConvolutionBwdWeightsAlgoGEMM","dwDesc":"0x2"}'),
 (80, '{"tensorDesc":"0x1","format":"CUDNN_TENSOR_NHWC","dataType":"CUDNN_DATA_HALF","n":1,"c":8,"h":6,"w":6}'),
 (81, '{"filterDesc":"0x5","dataType":"CUDNN_DATA_FLOAT","format":"CUDNN_TENSOR_NHWC","nbDims":4,"filterDimA":[16,8,'
      || '1,1]}'),
 (82, '{"tensorDesc":"0x3","format":"CUDNN_TENSOR_NHWC","dataType":"CUDNN_DATA_HALF","n":1,"c":16,"h":6,"w":6}'),
 (83, '{"convDesc":"0x6","pad_h":0,"pad_w":0,"u":1,"v":1,"dilation_h":1,"dilation_w":1,"mode":"CUDNN_CONVOLUTION",'
      || '"computeType":"CUDNN_DATA_FLOAT"}'),
 (84, '{"xDesc":"0x1","dyDesc":"0x3","convDesc":"0x6","algo":"CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1","dwDesc":"0x5"}'),
 (90, '{"plan":"0x10","nx":64,"ny":32,"type":"HIPFFT_R2C"}'),
 (91, '{"plan":"0x20","placement":"rocfft_placement_notinplace",'
      || '"transform_type":"rocfft_transform_type_real_forward","precision":"rocfft_precision_single","dimensions":2,'
      || '"lengths":[32,64],"number_of_transforms":1}'),
 (92, '{"plan":"0x10","idata":"0x100","odata":"0x200"}'), (93, '{"plan":"0x20"}'),
 (95, '{"plan":"0x10","idata":"0x100","odata":"0x200"}'),
 (96, '{"plan":"0x20","placement":"rocfft_placement_inplace",'
      || '"transform_type":"rocfft_transform_type_complex_inverse","precision":"rocfft_precision_double",'
      || '"dimensions":3,"lengths":[8,16,32],"number_of_transforms":5}'),
 (97, '{"plan":"0x20"}'), (99, '{"plan":3,"rank":1,"n":[1024],"type":105,"batch":4}'),
 (100, '{"plan":3,"idata":"0x100","odata":"0x200","direction":-1}'),
 (101, '{"plan":"0x10","rank":1,"n":[100],"inputType":"HIP_C_16F","outputType":"HIP_R_16F","batch":2,'
       || '"executionType":"HIP_C_16F"}'),
 (102, '{"plan":"0x10","input":"0x100","output":"0x200","direction":1}'),
 (103, '{"plan":"0x10"}'), (104, '{"plan":"0x10","idata":"0x100","odata":"0x200"}');
INSERT INTO call_stat_ (thread, fn, parent_fn, n, errors, total, self, min, max, hist, cost) VALUES
 (1, 54, 0, 3, 0, 180000, 180000, 40000, 90000, x'1203', 30000),
 (1, 55, 0, 1, 0, 70000, 58000, 70000, 70000, x'1201', 0), (1, 56, 0, 1, 0, 60000, 60000, 60000, 60000, x'1101', 0),
 (1, 57, 0, 3, 1, 90000, 90000, 20000, 50000, x'0f03', 0), (1, 60, 0, 2, 0, 60000, 60000, 30000, 30000, x'0f02', 0),
 (1, 65, 0, 1, 0, 20000, 20000, 20000, 20000, x'0f01', 0),
 (1, 71, 0, 3, 0, 130000, 100000, 30000, 50000, x'0f03', 0), (1, 73, 71, 1, 0, 30000, 18000, 30000, 30000, x'0f01', 0),
 (1, 73, 0, 1, 0, 30000, 18000, 30000, 30000, x'0f01', 0),
 (1, 75, 0, 1, 0, 30000, 30000, 30000, 30000, x'0f01', 0), (1, 77, 0, 1, 0, 30000, 30000, 30000, 30000, x'0f01', 0);
INSERT INTO gpu_work_ VALUES (50, 1, 0, NULL, 1, 1, 1, 57, 1, 5000120000, 1000, NULL),
    (51, 1, 0, NULL, 1, 1, 1, 60, 1, 5000320000, 2000, NULL),
 (52, 1, 0, NULL, 1, 1, 1, 94, 1, 5100130000, 500, NULL), (53, 1, 0, NULL, 1, 1, 1, 98, 1, 5101120000, 4000, NULL);
