import { newId } from '../../src/store/database/ids.ts';

export const JSON_TYPE = { 'content-type': 'application/json' };
const SQL = encodeURIComponent("'; drop table holdfast.events; --");
const NESTED = `{"task":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
const ESCAPES = '\u001B[2J\u202E<script>alert(1)</script>';

export const FILE = { type: 'file', mediaType: 'text/plain', name: `../../${ESCAPES}`, data: 'eA==' };

/** Method, path, body and headers; status and code. */
export const HOSTILE: readonly [string, [string, string, string?, Record<string, string>?], [number, string]][] = [
  ['SQL as an id', ['GET', `/v1/conversations/${SQL}/entries`], [404, 'conversation_not_found']],
  ['NUL as an id', ['GET', '/v1/conversations/%00'], [404, 'conversation_not_found']],
  ['NUL as a message', ['GET', `/v1/conversations/${newId()}/messages/%00/outcome`], [400, 'invalid_argument']],
  ['NUL as a rule', ['DELETE', '/v1/standing-approvals?agent=default&rule=%00'], [400, 'invalid_argument']],
  [
    'NUL as a decision',
    ['POST', `/v1/conversations/${newId()}/approve`, String.raw`{"decisionId":"\u0000"}`, JSON_TYPE],
    [400, 'invalid_argument'],
  ],
  ['an address that is none', ['POST', '/v1/webhooks', '{"url":"http://[zz]/"}', JSON_TYPE], [400, 'invalid_argument']],
  [
    'a field of the body in the query',
    ['POST', '/v1/conversations?task=x', '{"task":"x"}', JSON_TYPE],
    [400, 'invalid_argument'],
  ],
  [
    'an image that is none',
    ['POST', '/v1/conversations', '{"task":[{"type":"image","data":"eA=="}]}', JSON_TYPE],
    [400, 'invalid_argument'],
  ],
  ['NUL as an agent', ['GET', '/v1/conversations?agent=%00'], [400, 'invalid_argument']],
  [
    'a sequence beyond all',
    ['GET', `/v1/conversations/${newId()}/entries?afterSequence=3000000000`],
    [400, 'invalid_argument'],
  ],
  ['a long id', ['GET', `/v1/conversations/${'9'.repeat(5_000)}`], [404, 'conversation_not_found']],
  ['a path out of the API', ['GET', '/v1/conversations/..%2f..%2fetc%2fpasswd'], [404, 'conversation_not_found']],
  ['SQL as an entry', ['GET', `/v1/entries/${SQL}/content`], [404, 'entry_not_found']],
  ['a list as a body', ['POST', '/v1/conversations', '[]', JSON_TYPE], [400, 'body_not_json']],
  ['nothing as a body', ['POST', '/v1/conversations', 'null', JSON_TYPE], [400, 'body_not_json']],
  ['nesting without end', ['POST', '/v1/conversations', NESTED, JSON_TYPE], [400, 'invalid_argument']],
  ['a number beyond all', ['POST', '/v1/conversations', '{"task":1e999}', JSON_TYPE], [400, 'invalid_argument']],
  [
    'an unknown mode',
    ['POST', `/v1/conversations/${newId()}/messages`, '{"content":"x","mode":"root"}', JSON_TYPE],
    [400, 'invalid_argument'],
  ],
  [
    'escapes as a field',
    ['POST', '/v1/conversations', JSON.stringify({ [ESCAPES]: 1 }), JSON_TYPE],
    [400, 'invalid_argument'],
  ],
  ['a workspace', ['POST', '/v1/conversations', '{"task":"x","workspace":"/"}', JSON_TYPE], [400, 'invalid_argument']],
  [
    'a long key',
    ['POST', '/v1/conversations', '{"task":"x"}', { ...JSON_TYPE, 'idempotency-key': 'k'.repeat(300) }],
    [400, 'invalid_argument'],
  ],
  ['a page beyond all', ['GET', '/v1/conversations?limit=101'], [400, 'invalid_argument']],
  ['a neighbourhood beyond all', ['GET', `/v1/entries/${newId()}/around?count=101`], [400, 'invalid_argument']],
  ['a time that only some read', ['GET', '/v1/conversations?since=about%202020'], [400, 'invalid_argument']],
  ['the year 0', ['GET', '/v1/conversations?since=0000-01-01'], [400, 'invalid_argument']],
  ['a day that is none', ['GET', '/v1/conversations?since=2025-02-30'], [400, 'invalid_argument']],
  ['a cursor of no call', ['GET', '/v1/decisions?after=1'], [400, 'invalid_argument']],
  [
    'more files than a message may have',
    ['POST', '/v1/conversations', JSON.stringify({ task: [FILE, FILE] }), JSON_TYPE],
    [413, 'body_too_large'],
  ],
  ['a foreign type of import', ['POST', '/v1/conversations/import', '{}', JSON_TYPE], [400, 'body_not_json']],
  [
    'an import of anything',
    ['POST', '/v1/conversations/import', '{}\n', { 'content-type': 'application/x-ndjson' }],
    [422, 'conversation_file_invalid'],
  ],
];

const RESPONSE = `resp_${newId()}_${newId()}`;
const CREATE = { model: 'default', input: 'Say no' };
const CALL_GONE = { type: 'function_call_output', call_id: 'call_1', output: 'x' };
const MCP_CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
const GONE = { conversation_id: newId(), decision: 'approve', call: '1.1.0' };

function invalidUtf8(body: object): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from(new TextEncoder().encode(JSON.stringify(body)));
  bytes[bytes.lastIndexOf(0x61)] = 0xff;
  return bytes;
}

/** Path and body, with POST; status and code. */
export const AT_OTHER_DOORS: readonly [string, string, object | string, [number, string]][] = [
  ['a list', '/v1/responses', '[]', [400, 'body_not_json']],
  ['half a body', '/v1/responses', '{"model":"default","input":"Say', [400, 'body_not_json']],
  ['invalid UTF-8', '/v1/responses', invalidUtf8(CREATE), [400, 'body_not_json']],
  ['a huge body', '/v1/responses', { ...CREATE, input: 'x'.repeat(60_000) }, [413, 'body_too_large']],
  ['a number as input', '/v1/responses', { ...CREATE, input: 7 }, [400, 'invalid_argument']],
  ['nothing as an item', '/v1/responses', { ...CREATE, input: [null] }, [400, 'invalid_argument']],
  ['a result of a call that is gone', '/v1/responses', { ...CREATE, input: [CALL_GONE] }, [400, 'invalid_argument']],
  [
    'an unknown field of a part',
    '/v1/responses',
    { ...CREATE, input: [{ role: 'user', content: [{ type: 'input_text', text: 'x', cache: true }] }] },
    [400, 'input.0.content.0.cache'],
  ],
  [
    'an unknown response',
    '/v1/responses',
    { ...CREATE, previous_response_id: RESPONSE },
    [404, 'conversation_not_found'],
  ],
  ['a cancel of nothing', `/v1/responses/${RESPONSE}/cancel`, {}, [404, 'conversation_not_found']],
  ['a cancel of no response', '/v1/responses/resp_1/cancel', {}, [400, 'invalid_argument']],
  ['nothing to compact', '/v1/responses/compact', { model: 'default' }, [400, 'invalid_argument']],
  ['an unknown method', '/v1/responses/compact/all', {}, [404, 'route_not_found']],
  ['a list', '/mcp', [MCP_CALL], [400, 'body_not_json']],
  ['half a body', '/mcp', '{"jsonrpc":"2.0","id":1', [400, 'body_not_json']],
  ['invalid UTF-8', '/mcp', invalidUtf8({ ...MCP_CALL, params: { name: 'start_task' } }), [400, 'body_not_json']],
  ['a huge body', '/mcp', { ...MCP_CALL, params: { name: 'x'.repeat(60_000) } }, [413, 'body_too_large']],
  ['no message', '/mcp', { hello: 'world' }, [400, '-32700']],
  ['an unknown method', '/mcp', { ...MCP_CALL, method: 'tools/rule' }, [200, '-32601']],
  ['an unknown tool', '/mcp', { ...MCP_CALL, params: { name: 'rule' } }, [200, '-32602']],
  ['wrong types', '/mcp', { ...MCP_CALL, params: { name: 'start_task', arguments: { task: 7 } } }, [200, '-32602']],
  [
    'a decision on nothing',
    '/mcp',
    { ...MCP_CALL, params: { name: 'decide', arguments: GONE } },
    [200, 'decision_not_found'],
  ],
];
