/** Seconds after which a question to a person counts as denied or not answered: a day. */
export const DECISION_EXPIRES_AFTER_SECONDS = 86_400;

/** Which tool calls a person must allow first. `*` stands for any characters. */
export interface ApprovalRule {
  /** Name of a tool, or a pattern of names. */
  readonly tool: string;
  /** Patterns of arguments by name; all must fit. Absent: every call of the tool. */
  readonly when?: Readonly<Record<string, string>>;
}

/** What an agent asks a person for, frozen with the turn. */
export interface ApprovalSettings {
  readonly rules: readonly ApprovalRule[];
  readonly expiresAfterSeconds: number;
}

/** Whether some call of the tool could fall under a rule. */
export function mayFallUnder(rules: readonly ApprovalRule[], tool: string): boolean {
  return rules.some((rule) => fitsPattern(rule.tool, tool));
}

/**
 * All rules that a call falls under, not the first alone: what stands for one of them must not let through what another one stops.
 * Arguments that are no text are compared as JSON; a missing one fits no pattern.
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

/** Names a rule where a decision stands for all calls that fall under it. Two rules never share a name: what could be read in two ways is quoted. */
export function ruleName(rule: ApprovalRule): string {
  const conditions = Object.entries(rule.when ?? {}).map(
    ([name, pattern]) => `${quotedIf(/[\s,:"]/u, name)}: ${quotedIf(/[,"]|^\s|\s$/u, pattern)}`,
  );
  const tool = quotedIf(/[\s("]/u, rule.tool);
  return conditions.length === 0 ? tool : `${tool}(${conditions.join(', ')})`;
}

/** Names what asks when a tool does so by itself. No rule of the configuration has such a name. */
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

/** `*` stands for any characters, line ends included. Takes the leftmost place of each piece, so it is linear: no pattern can stall a worker. */
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
