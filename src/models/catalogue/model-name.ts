/** A model as configuration and the command line name it: `provider/model`. */
export interface ModelName {
  readonly provider: string;
  /** The vendor's own name; may contain slashes (`openrouter/z-ai/glm-5`). */
  readonly model: string;
}

/**
 * Splits at the first slash, because vendors use slashes in their own names.
 * @throws Error when provider or model is missing.
 */
export function parseModelName(name: string): ModelName {
  const slash = name.indexOf('/');
  const provider = name.slice(0, Math.max(slash, 0)).trim();
  const model = name.slice(slash + 1).trim();
  if (slash < 1 || provider === '' || model === '') {
    throw new Error(
      `"${name}" does not name a model. Write provider/model, for example anthropic/claude-sonnet-5-5 or simulator/sim-32k.`,
    );
  }
  return { provider, model };
}
