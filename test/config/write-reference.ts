import { stringify } from 'yaml';
import { z } from 'zod';
import { ENVIRONMENT_VARIABLES, PROCESS_VARIABLES } from '../../src/config/environment.ts';
import { configurationOptions } from '../../src/config/options/options.ts';
import { PRESETS } from '../../src/config/presets.ts';

/** One row of the reference. */
interface OptionRow {
  readonly path: string;
  readonly type: string;
  readonly meaning: string;
  readonly defaultText: string;
}

/** Names that stand for a name of the user's in the paths of a map. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  agents: '<name>',
  providers: '<name>',
  models: '<provider/model>',
};

const OPTIONS_OF_A_HEADING = 8;

export const EXAMPLE = `# holdfast.yaml
defaultModel: anthropic/claude-opus-5-5

agents:
  reviewer:
    instructions: You review changes of a TypeScript project and write what you find to review.md.
    rules:
      - Never change a file other than review.md.
    tools: [list_files, read_file, search_files, write_file, update_plan, recall_search, recall_open]
    policy:
      trigger: { fraction: 0.8 }
      keep:
        tail: { tokens: 30000 }
    limits:
      steps: 200
    workspace: ../project

providers:
  local:
    protocol: chat
    baseUrl: http://localhost:8000/v1
    apiKeyVariable: LOCAL_MODEL_KEY

models:
  local/qwen3-coder:
    window: 65536
    maximumOutput: 8192
    prices: { input: 0, output: 0 }
`;

const INTRODUCTION = `# Configuration

<!-- Generated from src/config/options/options.ts: npx vitest run test/config/reference.test.ts -u writes this page. -->

Holdfast reads \`holdfast.yaml\` from the working directory or the nearest folder above that has one. Environment variables win over it.

\`\`\`yaml
${EXAMPLE.trimEnd()}
\`\`\`

- \`HOLDFAST_CONFIG\` or \`--config\` names another file. A found file of another user is ignored with a warning, unless it is named.
- Relative paths in the file begin at its folder.
- Without a file there is one agent, \`default\`. It works on the working directory with the [default tools](agents.md#built-in-tools).
- Keys come from the environment, a file or a command, never from this file. Holdfast does not store or print them.
- The file is checked at start. \`npx holdfast config check\` names each mistake with file, line and what is accepted.
- Agents can share options by YAML anchors and merge keys (\`<<: *other\`).

File tools never touch \`.holdfast\`, \`holdfast.yaml\`, the files that its \`modules\` names, files with keys, and the hooks and configuration of
git. They change nothing in \`.git\`. They can change everything else in the workspace, such as scripts that you run later. Give agents a folder
of their own if that matters.

## Values

An _amount_ is a number of tokens. If you set an amount, give all its fields: fields of the preset are not added. Numbers that contradict each other are refused.

- \`{ tokens: 30000 }\`: so many tokens.
- \`{ fraction: 0.5 }\`: a part of the input budget, which is the window less the output reserve. With \`of: window\`, a part of the window.
- Both: the smaller one counts.

A _prompt_ is \`{ text, name, version }\`. Name and version are stored with each summary (default: \`own\` and 1).
`;

/** The text of `docs/configuration.md`: every option with type, meaning, unit and default, made from the schema. */
export function configurationReference(): string {
  const schema: unknown = z.toJSONSchema(configurationOptions, { io: 'input' });
  return [
    INTRODUCTION,
    ...topLevel(schema).map(([name, rows]) => `## ${name}\n\n${optionList(rows)}\n`),
    `## Environment\n\n${variableList(ENVIRONMENT_VARIABLES)}\n`,
    `Processes and set-up read these:\n\n${variableList(PROCESS_VARIABLES)}\n`,
  ].join('\n');
}

function variableList(variables: typeof PROCESS_VARIABLES): string {
  return variables
    .map(({ name, meaning, defaultText }) => `- \`${name}\`: ${meaning}${defaultSentence(defaultText)}`)
    .join('\n');
}

/** Options with a heading of their own come last, so that nothing else stands below it. */
function optionList(rows: readonly OptionRow[]): string {
  const large = rows.filter(
    ({ path }) => path.split('.').length === 3 && below(rows, path).length >= OPTIONS_OF_A_HEADING,
  );
  const others = rows.filter(({ path }) => !large.some((one) => path === one.path || path.startsWith(`${one.path}.`)));
  const sections = large.map(
    (one) => `### ${one.path.replaceAll(/<[^>]+>\./gu, '')}\n\n${items([one, ...below(rows, one.path)])}`,
  );
  return [items(others), ...sections].join('\n\n');
}

function below(rows: readonly OptionRow[], path: string): readonly OptionRow[] {
  return rows.filter((row) => row.path.startsWith(`${path}.`));
}

function items(rows: readonly OptionRow[]): string {
  return rows
    .map(({ path, type, meaning, defaultText }) => `- \`${path}\`: ${type}. ${meaning}${defaultSentence(defaultText)}`)
    .join('\n');
}

function defaultSentence(text: string): string {
  return text === '' ? '' : ` Default: ${text}.`;
}

function topLevel(schema: unknown): (readonly [string, OptionRow[]])[] {
  return propertiesOf(schema).map(([name, option]) => [name, rowsOf(name, option, [name])]);
}

/** The option itself and everything below it. */
function rowsOf(path: string, option: unknown, names: readonly string[]): OptionRow[] {
  const own = rowOf(path, option);
  if (field(option, 'describedElsewhere') === true) return [own];
  const named = field(option, 'additionalProperties');
  if (isGivenWhole(option)) return [own];
  const inner = variants(option).find((one) => propertiesOf(one).length > 0) ?? option;
  const children = propertiesOf(inner).flatMap(([name, child]) => rowsOf(`${path}.${name}`, child, [...names, name]));
  if (typeof named !== 'object' || named === null) return [own, ...children];
  const placeholder = PLACEHOLDERS[names.at(-1) ?? ''] ?? '<name>';
  const ofEach = propertiesOf(named).flatMap(([name, child]) =>
    rowsOf(`${path}.${placeholder}.${name}`, child, [...names, name]),
  );
  return [own, ...children, ...ofEach];
}

function rowOf(path: string, option: unknown): OptionRow {
  const unit = textField(option, 'unit');
  return {
    path,
    type: `${typeOf(option)}${unit === '' ? '' : `, ${unit}`}`,
    meaning: textField(option, 'description'),
    defaultText: textField(option, 'defaultText') || presetDefault(path),
  };
}

/** What the preset `default` says where the options of a policy have no default of their own. */
function presetDefault(path: string): string {
  const [, inPolicy] = path.split('.policy.');
  if (inPolicy === undefined) return '';
  const value = inPolicy.split('.').reduce<unknown>(
    (node, name) =>
      Array.isArray(node)
        ? field(
            node.find((item) => field(item, 'use') === name),
            'options',
          )
        : field(node, name),
    PRESETS['default'],
  );
  const isPlain =
    value === null ||
    ['string', 'number', 'boolean'].includes(typeof value) ||
    isAmountValue(value) ||
    isListOfText(value);
  return isPlain ? `\`${inYaml(value)}\`` : '';
}

function isListOfText(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isAmountValue(value: unknown): boolean {
  return field(value, 'tokens') !== undefined || field(value, 'fraction') !== undefined;
}

function inYaml(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();
}

/** Amounts, prompts and lists of sections have no options of their own in the reference. */
function isGivenWhole(option: unknown): boolean {
  return ['isAmount', 'isPrompt', 'typeText'].some((mark) => field(option, mark) !== undefined);
}

function typeOf(option: unknown): string {
  if (field(option, 'isAmount') === true) return 'amount';
  if (field(option, 'isPrompt') === true) return 'prompt';
  if (textField(option, 'typeText') !== '') return textField(option, 'typeText');
  const parts = variants(option);
  if (parts.length > 0) return parts.map(typeOf).join(' or ');
  const accepted = field(option, 'enum');
  if (Array.isArray(accepted)) return accepted.map((value) => `\`${String(value)}\``).join(', ');
  const constant = field(option, 'const');
  if (constant !== undefined) return `\`${JSON.stringify(constant)}\``;
  const type = field(option, 'type');
  if (Array.isArray(type)) return type.map((one: unknown) => typeOf({ type: one })).join(' or ');
  if (type === 'array') return `list of ${typeOf(field(option, 'items'))}`;
  if (type === 'object') return typeof field(option, 'additionalProperties') === 'object' ? 'map by name' : 'map';
  const names: Readonly<Record<string, string>> = {
    string: 'text',
    integer: 'whole number',
    number: 'number',
    boolean: 'true or false',
    null: '`null`',
  };
  return names[String(type)] ?? String(type);
}

function variants(option: unknown): readonly unknown[] {
  const found = field(option, 'anyOf');
  return Array.isArray(found) ? found : [];
}

function propertiesOf(node: unknown): (readonly [string, unknown])[] {
  const properties = field(node, 'properties');
  return typeof properties === 'object' && properties !== null ? Object.entries(properties) : [];
}

function textField(node: unknown, name: string): string {
  const value = field(node, name);
  return typeof value === 'string' ? value : '';
}

function field(node: unknown, name: string): unknown {
  if (typeof node !== 'object' || node === null) return undefined;
  return Object.entries(node).find(([key]) => key === name)?.[1];
}
