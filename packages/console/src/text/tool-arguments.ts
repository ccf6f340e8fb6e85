function parsed(argumentText: string): unknown {
  try {
    return JSON.parse(argumentText);
  } catch {
    return null;
  }
}

/** JSON with line breaks, where it is JSON. */
export function written(argumentText: string): string {
  const value = parsed(argumentText);
  return value === null ? argumentText : JSON.stringify(value, null, 2);
}

/** What an agent asks a person. */
export function questionIn(argumentText: string): string {
  const value = parsed(argumentText);
  const question: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'question') : null;
  return typeof question === 'string' ? question : written(argumentText);
}
