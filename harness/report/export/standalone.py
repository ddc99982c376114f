

def places(sizes, strides):
    """Where each element lies, in elements from the first."""
    found = [0]
    for size, stride in zip(sizes, strides):
        found = [at + i * stride for at in found for i in range(size)]
    return found


class Given:
    """A tensor as the kernel is given it, in memory that holds NaN (or -1) elsewhere."""

    zone = 1024  # elements on both sides, which nobody may write

    def __init__(self, given, device):
        dtype = getattr(torch, TORCH_TYPES[given["dtype"]])
        self.name = given["name"]
        self.places = torch.tensor(places(given["sizes"], given["strides"]), dtype=torch.int64)
        self.places += self.zone + given["offset"]
        last = int(self.places.max()) if self.places.numel() else self.zone
        before = torch.full([last + 1 + self.zone], NAN if dtype.is_floating_point else -1,
                            dtype=torch.float64)
        if given["values"]:
            before[self.places] = torch.tensor(given["values"], dtype=torch.float64)
        self.memory = before.to(dtype).to(device)
        self.before = self.memory.to(torch.float64).cpu()
        self.tensor = self.memory.as_strided(given["sizes"], given["strides"],
                                             self.zone + given["offset"])
        self.may_change = torch.zeros_like(self.before, dtype=torch.bool)

    def is_output(self):
        self.may_change[self.places] = True

    def changed_elsewhere(self):
        after = self.memory.to(torch.float64).cpu()
        same = (after == self.before) | (after.isnan() & self.before.isnan())
        return int((~(same | self.may_change)).sum())


def given_in(call, device):
    """The tensors of a call; those that are written over an input share its memory."""
    tensors = []
    for i, given in enumerate(call["tensors"]):
        shared = given["lies_in"]
        tensors.append(Given(given, device) if shared is None else tensors[shared])
        output = i - (len(call["tensors"]) - call["outputs"])
        if output >= 0 and call["output_mask"] >> output & 1:
            tensors[-1].is_output()
    return tensors


def build():
    """Compiles the kernel's files, which are listed above, into a library."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gradverify-"))
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    library = folder / "kernel.so"
    subprocess.run(["nvcc", "-std=c++20", "-arch=native", "-shared", "-Xcompiler=-fPIC", "-w",
                    "-DSTANDALONE_LIBRARY", *FLAGS, "-o", library, *SOURCES],
                   cwd=folder, check=True)
    return library


def call_library(library, device):
    """The outputs of the call, after the call before it if there is one; and what was written
    where it must not be."""
    launch = ctypes.CDLL(str(library)).standalone_launch
    for which, call in enumerate(CALLS):
        if call is None:
            continue
        tensors = given_in(call, device)
        workspace = torch.full([max(call["workspace_bytes"], 1)], 255, dtype=torch.uint8,
                               device=device)
        stream = None
        if device != "cpu":
            stream = torch.cuda.Stream() if call["own_stream"] else None
            torch.cuda.synchronize()
        error = ctypes.create_string_buffer(4096)
        addresses = (ctypes.c_void_p * len(tensors))(*[one.tensor.data_ptr() for one in tensors])
        failed = launch(which, addresses, ctypes.c_void_p(workspace.data_ptr()),
                        ctypes.c_void_p(stream.cuda_stream if stream else None), error, 4096)
        if failed and which == 1:
            sys.exit("FAILED: " + error.value.decode())
    stray = [f"{one.changed_elsewhere()} elements in or around {one.name} were changed, which are "
             "no output" for one in tensors if one.changed_elsewhere()]
    return [one.tensor for one in tensors[-CALLS[1]["outputs"]:]], stray


def call_extension(name, device):
    """What a function of a module returns for the inputs of the call."""
    module, _, function = name.rpartition(".")
    call = CALLS[1]
    inputs = [one.tensor for one in given_in(call, device)][:-call["outputs"]]
    outputs = getattr(importlib.import_module(module), function)(*inputs)
    return [outputs] if isinstance(outputs, torch.Tensor) else list(outputs), []


def compare(names, outputs):
    """The number of wrong elements; in float64."""
    wrong = 0
    for one in EXPECTED:
        got = outputs[names.index(one["tensor"])].to(torch.float64).cpu().flatten()
        want = torch.tensor(one["values"], dtype=torch.float64)
        bound = torch.tensor(one["bounds"] or [0.0] * len(one["values"]), dtype=torch.float64)
        right = (got == want) | ((got - want).abs() <= bound) | bound.isinf()
        if one["admits_nan"]:
            right |= got.isnan() & want.isnan()
        places_wrong = (~right).nonzero().flatten().tolist()
        for i in places_wrong[:3]:
            print(f"{one['tensor']}: element {i} is {got[i]:.9g}, want {want[i]:.9g}, "
                  f"allowed to be off by {bound[i]:.3g}")
        if places_wrong:
            print(f"{len(places_wrong)} of {len(want)} elements of {one['tensor']} are wrong")
        wrong += len(places_wrong)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extension", nargs="?", metavar="MODULE.FUNCTION",
                        help="call this on the inputs, in place of the kernel's own file")
    parser.add_argument("--library", help="a library of these files that is built already")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    if options.extension:
        outputs, stray = call_extension(options.extension, options.device)
    else:
        outputs, stray = call_library(options.library or build(), options.device)
    names = [given["name"] for given in CALLS[1]["tensors"]][-CALLS[1]["outputs"]:]
    wrong = compare(names, outputs) + len(stray)
    for sentence in stray:
        print(sentence)
    print("FAILED" if wrong else "passed")
    sys.exit(1 if wrong else 0)
