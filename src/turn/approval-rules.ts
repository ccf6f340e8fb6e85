/** Seconds after which an open approval counts as denied and a question as unanswered: a day. */
export const DECISION_EXPIRES_AFTER_SECONDS = 86_400;

/** Which tool calls a person must allow first. `*` stands for any characters. */
export interface ApprovalRule {
  /** Name of a tool, or a pattern of names. */
  readonly tool: string;
  /** Patterns of arguments by name; all must fit. Absent: every call of the tool. */
  readonly when?: Readonly<Record<string, string>>;
}

/** Approval settings of an agent, frozen with the turn. */
export interface ApprovalSettings {
  readonly rules: readonly ApprovalRule[];
  readonly expiresAfterSeconds: number;
}

/** Whether a call of the tool could match a rule. */
export function mayFallUnder(rules: readonly ApprovalRule[], tool: string): boolean {
  return rules.some((rule) => fitsPattern(rule.tool, tool));
}

/**
 * All rules that a call matches, not only the first: a decision on one rule must not allow what another rule stops. Arguments that are no
 * text are compared as JSON. A missing argument matches no pattern.
 */
export function rulesFor(
  rules: readonly ApprovalRule[],
  call: { readonly tool: string; readonly input: unknown },
): readonly ApprovalRule[] {
  return rules.filter(
    (rule) =>
      fitsPattern(rule.tool, call.tool) &&
      Object.entries(rule.when ?? {}).every(([name, pattern]) => {
        const text = argumentText(call.input, name);
        return text !== null && fitsPattern(pattern, text);
      }),
  );
}

/** The name of a rule in decisions for all its calls. Ambiguous parts are quoted, so two rules never share a name. */
export function ruleName(rule: ApprovalRule): string {
  const conditions = Object.entries(rule.when ?? {}).map(
    ([name, pattern]) => `${quotedIf(/[\s,:"]/u, name)}: ${quotedIf(/[,"]|^\s|\s$/u, pattern)}`,
  );
  const tool = quotedIf(/[\s("]/u, rule.tool);
  return conditions.length === 0 ? tool : `${tool}(${conditions.join(', ')})`;
}

/** The name of a tool's own approval. No rule of the configuration can have it. */
export function ownRuleName(tool: string): string {
  return `tool ${tool}`;
}

function quotedIf(ambiguous: RegExp, text: string): string {
  return ambiguous.test(text) ? JSON.stringify(text) : text;
}

function argumentText(input: unknown, name: string): string | null {
  if (typeof input !== 'object' || input === null || !Object.hasOwn(input, name)) return null;
  const value: unknown = Reflect.get(input, name);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * `*` matches any characters, line ends included. Matching takes the leftmost place of each piece, so it is linear and no pattern can
 * stall a worker.
 */
export function fitsPattern(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return text === pattern;
  const last = rest.pop() ?? '';
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let from = first.length;
  for (const piece of rest) {
    const place = text.indexOf(piece, from);
    if (place < 0 || place + piece.length > end) return false;
    from = place + piece.length;
  }
  return true;
}
