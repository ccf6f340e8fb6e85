import { oneLine, readApi } from './read-api.ts';
import type { Doc, Export, Field, Method, ReadApi } from './read-api.ts';

/** Groups of the client in the order of the page, with the class of each. */
const GROUPS = {
  conversation: ['ConversationMethods', 'src/client/conversation-methods.ts'],
  log: ['LogMethods', 'src/client/log-methods.ts'],
  branches: ['BranchMethods', 'src/client/branch-methods.ts'],
  memory: ['MemoryMethods', 'src/client/memory-methods.ts'],
  decisions: ['DecisionMethods', 'src/client/decision-methods.ts'],
  models: ['ModelMethods', 'src/client/model-methods.ts'],
  webhooks: ['WebhookMethods', 'src/client/webhook-methods.ts'],
  keys: ['KeyMethods', 'src/client/keys.ts'],
} as const;

const POLICY = 'Its options: [`agents.policy`](configuration.md#agentspolicy)';
const CODES = 'See [errors by code](errors.md)';

/** Types whose parts another page describes. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ClientErrorCode: CODES,
  CompactionPolicy: POLICY,
  CompactionPolicyInput: POLICY,
  ConversationChoices: 'See [`start`](#holdfaststart)',
  DecisionOptions: 'See [`decisions.answer`](#decisionsanswer)',
  ModelCallAddress: 'See [`log.view`](#logview)',
  DefinedAgent: 'Pass it to `createWorker`',
  EventKind: 'See [events](#events)',
  GivenForm: '',
  HoldfastClient: '',
  Reducer: 'Pass it to `createWorker`',
  StackErrorCode: CODES,
  presets: 'See [presets](presets.md)',
};

const INTRODUCTION = `# TypeScript API

<!-- Generated from the doc comments in src: npx vitest run test/api/reference.test.ts -u writes this page. -->

Look up here what \`holdfast\` and \`holdfast/testing\` export. [Client](client.md) and [agents and tools](agents.md) show how to use it.

\`\`\`ts
import { connect } from 'holdfast';

const holdfast = await connect();
const { outcome, text } = await (await holdfast.start('Read the README')).result();
await holdfast.close();
\`\`\`

- \`name?\` and \`{ … }?\` may be left out. Times are ISO texts, costs are dollars, and ids are UUIDs.
- Most methods take \`conversationId\`. Methods that send also take \`messageId\`, 1 to 200 characters that you choose. A repeated id counts once.
- Every method of the client throws \`HoldfastClientError\`. [Errors by code](errors.md) says what to do about each code.
- Every method that reads a conversation throws \`conversation_not_found\` for an unknown id.
- A list with a limit returns a \`Page\`: \`{ items, hasMore }\`.
`;

/** The text of `docs/api.md`. */
export function apiReference(): string {
  const api = readApi(
    ['src/index.ts', 'src/testing.ts'],
    Object.values(GROUPS).map(([, file]) => file),
  );
  const page = new Page(api);
  return [
    INTRODUCTION.trimEnd(),
    '## Connect',
    page.functionOf('connect'),
    page.methodsOf('Holdfast', 'holdfast'),
    '## A task and its conversation',
    page.typeOf('Task'),
    page.methodsOf('Task', 'task'),
    page.typeOf('OpenConversation'),
    ...Object.entries(GROUPS).flatMap(([group, [name]]) => [
      `## ${group}`,
      sentences(get(api, name).doc.text),
      page.methodsOf(name, group),
    ]),
    '## Events',
    page.events('EventDataByKind'),
    '## Workers, agents and tools',
    ...['createWorker', 'defineAgent', 'defineTool'].map((name) => page.functionOf(name)),
    ...['ToolContext', 'ToolResult'].map((name) => page.listOf(name)),
    '## Compaction in code',
    ...['defineReducer', 'clip', 'clear', 'strip'].map((name) => page.functionOf(name)),
    page.typeOf('BeforeCompaction'),
    ...['CompactionPreparation', 'CompactionDecision'].map((name) => page.listOf(name)),
    '## Other functions',
    ...['verifyWebhook', 'createEmbeddingClient', 'startTestHoldfast'].map((name) => page.functionOf(name)),
    '## Types',
    ...page.others(),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/u, '\n');
}

function get(api: ReadApi, name: string): Export {
  const found = api.get(name);
  if (found === undefined) throw new Error(`nothing exports ${name}`);
  return found;
}

class Page {
  readonly #api: ReadApi;
  readonly #shown = new Set<string>();

  constructor(api: ReadApi) {
    this.#api = api;
  }

  functionOf(name: string): string {
    this.#shown.add(name);
    const { calls } = get(this.#api, name);
    return `### ${name}\n\n${calls.map((call, index) => this.#method(call, '', index > 0)).join('\n\n')}`;
  }

  methodsOf(name: string, prefix: string): string {
    this.#shown.add(name);
    return get(this.#api, name)
      .methods.map((method) => `### ${prefix}.${method.name}\n\n${this.#method(method, `${prefix}.`)}`)
      .join('\n\n');
  }

  /** The fields of a type as a list. */
  listOf(name: string): string {
    this.#shown.add(name);
    const { doc, fields, methods } = get(this.#api, name);
    const items = [
      ...fields.map((field) => item(field)),
      ...methods.map((method) => `- \`${signature(method)}\`: ${sentences(method.doc.text)}`),
    ];
    return `### ${name}\n\n${paragraphs([sentences(doc.text), items.join('\n')])}`;
  }

  /** What is described on another page. */
  linkTo(name: string, link: string): string {
    this.#shown.add(name);
    return `### ${name}\n\n${sentences(`${sentences(get(this.#api, name).doc.text)} ${link}`)}`;
  }

  /** The fields of a type as code. */
  typeOf(name: string): string {
    this.#shown.add(name);
    const { doc, fields, methods, written } = get(this.#api, name);
    const heading = `### ${name}\n\n`;
    const lines = [
      ...fields.flatMap((field) => codeLines(field, '  ')),
      ...methods.flatMap((method) => methodLines(method)),
    ];
    const union = written.includes(' | {') ? `\n  | ${written.replaceAll(' | {', '\n  | {')}` : ` ${written}`;
    const code = lines.length === 0 ? `type ${name} =${union};` : `interface ${name} {\n${lines.join('\n')}\n}`;
    return `${heading}${paragraphs([sentences(doc.text), `\`\`\`ts\n${code}\n\`\`\``])}`;
  }

  events(name: string): string {
    this.#shown.add(name);
    const { doc, fields } = get(this.#api, name);
    return paragraphs([`${sentences(doc.text)} ${NUMBERS_OF_EVENTS}`, fields.map(eventItem).join('\n')]);
  }

  /** What is exported and not shown yet. */
  others(): string[] {
    const left = [...this.#api.values()].filter(({ name, isPublic }) => isPublic && !this.#shown.has(name));
    return left
      .map(({ name }) => name)
      .toSorted()
      .map((name) => (ELSEWHERE[name] === undefined ? this.typeOf(name) : this.linkTo(name, ELSEWHERE[name])));
  }

  /** @param isOther another way to call a function whose comment is shown already */
  #method(method: Method, prefix: string, isOther = false): string {
    const { doc, parameters } = method;
    const options = parameters.flatMap(({ field, options: ofIt }) =>
      ofIt.length > 0 ? ofIt : [{ ...field, text: doc.params.get(field.name) ?? field.text }],
    );
    for (const { field } of parameters.filter((each) => each.options.length > 0))
      this.#shown.add(field.type.replace(/ \| undefined$/u, '').replace(/<.*$/u, ''));
    const listed = options.filter((field) => !isExplainedOnce(field));
    const items = listed.toSorted(requiredFirst).map((field) => item(field));
    const returns = doc.returns === '' ? '' : `Returns ${sentences(doc.returns, 'as it is')}`;
    return paragraphs([
      `\`${prefix}${signature(method)}\``,
      ...(isOther ? [] : prose(doc)),
      returns,
      items.join('\n'),
      isOther ? '' : errorsOf(doc),
    ]);
  }
}

/** What the introduction says of every method. */
function isExplainedOnce({ name, text }: Field): boolean {
  return text === '' ? name === 'conversationId' : name === 'messageId';
}

const paragraphs = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n\n');

/** Sentences, and examples of code as they are. */
function prose({ text }: Doc): string[] {
  return text.split(/(?=^```ts$)|(?<=^```$)/mu).map((part) => (part.startsWith('```') ? part : sentences(part)));
}

function errorsOf({ throws }: Doc): string {
  if (throws.length === 0) return '';
  return `Errors: ${throws.map((text) => sentences(text.replace(/^HoldfastClientError /u, ''), 'as it is')).join(' ')}`;
}

function signature({ name, parameters, returns }: Method): string {
  const given = parameters.map(({ field, options }) => {
    const isNamed = /^(?!Rest<)[A-Z]\w+(?:<.*>)?$/u.test(field.type.replace(/ \| undefined$/u, ''));
    const type = field.type.replace(/ \| undefined$/u, '');
    if (options.length === 0 || isNamed) return `${nameOf(field)}: ${type}`;
    const names = options.toSorted(requiredFirst);
    return `{ ${names.map(nameOf).join(', ')} }${field.isOptional ? '?' : ''}`;
  });
  return `${name}(${given.join(', ')}): ${returns}`;
}

function item(field: Field, indent = ''): string {
  const { type, text } = field;
  const inner = commented(field.fields) ? field.fields : [];
  const shown = inner.length > 0 ? 'object' : type;
  const own = `${indent}- \`${nameOf(field)}\`: \`${shown}\`. ${sentences(text)}`.trimEnd();
  return [own, ...inner.map((each) => item(each, `${indent}  `))].join('\n');
}

/** What happened, then the data: fields without a comment on one line. */
function eventItem(field: Field): string {
  const { name, type, text, fields } = field;
  const plain = fields.filter(isPlain).map((each) => `\`${nameOf(each)}: ${each.type}\``);
  const data = fields.length === 0 && type !== 'Record<string, never>' ? [`\`${type}\``] : plain;
  const said = [sentences(text), data.length === 0 ? '' : `Data: ${data.join(', ')}.`].filter((part) => part !== '');
  const own = `- \`${name}\`: ${said.join(' ')}`;
  return [own, ...fields.filter((each) => !isPlain(each)).map((each) => item(each, '  '))].join('\n');
}

const NUMBERS_OF_EVENTS =
  '`turn`, `callNumber` and `attempt` count from 1, and `callIndex`, the position in the answer, from 0.';
/** What the introduction of the events explains. */
const NUMBERS = new Set(['turn', 'callNumber', 'callIndex', 'attempt']);
const isPlain = ({ name, text }: Field): boolean => text === '' || NUMBERS.has(name);

const requiredFirst = (one: Field, other: Field): number => Number(one.isOptional) - Number(other.isOptional);
const nameOf = ({ name, isOptional }: Field): string => `${name}${isOptional ? '?' : ''}`;
const commented = (fields: readonly Field[]): boolean => fields.some(({ text }) => text !== '');

function codeLines(field: Field, indent: string): string[] {
  const { type, text, fields } = field;
  const comment = text === '' ? [] : wrapped(`// ${sentences(text)}`, indent);
  const start = `${indent}${nameOf(field)}: `;
  if (!commented(fields)) return [...comment, `${start}${type};`];
  return [...comment, `${start}{`, ...fields.flatMap((each) => codeLines(each, `${indent}  `)), `${indent}};`];
}

function methodLines(method: Method): string[] {
  const { text } = method.doc;
  return [...(text === '' ? [] : wrapped(`// ${sentences(text)}`, '  ')), `  ${signature(method)};`];
}

const WIDTH = 110;

function wrapped(comment: string, indent: string): string[] {
  const lines: string[] = [];
  for (const word of comment.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined) lines.push(`${indent}${word}`);
    else if (`${line} ${word}`.length <= WIDTH) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(`${indent}// ${word}`);
  }
  return lines;
}

/** With a capital letter and a full stop. */
function sentences(text: string, first: 'capital' | 'as it is' = 'capital'): string {
  const line = oneLine(text);
  if (line === '') return '';
  const begun = first === 'capital' ? `${line[0]?.toUpperCase()}${line.slice(1)}` : line;
  return /[.:!?]$/u.test(begun) ? begun : `${begun}.`;
}
