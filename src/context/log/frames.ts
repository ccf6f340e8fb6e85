/** The tags that Holdfast writes around text of users, tools, files and models, and around what it lists itself. */
const TAGS = {
  // A request for a summary, and what stands in a transcript.
  transcript: 'transcript',
  previousSummary: 'previous_summary',
  part: 'part',
  user: 'user',
  assistant: 'assistant',
  note: 'note',
  toolCall: 'tool_call',
  toolResult: 'tool_result',
  otherSummary: 'summary',
  agentInstructions: 'agent_instructions',
  focus: 'focus',
  // A summary in the view, and the lists below it.
  handOff: 'cowork_compaction_summary',
  branchSummary: 'branch_summary',
  earlierResults: 'earlier-results',
  readFiles: 'read-files',
  modifiedFiles: 'modified-files',
  // The rest of a view.
  attachedFile: 'attached_file',
  earlierResult: 'earlier_result',
  runtime: 'runtime',
  identity: 'identity',
  device: 'device',
  variables: 'variables',
  rules: 'rules',
  tools: 'tools',
  skills: 'skills',
  memory: 'memory',
} as const;

export type FrameName = keyof typeof TAGS;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a constant table are its names
export const FRAME_NAMES = Object.keys(TAGS) as readonly FrameName[];

/** The lines that open or close what is no tag: summaries, notes, and what the program appends to a summary. */
export const LINES = {
  summary: '[Summary of the earlier conversation]',
  summaryEnd: '[End of summary]',
  stateSummary: '[Compaction Summary]',
  stateNotice: '[Compaction Notice:',
  stateStatus: '[Status:',
  compacted: '[Context compacted]',
  answerCut: '[Answer cut]',
  callMissing: '[Call missing]',
  answerRefused: '[Answer not accepted]',
  resumed: '[Resumed]',
  limit: '[Limit]',
  plan: '[Current plan]',
  memories: '[Memories]',
  splitTurn: '**Turn Context (split turn):**',
} as const;

declare const brand: unique symbol;

/** Text in which no mark of a frame stands but those that Holdfast wrote. */
export type Framed = string & { readonly [brand]: true };

/**
 * A text in a frame. Text of others is quoted in it; frames are put into it as they are, each on a line of its own.
 * @param attributes what the opening tag says of the text
 */
export function frame(
  name: FrameName,
  inside: string | readonly Framed[],
  attributes: Readonly<Record<string, string>> = {},
): Framed {
  const { open, close } = tagsOf(name, attributes);
  const text = typeof inside === 'string' ? quoteText(inside) : inside.join('\n');
  return framed(`${open}\n${text}\n${close}`);
}

/** What opens and closes a frame, for text that needs no quoting: the agent's configuration stands word for word. */
export function tagsOf(
  name: FrameName,
  attributes: Readonly<Record<string, string>> = {},
): { readonly open: string; readonly close: string } {
  const told = Object.entries(attributes).map(([key, value]) => ` ${key}="${nameText(value)}"`);
  return { open: `<${TAGS[name]}${told.join('')}>`, close: `</${TAGS[name]}>` };
}

/** Names a text as put together from frames and words of Holdfast's own. */
export function framed(text: string): Framed {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the brand exists for the compiler alone
  return text as Framed;
}

/** A name of others in a tag, a bracket or a line of Holdfast's own: on one line, without what could close any of them. */
export function nameText(name: string): string {
  return quoteText(
    name
      .replaceAll(/[\s\p{Control}]+/gu, ' ')
      .replaceAll(/[[\]<>"＂]/gu, (character) => INERT_IN_NAMES[character] ?? character),
  );
}

const INERT_IN_NAMES: Readonly<Record<string, string>> = {
  '[': '(',
  ']': ')',
  '<': '‹',
  '>': '›',
  '"': "'",
  '＂': "'",
};

interface Mark {
  readonly text: string;
  /** What stands behind it, as it is. Default: anything. */
  readonly before?: RegExp;
}

/** Characters that no reader sees, or that only change the letter before them. */
const UNSEEN = String.raw`\p{Default_Ignorable_Code_Point}\p{Format}\p{Mark}\p{Control}\u2800`;
const UNSEEN_OR_SPACE = new RegExp(String.raw`[\s${UNSEEN}]+`, 'gu');
const CLOSING_TAG = new RegExp(String.raw`^[${UNSEEN}]*(?:[\s/>]|$)`, 'u');
/** With its end: `a < user` is code. */
const OPENING_TAG = new RegExp(String.raw`^[${UNSEEN}]*(?:[\s/][^<>]{0,300})?>`, 'u');

interface Marks {
  readonly marks: readonly Mark[];
  readonly beginnings: RegExp;
}

const WIDTHS: Readonly<Record<string, string>> = { '<': '＜﹤', '[': '［', '#': '＃﹟', '*': '＊﹡' };

/** @param isLineStart whether marks count only where a line begins */
function marksFrom(marks: readonly Mark[], isLineStart = false): Marks {
  const first = new Set(marks.map(({ text }) => String.fromCodePoint(text.codePointAt(0) ?? 0)));
  const signs = [...first].map((sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}${WIDTHS[sign] ?? ''}`);
  const before = isLineStart ? String.raw`(?<=^[^\p{L}\p{N}\n]{0,20})` : '';
  return { marks, beginnings: new RegExp(`${before}[${signs.join('')}]`, 'gimu') };
}

function marksOf(frames: readonly FrameName[], lines: readonly string[]): Marks {
  const tags = frames.flatMap((name): Mark[] => [
    { text: folded(`<${TAGS[name]}`), before: OPENING_TAG },
    { text: folded(`</${TAGS[name]}`), before: CLOSING_TAG },
  ]);
  return marksFrom([...tags, ...lines.map((line) => ({ text: folded(line) }))]);
}

/** A text as marks are compared: small letters of the usual width without accents, and nothing that is not seen. */
function folded(text: string): string {
  return text.normalize('NFKD').toLowerCase().replaceAll(UNSEEN_OR_SPACE, '');
}

const TAG_MARKS = marksOf(FRAME_NAMES, []);
const ALL_MARKS = marksOf(FRAME_NAMES, Object.values(LINES));
const RECALLED_LINES = ['[said before it', '[said after it', '[more of it:', '[of entry'].map(folded);
const RECALL_MARKS = marksFrom(
  [{ text: 'entry', before: /^\W*[0-9a-f]{8}-/iu }, ...RECALLED_LINES.map((text) => ({ text }))],
  true,
);
const FILE_MARKS = marksOf(['attachedFile', 'earlierResult', 'branchSummary', 'handOff'], Object.values(LINES));

/**
 * A text of others, as it stands in a frame: the first character of whatever could be taken for the beginning or the end of a
 * frame becomes its character reference (`&lt;/transcript>`), in letters of any case and width, and also with white space or
 * characters that nobody sees within. Quoting twice changes nothing. Letters of other scripts that look alike make no mark.
 */
export function quoteText(text: string): string {
  return quoted(text, ALL_MARKS);
}

/** The same for what is put together of quoted texts below headings of Holdfast's own: a tag may begin in one and end in the next. */
export function quoteTags(text: string): string {
  return quoted(text, TAG_MARKS);
}

/** The same for a file, whose text must stay exact otherwise: only marks are quoted that no file has by chance. */
export function quoteFile(text: string): string {
  return quoted(text, FILE_MARKS);
}

export function quoteLines(text: string, lines: readonly string[]): string {
  const seen = lines.filter((line) => folded(line) !== '');
  return quoted(text, marksOf([], seen));
}

/** A text below the line that names its entry, in the result of a recall tool: only such lines are quoted. */
export function quoteRecalled(text: string): string {
  return quoted(text, RECALL_MARKS);
}

function quoted(text: string, { marks, beginnings }: Marks): string {
  return text.replaceAll(beginnings, (sign, at: number) => {
    if (!beginsMark(text, at, marks)) return sign;
    return sign === '<' ? '&lt;' : `&#${sign.codePointAt(0)};`;
  });
}

/** Reads no further than some mark goes on. */
function beginsMark(text: string, at: number, marks: readonly Mark[]): boolean {
  let left = marks;
  let read = '';
  for (let next = at; next < text.length && left.length > 0;) {
    const character = String.fromCodePoint(text.codePointAt(next) ?? 0);
    next += character.length;
    const seen = folded(character);
    if (seen === '') continue;
    read += seen;
    left = left.filter((mark) => mark.text.startsWith(read));
    if (left.some((mark) => mark.text === read && (mark.before?.test(text.slice(next)) ?? true))) return true;
  }
  return false;
}
