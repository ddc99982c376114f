#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches extensions of other repositories, unchanged, and checks their kernels with the files of
# glue/:
#   check_extensions.sh NAME [OPTION...]
# NAME is one of those at the end; OPTIONs are those of `gradverify check`. Repositories are kept in
# EXTENSIONS, else in ~/.cache/gradverify/extensions; GRADVERIFY is the program, else the PATH's;
# DEVICE is cuda or all, else cpu.
set -euo pipefail

glue=$(cd "$(dirname "${BASH_SOURCE[0]}")/glue" && pwd)
device=${DEVICE:-cpu}
kept=${EXTENSIONS:-${XDG_CACHE_HOME:-$HOME/.cache}/gradverify/extensions}

# fetch OWNER/NAME COMMIT: prints the folder.
fetch() {
    local folder=$kept/${1#*/}-${2:0:8}
    if ! [ -e "$folder/.git/FETCH_HEAD" ]; then
        git init -q "$folder"
        git -C "$folder" fetch -q --depth 1 "https://github.com/$1" "$2"
        git -C "$folder" checkout -q FETCH_HEAD
    fi
    echo "$folder"
}

flash_attention_2() { # HEAD [OPTION...]
    local head=$1 at cutlass
    shift
    at=$(fetch Dao-AILab/flash-attention 0251105a2fb19d2957484b7f023cd8c115286ced)/csrc/flash_attn
    cutlass=$(fetch NVIDIA/cutlass 7107b05535f8977f5ecb9d01ee203205b1fd9bc4)/include
    # CUTLASS knows by the first that this compiler has ldmatrix. The others are FlashAttention's own:
    # each leaves out what the glue never asks for, together half of the time to compile.
    local definitions=(--define CUTE_ARCH_LDSM_SM75_SUPPORTED=1 --define HEAD="$head") without
    for without in DROPOUT ALIBI SOFTCAP LOCAL UNEVEN_K; do
        definitions+=(--define "FLASHATTENTION_DISABLE_$without")
    done
    check "$at/src/flash_bwd_hdim${head}_bf16_sm80.cu" \
        "$at/src/flash_bwd_hdim${head}_bf16_causal_sm80.cu" \
        "$glue/flash_attention_2.cu" --include "$at" --include "$at/src" \
        --include "$cutlass" "${definitions[@]}" "$@"
}

mamba() {
    local at
    at=$(fetch state-spaces/mamba e9594ce1c732d97440f0332fdc43170a2294dbfa)/csrc/selective_scan
    check "$at/selective_scan_fwd_fp32.cu" "$at/selective_scan_bwd_fp32_real.cu" \
        "$glue/mamba.cu" --include "$at" "$@"
}

causal_conv1d() {
    local at
    at=$(fetch Dao-AILab/causal-conv1d 0d2252d161f25f7907bbd05985c08ab98d255874)/csrc
    check "$at"/causal_conv1d_{fwd,bwd,update}.cu "$glue/causal_conv1d_operator.cpp" \
        "$glue/causal_conv1d.cu" --include "$at" "$@"
}

apex() { fetch NVIDIA/apex 6424da3b4faa6c8f062da4a48c424fff3f02d42d; }
apex_layer_norm() {
    local at
    at=$(apex)/csrc
    check "$at/layer_norm_cuda_kernel.cu" "$glue/apex_layer_norm.cu" --include "$at" "$@"
}
apex_masked_softmax() {
    local at
    at=$(apex)/csrc
    check "$at/megatron/scaled_masked_softmax_cuda.cu" "$glue/masked_softmax_operator.cpp" \
        "$glue/apex_masked_softmax.cu" --include "$at" --include "$at/megatron" "$@"
}

# Its CPU path asks for OpenMP, unless its own macro says no.
warp_transducer() {
    local at
    at=$(fetch HawkAaron/warp-transducer f546575109111c455354861a0567c8aa794208a2)
    check "$at/src/rnnt_entrypoint.cu" "$glue/rnnt_loss_operator.cpp" "$glue/warp_transducer.cu" \
        --include "$at/include" --define RNNT_DISABLE_OMP "$@"
}

# Each file has a `main` and functions of the same names, so each is checked by itself.
llm_c() { # FILE|all [OPTION...]
    local file=$1 at options=() operator=$1
    shift
    if [ "$file" = all ]; then
        local code=0
        for file in "$glue"/llm.c/*.cu; do llm_c "$(basename "$file" .cu)" "$@" || code=$?; done
        return $code
    fi
    at=$(fetch karpathy/llm.c f1e2ace651495b74ae22d45d1723443fd00ecd3a)
    case $file in
        attention_backward) operator=softmax ;;
        attention_forward | trimat_forward) operator=qkv_attention ;;
        classifier_fused | crossentropy_*) operator=crossentropy ;;
        fused_residual_forward) operator=residual ;;
        global_norm) operator=sum_of_squares ;;
        layernorm_*) operator= ;; # one of gradverify's
        matmul_*) operator=linear ;;
        permute) options=(--include "$at") ;;
        *_*) operator=${file%%_*} ;;
    esac
    [ -z "$operator" ] || options+=("$glue/llm.c/$operator.cpp")
    [ "$device" = cpu ] || options+=(--link CUDA::cublas --link CUDA::cublasLt)
    check "$at/dev/cuda/$file.cu" "$glue/llm.c/$file.cu" "${options[@]}" "$@"
}

check() { "${GRADVERIFY:-gradverify}" check --device "$device" "$@"; }

case ${1:-} in
    flash_attention_2 | mamba | causal_conv1d | apex_layer_norm | apex_masked_softmax | \
        warp_transducer | llm_c) "$@" ;;
    *)
        sed -n '3,8s/^# \{0,1\}//p' "$0" >&2
        echo "NAME: flash_attention_2 HEAD, mamba, causal_conv1d, apex_layer_norm, apex_masked_softmax," \
            "warp_transducer, llm_c FILE, llm_c all" >&2
        exit 2
        ;;
esac
