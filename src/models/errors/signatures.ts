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
  signature('azure', 'request body too large for …model. max size: {limit} tokens'),
  signature('gemini', 'input token count {actual} exceeds the maximum number of tokens allowed {limit}'),
  signature('vertex', 'input token count is {actual} but …model (?:only )?supports (?:up to|at most) {limit}'),
  signature('together', '`?inputs`? tokens \\+ `?max_new_tokens`? must be <= {limit}…given: {input}…and {output}'),
  signature('kimi', 'supports only {limit} context'),
  signature('dashscope', 'range of input length should be \\[1, {limit}\\]'),
  signature('snowflake', 'max tokens of {limit} exceeded'),
  signature('llama.cpp', 'request \\({actual} tokens\\) exceeds the available context size \\({limit} tokens'),
  signature('lm studio', 'tokens to keep from the initial prompt is greater than the context length'),
];
