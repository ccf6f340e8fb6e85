/** Sentences by which the vendors and servers that people use refuse a request over the window. */
export interface Signature {
  /** Who sends it; other servers copy it. */
  readonly vendor: string;
  readonly pattern: RegExp;
}

/**
 * `{name}` captures a number: `actual` and `limit` in tokens, `input` and `output` where both are counted, `allowed` where the
 * limit is not the window's. `…` is a gap within a sentence; the rest is a regular expression on a normalized text.
 */
function signature(vendor: string, template: string): Signature {
  const source = template
    .replaceAll(/\{(\w+)\}/g, '\\(?(?<$1>\\d{2,9})\\)?')
    .replaceAll('…', '[^\\n]{0,80}?')
    .replaceAll(' ', ' ?');
  return { vendor, pattern: new RegExp(source) };
}

/** The most telling first: of two that match, the first one counts. */
export const OVERFLOW_SIGNATURES: readonly Signature[] = [
  signature('anthropic', 'prompt is too long: {actual} tokens > {limit} maximum'),
  signature('anthropic', '(?:context|max_tokens)…{input} \\+ {output} > {limit}'),
  signature(
    'openai',
    'maximum context length is {limit} tokens…requested…{actual} tokens \\(…{output} (?:in|for) the (?:output|completion)',
  ),
  signature(
    'vllm',
    "'max_completion_tokens' is too large: {output}…maximum context length is {limit}…has {input} input",
  ),
  signature('vllm', 'maximum context length is {limit} tokens…{output} output tokens…at least {atLeast} input tokens'),
  signature(
    'openai',
    'maximum context length (?:of this model )?is {limit} tokens…(?:resulted in|requested|has)(?: about)? {actual}',
  ),
  signature('openai', 'maximum context length is {limit} tokens'),
  signature('openai', 'exceed the configured limit of {limit} tokens…resulted in {actual} tokens'),
  signature('openai', 'exceeds the context window of this model'),
  signature('azure', 'request body too large for …model. max size: {limit} tokens'),
  signature('gemini', 'input token count {actual} exceeds the maximum number of tokens allowed {limit}'),
  signature('vertex', 'input token count is {actual} but …model (?:only )?supports (?:up to|at most) {limit}'),
  signature('xai', 'maximum prompt length is {limit} but the request contains {actual} tokens'),
  signature(
    'groq',
    'reduce the length of the messages or completion…(?:current length is {actual} while limit is {limit}|$)',
  ),
  signature('mistral', 'prompt contains {actual} tokens…too large for model with {limit} maximum context length'),
  signature('cohere', 'tokens in the prompt exceeds the limit of {limit}'),
  signature('cohere', 'too many tokens…cannot exceed {limit} - received {actual}'),
  signature('bedrock', 'too many input tokens…max input tokens: {limit}, request input token count: {actual}'),
  signature('bedrock', 'input is too long for requested model'),
  signature('together', '`?inputs`? tokens \\+ `?max_new_tokens`? must be <= {limit}…given: {input}…and {output}'),
  signature('fireworks', 'prompt is too long: {actual}, model maximum context length: {limit}'),
  signature('moonshot', 'exceeded model token limit(?:: {limit}(?: \\(requested: {actual}\\))?)?'),
  signature('kimi', 'supports only {limit} context'),
  signature('dashscope', 'range of input length should be \\[1, {limit}\\]'),
  signature('snowflake', 'max tokens of {limit} exceeded'),
  signature('minimax', 'context window exceeds limit'),
  signature('copilot', 'prompt token count of {actual} exceeds the limit of {limit}'),
  signature('vllm', 'decoder prompt \\(length {actual}\\) is longer than the maximum model length of {limit}'),
  signature('sglang', "input \\({actual} tokens\\) is longer than the model's context length \\({limit} tokens"),
  signature('tensorrt', 'prompt length {actual} exceeds maximum input length {limit}'),
  signature('llama.cpp', 'request \\({actual} tokens\\) exceeds the available context size \\({limit} tokens'),
  signature('llama.cpp', 'exceeds the available context size'),
  signature('lm studio', 'keep the first {actual} tokens when…context length of only {limit}'),
  signature('lm studio', 'tokens to keep from the initial prompt is greater than the context length'),
  signature('ollama', 'input length exceeds the (?:maximum )?context length|exceeded max context length'),
];

/** Codes that name the overflow of a window, in small letters and digits only (`contextlengthexceeded`); 1261 is Zhipu's, 1039 MiniMax's. */
export const OVERFLOW_CODE =
  /(?:context|ctx)(?:length|window|size|limit|tokens?)*(?:is)?(?:exceed|overflow|toolong|toolarge|exhausted)|exceed(?:s|ed|ing)?(?:the)?(?:available|model|max(?:imum)?)?context|(?:prompt|input|conversation)(?:is)?too(?:long|large)|(?:prompt|input)(?:tokens?|length|size)?(?:limit|count)?(?:exceed|overflow)|^tokenslimitreached$|^tokenlimitexceeded|^maxcontext(?:length)?(?:exceeded|reached)|(?:prompt|input|tokens)over(?:the)?(?:window|context|limit)|outofcontext|contextlimit(?:reached)?(?:error)?$|contextfull|^1261$|^1039$/;
