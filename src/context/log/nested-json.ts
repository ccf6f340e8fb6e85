/**
 * Deepest nesting of lists and objects that is walked, sent to a model server or given to a tool; the whole text is stored all the
 * same. Rust's serde_json, with which several model servers read requests, refuses more by default.
 */
export const DEEPEST_JSON = 128;

/** Whether lists and objects in a JSON text are nested deeper than that. Looks at brackets alone, so that nothing recurses. */
export function isNestedTooDeep(json: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === '"') inString = !inString;
    else if (inString) at += character === '\\' ? 1 : 0;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > DEEPEST_JSON) return true;
  }
  return false;
}

/** The value that a text written by a model or a tool holds as JSON; `undefined` when it is none or nested too deep to be walked. */
export function parseNestedJson(text: string): unknown {
  try {
    return isNestedTooDeep(text) ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A value of a server or a file, such as tool arguments, as JSON. What is nested too deep for that becomes a text that says so. */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '(nested too deep to be written as JSON)';
  }
}
